#include "analysis/findings/rules/kernel_share.hpp"

namespace npuscope::analysis {
namespace softmax {

RuleOutcome apply(FindingContext& context) {
  return kernel_share(
      context,
      {.kernel = "softmax",
       .title = "Softmax takes",
       .advice = {
           .usual =
               "Softmax runs on the vector unit: keep its input in a narrow type, split it over "
               "all threads and cores by heads, fuse it into attention (one pass with the "
               "products on either side, no score matrix in DDR), and mask before it rather than "
               "in ops of their own.",
           .sigmastar_ipu =
               "Softmax runs on the vector engine, in several passes over its input: keep that "
               "in 8 bits, apply it to no more elements than are needed (after a selection, not "
               "before it), and leave a last one to the CPU where only the largest value "
               "counts."}});
}

}  // namespace softmax

const Rule softmax_rule{
    {"softmax", "softmax above a tenth",
     "The active time of kernels that rules/kernels.toml names so, of the wall; of a table without "
     "timeline their part of all ops. Gain: the wall's longest path with all of them taking no "
     "time.",
     "10 % of the wall, or of the work of all ops without a timeline",
     "10 %: the same bound as for transposes; npuscope's own",
     "Softmax inside a fused attention kernel."},
    softmax::apply};

}  // namespace npuscope::analysis
