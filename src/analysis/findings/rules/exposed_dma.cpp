#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"

#include <algorithm>

namespace npuscope::analysis {
namespace exposed_dma {

constexpr double min_share = 0.1;

RuleOutcome apply(FindingContext& context) {
  if (!context.has_timeline()) return Missing{"a timeline of units"};
  // Where bandwidth is the bound, hiding transfers better gains nothing.
  if (std::holds_alternative<Finding>(memory_bound_rule.apply(context))) return DoesNotApply{};
  const double moving = context.part(Part::movement_alone);
  const double waiting = context.part(Part::waiting_for_dma);
  if (!(context.analysis().coarse().compute_active > 0)) return DoesNotApply{};
  if (moving + waiting < min_share * context.wall()) return DoesNotApply{};
  Finding finding;
  finding.title = fmt::format("Exposed data movement and DMA waits take {} of the wall",
                              percent((moving + waiting) / context.wall()));
  finding.weight = Weight::high;
  finding.evidence = {
      share_evidence("exposed_share_of_wall", "share of wall, both below",
                     (moving + waiting) / context.wall(), MeasureKind::wall, "show: WALL"),
      ticks_evidence("movement_alone", "data movement, nothing computes", moving, MeasureKind::wall,
                     "show: WALL"),
      ticks_evidence("waiting_for_dma_alone", "waiting for DMA, nothing works", waiting,
                     MeasureKind::wall, "show: WALL")};
  const auto& rows = context.analysis().units().units;
  const auto max = std::max_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.waiting_for_dma < b.waiting_for_dma;
  });
  if (max != rows.end() && max->waiting_for_dma > 0) {
    const std::string unit = path_of(context.profile(), max->unit);
    finding.evidence.push_back(ticks_evidence("dma_wait", "DMA wait of a unit, the longest",
                                              double(max->waiting_for_dma), MeasureKind::unit_busy,
                                              "units: UNITS", unit));
    finding.evidence.push_back(share_evidence("dma_wait_share_of_wall", "share of wall",
                                              double(max->waiting_for_dma) / context.wall(),
                                              MeasureKind::unit_busy, "units: UNITS", unit));
  }
  const Profile& profile = context.profile();
  finding.places = places_where(
      context,
      [&](UnitId unit, const SpanOfUnit& span) {
        return span.kind == SpanKind::dma_wait || work_of(profile, Domain::movement)(unit, span);
      },
      work_of(profile, Domain::compute));
  finding.gain = context.gain_by_hiding(moving + waiting, "all of that time hidden behind work");
  finding.advice = context.words(
      {.usual = "Start transfers earlier: fetch the next weights while the present ones are "
                "multiplied (double buffering needs VTCM for both), keep what fits in VTCM across "
                "inferences, and make the first kernels not wait for the whole input. npuscope "
                "path names the transfers that others waited for.",
       .sigmastar_ipu =
           "The IPU loads the weights of the next layer while a layer runs, but a layer's "
           "inputs only when the layers before it have stored them. Fewer bytes help: "
           "operators fused into one layer (npuscope ipu operators lists the groups), 8 bits "
           "instead of 16, smaller tensors between layers. npuscope path names the transfers "
           "that others waited for.",
       .neutral = "Start transfers earlier: fetch the next weights while the present ones are "
                  "multiplied (double buffering needs on-chip memory for both), keep on chip what "
                  "fits across inferences, and make the first kernels not wait for the whole "
                  "input. npuscope path names the transfers that others waited for."});
  if (!context.knows_bandwidth()) {
    finding.advice +=
        " Whether the DDR is busy meanwhile needs its peak to tell (--target): if it is, only "
        "fewer bytes help.";
  }
  return finding;
}

}  // namespace exposed_dma

const Rule exposed_dma_rule{
    {"exposed-dma", "transfers and waits for them that no work hides",
     "Two parts of the wall of npuscope show: data movement alone, and waiting for DMA while "
     "nothing works. On the HTP movement is the issue on a thread, and the rest of a transfer "
     "shows as a wait. Gain: all of it, but no more than the busiest unit leaves of the wall.",
     "10 % of the wall; not where memory-bound applies, because there hiding gains nothing",
     "10 %: what users of Cloud AI 100 tools count as acceptable overhead",
     "Waits that are recorded as semaphores, and transfers that are not recorded. Part of the time "
     "may be unavoidable: the first input must arrive before anything can start."},
    exposed_dma::apply};

}  // namespace npuscope::analysis
