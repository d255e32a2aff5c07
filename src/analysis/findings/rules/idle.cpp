// Rules about time in which little works: gaps between inferences, one unit after the other, none
// busy.
#include <algorithm>
#include <optional>

#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::analysis {

namespace idle_between {

constexpr double min_share = 0.1;

struct Between {
  std::uint64_t pairs = 0;  // of inferences recorded one after the other
  std::uint64_t gaps = 0;
  std::int64_t sum = 0;
  std::int64_t longest = 0;
  std::vector<EvidencePlace> places;
};

// Where numbers are left out, inferences may have run that nobody recorded.
Between between(const std::map<std::uint32_t, Interval>& extents) {
  Between found;
  std::optional<std::uint32_t> last;
  std::int64_t end = 0;  // of all before, because several may be in flight
  for (const auto& [number, extent] : extents) {
    if (last && number == *last + 1) {
      found.pairs += 1;
      const std::int64_t gap = std::max<std::int64_t>(0, saturating_subtract(extent.begin, end));
      found.gaps += gap > 0;
      found.sum = saturating_add(found.sum, gap);
      found.longest = std::max(found.longest, gap);
      found.places.push_back({UnitId::none, {end, extent.begin}});
    }
    end = last ? std::max(end, extent.end) : extent.end;
    last = number;
  }
  return found;
}

RuleOutcome apply(FindingContext& context) {
  if (!context.has_timeline()) return Missing{context.no_timeline()};
  // A token begins when the one before is known; token-share says what its time goes to.
  for (const NumberRow& row : context.numbers()) {
    if (row.meaning.role == NumberRole::tokens) return DoesNotApply{};
  }
  const Between found = between(context.analysis().inference_extents());
  if (found.pairs == 0) return Missing{"two inferences that follow one another"};
  const double idle = double(found.sum);
  if (idle < min_share * context.wall()) return DoesNotApply{};
  Finding finding;
  finding.title = fmt::format("The device is idle between inferences for {} of the wall",
                              percent(idle / context.wall()));
  finding.weight = Weight::high;
  finding.evidence = {
      ticks_evidence("between_inferences", "from the end of one to the start of the next, all",
                     idle, MeasureKind::wall, "query: inferences"),
      share_evidence("between_inferences_share_of_wall", "share of wall", idle / context.wall(),
                     MeasureKind::wall, "query: inferences"),
      count_evidence("gaps_between", "gaps between inferences", double(found.gaps),
                     "query: inferences"),
      ticks_evidence("longest_between", "the longest of them", double(found.longest),
                     MeasureKind::wall, "query: inferences"),
      ticks_evidence("median_inference", "an inference, median after the first",
                     context.analysis().coarse().inferences.median_of_rest, MeasureKind::wall,
                     "show: WALL")};
  finding.places = longest_places(found.places);
  finding.gain = context.gain_of_wall(idle, "each inference starts where the one before ends");
  if (finding.gain) finding.gain->of = "the wall";  // an inference itself takes as long
  finding.advice =
      "The host is late. Keep two or more inferences in flight, so that the next one waits at the "
      "device when this one ends; prepare inputs and take results beside the device's work, not "
      "between; npuscope latency says what the host's part is. It changes nothing in how long one "
      "inference takes.";
  return finding;
}

}  // namespace idle_between

const Rule idle_between_rule{"idle-between-inferences", idle_between::apply};

namespace serialised {

constexpr double min_active = 0.1;   // of the wall, each
constexpr double max_overlap = 0.2;  // of the smaller

RuleOutcome apply(FindingContext& context) {
  if (!context.has_timeline()) return Missing{context.no_timeline()};
  const Overlap& overlap = context.analysis().overlap();
  const auto hvx = double(overlap.active(Engine::hvx)), hmx = double(overlap.active(Engine::hmx));
  const auto both = double(overlap.of(Engine::hvx, Engine::hmx));
  const double smaller = std::min(hvx, hmx);
  if (smaller < min_active * context.wall() || both >= max_overlap * smaller) {
    return DoesNotApply{};
  }
  Finding finding;
  finding.title =
      fmt::format("HVX and HMX overlap for {} of the shorter one's time", percent(both / smaller));
  finding.weight = Weight::high;
  const char* source = "units: OVERLAP";
  finding.evidence = {
      ticks_evidence("hvx_active", "any HVX thread works", hvx, MeasureKind::active, source),
      share_evidence("hvx_active_share_of_wall", "share of wall", hvx / context.wall(),
                     MeasureKind::active, source),
      ticks_evidence("hmx_active", "any HMX works", hmx, MeasureKind::active, source),
      share_evidence("hmx_active_share_of_wall", "share of wall", hmx / context.wall(),
                     MeasureKind::active, source),
      ticks_evidence("both", "both work", both, MeasureKind::active, source),
      share_evidence("both_share_of_smaller", "share of the shorter", both / smaller,
                     MeasureKind::active, source)};
  finding.places = places_where(context, work_of(context.profile(), Domain::compute), no_spans());
  finding.gain = context.gain_of_overlap(Engine::hvx, Engine::hmx,
                                         "HVX and HMX wait for one another for data only");
  if (!finding.gain) finding.no_gain = "the profile tells no dependencies between ops";
  finding.advice =
      "Look at npuscope timeline: where one stage ends before the next begins, hand over in tiles "
      "(heads, rows, channels) instead of whole tensors, so that HVX works on one tile while HMX "
      "works on the next. A tensor handed over whole must also fit in VTCM, or it spills. "
      "npuscope graph shows whether a shared buffer forces the order.";
  return finding;
}

}  // namespace serialised

const Rule serialised_rule{"serialised-hvx-hmx", serialised::apply, true};

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
  const auto& ops = context.profile().ops;
  const auto is_split = [](const Op& op) { return op.split_from != StringId::empty; };
  if (std::any_of(ops.begin(), ops.end(), is_split)) {
    return Missing{"what units do at once: an estimate divides programs"};
  }
  if (!context.has_timeline()) return Missing{context.no_timeline()};
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
  const double waiting = context.part(Part::other_waiting);
  if (waiting >= busy * context.wall()) {
    finding.evidence.push_back(share_evidence("waiting_share_of_wall", "only waits, of the wall",
                                              waiting / context.wall(), MeasureKind::wall,
                                              "show: WALL"));
    finding.advice =
        "The file records what the rest is: waits. npuscope timeline shows before which ops they "
        "stand. Waits for the host hold its dispatch, and its compilation where a program ran for "
        "the first time: run it several times and record the last runs before anything else.";
    return finding;
  }
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

const Rule no_unit_busy_rule{"no-unit-busy", no_unit_busy::apply};

}  // namespace npuscope::analysis
