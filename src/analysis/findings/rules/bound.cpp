// Rules about what bounds a run: memory, the vector units.
#include <algorithm>

#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"
#include "base/sort_rows.hpp"
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
  double compute = 0;
  for (const Engine engine : compute_engines) {
    compute = std::max(compute, context.domain_share(engine));
  }
  const double dma = context.domain_share(Engine::dma);
  const auto ddr = share_of_ddr_peak(context);
  if (compute == 0) return DoesNotApply{};
  // Where DMA is in flight until software collects it, it says nothing of the DDR.
  if (context.profile().spans.measure(NumberRole::op_window) != nullptr) return DoesNotApply{};
  if (!context.knows_bandwidth()) return Missing{context.why_no_bandwidth()};
  const bool ddr_busy = context.placement().verdict == RooflineVerdict::memory;
  const bool dma_busy = dma >= bound_share && compute < low_compute;
  if (!ddr_busy && !dma_busy) return DoesNotApply{};
  const double computing =
      (context.part(Part::compute_alone) + context.part(Part::compute_and_movement)) /
      context.wall();
  Finding finding;
  finding.title = dma_busy
                      ? fmt::format("Memory bound: DMA works for {} of the wall, compute for {}",
                                    percent(context.active_share(Engine::dma)), percent(computing))
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
                "gain less.",
       .sigmastar_ipu =
           "Do more with each byte: 8-bit operators move half the bytes of 16-bit ones, a "
           "larger batch shares the weights among its images, and operators that are fused "
           "into one layer hand their results on without a way through DDR (npuscope ipu "
           "operators lists the groups). Faster conv or vector work gains less.",
       .neutral = "Do more with each byte: a larger batch shares the weights among its members "
                  "(decoding one token reads all weights for one row), weights of fewer bits are "
                  "fewer bytes, and tensors that stay on chip are not read twice. Faster kernels "
                  "gain less."});
  return finding;
}

// A summary without a timeline: what its threads and its table of ops say.
RuleOutcome of_summary(FindingContext& context) {
  const auto hmx = stated_use(context, Engine::hmx), hvx = stated_use(context, Engine::hvx);
  if (!hmx || !hvx) return Missing{context.no_timeline() + ", or utilisation of units"};
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

const Rule memory_bound_rule{"memory-bound", memory_bound::apply};

namespace vector_bound {

constexpr double busy = 0.5;
constexpr std::size_t kernels_named = 3;

Finding made(double hvx, double hmx, const char* of) {
  Finding finding;
  finding.title =
      fmt::format("HVX is busy for {}, HMX for {} of {}", percent(hvx), percent(hmx), of);
  finding.weight = Weight::medium;
  finding.advice =
      "Faster matrix products gain nothing as long as the vector kernels take longer. Look at what "
      "these are: conversions of layout go when neighbours agree on one, chains of elementwise ops "
      "become one pass when they are fused, narrower types do more in an instruction, and what a "
      "matrix product can do (a reduction, a transpose by the identity) leaves the vector units.";
  return finding;
}

bool runs_on_hvx(const OpRow& row) {
  return !row.engines.empty() && row.engines.front() == Engine::hvx;
}

// The kernels that the vector units are busy with, the longest first.
void name_kernels(FindingContext& context, Finding& finding) {
  const OpTable& kinds = context.active_kinds();
  const auto active = kinds.place_of("active");
  if (!active) return;
  std::vector<const OpRow*> rows;
  for (const OpRow& row : kinds.rows) {
    if (runs_on_hvx(row) && row.values[*active].value_or(0) > 0) rows.push_back(&row);
  }
  sort_rows(rows.begin(), rows.end(), [&](const OpRow* a, const OpRow* b) {
    return *a->values[*active] > *b->values[*active];
  });
  if (rows.size() > kernels_named) rows.resize(kernels_named);
  for (const OpRow* row : rows) {
    finding.evidence.push_back(share_evidence("active_share_of_wall", "active, of the wall",
                                              *row->values[*active] / context.wall(),
                                              MeasureKind::active, "ops --by kind", row->name));
  }
}

std::vector<bool> ops_on_hvx(FindingContext& context) {
  const Profile& profile = context.profile();
  std::vector<StringId> labels;
  for (const OpRow& row : context.kinds().rows) {
    if (runs_on_hvx(row)) labels.push_back(row.label);
  }
  std::sort(labels.begin(), labels.end());
  std::vector<bool> ops(profile.ops.size(), false);
  for (std::size_t op = 0; op < ops.size(); ++op) {
    ops[op] = std::binary_search(labels.begin(), labels.end(), profile.ops[op].kind);
  }
  return ops;
}

RuleOutcome of_timeline(FindingContext& context) {
  const double hvx = context.domain_share(Engine::hvx), hmx = context.domain_share(Engine::hmx);
  if (hmx == 0 || hvx < busy || hvx <= hmx) return DoesNotApply{};
  // The first page draws the time in which any unit of a class works, and names that share.
  Finding finding =
      made(context.active_share(Engine::hvx), context.active_share(Engine::hmx), "the wall");
  const char* hardware = "units: HARDWARE";
  finding.evidence = {share_evidence("hvx_domain_share_of_wall", "HVX, the busiest, of the wall",
                                     hvx, MeasureKind::domain, hardware),
                      share_evidence("hmx_domain_share_of_wall", "HMX, the busiest, of the wall",
                                     hmx, MeasureKind::domain, hardware)};
  name_kernels(context, finding);
  const std::vector<bool> ops = ops_on_hvx(context);
  finding.places = places_of_ops(context, ops);
  return trial_of(std::move(finding), factors_of(ops, std::max(0.5, hmx / hvx)),
                  "kernels on HVX take half their time, or as much as HMX works");
}

RuleOutcome of_summary(FindingContext& context) {
  const auto hmx = stated_use(context, Engine::hmx), hvx = stated_use(context, Engine::hvx);
  if (!hmx || !hvx) return Missing{context.no_timeline() + ", or utilisation of units"};
  if (hmx->share == 0 || hvx->share < busy || hvx->share <= hmx->share) return DoesNotApply{};
  Finding finding = made(hvx->share, hmx->share, "their time");
  const char* source = "units: REPORTED BY THE FILES";
  finding.evidence = {share_evidence("hvx_stated_use", "HVX, the busiest thread, of its time",
                                     hvx->share, MeasureKind::unit_busy, source, hvx->unit),
                      share_evidence("hmx_stated_use", "HMX, the busiest, of its time", hmx->share,
                                     MeasureKind::unit_busy, source, hmx->unit)};
  finding.no_gain = "a summary does not say what runs at the same time";
  return finding;
}

RuleOutcome apply(FindingContext& context) {
  return context.has_timeline() ? of_timeline(context) : of_summary(context);
}

}  // namespace vector_bound

const Rule vector_bound_rule{"vector-bound", vector_bound::apply};

}  // namespace npuscope::analysis
