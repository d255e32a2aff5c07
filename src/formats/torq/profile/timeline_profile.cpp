// A compile-time timeline as a profile.
#include <map>
#include <tuple>

#include "formats/torq/debug/location.hpp"
#include "formats/torq/profile/rows.hpp"
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
  explicit TimelineProfile(const CompileTimeline& timeline) : timeline_(timeline) {}

  Profile run() {
    profile_.provenance.format = "Torq compile-time timeline";
    profile_.provenance.times = Origin::estimated;
    profile_.provenance.version = version_text(timeline_);
    profile_.provenance.device = "Torq";
    profile_.base_clock = add_clock(profile_, "NPU cycles", ClockKind::unit_cycles, Hertz{0});
    add_units();
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
    add_bytes({"cdma bytes", NumberQuantity::bytes}, [](TimelineEvent event) {
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
    Op op;
    op.name = profile_.strings.intern(brief(row.location));
    op.node = op.name;
    op.kind = profile_.strings.intern(operation.empty() ? unit : operation);
    op.attributes = profile_.strings.intern(timeline_.strings[row.location]);
    profile_.ops.push_back(op);
    return place->second;
  }

  std::string brief(StringId location) {
    const auto id = locations_.parse(timeline_.strings[location]);
    return id ? locations_.brief(*id) : std::string(timeline_.strings[location]);
  }

  const CompileTimeline& timeline_;
  Profile profile_;
  Locations locations_;
  std::map<UnitKey, UnitId> units_;
  std::map<OpKey, OpId> ops_;
};

}  // namespace

Profile make_profile(const CompileTimeline& timeline) { return TimelineProfile(timeline).run(); }

}  // namespace npuscope::torq
