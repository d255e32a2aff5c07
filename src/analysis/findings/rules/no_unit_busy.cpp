#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"

#include <algorithm>

namespace npuscope::analysis {
namespace no_unit_busy {

constexpr double busy = 0.5;

// Streams are queues of one device, not each a unit of hardware.
std::int64_t busy_of(const Profile& profile, const EngineRow& row) {
  const std::size_t unit = index_of(row.busiest);
  const bool is_stream =
      unit < profile.units.size() && profile.units[unit].engine == Engine::thread;
  return is_stream ? row.active : row.domain;
}

RuleOutcome apply(FindingContext& context) {
  if (!context.has_timeline()) return Missing{"a timeline of units"};
  double max = 0;
  for (const EngineRow& row : context.analysis().units().engines) {
    max = std::max(max, double(busy_of(context.profile(), row)) / context.wall());
  }
  const auto ddr = context.placement().of(Resource::ddr);
  if (!(context.analysis().coarse().compute_active > 0)) return DoesNotApply{};
  if (max >= busy || ddr.value_or(0) >= busy) return DoesNotApply{};
  // Where lanes show the issue of transfers only, long waits for them may be those for a busy DDR.
  const double moving = context.part(Part::movement_alone) + context.part(Part::waiting_for_dma);
  const bool knows_bandwidth = context.knows_bandwidth();
  if (!knows_bandwidth && moving >= busy * context.wall()) {
    return Missing{context.why_no_bandwidth()};
  }
  Finding finding;
  finding.title = fmt::format("No unit works for more than {} of the wall", percent(max));
  finding.weight = Weight::medium;
  for (const EngineRow& row : context.analysis().units().engines) {
    finding.evidence.push_back(share_evidence(
        "domain_share_of_wall", std::string(name_of(row.engine)) + ", the busiest, of the wall",
        double(row.domain) / context.wall(), MeasureKind::domain, "units: HARDWARE",
        path_of(context.profile(), row.busiest)));
  }
  if (ddr) {
    finding.evidence.push_back(share_evidence("ddr_share_of_peak", "DDR, of its peak", *ddr,
                                              MeasureKind::count,
                                              "memory: ROOFLINE, " + context.peaks().source));
  }
  finding.evidence.push_back(share_evidence("idle_share_of_wall", "idle, nothing recorded, of wall",
                                            context.part(Part::idle) / context.wall(),
                                            MeasureKind::wall, "show: WALL"));
  finding.places = idle_places(context);
  finding.no_gain = "dependencies decide how much could overlap";
  finding.advice =
      std::string(knows_bandwidth
                      ? "It is neither the arithmetic nor the bandwidth but the order"
                      : "It is not the arithmetic but the order, unless the DDR is busy, which "
                        "needs its peak to tell (--target)") +
      ": look at npuscope path for what waits for what. A larger batch, or several inferences in "
      "flight, fills the gaps; "
      "kernels that run one after another on different units overlap when they are tiled.";
  return finding;
}

}  // namespace no_unit_busy

const Rule no_unit_busy_rule{
    {"no-unit-busy", "neither compute nor memory is busy: latency decides",
     "For each class of hardware the busiest unit's share of the wall (domain), and the DDR's "
     "share of its peak where that is known.",
     "no class of hardware busy for 50 % of the wall, DDR below 50 % of its peak; where that is "
     "not "
     "known, transfers and waits for them below 50 % of the wall",
     "50 %: users' rule for compute bound on Cloud AI 100 (HMX above 50 %), applied to every unit",
     "What the units wait for: npuscope path tells. Of one cold, instrumented inference the shares "
     "are structure, not utilisation."},
    no_unit_busy::apply};

}  // namespace npuscope::analysis
