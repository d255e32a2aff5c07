#include <algorithm>
#include <cctype>

#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"

namespace npuscope::analysis {
namespace boundary_tax {

constexpr double min_share = 0.1;
constexpr const char* boundary_kernels[] = {"format conversion", "input and output slices",
                                            "concatenation and slices"};

// Of the sort that takes most: "Format conversion takes 46.1 % of the wall".
std::string title_of(const std::vector<KernelTime>& times, const char* whole) {
  const auto shorter = [](const KernelTime& a, const KernelTime& b) { return a.share < b.share; };
  const KernelTime& most = *std::max_element(times.begin(), times.end(), shorter);
  const bool is_plural = most.name.ends_with('s');
  std::string title = fmt::format("{} {} {} of {}", most.name, is_plural ? "take" : "takes",
                                  percent(most.share), whole);
  title.front() = char(std::toupper(static_cast<unsigned char>(title.front())));
  return title;
}

RuleOutcome apply(FindingContext& context) {
  if (context.profile().ops.empty()) return Missing{"ops"};
  const std::vector<std::string_view> names(std::begin(boundary_kernels),
                                            std::end(boundary_kernels));
  const auto times = context.kernel_times(names);
  double share = 0;
  for (const KernelTime& each : times) share += each.share;
  if (share < min_share) return DoesNotApply{};
  const bool timed = context.has_timeline();
  Finding finding;
  finding.title = title_of(times, timed ? "the wall" : "all ops");
  finding.weight = share >= 0.25 ? Weight::high : Weight::medium;
  for (const KernelTime& each : times) {
    Evidence time = ticks_evidence("time", each.name, each.time, each.kind, "ops: by kernel");
    time.clock = each.clock;
    finding.evidence.push_back(std::move(time));
    finding.evidence.push_back(share_evidence("share", timed ? "share of wall" : "share of all ops",
                                              each.share, each.kind, "ops: by kernel", each.name));
  }
  finding.advice = context.words(
      {.usual = "Keep tensors in one layout from op to op: give inputs and outputs the layout and "
                "type that the first and last ops work in, put ops that force another layout "
                "together, fuse what is only reshaped between two matrix products, and avoid a "
                "custom op that wants flat tensors in the middle of others.",
       .sigmastar_ipu =
           "Concatenations, slices and reshapes move bytes and compute nothing. Channels lie "
           "innermost on the chip, so that a concatenation along them interleaves its inputs "
           "pixel by pixel: let the layers that follow read the parts where the model allows "
           "it, feed images in the format that the chip takes (input_formats), and leave "
           "outputs in whole numbers where the CPU can use them (no Fix2Float)."});
  if (!timed) {
    finding.no_gain = context.why_no_path();
    return finding;
  }
  const std::vector<bool> ops = context.ops_of(names);
  finding.places = places_of_ops(context, ops);
  return trial_of(std::move(finding), factors_of(ops, 0),
                  "these conversions and slices take no time");
}

}  // namespace boundary_tax

const Rule boundary_tax_rule{
    {"boundary-tax", "conversions of layout, slices and concatenations between ops",
     "The active time of kernels that rules/kernels.toml names so: ForceFormat, flat_from_vtcm, "
     "d32 conversions, InputSlice and OutputSlice, Concat and Slice. Of a table without timeline: "
     "their part of all ops. Spill and fill are a rule of their own. Gain: the wall's longest path "
     "with all of it taking no time.",
     "10 % of the wall, or of the work of all ops without a timeline",
     "10 %: what users of Cloud AI 100 tools count as acceptable overhead",
     "Conversions inside other kernels. The sorts may overlap each other, so that their shares sum "
     "to a little more than the time in which any runs."},
    boundary_tax::apply};

}  // namespace npuscope::analysis
