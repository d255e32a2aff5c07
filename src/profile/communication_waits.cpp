#include "profile/communication_waits.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/spans_by_unit.hpp"
#include "profile/unit_processes.hpp"

namespace npuscope {
namespace {

constexpr NamedNumber waiting{"waiting for ranks", MeasureKind::active,
                              NumberRole::communication_wait};

std::int64_t length_within(const IntervalSet& set, Interval window) {
  auto at = std::partition_point(set.begin(), set.end(), [&](const Interval& interval) {
    return interval.end <= window.begin;
  });
  std::int64_t length = 0;
  for (; at != set.end() && at->begin < window.end; ++at) {
    length += length_of({std::max(at->begin, window.begin), std::min(at->end, window.end)});
  }
  return length;
}

}  // namespace

void add_communication_waits(Profile& profile, std::span<const CommunicationPart> parts) {
  const bool any_waits =
      std::any_of(parts.begin(), parts.end(), [](const auto& part) { return part.waits; });
  if (!any_waits || profile.spans.measure(NumberRole::communication_wait) != nullptr) return;
  const Spans& spans = profile.spans;
  const UnitRoots roots(profile);
  struct Times {
    std::vector<Interval> waits, transfers;
  };
  std::map<std::uint32_t, Times> of_process;
  for (const CommunicationPart& part : parts) {
    Times& times = of_process[roots.of(spans.unit[part.row])];
    (part.waits ? times.waits : times.transfers).push_back(interval_of(spans, part.row));
  }
  std::map<std::uint32_t, IntervalSet> waits_of;
  for (auto& [process, times] : of_process) {
    waits_of.emplace(process, difference_of(union_of(std::move(times.waits)),
                                            union_of(std::move(times.transfers))));
  }
  MeasureColumn column = profile.column_of(waiting, Origin::derived, profile.base_clock);
  column.values.assign(spans.size(), MeasureColumn::missing);
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (spans.kind[row] != SpanKind::communication) continue;
    const auto waits = waits_of.find(roots.of(spans.unit[row]));
    if (waits == waits_of.end()) continue;
    column.values[row] = length_within(waits->second, interval_of(spans, row));
  }
  profile.spans.measures.push_back(std::move(column));
}

}  // namespace npuscope
