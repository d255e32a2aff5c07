// What a rule is: its words, and a function that looks at the analyses.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/findings/context.hpp"

namespace npuscope::analysis {

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
  RuleText text;
  RuleOutcome (*apply)(FindingContext& context);
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

}  // namespace npuscope::analysis
