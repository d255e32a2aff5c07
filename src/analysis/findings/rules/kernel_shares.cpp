// Rules about the share of one sort of kernel: softmax, transposes.
#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"
#include "analysis/inference_times.hpp"

namespace npuscope::analysis {
namespace {

// What the rules on one sort of kernel share.
struct KernelShare {
  const char* kernel;  // of rules/kernels.toml
  const char* title;   // of the finding, up to the share: "Softmax takes"
  Wording advice;
};

// A finding when it takes a tenth of the wall, or of all ops where there is no timeline.
RuleOutcome kernel_share(FindingContext& context, const KernelShare& rule) {
  constexpr double min_share = 0.1;
  if (context.profile().ops.empty()) return Missing{"ops"};
  const auto times = context.kernel_times({rule.kernel});
  if (times.empty() || times.front().share < min_share) return DoesNotApply{};
  const KernelTime& each = times.front();
  const bool timed = context.has_timeline();
  Finding finding;
  finding.title =
      fmt::format("{} {} of {}", rule.title, percent(each.share), timed ? "the wall" : "all ops");
  Evidence time = ticks_evidence("time", rule.kernel, each.time, each.kind, "ops: by rule");
  time.clock = each.clock;
  finding.evidence = {std::move(time),
                      share_evidence("share", timed ? "share of wall" : "share of all ops",
                                     each.share, each.kind, "ops: by rule")};
  if (each.runs > 0) {  // time and share are those of one inference
    const bool are_several = context.analysis().inferences().count() > 1;
    finding.evidence.push_back(
        count_evidence("runs", are_several ? "executions in all inferences" : "executions",
                       double(each.runs), "ops: by rule"));
  }
  finding.advice = context.words(rule.advice);
  if (!timed) {
    finding.no_gain = context.why_no_path();
    return finding;
  }
  const std::vector<bool> ops = context.ops_of({rule.kernel});
  finding.places = places_of_ops(context, ops);
  return trial_of(std::move(finding), factors_of(ops, 0), "they take no time");
}

}  // namespace

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
               "counts.",
           .neutral =
               "Keep its input in a narrow type, fuse it into attention (one pass with the "
               "products on either side, no score matrix in memory), and mask before it rather "
               "than in ops of their own."}});
}

}  // namespace softmax

const Rule softmax_rule{"softmax", softmax::apply};

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

const Rule transpose_rule{"transpose", transpose::apply};

}  // namespace npuscope::analysis
