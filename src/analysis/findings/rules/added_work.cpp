// Rules about work that the model does not ask for: spills, conversions of formats.
#include <algorithm>
#include <cctype>

#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"

namespace npuscope::analysis {

namespace spill {

constexpr double min_share_of_wall = 0.01;
constexpr double min_share_of_reads = 0.25;

double exposed_of(const SpillSide& side) { return double(side.exposed.value_or(side.alone)); }

void add_side(Finding& finding, const char* name, const SpillSide& side, Route ddr) {
  const std::string key(name);
  const char* source = "memory: SPILL AND FILL";
  finding.evidence.push_back(
      count_evidence(key + "_instances", key + ", executions", double(side.instances), source));
  if (const auto bytes = at(side.bytes, ddr)) {
    finding.evidence.push_back(
        bytes_evidence(key + "_ddr_bytes", key + ", DDR bytes", double(*bytes), source));
  }
  finding.evidence.push_back(
      ticks_evidence(key + "_work", key + ", work", double(side.work), MeasureKind::work, source));
  if (side.exposed) {
    finding.evidence.push_back(ticks_evidence(key + "_exposed", key + ", on the dominant path",
                                              double(*side.exposed), MeasureKind::dominant_path,
                                              source));
  }
  finding.evidence.push_back(ticks_evidence(key + "_alone", key + ", while nothing else works",
                                            double(side.alone), MeasureKind::active, source));
}

RuleOutcome apply(FindingContext& context) {
  const Spill& spill = context.analysis().spill();
  if (!spill.any()) {
    if (context.profile().ops.empty()) return Missing{"ops"};
    return DoesNotApply{};
  }
  if (!context.has_timeline()) return Missing{context.no_timeline()};
  const double waited = double(spill.waited_alone);
  const double exposed = exposed_of(spill.spill) + exposed_of(spill.fill) + waited;
  const auto fills = at(spill.fill.bytes, Route::ddr_read);
  const auto reads = context.analysis().traffic().total(Route::ddr_read).best();
  const double share_of_reads = fills && reads && *reads > 0 ? double(*fills) / double(*reads) : 0;
  if (exposed < min_share_of_wall * context.wall() && share_of_reads < min_share_of_reads) {
    return DoesNotApply{};
  }
  Finding finding;
  finding.title =
      exposed >= min_share_of_wall * context.wall()
          ? fmt::format("Spill and fill of tensors take {} of the wall",
                        percent(exposed / context.wall()))
          : fmt::format("Fills of spilled tensors are {} of DDR reads", percent(share_of_reads));
  finding.weight = exposed >= 0.1 * context.wall() ? Weight::high : Weight::medium;
  add_side(finding, "spill", spill.spill, Route::ddr_write);
  add_side(finding, "fill", spill.fill, Route::ddr_read);
  if (waited > 0) {
    finding.evidence.push_back(ticks_evidence("waited_alone", "waited for, while nothing works",
                                              waited, MeasureKind::active,
                                              "memory: SPILL AND FILL, less what works meanwhile"));
  }
  if (share_of_reads > 0) {
    finding.evidence.push_back(share_evidence("fill_share_of_ddr_read", "fill, of all DDR reads",
                                              share_of_reads, MeasureKind::count,
                                              "memory: SPILL AND FILL, TRAFFIC"));
  }
  std::vector<bool> ops(context.profile().ops.size(), false);
  for (const OpId op : spill.ops) ops[index_of(op)] = true;
  finding.places = places_of_ops(context, ops);
  finding.advice =
      "Make the tensors between two ops smaller: tile along a dimension that both keep (heads, "
      "rows), use narrower types, or a smaller batch. npuscope memory lists the spilled tensors "
      "and how long each was away.";
  Trial trial = trial_of(std::move(finding), factors_of(ops, 0), "spills and fills take no time");
  // Where a lane shows the issue only, the rest of a transfer is a wait.
  if (waited > 0 && context.analysis().coarse().inferences.count <= 1) {
    trial.judge = [waited](FindingContext& of, Finding& found) {
      found.gain = of.gain_of_wall(found.gain->ticks + waited,
                                   found.gain->how + ", and nothing waits for them");
      return true;
    };
  }
  return trial;
}

}  // namespace spill

const Rule spill_rule{"spill", spill::apply};

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
    Evidence time = ticks_evidence("time", each.name, each.time, each.kind, "ops: by rule");
    time.clock = each.clock;
    finding.evidence.push_back(std::move(time));
    finding.evidence.push_back(share_evidence("share", timed ? "share of wall" : "share of all ops",
                                              each.share, each.kind, "ops: by rule", each.name));
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

const Rule boundary_tax_rule{"boundary-tax", boundary_tax::apply};

}  // namespace npuscope::analysis
