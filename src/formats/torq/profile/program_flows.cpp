#include "formats/torq/profile/program_flows.hpp"

#include <algorithm>

#include "npuscope/profile/intervals.hpp"

namespace npuscope::torq {

void add_program_flows(Profile& profile, UnitId host, const std::vector<StartedProgram>& programs) {
  const Spans& spans = profile.spans;
  std::vector<SpanId> actions;  // of the host, by when they began
  for (std::uint32_t row = 0; row < spans.size(); ++row) {
    if (spans.unit[row] == host && spans.kind[row] == SpanKind::host) {
      actions.push_back(SpanId(row));
    }
  }
  const auto start_of = [&](SpanId span) { return spans.start[index_of(span)]; };
  std::stable_sort(actions.begin(), actions.end(),
                   [&](SpanId a, SpanId b) { return start_of(a) < start_of(b); });
  const StringId name = profile.strings.intern("NSS");
  const auto add = [&](SpanId from, SpanId to) {
    profile.flows.push_back({from, to, EdgeKind::order, name, {}});
  };
  for (const StartedProgram& each : programs) {
    if (each.start != SpanId::none) add(each.start, each.program);
    const std::int64_t waited =
        saturating_add(start_of(each.wait), spans.duration[index_of(each.wait)]);
    const auto next =
        std::lower_bound(actions.begin(), actions.end(), waited,
                         [&](SpanId span, std::int64_t time) { return start_of(span) < time; });
    if (next != actions.end()) add(each.program, *next);
  }
}

}  // namespace npuscope::torq
