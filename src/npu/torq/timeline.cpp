
#include "npu/torq/artifacts.hpp"

#include "base/sort_rows.hpp"

namespace npuscope::npu::torq {
namespace {

npuscope::torq::TimelineEvent event_of(Unit unit) {
  switch (unit) {
    case Unit::slice: return npuscope::torq::TimelineEvent::slice;
    case Unit::css: return npuscope::torq::TimelineEvent::css;
    case Unit::dma_in: return npuscope::torq::TimelineEvent::dma_in;
    case Unit::dma_out: return npuscope::torq::TimelineEvent::dma_out;
    case Unit::cdma_lram_to_dtcm: return npuscope::torq::TimelineEvent::cdma_lram_to_dtcm;
    case Unit::cdma_lram_to_itcm: return npuscope::torq::TimelineEvent::cdma_lram_to_itcm;
    case Unit::cdma_dtcm_to_lram: return npuscope::torq::TimelineEvent::cdma_dtcm_to_lram;
  }
  return npuscope::torq::TimelineEvent::slice;
}

// As the vendor's compiler orders them: transfers, slices, CSS.
int order_of(const npuscope::torq::TimelineRow& row) {
  return row.event == npuscope::torq::TimelineEvent::css
             ? 2
             : row.event == npuscope::torq::TimelineEvent::slice;
}

}  // namespace

npuscope::torq::CompileTimeline timeline_of(const Compilation& compilation) {
  const Program& program = compilation.program;
  npuscope::torq::CompileTimeline timeline;
  timeline.version = npuscope::torq::TimelineVersion::task_id;
  timeline.has_bytes = true;
  const auto& places = compilation.places;
  std::int64_t offset = 0;
  std::size_t task = 0, step = 0, nss = 0;
  for (std::size_t d = 0; d < program.dispatches.size(); ++d) {
    const std::size_t first_row = timeline.rows.size();
    for (std::size_t action = places[d].action; action < places[d + 1].action; ++action) {
      if (program.actions[action].kind != ActionKind::start_nss) continue;
      const auto& operation = compilation.operations[compilation.action_operations[action]];
      const StringId location =
          timeline.strings.intern(fmt::format("loc({})", location_text(compilation, operation)));
      const std::size_t end = task + program.nss_programs[nss++].tasks;
      for (; task < end; ++task) {
        for (std::uint32_t i = 0; i < program.tasks[task].steps; ++i, ++step) {
          const Step& each = program.steps[step];
          if (!each.starts) continue;
          npuscope::torq::TimelineRow row;
          row.id = std::int64_t(task);
          row.event = event_of(each.unit);
          if (each.unit == Unit::slice) row.slice = each.slice;
          row.start_cycles = offset + compilation.estimate.steps[step].begin;
          row.end_cycles = offset + compilation.estimate.steps[step].end;
          if (is_dma(each.unit) || is_cdma(each.unit)) row.bytes = std::int64_t(each.bytes);
          row.location = location;
          timeline.rows.push_back(row);
        }
      }
    }
    sort_rows(timeline.rows.begin() + std::ptrdiff_t(first_row), timeline.rows.end(),
              [](const auto& a, const auto& b) { return order_of(a) < order_of(b); });
    offset += compilation.estimate.dispatches[d];
  }
  return timeline;
}

}  // namespace npuscope::npu::torq
