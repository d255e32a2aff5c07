// A compile-time timeline as a profile.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "formats/torq/debug/location.hpp"
#include "formats/torq/profile/npu_target.hpp"
#include "formats/torq/profile/place_names.hpp"
#include "formats/torq/profile/rows.hpp"
#include "formats/torq/profile/schedule_numbers.hpp"
#include "formats/torq/timeline.hpp"
#include "npuscope/profile/intervals.hpp"
#include "profile/shared_numbers.hpp"

namespace npuscope::torq {
namespace {

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
    profile_.provenance.platform = Provenance::Platform::torq;
    profile_.provenance.times = Origin::estimated;
    profile_.provenance.version = version_text(timeline_);
    profile_.base_clock = profile_.add_clock("NPU cycles", ClockKind::unit_cycles, Hertz{0});
    add_units();
    name_places();
    find_code();
    profile_.spans.reserve(timeline_.rows.size());
    for (const TimelineRow& row : timeline_.rows) add(row);
    profile_.provenance.device = rates_.device();
    if (timeline_.has_bytes) add_bytes();
    add_overlap_numbers(profile_);
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
  using OpKey = std::tuple<TimelineEvent, std::int32_t, StringId, StringId, bool>;

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
    profile_.spans.add(units_[{row.event, row.slice}], op_of(row), kind, row.start_cycles,
                       saturating_subtract(row.end_cycles, row.start_cycles));
    const bool has_rate = row.event == TimelineEvent::dma_in || row.event == TimelineEvent::dma_out;
    if (has_rate && row.bytes) {
      rates_.take(*row.bytes, saturating_subtract(row.end_cycles, row.start_cycles));
    }
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

  // Which of the debug information's transfers fetch the NSS's own code.
  void find_code() {
    const DispatchInfo* dispatch = debug_ == nullptr ? nullptr : dispatch_of(timeline_, *debug_);
    if (dispatch == nullptr) return;
    for (const UnitWork& work : dispatch->work) {
      if (work.fetches_code && work.cycles) code_begins_.insert(work.cycles->begin);
    }
  }

  OpId op_of(const TimelineRow& row) {
    const bool fetches_code =
        row.event == TimelineEvent::dma_in && code_begins_.contains(row.start_cycles);
    const OpKey key{row.event, row.slice, fetches_code ? StringId::empty : row.location,
                    row.operation, fetches_code};
    const auto [place, is_new] = ops_.try_emplace(key, OpId(profile_.ops.size()));
    if (!is_new) return place->second;
    const std::string unit = unit_name(row.event, row.slice);
    const std::string_view operation = timeline_.strings[row.operation];
    const Named& at = places_.at(row.location);
    const PlaceName code{.label = std::string(program_code), .identity = std::string(program_code)};
    const PlaceName& name = fetches_code ? code : at.name;
    Op op;
    op.name = profile_.strings.intern(at.brief);
    op.node = profile_.strings.intern(name.label);
    op.node_kind = profile_.strings.intern(name.kind);
    op.identity = profile_.strings.intern(name.identity);
    op.is_unnamed = name.is_unnamed;
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
    if (*id == LocationId::unknown) {
      place.name.label = "place not known";
      place.name.is_unnamed = true;
    }
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
  DmaRates rates_;
  std::map<UnitKey, UnitId> units_;
  std::map<OpKey, OpId> ops_;
  std::set<std::int64_t> code_begins_;
};

}  // namespace

const DispatchInfo* dispatch_of(const CompileTimeline& timeline, const DebugInfo& debug) {
  std::int64_t end = 0;
  for (const TimelineRow& row : timeline.rows) end = std::max(end, row.end_cycles);
  for (const DispatchInfo& dispatch : debug.dispatches) {
    std::size_t rows = 0;
    std::int64_t its_end = 0;
    for (const UnitWork& work : dispatch.work) {
      if (!work.cycles) continue;
      const std::int64_t length =
          std::min(work.duration_cycles.value_or(length_of(*work.cycles)), length_of(*work.cycles));
      its_end = std::max(its_end, saturating_add(work.cycles->begin, length));
      ++rows;
    }
    if (rows == timeline.rows.size() && its_end == end) return &dispatch;
  }
  return nullptr;
}

Profile make_profile(const CompileTimeline& timeline, SourceFiles* sources,
                     const DebugInfo* debug) {
  return TimelineProfile(timeline, sources, debug).run();
}

}  // namespace npuscope::torq
