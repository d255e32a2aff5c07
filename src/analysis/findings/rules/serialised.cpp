#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"

#include <algorithm>

namespace npuscope::analysis {
namespace serialised {

constexpr double min_active = 0.1;   // of the wall, each
constexpr double max_overlap = 0.2;  // of the smaller

RuleOutcome apply(FindingContext& context) {
  if (!context.has_timeline()) return Missing{"a timeline of units"};
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

const Rule serialised_rule{
    {"serialised-hvx-hmx", "HVX and HMX both busy, hardly ever at once",
     "The time in which any HVX thread works, any HMX works, and both (npuscope units, OVERLAP); "
     "an "
     "op counts for the hardware that it uses, not for its lane. Gain: the wall's longest path "
     "again, where an HVX op waits for an HMX op, or the reverse, for data only and not for memory "
     "or a given order. Where each op needs the result of the one before, that is zero.",
     "each active for 10 % of the wall or more, overlap below 20 % of the shorter",
     "npuscope's own; the case is of a QNN custom op whose stages overlapped by 0 %",
     "Overlap within one dependency, in tiles: what is handed over whole counts as needed whole. "
     "On "
     "several cores HVX of one beside HMX of another counts as overlap."},
    serialised::apply};

}  // namespace npuscope::analysis
