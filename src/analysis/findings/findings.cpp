#include "npuscope/analysis/findings.hpp"

#include <fmt/format.h>

#include <array>

#include "analysis/answers.hpp"
#include "analysis/findings/rules/rules.hpp"
#include "base/near_names.hpp"
#include "base/parallel.hpp"
#include "base/sort_rows.hpp"

namespace npuscope::analysis {
namespace {

const auto& all_rules() {
  static const std::array rules{&mostly_empty_rule,    &cold_inference_rule,
                                &memory_bound_rule,    &window_bound_rule,
                                &token_share_rule,     &other_backends_rule,
                                &lost_events_rule,     &unreported_launches_rule,
                                &exposed_dma_rule,     &exposed_communication_rule,
                                &no_unit_busy_rule,    &vector_bound_rule,
                                &serialised_rule,      &uneven_threads_rule,
                                &slow_packets_rule,    &slower_than_estimated_rule,
                                &first_calls_rule,     &spill_rule,
                                &boundary_tax_rule,    &transpose_rule,
                                &softmax_rule,         &tiny_dma_rule,
                                &one_core_rule,        &one_thread_rule,
                                &imbalance_rule,       &false_dependency_rule,
                                &dispatch_bound_rule,  &host_bound_rule,
                                &host_fallback_rule,   &host_overhead_rule,
                                &idle_between_rule,    &system_throughput_rule,
                                &throttled_clock_rule, &dma_issue_rule,
                                &uncounted_waits_rule, &aggregate_read_as_wall_rule,
                                &overrun_rule,         &all_zero_rule};
  return rules;
}

// What nothing would come of is no finding: work that others hide costs nothing.
constexpr double min_gain = 0.005;

bool is_worth_telling(const Finding& finding) {
  return !finding.gain || finding.gain->share >= min_gain;
}

class Ranking {
 public:
  explicit Ranking(const std::optional<Call>& call) {
    if (call && call->warm) device_share_ = call->device_seconds() / call->seconds();
  }

  bool operator()(const Finding& a, const Finding& b) const {
    if (place_of(a) != place_of(b)) return place_of(a) < place_of(b);
    if (a.gain && share_of(*a.gain) != share_of(*b.gain)) {
      return share_of(*a.gain) > share_of(*b.gain);
    }
    return a.weight > b.weight;
  }

 private:
  // Gains of the denominator, then gains outside of it, then none.
  int place_of(const Finding& finding) const {
    if (!finding.gain) return 2;
    return finding.gain->of_wall || finding.gain->of_call ? 0 : 1;
  }
  double share_of(const Gain& gain) const {
    if (gain.of_call) return gain.of_call->share;
    return gain.share * device_share_.value_or(1);
  }

  std::optional<double> device_share_;
};

// All, or the one of this name.
std::vector<const Rule*> rules_to_try(const std::string& only) {
  std::vector<const Rule*> rules;
  for (const Rule* rule : all_rules()) {
    if (only.empty() || only == rule->name) rules.push_back(rule);
  }
  return rules;
}

RuleOutcome outcome_of(Trial trial, std::optional<Gain> gain, FindingContext& context) {
  Finding& finding = trial.finding;
  finding.gain = std::move(gain);
  const bool applies =
      finding.gain ? !trial.judge || trial.judge(context, finding) : !trial.needs_path;
  if (!applies) return DoesNotApply{};
  if (!finding.gain) finding.no_gain = context.why_no_path();
  return std::move(finding);
}

// Trying takes passes over all spans, which several trials share.
void finish_trials(std::vector<RuleOutcome>& outcomes, FindingContext& context) {
  std::vector<FindingContext::TriedFactors> tried;
  for (RuleOutcome& outcome : outcomes) {
    auto* trial = std::get_if<Trial>(&outcome);
    if (trial != nullptr) tried.push_back({std::move(trial->factors), std::move(trial->how)});
  }
  const std::vector<std::optional<Gain>> gains = context.gains_if(std::move(tried));
  std::size_t next = 0;
  for (RuleOutcome& outcome : outcomes) {
    auto* trial = std::get_if<Trial>(&outcome);
    if (trial != nullptr) outcome = outcome_of(std::move(*trial), gains[next++], context);
  }
}

// Of a large profile side by side.
std::vector<RuleOutcome> outcomes_of(const std::vector<const Rule*>& rules,
                                     FindingContext& context) {
  std::vector<RuleOutcome> outcomes(rules.size());
  // Of a simulator's run the times are the host's: what they say is of no use on hardware.
  const bool has_times = context.profile().provenance.simulator_slowdown == 0;
  constexpr std::size_t many_spans = 100'000;
  const bool is_large = rules.size() > 1 && context.profile().spans.size() > many_spans;
  if (is_large) context.prepare();
  for (const bool asks_path : {false, true}) {
    if (is_large && asks_path) context.prepare_path();
    const auto apply = [&](std::size_t i) {
      if (rules[i]->asks_path != asks_path) return;
      outcomes[i] = has_times ? rules[i]->apply(context) : Missing{"times of the hardware"};
    };
    if (is_large) {
      parallel_for(rules.size(), apply);
    } else {
      for (std::size_t i = 0; i < rules.size(); ++i) apply(i);
    }
  }
  finish_trials(outcomes, context);
  return outcomes;
}

}  // namespace

const char* name_of(Weight weight) {
  constexpr const char* names[] = {"low", "medium", "high"};
  return names[std::size_t(weight)];
}

const std::vector<std::string>& finding_rules() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> made;
    for (const Rule* rule : all_rules()) made.emplace_back(rule->name);
    return made;
  }();
  return names;
}

Status require_finding_rule(const std::string& name) {
  std::string names;
  for (const std::string& rule : finding_rules()) {
    if (rule == name) return {};
    names += (names.empty() ? "" : ", ") + rule;
  }
  return usage_error("unknown rule '{}'{}; the rules are: {}", name, did_you_mean(names, name),
                     names);
}

Diagnosis find_findings(const Analysis& analysis, const DiagnoseOptions& options) {
  FindingContext context(analysis, options);
  const std::vector<const Rule*> rules = rules_to_try(options.only);
  std::vector<RuleOutcome> outcomes = outcomes_of(rules, context);
  Diagnosis diagnosis;
  diagnosis.wall = context.has_timeline() ? context.analysis().coarse().wall : 0;
  diagnosis.cold = diagnosis.wall > 0 && context.is_cold();
  diagnosis.call = context.analysis().call();
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const char* name = rules[i]->name;
    auto* finding = std::get_if<Finding>(&outcomes[i]);
    if (finding != nullptr && is_worth_telling(*finding)) {
      finding->rule = name;
      diagnosis.findings.push_back(std::move(*finding));
    } else if (auto* missing = std::get_if<Missing>(&outcomes[i])) {
      diagnosis.untried.push_back({name, std::move(missing->what)});
    } else {
      diagnosis.quiet.push_back(name);
    }
  }
  sort_rows(diagnosis.findings.begin(), diagnosis.findings.end(), Ranking(diagnosis.call));
  return diagnosis;
}

}  // namespace npuscope::analysis
