#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"
#include "analysis/units/unit_numbers.hpp"

namespace npuscope::analysis {
namespace uncounted_waits {

constexpr double min_difference = 0.05;

struct Lane {
  const UnitRow* row = nullptr;
  double stated = 0;  // share of the wall, waits included
};

// The lane whose stated utilisation has most waits in it.
Lane worst_lane(FindingContext& context) {
  const UnitNumbers& numbers = context.analysis().unit_numbers();
  Lane worst;
  double max = 0;
  for (std::size_t i = 0; i < numbers.row_count(); ++i) {
    for (const UnitNumber& number : numbers.row(i)) {
      if (!numbers.columns[number.column].is_utilization()) continue;
      for (const UnitRow& row : context.analysis().units().units) {
        if (row.unit != number.unit || row.waiting <= 0) continue;
        const double difference = number.value / 100 - double(row.busy) / context.wall();
        if (difference <= max) continue;
        max = difference;
        worst = {&row, number.value / 100};
      }
    }
  }
  return worst;
}

RuleOutcome apply(FindingContext& context) {
  if (!context.has_timeline()) return Missing{"a timeline of units"};
  if (context.analysis().unit_numbers().row_count() == 0)
    return Missing{"utilisation as a file states it"};
  const Lane lane = worst_lane(context);
  if (lane.row == nullptr) return DoesNotApply{};
  const double busy = double(lane.row->busy) / context.wall();
  if (lane.stated - busy < min_difference) return DoesNotApply{};
  Finding finding;
  const Profile& profile = context.profile();
  const std::string unit = path_of(profile, lane.row->unit);
  finding.title = fmt::format("The stated utilisation of {} counts waits; without them it is {}",
                              percent(lane.stated), percent(busy));
  finding.weight = Weight::medium;
  finding.evidence = {
      share_evidence("stated_utilisation", "utilisation as the file states it, of the wall",
                     lane.stated, MeasureKind::unit_busy, "units: REPORTED BY THE FILES", unit),
      share_evidence("busy_share_of_wall", "busy without waits, of the wall", busy,
                     MeasureKind::unit_busy, "units: UNITS", unit),
      ticks_evidence("waiting", "waits on it", double(lane.row->waiting), MeasureKind::unit_busy,
                     "units: UNITS", unit)};
  const Engine engine = profile.units[index_of(lane.row->unit)].engine;
  for (const EngineRow& row : context.analysis().units().engines) {
    if (row.engine != engine) continue;
    finding.evidence.push_back(share_evidence(
        "domain_share_of_wall", std::string("work that uses ") + name_of(engine) + ", of the wall",
        double(row.domain) / context.wall(), MeasureKind::domain, "units: HARDWARE"));
  }
  finding.places = places_where(
      context,
      [&](UnitId of, const SpanOfUnit& span) {
        return of == lane.row->unit && role_of(span.kind) == Role::wait;
      },
      no_spans());
  for (EvidencePlace& place : finding.places) place.unit = lane.row->unit;
  finding.no_gain = "affects interpretation only";
  finding.advice =
      "Do not read a lane as its hardware: on the HTP the lane named HMX is the main thread, which "
      "also issues DMA, waits for it and runs scalar code. Take the work by what each op uses "
      "(npuscope units, HARDWARE).";
  return finding;
}

}  // namespace uncounted_waits

const Rule uncounted_waits_rule{
    {"uncounted-waits", "waits that a stated utilisation counts as busy",
     "The utilisation that a file states of a unit against the union of that unit's work, waits "
     "left out.",
     "5 points of the wall",
     "QHAS counts dma_wait events in cycles_used of a lane, found on real files; the bound is "
     "npuscope's own",
     "Waits that are not recorded, such as a kernel that polls."},
    uncounted_waits::apply};

}  // namespace npuscope::analysis
