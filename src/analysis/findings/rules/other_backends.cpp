// Which ops of a language model's graph ran on CPU or GPU, next to an NPU whose ops have windows:
// a log of the NPU alone has no times of them, and often does not say which they are.
#include <map>

#include "analysis/findings/rules/rules.hpp"
#include "base/sort_rows.hpp"

namespace npuscope::analysis {
namespace other_backends {

constexpr std::size_t max_reasons = 5;

struct Reason {
  std::string_view text;
  std::string_view first_op;
  double ops = 0;
};

// The most frequent first.
std::vector<Reason> reasons_of(const Profile& profile) {
  std::vector<Reason> reasons;
  std::map<std::string_view, std::size_t> place_of;
  for (const Op& op : profile.ops) {
    if (op.engine != Engine::host) continue;
    const std::string_view text = profile.text(op.attributes);
    const auto [place, is_new] = place_of.try_emplace(text, reasons.size());
    if (is_new) reasons.push_back({text, profile.text(op.label())});
    reasons[place->second].ops += 1;
  }
  sort_rows(reasons.begin(), reasons.end(),
            [](const Reason& a, const Reason& b) { return a.ops > b.ops; });
  return reasons;
}

RuleOutcome without_knowing() {
  Finding finding;
  finding.title = "The file does not say which ops ran on CPU or GPU";
  finding.weight = Weight::low;
  finding.no_gain = "affects the recording only";
  finding.advice =
      "Ops on CPU and GPU are not among the NPU's, and the lm head is often among them. Record "
      "again with GGML_SCHED_DEBUG=2 and -v, which prints the backend of each op, and "
      "GGML_HEXAGON_VERBOSE=1, which prints why the NPU refuses one; take times from a run "
      "without.";
  return finding;
}

RuleOutcome apply(FindingContext& context) {
  const Profile& profile = context.profile();
  if (profile.spans.measure(NumberRole::op_window) == nullptr) return Missing{"windows of ops"};
  double all = 0, elsewhere = 0;
  for (const Measure& measure : profile.measures) {
    if (measure.meaning.role == NumberRole::model_nodes) all = measure.value;
  }
  const std::vector<Reason> reasons = reasons_of(profile);
  for (const Reason& reason : reasons) elsewhere += reason.ops;
  if (!(elsewhere > 0)) {
    if (all > 0) return DoesNotApply{};
    return without_knowing();
  }
  Finding finding;
  const std::string count = fmt::format("{:.0f}", elsewhere);
  finding.title =
      all > 0
          ? fmt::format("{} of {:.0f} ops run on CPU or GPU, without times in the log", count, all)
          : fmt::format("The NPU refuses {} op{}, which run on CPU or GPU without times in the log",
                        count, elsewhere == 1 ? "" : "s");
  finding.weight = Weight::high;
  finding.evidence = {
      count_evidence("ops_elsewhere", "ops on CPU or GPU", elsewhere, "query: ops")};
  for (const Reason& reason : reasons) {
    if (finding.evidence.size() > max_reasons) break;
    finding.evidence.push_back(count_evidence("ops_by_reason", std::string(reason.text), reason.ops,
                                              "query: ops", std::string(reason.first_op)));
  }
  finding.no_gain = "what they would take on the NPU is unknown";
  finding.advice =
      "Each change of backend ends a batch of the NPU, and tensors cross. Requantise weights to a "
      "type that the NPU takes (q4_0 and q8_0 for most products), offload all layers (-ngl 99), "
      "leave GGML_HEXAGON_OPFILTER unset, and see whether a newer build has the op. What the NPU "
      "did not refuse is elsewhere because its weights are, or its neighbours: look at the model "
      "buffers that llama.cpp prints.";
  return finding;
}

}  // namespace other_backends

const Rule other_backends_rule{"other-backends", other_backends::apply};

}  // namespace npuscope::analysis
