#include <algorithm>

#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/stated_use.hpp"
#include "profile/names.hpp"

namespace npuscope::analysis {
namespace memory_bound {

constexpr double low_compute = 0.5;
constexpr Engine compute_engines[] = {Engine::hmx, Engine::hvx, Engine::compute};

// What the whole inference needs of the DDR's peak; none where the peak or the bytes are not known.
std::optional<double> share_of_ddr_peak(FindingContext& context) {
  return context.placement().of(Resource::ddr);
}

RuleOutcome of_timeline(FindingContext& context) {
  double compute = 0, compute_active = 0;
  for (const Engine engine : compute_engines) {
    compute = std::max(compute, context.domain_share(engine));
    compute_active = std::max(compute_active, context.active_share(engine));
  }
  const double dma = context.domain_share(Engine::dma);
  const auto ddr = share_of_ddr_peak(context);
  if (compute == 0) return DoesNotApply{};
  if (!context.knows_bandwidth()) return Missing{context.why_no_bandwidth()};
  const bool ddr_busy = context.placement().verdict == RooflineVerdict::memory;
  const bool dma_busy = dma >= bound_share && compute < low_compute;
  if (!ddr_busy && !dma_busy) return DoesNotApply{};
  Finding finding;
  finding.title =
      dma_busy ? fmt::format("Memory bound: DMA works for {} of the wall, compute for {}",
                             percent(context.active_share(Engine::dma)), percent(compute_active))
               : fmt::format("Memory bound: the DDR needs {} of the wall at its peak",
                             percent(ddr.value_or(0)));
  finding.weight = Weight::high;
  const char* hardware = "units: HARDWARE";
  if (dma > 0) {
    finding.evidence.push_back(share_evidence("dma_domain_share_of_wall",
                                              "DMA, the busiest engine, of the wall", dma,
                                              MeasureKind::domain, hardware));
  }
  if (ddr) {
    finding.evidence.push_back(share_evidence("ddr_share_of_peak", "DDR, of its peak", *ddr,
                                              MeasureKind::count,
                                              "memory: ROOFLINE, " + context.peaks().source));
  }
  for (const Engine engine : compute_engines) {
    const double share = context.domain_share(engine);
    if (share == 0) continue;
    finding.evidence.push_back(
        share_evidence(std::string(stable_name(engine)) + "_domain_share_of_wall",
                       std::string(name_of(engine)) + ", the busiest, of the wall", share,
                       MeasureKind::domain, hardware));
  }
  const auto intensity = context.placement().intensity;
  if (intensity) {
    finding.evidence.push_back({"macs_per_ddr_byte", "MACs for each byte of DDR", *intensity,
                                EvidenceQuantity::number, MeasureKind::count, "memory: ROOFLINE"});
  }
  finding.places = places_where(context, work_of(context.profile(), Domain::movement), no_spans());
  finding.gain =
      context.gain_of_wall(context.part(Part::movement_alone) + context.part(Part::waiting_for_dma),
                           "the time in which data moves, or is waited for, and nothing computes");
  finding.advice = context.words(
      {.usual = "Do more with each byte: a larger batch shares the weights among its members "
                "(decoding one token reads all weights for one row), weights of fewer bits are "
                "fewer bytes, and tensors that stay in VTCM are not read twice. Faster kernels "
                "gain nothing here.",
       .sigmastar_ipu =
           "Do more with each byte: 8-bit operators move half the bytes of 16-bit ones, a "
           "larger batch shares the weights among its images, and operators that are fused "
           "into one layer hand their results on without a way through DDR (npuscope ipu "
           "operators lists the groups). Faster conv or vector work gains nothing here.",
       .neutral = "Do more with each byte: a larger batch shares the weights among its members "
                  "(decoding one token reads all weights for one row), weights of fewer bits are "
                  "fewer bytes, and tensors that stay on chip are not read twice. Faster kernels "
                  "gain nothing here."});
  return finding;
}

// A summary without a timeline: what its threads and its table of ops say.
RuleOutcome of_summary(FindingContext& context) {
  const auto hmx = stated_use(context, Engine::hmx), hvx = stated_use(context, Engine::hvx);
  if (!hmx || !hvx) return Missing{"a timeline of units, or their utilisation"};
  const auto in_flight = transfers_of_cores_time(context);
  if (!in_flight) return Missing{"times of transfers, or the length of an inference"};
  if (std::max(hmx->share, hvx->share) >= low_compute || *in_flight < bound_share) {
    return DoesNotApply{};
  }
  Finding finding;
  finding.title = fmt::format("Memory bound: DDR transfers take {} of the wall of all cores",
                              percent(*in_flight));
  finding.weight = Weight::high;
  finding.evidence = {
      share_evidence("dma_work_share_of_cores_time",
                     "transfers of DDR, issue to completion, of the wall of all cores", *in_flight,
                     MeasureKind::work, "ops: ucycles of aiccopy…"),
      share_evidence("hmx_stated_use", "HMX, the busiest, of its time", hmx->share,
                     MeasureKind::unit_busy, "units: REPORTED BY THE FILES", hmx->unit),
      share_evidence("hvx_stated_use", "HVX, the busiest thread, of its time", hvx->share,
                     MeasureKind::unit_busy, "units: REPORTED BY THE FILES", hvx->unit)};
  finding.no_gain = "a summary does not say what runs at the same time";
  finding.advice =
      "Do more with each byte: a larger batch shares the weights among its members, weights of "
      "fewer bits are fewer bytes, and tensors that stay in VTCM are not read twice. The trace of "
      "the same run (npuscope opstats --trace) tells what it could gain.";
  return finding;
}

RuleOutcome apply(FindingContext& context) {
  return context.has_timeline() ? of_timeline(context) : of_summary(context);
}

}  // namespace memory_bound

const Rule memory_bound_rule{
    {"memory-bound", "low HMX and HVX beside busy DDR: bytes take the time",
     "The DDR's share of its peak over the wall (the roofline of npuscope memory), or the busiest "
     "DMA engine's share of the wall, against the busiest unit that computes. Of a summary without "
     "a timeline: the ucycles of copies by the wall of all cores, against the utilisation that it "
     "states. Gain: the time in which data moves or is waited for and nothing computes.",
     "DDR at 65 % of its peak or more; or a DMA engine busy for 65 % of the wall while no unit "
     "that computes is for 50 %",
     "65 %: the bound that roofline tools of NPUs use (tt-perf-report); 50 %: users' rule for "
     "compute bound on Cloud AI 100 (HMX above 50 %)",
     "Bandwidth that another process or device takes. The peak is that of the target, not of this "
     "board. On the HTP a lane shows the issue of a transfer, not its length, so without --target "
     "the rule cannot be tried there."},
    memory_bound::apply};

}  // namespace npuscope::analysis
