#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"
#include "base/sort_rows.hpp"
#include "npuscope/analysis/statistics.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::analysis {
namespace slower_than_estimated {

constexpr double min_ratio = 2;      // of the median of all ops
constexpr double min_beyond = 0.01;  // of the wall, of each op
constexpr std::size_t min_ops = 5;   // with estimates: of fewer a median says nothing
constexpr std::size_t ops_named = 3;

struct Times {
  double measured = 0, estimate = 0;
  double ratio() const { return measured / estimate; }
};

// The clock of the estimates may be of unknown rate: ratios are compared with one another only.
const MeasureColumn* estimates_of(const Profile& profile) {
  for (const MeasureColumn& column : profile.spans.measures) {
    if (column.origin == Origin::estimated && column.kind != MeasureKind::count &&
        column.values.size() == profile.spans.size()) {
      return &column;
    }
  }
  return nullptr;
}

// The op that stands for each: of those that share the measured time of one program, in the
// proportions of the estimate, the longest; else the op itself.
std::vector<std::size_t> whole_of_ops(const Profile& profile) {
  std::vector<std::int64_t> length(profile.ops.size());
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    const std::size_t op = index_of(profile.spans.op[row]);
    if (op < length.size()) length[op] = saturating_add(length[op], profile.spans.duration[row]);
  }
  std::map<StringId, std::size_t> longest;
  for (std::size_t op = 0; op < profile.ops.size(); ++op) {
    const StringId whole = profile.ops[op].split_from;
    if (whole == StringId::empty) continue;
    const auto [place, is_new] = longest.try_emplace(whole, op);
    if (!is_new && length[op] > length[place->second]) place->second = op;
  }
  std::vector<std::size_t> wholes;
  for (std::size_t op = 0; op < profile.ops.size(); ++op) {
    const StringId whole = profile.ops[op].split_from;
    wholes.push_back(whole == StringId::empty ? op : longest.at(whole));
  }
  return wholes;
}

// Of runs that have both, by the op that stands for it.
std::vector<Times> times_of(const Profile& profile, const MeasureColumn& estimates,
                            const std::vector<std::size_t>& wholes) {
  const Spans& spans = profile.spans;
  std::vector<Times> times(profile.ops.size());
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const std::size_t op = index_of(spans.op[row]);
    const std::int64_t estimate = estimates.values[row];
    if (op >= times.size() || estimate == MeasureColumn::missing || estimate <= 0) continue;
    times[wholes[op]].measured += double(spans.duration[row]);
    times[wholes[op]].estimate += double(estimate);
  }
  return times;
}

std::string name_of(const Profile& profile, std::size_t op) {
  const Op& row = profile.ops[op];
  return std::string(profile.text(row.label()));
}

struct Slow {
  std::size_t op = 0;
  double beyond = 0;
};

constexpr const char* source = "query: spans, span_measures";

void add_evidence(Finding& finding, const std::string& name, const Times& times, double median,
                  double inferences) {
  const auto ticks = [&](const char* key, const char* what, double value) {
    finding.evidence.push_back(
        ticks_evidence(key, what, value / inferences, MeasureKind::work, source, name));
  };
  ticks("measured", "measured, mean inference", times.measured);
  ticks("by_the_estimate", "its estimate at the median ratio", times.estimate * median);
  finding.evidence.push_back({"ratio_to_median",
                              "measured by estimate, to the median",
                              times.ratio() / median,
                              EvidenceQuantity::number,
                              MeasureKind::count,
                              source,
                              name,
                              {}});
}

RuleOutcome apply(FindingContext& context) {
  if (!(context.wall() > 0)) return Missing{"a timeline"};
  const Profile& profile = context.profile();
  const MeasureColumn* estimates = estimates_of(profile);
  if (estimates == nullptr) return Missing{"a compiler's estimate beside measured times"};
  const std::vector<std::size_t> wholes = whole_of_ops(profile);
  const std::vector<Times> times = times_of(profile, *estimates, wholes);
  std::vector<double> ratios;
  for (const Times& each : times) {
    if (each.estimate > 0) ratios.push_back(each.ratio());
  }
  if (ratios.size() < min_ops) return Missing{"estimates of five ops or more"};
  const double median = median_of(ratios);
  std::vector<Slow> slow;
  std::vector<double> factors(profile.ops.size(), 1);
  for (std::size_t op = 0; op < times.size(); ++op) {
    const double expected = times[op].estimate * median;
    const double beyond = times[op].measured - expected;
    if (expected <= 0 || times[op].ratio() < min_ratio * median ||
        beyond < min_beyond * context.wall()) {
      continue;
    }
    slow.push_back({op, beyond});
    factors[op] = expected / times[op].measured;
  }
  if (slow.empty()) return DoesNotApply{};
  for (std::size_t op = 0; op < wholes.size(); ++op) factors[op] = factors[wholes[op]];
  sort_rows(slow.begin(), slow.end(),
            [](const Slow& a, const Slow& b) { return a.beyond > b.beyond; });
  const Slow& worst = slow.front();
  Finding finding;
  finding.title = fmt::format("{} takes {:.1f} times as long as its estimate says",
                              name_of(profile, worst.op), times[worst.op].ratio() / median);
  if (slow.size() > 1) {
    finding.title =
        fmt::format("{} ops take longer than their estimates say; {} {:.1f} times", slow.size(),
                    name_of(profile, worst.op), times[worst.op].ratio() / median);
  }
  double beyond = 0;
  for (const Slow& each : slow) beyond += each.beyond;
  finding.evidence.push_back(count_evidence("ops", "ops", double(slow.size()), "ops"));
  const double inferences =
      double(std::max<std::uint64_t>(1, context.analysis().coarse().inferences.count));
  finding.evidence.push_back(ticks_evidence("beyond", "beyond estimates, mean inference",
                                            beyond / inferences, MeasureKind::work, source));
  for (std::size_t i = 0; i < std::min(slow.size(), ops_named); ++i) {
    const std::size_t op = slow[i].op;
    add_evidence(finding, name_of(profile, op), times[op], median, inferences);
  }
  finding.weight = Weight::medium;
  finding.places = places_of_ops(context, factors);
  finding.advice =
      "The compiler chose tiles and kernels by estimates that are wrong here. Look at which unit "
      "does the work (a kernel without an estimate of its own, on a slow unit), at transfers that "
      "share the memory, and at what the host does in between; try another form of the op, and "
      "tell the compiler's authors.";
  return trial_of(std::move(finding), std::move(factors),
                  "these ops take what their estimates say at the median ratio");
}

}  // namespace slower_than_estimated

const Rule slower_than_estimated_rule{"slower-than-estimated", slower_than_estimated::apply};

}  // namespace npuscope::analysis
