#include "analysis/findings/rules/kernel_share.hpp"

namespace npuscope::analysis {
namespace transpose {

RuleOutcome apply(FindingContext& context) {
  return kernel_share(
      context,
      {.kernel = "transpose",
       .title = "Transposes take",
       .advice = {
           .usual =
               "Choose layouts so that products take their operands as they are (many compilers "
               "multiply by a transposed operand without moving it), fold transposes into the "
               "weights ahead of time, and move those that cancel each other together so that "
               "the compiler drops them.",
           .sigmastar_ipu =
               "Channels lie innermost on the chip: choose a model whose layers take and give "
               "that order, and remove transposes that cancel each other before the model is "
               "converted."}});
}

}  // namespace transpose

const Rule transpose_rule{
    {"transpose", "transposes above a tenth",
     "The active time of kernels that rules/kernels.toml names so, of the wall; of a table without "
     "timeline their part of all ops. Gain: the wall's longest path with all of them taking no "
     "time.",
     "10 % of the wall, or of the work of all ops without a timeline",
     "10 %: AWS Neuron Explorer's advice (transpose work above 10 %)",
     "Transposes that a DMA engine does while it copies, and those inside other kernels."},
    transpose::apply};

}  // namespace npuscope::analysis
