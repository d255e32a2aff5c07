// A rule about what the host launched and the device did not report.
#include <algorithm>
#include <vector>

#include "analysis/findings/rules/rules.hpp"
#include "base/sort_rows.hpp"
#include "base/text.hpp"

namespace npuscope::analysis {

namespace unreported_launches {

constexpr std::uint64_t min_launches = 10;
constexpr double min_share = 0.5;
constexpr std::size_t calls_named = 3;

struct Launches {
  std::uint32_t op = 0;
  std::uint64_t calls = 0, reported = 0;
  std::uint64_t lost() const { return calls - reported; }
};

// By the call's name: those of which any leads to work of the device.
std::vector<Launches> launches_of(FindingContext& context) {
  const Profile& profile = context.profile();
  const Spans& spans = profile.spans;
  std::vector<bool> leads(spans.size(), false);
  for (const Flow& flow : profile.flows) {
    const std::size_t from = index_of(flow.from), to = index_of(flow.to);
    if (from >= spans.size() || to >= spans.size()) continue;
    const bool is_launch = spans.kind[from] == SpanKind::runtime_call &&
                           role_of(spans.kind[to]) == Role::work &&
                           is_of_device(domain_of(profile, to));
    if (is_launch) leads[from] = true;
  }
  std::vector<Launches> of_op(profile.ops.size());
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const std::size_t op = index_of(spans.op[row]);
    if (spans.kind[row] != SpanKind::runtime_call || op >= of_op.size()) continue;
    of_op[op].op = std::uint32_t(op);
    of_op[op].calls += 1;
    of_op[op].reported += leads[row];
  }
  std::erase_if(of_op, [](const Launches& op) { return op.reported == 0; });
  sort_rows(of_op.begin(), of_op.end(),
            [](const Launches& a, const Launches& b) { return a.lost() > b.lost(); });
  return of_op;
}

RuleOutcome apply(FindingContext& context) {
  const Profile& profile = context.profile();
  const std::vector<Launches> launches = launches_of(context);
  if (launches.empty()) return Missing{"arrows from calls of the runtime to work of the device"};
  Launches all;
  for (const Launches& op : launches) {
    all.calls += op.calls;
    all.reported += op.reported;
  }
  if (all.lost() < min_launches || double(all.lost()) < min_share * double(all.calls)) {
    return DoesNotApply{};
  }
  Finding finding;
  finding.title = fmt::format("The device reported {} of {} launches", thousands(all.reported),
                              thousands(all.calls));
  finding.weight = Weight::high;
  finding.evidence = {
      count_evidence("launches", "calls that launch work", double(all.calls), "query: flows"),
      share_evidence("launches_reported", "of them with work of the device",
                     double(all.reported) / double(all.calls), MeasureKind::count, "query: flows")};
  for (std::size_t i = 0; i < std::min(launches.size(), calls_named); ++i) {
    if (launches[i].lost() == 0) break;
    finding.evidence.push_back(count_evidence(
        "launches_without_work", "without work of the device", double(launches[i].lost()),
        "query: flows", std::string(profile.text(profile.ops[launches[i].op].name))));
  }
  finding.no_gain = "affects the recording only";
  finding.advice =
      "What the device is said to take is of the launches that it reported: busy times, counts and "
      "shares of ops are lower bounds. Record fewer steps, give the profiler's buffers more room, "
      "and start recording before the first launch.";
  return finding;
}

}  // namespace unreported_launches

const Rule unreported_launches_rule{"unreported-launches", unreported_launches::apply};

}  // namespace npuscope::analysis
