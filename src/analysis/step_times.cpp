#include "analysis/step_times.hpp"

#include <algorithm>
#include <map>

#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope::analysis {
namespace {

// A unit whose frames say what a loop on the host took, not what hardware did.
bool may_have_steps(const Unit& unit) {
  return unit.engine == Engine::process || unit.engine == Engine::thread;
}

}  // namespace

StepTimes step_times(const Profile& profile) {
  StepTimes times;
  const Spans& spans = profile.spans;
  if (spans.instance.size() != spans.size() || profile.provenance.inferences == 0) return times;
  std::map<std::uint32_t, std::int64_t> longest;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (spans.kind[row] != SpanKind::inference || spans.instance[row] == every_instance) continue;
    const std::size_t unit = index_of(spans.unit[row]), op = index_of(spans.op[row]);
    if (unit >= profile.units.size() || !may_have_steps(profile.units[unit])) continue;
    std::int64_t& length = longest[spans.instance[row]];
    length = std::max(length, length_of(interval_of(spans, row)));
    if (!times.name.empty() || op >= profile.ops.size()) continue;
    times.name = profile.text(profile.ops[op].name);
    times.name.resize(times.name.find_last_not_of("0123456789") + 1);
  }
  for (const auto& [inference, length] : longest) {
    times.samples.push_back({inference, double(length)});
  }
  return times;
}

}  // namespace npuscope::analysis
