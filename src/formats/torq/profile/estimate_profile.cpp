// The compiler's estimates in debug information as a profile: the same picture as the compile-time
// timeline, of every dispatch, with kernels and programs.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "formats/torq/debug/debug_info.hpp"
#include "formats/torq/debug/location.hpp"
#include "formats/torq/profile/place_names.hpp"
#include "formats/torq/profile/rows.hpp"
#include "formats/torq/timeline.hpp"
#include "npuscope/profile/intervals.hpp"
#include "profile/shared_numbers.hpp"

namespace npuscope::torq {
namespace {

constexpr NamedNumber cdma_bytes{"cdma bytes", NumberQuantity::bytes};

constexpr NamedNumber lram_peak =
    NamedNumber{"LRAM in use", NumberQuantity::bytes, NumberRole::vtcm_peak}.not_additive();

struct LramUse {
  std::int64_t peak_bytes = 0;
  std::int64_t kept_bytes = 0;  // that one kernel leaves to another, and no transfer touches
};

// A buffer is in use from the first task that names it to the last.
LramUse lram_use_of(const DispatchInfo& dispatch) {
  LramUse use;
  std::vector<std::pair<std::uint32_t, std::int64_t>> changes;
  for (const LramBuffer& buffer : dispatch.lram) {
    const std::int64_t bytes = length_of(buffer.address);
    changes.emplace_back(buffer.first_task, bytes);
    changes.emplace_back(buffer.last_task + 1, -bytes);
    if (buffer.kernels > 1 && buffer.transfers == 0) {
      use.kept_bytes = saturating_add(use.kept_bytes, bytes);
    }
  }
  std::sort(changes.begin(), changes.end());  // what ends goes before what begins
  std::int64_t now = 0;
  for (const auto& [task, change] : changes) {
    now = saturating_add(now, change);
    use.peak_bytes = std::max(use.peak_bytes, now);
  }
  return use;
}

// Of one wait: enough for all that programs have under way, and a bound on what forged ones make.
constexpr std::size_t max_awaited = 8;

class EstimateProfile {
 public:
  EstimateProfile(const DispatchInfo& dispatch, const DebugInfo* debug)
      : dispatch_(dispatch), debug_(debug), names_(dispatch, debug) {}

  std::optional<Profile> run() {
    profile_.provenance.format = "Torq debug information";
    profile_.provenance.times = Origin::estimated;
    profile_.provenance.device = "Torq";
    profile_.provenance.graph = dispatch_.name;
    profile_.provenance.files = {dispatch_.file};
    profile_.base_clock = add_clock(profile_, "NPU cycles", ClockKind::unit_cycles, Hertz{0});
    for (std::size_t unit = 0; unit < npu_unit_count; ++unit) {
      units_[unit] =
          add_unit(profile_, name_of(NpuUnit(unit)),
                   is_transfer(NpuUnit(unit)) ? Engine::dma : Engine::compute, UnitId::none);
    }
    for (const UnitWork& work : dispatch_.work) add(work);
    link();
    for (const ProgramRun& program : dispatch_.programs) {
      if (!program.cycles) continue;
      const Interval at = *program.cycles;
      profile_.phases.push_back(
          {profile_.strings.intern(program.name), 0, UnitId::none, at.begin, length_of(at)});
    }
    if (profile_.spans.size() == 0) return std::nullopt;
    add_bytes(ddr_read_bytes, [](NpuUnit unit) { return unit == NpuUnit::dma_in; });
    add_bytes(ddr_write_bytes, [](NpuUnit unit) { return unit == NpuUnit::dma_out; });
    add_bytes(cdma_bytes, [](NpuUnit unit) { return unit == NpuUnit::cdma; });
    add_schedule_numbers();
    if (debug_ != nullptr && debug_->sources) {
      for (const std::string& name : debug_->sources->operators()) {
        add_source_operator(profile_, name);
      }
    }
    profile_.notes = dispatch_.notes;
    profile_.notes.push_back({Severity::info, dispatch_.file, 0,
                              "times are cycles of the compiler's cost model; host work costs none",
                              1});
    return std::move(profile_);
  }

 private:
  void add(const UnitWork& work) {
    spans_.push_back(work.cycles ? SpanId(profile_.spans.size()) : SpanId::none);
    if (!work.cycles) return;
    const auto unit = std::size_t(work.unit);
    const bool moves = is_transfer(work.unit);
    // Of the operation alone where it is known: the rest is waiting for the task that waits.
    const std::int64_t whole = length_of(*work.cycles);
    const std::int64_t alone = work.duration_cycles.value_or(whole);
    add_span(profile_, units_[unit], op_of(work), moves ? SpanKind::transfer : SpanKind::op,
             work.cycles->begin, std::max<std::int64_t>(0, std::min(alone, whole)));
  }

  void add_bytes(const NamedNumber& number, bool (*is_of)(NpuUnit)) {
    MeasureColumn column = profile_.column_of(number, Origin::estimated);
    column.values.resize(profile_.spans.size(), MeasureColumn::missing);
    bool any = false;
    for (std::size_t i = 0; i < dispatch_.work.size(); ++i) {
      const UnitWork& work = dispatch_.work[i];
      if (spans_[i] == SpanId::none || !work.bytes || !is_of(work.unit)) continue;
      column.values[index_of(spans_[i])] = *work.bytes;
      any = true;
    }
    if (any) profile_.spans.measures.push_back(std::move(column));
  }

  // What one schedule of a model does otherwise than another.
  void add_schedule_numbers() {
    std::vector<Interval> moving, computing;
    std::int64_t blocks = 0;
    for (std::size_t i = 0; i < dispatch_.work.size(); ++i) {
      const UnitWork& work = dispatch_.work[i];
      if (spans_[i] == SpanId::none) continue;
      const auto row = index_of(spans_[i]);
      const std::int64_t start = profile_.spans.start[row];
      const Interval at{start, saturating_add(start, profile_.spans.duration[row])};
      (is_transfer(work.unit) ? moving : computing).push_back(at);
      blocks += work.fetches_code;
    }
    const IntervalSet moves = union_of(std::move(moving)),
                      computes = union_of(std::move(computing));
    const std::int64_t hidden = length_of(intersection_of(moves, computes));
    const auto add = [&](const NamedNumber& number, double value) {
      profile_.add_measure(Measure::Subject::profile, 0, number, Origin::estimated,
                           profile_.base_clock, value);
    };
    add({"DMA behind compute", MeasureKind::active}, double(hidden));
    add({"exposed DMA", MeasureKind::active}, double(length_of(moves) - hidden));
    add({"NSS code blocks fetched", NumberQuantity::count}, double(blocks));
    const LramUse lram = lram_use_of(dispatch_);
    if (lram.peak_bytes == 0) return;
    add(lram_peak, double(lram.peak_bytes));
    add({"kept in LRAM between kernels", NumberQuantity::bytes}, double(lram.kept_bytes));
  }

  // The NSS takes its tasks one after the other: what a task starts comes after all that the tasks
  // before it waited for. Of a unit only what the last wait on it was for counts; that came after
  // the rest.
  void link() {
    std::vector<std::uint32_t> by_start(dispatch_.work.size());
    std::iota(by_start.begin(), by_start.end(), 0);
    std::stable_sort(by_start.begin(), by_start.end(), [&](std::uint32_t a, std::uint32_t b) {
      return dispatch_.work[a].task < dispatch_.work[b].task;
    });
    std::array<std::vector<std::uint32_t>, npu_unit_count> waited_for;
    std::array<std::uint32_t, npu_unit_count> waited_in{};
    std::size_t next = 0;  // work is in the order in which it was waited for
    for (const std::uint32_t started : by_start) {
      const UnitWork& work = dispatch_.work[started];
      for (; next < dispatch_.work.size() && dispatch_.work[next].waiting_task < work.task;
           ++next) {
        const UnitWork& ended = dispatch_.work[next];
        auto& last = waited_for[std::size_t(ended.unit)];
        if (waited_in[std::size_t(ended.unit)] != ended.waiting_task) last.clear();
        waited_in[std::size_t(ended.unit)] = ended.waiting_task;
        keep(last, std::uint32_t(next));
      }
      for (const auto& last : waited_for) {
        for (const std::uint32_t ended : last) add_flow(ended, started);
      }
    }
  }

  // Those that end last, where there are too many.
  void keep(std::vector<std::uint32_t>& last, std::uint32_t work) const {
    last.push_back(work);
    if (last.size() <= max_awaited) return;
    const auto end_of = [this](std::uint32_t each) {
      const SpanId span = spans_[each];
      if (span == SpanId::none) return std::int64_t{-1};
      return profile_.spans.start[index_of(span)] + profile_.spans.duration[index_of(span)];
    };
    last.erase(std::min_element(last.begin(), last.end(), [&](std::uint32_t a, std::uint32_t b) {
      return end_of(a) < end_of(b);
    }));
  }

  void add_flow(std::uint32_t from, std::uint32_t to) {
    if (spans_[from] == SpanId::none || spans_[to] == SpanId::none) return;
    profile_.flows.push_back({.from = spans_[from], .to = spans_[to], .kind = EdgeKind::order});
  }

  OpId op_of(const UnitWork& work) {
    const std::tuple key{work.unit, work.location, work.kernel, work.fetches_code};
    const auto [place, is_new] = ops_.try_emplace(key, OpId(profile_.ops.size()));
    if (!is_new) return place->second;
    Op op;
    const PlaceName& name = names_.of(work);
    op.name = profile_.strings.intern(dispatch_.locations.brief(work.location));
    op.node = profile_.strings.intern(name.label);
    op.node_kind = profile_.strings.intern(name.kind);
    op.identity = profile_.strings.intern(name.identity);
    op.kind = profile_.strings.intern(work.kernel.empty() ? name_of(work.unit) : work.kernel);
    profile_.ops.push_back(op);
    return place->second;
  }

  const DispatchInfo& dispatch_;
  const DebugInfo* debug_;
  PlaceNames names_;
  Profile profile_;
  std::array<UnitId, npu_unit_count> units_{};
  std::map<std::tuple<NpuUnit, LocationId, std::string, bool>, OpId> ops_;
  std::vector<SpanId> spans_;  // by place in DispatchInfo::work
};

}  // namespace

std::optional<Profile> make_profile(const DispatchInfo& dispatch, const DebugInfo* debug) {
  return EstimateProfile(dispatch, debug).run();
}

namespace {

// A compile-time timeline as a profile.

std::string unit_name(TimelineEvent event, std::int32_t slice) {
  switch (event) {
    case TimelineEvent::dma_in: return "DMA In";
    case TimelineEvent::dma_out: return "DMA Out";
    case TimelineEvent::cdma_lram_to_dtcm: return "CDMA LRAM to DTCM";
    case TimelineEvent::cdma_lram_to_itcm: return "CDMA LRAM to ITCM";
    case TimelineEvent::cdma_dtcm_to_lram: return "CDMA DTCM to LRAM";
    case TimelineEvent::css: return "CSS";
    case TimelineEvent::slice: break;
  }
  return slice == unknown_slice ? "Slice" : fmt::format("Slice {}", slice);
}

Engine engine_of(TimelineEvent event) {
  const bool computes = event == TimelineEvent::slice || event == TimelineEvent::css;
  return computes ? Engine::compute : Engine::dma;
}

const char* version_text(const CompileTimeline& timeline) {
  switch (timeline.version) {
    case TimelineVersion::ids: return timeline.has_bytes ? "ids, bytes" : "ids";
    case TimelineVersion::action_index: return "actionIndex";
    case TimelineVersion::task_id: return "taskId";
    case TimelineVersion::none: break;
  }
  return "";
}

class TimelineProfile {
 public:
  TimelineProfile(const CompileTimeline& timeline, SourceFiles* sources, const DebugInfo* debug)
      : timeline_(timeline), sources_(sources), debug_(debug) {}

  Profile run() {
    profile_.provenance.format = "Torq compile-time timeline";
    profile_.provenance.times = Origin::estimated;
    profile_.provenance.version = version_text(timeline_);
    profile_.provenance.device = "Torq";
    profile_.base_clock = add_clock(profile_, "NPU cycles", ClockKind::unit_cycles, Hertz{0});
    add_units();
    name_places();
    profile_.spans.reserve(timeline_.rows.size());
    for (const TimelineRow& row : timeline_.rows) add(row);
    if (timeline_.has_bytes) add_bytes();
    profile_.notes = timeline_.notes;
    profile_.notes.push_back({Severity::info, "", 0,
                              "times are cycles of the compiler's cost model, whatever the header "
                              "says; host work costs none",
                              1});
    profile_.notes.push_back({Severity::info, "", 0,
                              "the compiler writes this file anew for each dispatch: it holds the "
                              "last one",
                              1});
    return std::move(profile_);
  }

 private:
  using UnitKey = std::pair<TimelineEvent, std::int32_t>;
  using OpKey = std::tuple<TimelineEvent, std::int32_t, StringId, StringId>;

  // In the order of the events, whatever the rows' is.
  void add_units() {
    for (const TimelineRow& row : timeline_.rows) units_[{row.event, row.slice}] = UnitId::none;
    for (auto& [key, unit] : units_) {
      const auto lane = std::uint32_t(key.second == unknown_slice ? 0 : key.second);
      unit = add_unit(profile_, unit_name(key.first, key.second), engine_of(key.first),
                      UnitId::none, lane);
    }
  }

  void add(const TimelineRow& row) {
    const SpanKind kind = engine_of(row.event) == Engine::dma ? SpanKind::transfer : SpanKind::op;
    add_span(profile_, units_[{row.event, row.slice}], op_of(row), kind, row.start_cycles,
             saturating_subtract(row.end_cycles, row.start_cycles));
  }

  // DMA moves between XRAM, which is external memory, and LRAM; CDMA between LRAM and the CSS.
  void add_bytes() {
    add_bytes(ddr_read_bytes, [](TimelineEvent event) { return event == TimelineEvent::dma_in; });
    add_bytes(ddr_write_bytes, [](TimelineEvent event) { return event == TimelineEvent::dma_out; });
    add_bytes(cdma_bytes, [](TimelineEvent event) {
      return event != TimelineEvent::dma_in && event != TimelineEvent::dma_out;
    });
  }

  void add_bytes(const NamedNumber& number, bool (*is_of)(TimelineEvent)) {
    MeasureColumn column = profile_.column_of(number, Origin::estimated);
    bool any = false;
    for (const TimelineRow& row : timeline_.rows) {
      const bool counts = row.bytes && is_of(row.event);
      column.values.push_back(counts ? *row.bytes : MeasureColumn::missing);
      any |= counts;
    }
    if (any) profile_.spans.measures.push_back(std::move(column));
  }

  OpId op_of(const TimelineRow& row) {
    const OpKey key{row.event, row.slice, row.location, row.operation};
    const auto [place, is_new] = ops_.try_emplace(key, OpId(profile_.ops.size()));
    if (!is_new) return place->second;
    const std::string unit = unit_name(row.event, row.slice);
    const std::string_view operation = timeline_.strings[row.operation];
    const Named& at = places_.at(row.location);
    Op op;
    op.name = profile_.strings.intern(at.brief);
    op.node = profile_.strings.intern(at.name.label);
    op.node_kind = profile_.strings.intern(at.name.kind);
    op.identity = profile_.strings.intern(at.name.identity);
    op.kind = profile_.strings.intern(operation.empty() ? unit : operation);
    op.attributes = profile_.strings.intern(timeline_.strings[row.location]);
    profile_.ops.push_back(op);
    return place->second;
  }

  struct Named {
    std::string brief;
    PlaceName name;
    FileLocation at;
  };

  // The places of all rows, by the source's operators, by debug information, or as they stand.
  void name_places() {
    const auto known =
        debug_ == nullptr ? std::map<std::string, PlaceName>() : names_of_places(*debug_);
    for (const TimelineRow& row : timeline_.rows) {
      const auto [place, is_new] = places_.try_emplace(row.location);
      if (is_new) place->second = named(timeline_.strings[row.location], known);
    }
    std::vector<Named*> in_order;
    for (auto& [location, place] : places_) in_order.push_back(&place);
    std::stable_sort(in_order.begin(), in_order.end(), [](const Named* a, const Named* b) {
      return std::tie(a->at.file, a->at.line, a->at.column, a->brief) <
             std::tie(b->at.file, b->at.line, b->at.column, b->brief);
    });
    std::size_t number = 0;
    for (Named* each : in_order) {
      if (!each->name.identity.empty()) continue;
      each->name.identity = each->at.line == 0 ? "no place" : fmt::format("place {}", number++);
    }
    if (sources_ == nullptr) return;
    for (const std::string& name : sources_->operators()) add_source_operator(profile_, name);
  }

  Named named(std::string_view location, const std::map<std::string, PlaceName>& known) {
    Named place;
    place.brief = std::string(location);
    place.name.label = place.brief;
    const auto id = locations_.parse(location);
    if (!id) return place;
    place.brief = place.name.label = locations_.brief(*id);
    const auto files = locations_.files(*id);
    if (!files.empty()) place.at = files.front();
    const auto of_debug = known.find(place.brief);
    if (of_debug != known.end()) {
      place.name = of_debug->second;
    } else if (sources_ != nullptr) {
      name_by_operators(*sources_, files, place.name);
    }
    return place;
  }

  const CompileTimeline& timeline_;
  SourceFiles* sources_;
  const DebugInfo* debug_;
  std::map<StringId, Named> places_;
  Profile profile_;
  Locations locations_;
  std::map<UnitKey, UnitId> units_;
  std::map<OpKey, OpId> ops_;
};

}  // namespace

Profile make_profile(const CompileTimeline& timeline, SourceFiles* sources,
                     const DebugInfo* debug) {
  return TimelineProfile(timeline, sources, debug).run();
}

}  // namespace npuscope::torq
