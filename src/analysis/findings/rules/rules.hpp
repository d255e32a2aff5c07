// All rules, by their subject in the files of this folder.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/findings/context.hpp"

namespace npuscope::analysis {

// What a rule is: its name in docs/rules.md, and a function that looks at the analyses.
struct DoesNotApply {};
// What the profile does not say.
struct Missing {
  std::string what;
};

// A finding whose gain is what the wall of the inference nearest the median loses when each op
// takes such a part of its time, by longest path. Those of all rules are tried together.
struct Trial {
  Finding finding;
  std::vector<double> factors;  // by op; none: 1
  std::string how;              // completes "by longest path: …"
  // What becomes of the finding when its gain is known; false: it does not apply.
  std::function<bool(FindingContext&, Finding&)> judge = {};
  bool needs_path = false;  // it does not apply where there is no path to try it on
};

using RuleOutcome = std::variant<DoesNotApply, Missing, Finding, Trial>;

struct Rule {
  const char* name;
  RuleOutcome (*apply)(FindingContext& context);
  bool asks_path = false;
};

inline Trial trial_of(Finding finding, std::vector<double> factors, std::string how) {
  return {std::move(finding), std::move(factors), std::move(how)};
}
// Of the ops that are marked, the same for each.
inline std::vector<double> factors_of(const std::vector<bool>& ops, double factor) {
  std::vector<double> factors;
  for (const bool is_changed : ops) factors.push_back(is_changed ? factor : 1);
  return factors;
}

// "46.1 %", for titles.
inline std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

// How evidence is put down; sources are the commands that show the same number.
inline Evidence ticks_evidence(std::string key, std::string what, double ticks, MeasureKind kind,
                               std::string source, std::string of = {}) {
  return {std::move(key), std::move(what),   ticks,        EvidenceQuantity::ticks,
          kind,           std::move(source), std::move(of)};
}
inline Evidence share_evidence(std::string key, std::string what, double share, MeasureKind kind,
                               std::string source, std::string of = {}) {
  return {std::move(key), std::move(what),   share,        EvidenceQuantity::share,
          kind,           std::move(source), std::move(of)};
}
inline Evidence count_evidence(std::string key, std::string what, double count, std::string source,
                               std::string of = {}) {
  return {std::move(key),     std::move(what),   count,        EvidenceQuantity::count,
          MeasureKind::count, std::move(source), std::move(of)};
}
inline Evidence bytes_evidence(std::string key, std::string what, double bytes, std::string source,
                               std::string of = {}) {
  return {std::move(key),     std::move(what),   bytes,        EvidenceQuantity::bytes,
          MeasureKind::count, std::move(source), std::move(of)};
}
inline Evidence hertz_evidence(std::string key, std::string what, double hertz, std::string source,
                               std::string of = {}) {
  return {std::move(key),     std::move(what),   hertz,        EvidenceQuantity::hertz,
          MeasureKind::count, std::move(source), std::move(of)};
}
inline Evidence seconds_evidence(std::string key, std::string what, double seconds,
                                 MeasureKind kind, std::string source, std::string of = {}) {
  return {std::move(key), std::move(what),   seconds,      EvidenceQuantity::seconds,
          kind,           std::move(source), std::move(of)};
}

extern const Rule aggregate_read_as_wall_rule;
extern const Rule all_zero_rule;
extern const Rule boundary_tax_rule;
extern const Rule cold_inference_rule;
extern const Rule dispatch_bound_rule;
extern const Rule dma_issue_rule;
extern const Rule exposed_communication_rule;
extern const Rule exposed_dma_rule;
extern const Rule false_dependency_rule;
extern const Rule first_calls_rule;
extern const Rule host_bound_rule;
extern const Rule host_fallback_rule;
extern const Rule host_overhead_rule;
extern const Rule idle_between_rule;
extern const Rule imbalance_rule;
extern const Rule lost_events_rule;
extern const Rule memory_bound_rule;
extern const Rule mostly_empty_rule;
extern const Rule no_unit_busy_rule;
extern const Rule one_core_rule;
extern const Rule one_thread_rule;
extern const Rule other_backends_rule;
extern const Rule overrun_rule;
extern const Rule serialised_rule;
extern const Rule slow_packets_rule;
extern const Rule slower_than_estimated_rule;
extern const Rule softmax_rule;
extern const Rule spill_rule;
extern const Rule system_throughput_rule;
extern const Rule throttled_clock_rule;
extern const Rule tiny_dma_rule;
extern const Rule token_share_rule;
extern const Rule transpose_rule;
extern const Rule uncounted_waits_rule;
extern const Rule uneven_threads_rule;
extern const Rule unreported_launches_rule;
extern const Rule vector_bound_rule;
extern const Rule window_bound_rule;

// What a summary without a timeline says of its threads and transfers.

struct StatedUse {
  double share = 0;  // of the unit's own time
  std::string unit;
};

// The highest utilisation that the file tells of units of this class.
std::optional<StatedUse> stated_use(FindingContext& context, Engine engine);

// Work of transfers to and from DDR, issue to completion, by the wall of all cores; none where the
// profile does not tell their time on its base clock.
std::optional<double> transfers_of_cores_time(FindingContext& context);

}  // namespace npuscope::analysis
