// The compiler's estimates in debug information as a profile: the same picture as the compile-time
// timeline, of every dispatch, with kernels and programs.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "formats/torq/debug/debug_folder.hpp"
#include "formats/torq/debug/debug_info.hpp"
#include "formats/torq/debug/location.hpp"
#include "formats/torq/profile/npu_target.hpp"
#include "formats/torq/profile/place_names.hpp"
#include "formats/torq/profile/rows.hpp"
#include "formats/torq/profile/schedule_numbers.hpp"
#include "npuscope/profile/intervals.hpp"
#include "profile/shared_numbers.hpp"

namespace npuscope::torq {
namespace {

// Of one wait: enough for all that programs have under way, and a bound on what forged ones make.
constexpr std::size_t max_awaited = 8;

// One dispatch behind the other.
class EstimateProfile {
 public:
  EstimateProfile(std::span<const DispatchInfo* const> dispatches, const DebugInfo* debug)
      : dispatches_(dispatches), debug_(debug) {}

  std::optional<Profile> run() {
    profile_.provenance.format = "Torq debug information";
    profile_.provenance.platform = Provenance::Platform::torq;
    profile_.provenance.times = Origin::estimated;
    profile_.base_clock = profile_.add_clock("NPU cycles", ClockKind::unit_cycles, Hertz{0});
    for (std::size_t unit = 0; unit < npu_unit_count; ++unit) {
      units_[unit] =
          add_unit(profile_, name_of(NpuUnit(unit)),
                   is_transfer(NpuUnit(unit)) ? Engine::dma : Engine::compute, UnitId::none);
    }
    for (const DispatchInfo* dispatch : dispatches_) add(*dispatch);
    profile_.provenance.device = rates_.device();
    if (profile_.spans.size() == 0) return std::nullopt;
    const std::string& first = dispatches_.front()->name;
    profile_.provenance.graph = dispatches_.size() == 1 ? first : model_of_dispatch(first);
    add_bytes(ddr_read_bytes, [](NpuUnit unit) { return unit == NpuUnit::dma_in; });
    add_bytes(ddr_write_bytes, [](NpuUnit unit) { return unit == NpuUnit::dma_out; });
    add_bytes(cdma_bytes, [](NpuUnit unit) { return unit == NpuUnit::cdma; });
    add_overlap_numbers(profile_);
    add_memory_numbers(profile_, dispatches_);
    if (debug_ != nullptr && debug_->sources) {
      for (const std::string& name : debug_->sources->operators()) {
        add_source_operator(profile_, name);
      }
    }
    profile_.notes.push_back({Severity::info, dispatches_.front()->file, 0,
                              "times are cycles of the compiler's cost model; host work costs none",
                              1});
    return std::move(profile_);
  }

 private:
  // What is known of the dispatch whose work is being added.
  struct Dispatch {
    const DispatchInfo& info;
    PlaceNames names;
    std::string in;               // "smallcnn_dispatch_3 > " of several
    std::int64_t begin = 0;       // cycles
    std::vector<SpanId> spans{};  // by place in DispatchInfo::work
    std::map<std::tuple<NpuUnit, LocationId, std::string, bool>, OpId> ops{};
  };

  void add(const DispatchInfo& info) {
    profile_.provenance.files.push_back(info.file);
    profile_.notes.insert(profile_.notes.end(), info.notes.begin(), info.notes.end());
    Dispatch dispatch{info, PlaceNames(info, debug_),
                      dispatches_.size() > 1 ? info.name + " > " : std::string(), end_};
    const auto first = std::uint32_t(profile_.spans.size());
    for (const UnitWork& work : info.work) add(work, dispatch);
    take_rates(info, rates_);
    link(dispatch);
    follow(first);
    std::int64_t length = 0;
    for (const ProgramRun& program : info.programs) {
      if (!program.cycles) continue;
      const Interval at = *program.cycles;
      length = std::max(length, at.end);
      profile_.phases.push_back({profile_.strings.intern(dispatch.in + program.name), 0,
                                 UnitId::none, saturating_add(end_, at.begin), length_of(at)});
    }
    for (auto row = std::size_t(first); row < profile_.spans.size(); ++row) {
      length = std::max(length, end_of(row) - end_);
    }
    end_ = saturating_add(end_, length);
  }

  void add(const UnitWork& work, Dispatch& dispatch) {
    dispatch.spans.push_back(work.cycles ? SpanId(profile_.spans.size()) : SpanId::none);
    if (!work.cycles) return;
    work_.push_back(&work);
    const auto unit = std::size_t(work.unit);
    const bool moves = is_transfer(work.unit);
    // Of the operation alone where it is known: the rest is waiting for the task that waits.
    const std::int64_t whole = length_of(*work.cycles);
    const std::int64_t alone = work.duration_cycles.value_or(whole);
    profile_.spans.add(units_[unit], op_of(work, dispatch),
                       moves ? SpanKind::transfer : SpanKind::op,
                       saturating_add(dispatch.begin, work.cycles->begin),
                       std::max<std::int64_t>(0, std::min(alone, whole)));
  }

  void add_bytes(const NamedNumber& number, bool (*is_of)(NpuUnit)) {
    MeasureColumn column = profile_.column_of(number, Origin::estimated);
    bool any = false;
    for (const UnitWork* work : work_) {
      const bool counts = work->bytes && is_of(work->unit);
      column.values.push_back(counts ? *work->bytes : MeasureColumn::missing);
      any |= counts;
    }
    if (any) profile_.spans.measures.push_back(std::move(column));
  }

  // The NSS takes its tasks one after the other: what a task starts comes after all that the tasks
  // before it waited for. Of a unit only what the last wait on it was for counts; that came after
  // the rest.
  void link(const Dispatch& dispatch) {
    const std::vector<UnitWork>& all = dispatch.info.work;
    std::vector<std::uint32_t> by_start(all.size());
    std::iota(by_start.begin(), by_start.end(), 0);
    std::stable_sort(by_start.begin(), by_start.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return all[a].task < all[b].task; });
    std::array<std::vector<std::uint32_t>, npu_unit_count> waited_for;
    std::array<std::uint32_t, npu_unit_count> waited_in{};
    std::size_t next = 0;  // work is in the order in which it was waited for
    for (const std::uint32_t started : by_start) {
      const UnitWork& work = all[started];
      for (; next < all.size() && all[next].waiting_task < work.task; ++next) {
        const UnitWork& ended = all[next];
        auto& last = waited_for[std::size_t(ended.unit)];
        if (waited_in[std::size_t(ended.unit)] != ended.waiting_task) last.clear();
        waited_in[std::size_t(ended.unit)] = ended.waiting_task;
        keep(last, std::uint32_t(next), dispatch);
      }
      for (const auto& last : waited_for) {
        for (const std::uint32_t ended : last) {
          add_flow(dispatch.spans[ended], dispatch.spans[started]);
        }
      }
    }
  }

  // Those that end last, where there are too many.
  void keep(std::vector<std::uint32_t>& last, std::uint32_t work, const Dispatch& dispatch) const {
    last.push_back(work);
    if (last.size() <= max_awaited) return;
    const auto end_of_work = [&](std::uint32_t each) {
      const SpanId span = dispatch.spans[each];
      return span == SpanId::none ? std::int64_t{-1} : end_of(index_of(span));
    };
    last.erase(std::min_element(last.begin(), last.end(), [&](std::uint32_t a, std::uint32_t b) {
      return end_of_work(a) < end_of_work(b);
    }));
  }

  // The first of a dispatch comes after the last of the one before.
  void follow(std::uint32_t first) {
    const auto size = std::uint32_t(profile_.spans.size());
    if (first == size) return;
    std::uint32_t earliest = first, last = first;
    for (std::uint32_t row = first; row < size; ++row) {
      if (profile_.spans.start[row] < profile_.spans.start[earliest]) earliest = row;
      if (end_of(row) > end_of(last)) last = row;
    }
    add_flow(last_, SpanId(earliest));
    last_ = SpanId(last);
  }

  void add_flow(SpanId from, SpanId to) {
    if (from == SpanId::none || to == SpanId::none) return;
    profile_.flows.push_back({.from = from, .to = to, .kind = EdgeKind::order});
  }

  std::int64_t end_of(std::size_t row) const {
    return saturating_add(profile_.spans.start[row], profile_.spans.duration[row]);
  }

  OpId op_of(const UnitWork& work, Dispatch& dispatch) {
    const std::tuple key{work.unit, work.location, work.kernel, work.fetches_code};
    const auto [place, is_new] = dispatch.ops.try_emplace(key, OpId(profile_.ops.size()));
    if (!is_new) return place->second;
    Op op;
    const PlaceName& name = dispatch.names.of(work);
    op.name = profile_.strings.intern(dispatch.in + dispatch.info.locations.brief(work.location));
    op.node = profile_.strings.intern(name.label);
    op.node_kind = profile_.strings.intern(name.kind);
    op.identity = profile_.strings.intern(dispatch.in + name.identity);
    op.kind = profile_.strings.intern(work.kernel.empty() ? name_of(work.unit) : work.kernel);
    op.is_unnamed = name.is_unnamed;
    profile_.ops.push_back(op);
    return place->second;
  }

  std::span<const DispatchInfo* const> dispatches_;
  const DebugInfo* debug_;
  Profile profile_;
  std::array<UnitId, npu_unit_count> units_{};
  std::vector<const UnitWork*> work_;  // by span
  std::int64_t end_ = 0;               // cycles of the dispatches that were added
  SpanId last_ = SpanId::none;         // of them, the span that ends last
  DmaRates rates_;
};

}  // namespace

bool has_estimates(const DispatchInfo& dispatch) {
  return std::any_of(dispatch.work.begin(), dispatch.work.end(),
                     [](const UnitWork& work) { return work.cycles.has_value(); });
}

std::optional<Profile> make_profile(std::span<const DispatchInfo* const> dispatches,
                                    const DebugInfo* debug) {
  return EstimateProfile(dispatches, debug).run();
}

}  // namespace npuscope::torq
