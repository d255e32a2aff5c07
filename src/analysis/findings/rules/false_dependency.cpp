#include <algorithm>

#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"
#include "analysis/graph/false_dependencies.hpp"
#include "analysis/ops/op_times.hpp"

namespace npuscope::analysis {
namespace false_dependency {

constexpr double min_share = 0.01;
constexpr std::size_t max_named = 5;

std::string name_of_op(const Profile& profile, OpId id) {
  if (index_of(id) >= profile.ops.size()) return {};
  const Op& op = profile.ops[index_of(id)];
  return std::string(profile.text(op.label()));
}

RuleOutcome apply(FindingContext& context) {
  const Profile& profile = context.profile();
  if (profile.tensor_uses.empty()) return Missing{"the compiled graph with its tensors"};
  if (!context.has_timeline()) return Missing{"a timeline of units"};
  const SharedTensors shared =
      shared_tensors(profile, context.analysis().graph(), context.analysis().op_times());
  double waited = 0;
  std::vector<const SharedTensor*> waits;
  for (const SharedTensor& tensor : shared.findings) {
    if (tensor.verdict != SharingVerdict::waited) continue;
    waits.push_back(&tensor);
    waited += double(tensor.waited);
  }
  const Spread& inferences = context.analysis().coarse().inferences;
  const double wall = inferences.count > 1 ? inferences.median_of_rest : context.wall();
  if (waits.empty() || waited < min_share * wall) return DoesNotApply{};
  Finding finding;
  finding.title = fmt::format("Independent branches wait for {} shared tensor{}", waits.size(),
                              waits.size() == 1 ? "" : "s");
  finding.weight = Weight::high;
  const char* source = "graph: FALSE DEPENDENCIES";
  for (std::size_t i = 0; i < std::min(waits.size(), max_named); ++i) {
    const SharedTensor& each = *waits[i];
    const Tensor& tensor = profile.tensors[each.tensor];
    const std::string name(profile.text(tensor.name));
    finding.evidence.push_back(ticks_evidence(
        "waited",
        name_of_op(profile, each.second) + " waited for " + name_of_op(profile, each.first),
        double(each.waited), MeasureKind::span, source, name));
    finding.evidence.push_back(bytes_evidence("tensor_bytes", "bytes of the tensor",
                                              double(tensor.size.value), source, name));
  }
  std::vector<bool> late(profile.ops.size(), false);
  for (const SharedTensor* each : waits) late[index_of(each->second)] = true;
  finding.places = places_of_ops(context, late);
  finding.gain = context.gain_of_wall(
      waited, "all of these waits, as if none were at once with another", wall);
  finding.advice = context.words(
      {.usual = "Compilers keep one of equal constants: give each branch scratch that cannot be "
                "merged (different contents, or a graph input instead of a constant), and check "
                "with npuscope graph that it stays apart.",
       .sigmastar_ipu =
           "Converters keep one of equal constants: give each branch data that cannot be "
           "merged (different contents, or an input of the model instead of a constant), and "
           "check with npuscope graph that it stays apart."});
  return finding;
}

}  // namespace false_dependency

const Rule false_dependency_rule{
    {"false-dependency", "a shared constant or scratch orders branches that are independent",
     "The shared tensors of npuscope graph whose second user had a free unit "
     "and all its inputs, and began only when the first had ended. Gain: the sum of these waits.",
     "1 % of the wall of an inference; tensors of 4 KiB or more that custom ops use",
     "the case of two GdnMergeHmx ops with one merged scratch, found by Qualcomm HTP users; bounds "
     "are npuscope's own",
     "Kernels of the vendor's own are taken to only read their constants. Waits for reused memory "
     "are in npuscope graph, not here."},
    false_dependency::apply};

}  // namespace npuscope::analysis
