#include <algorithm>

#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"

namespace npuscope::analysis {
namespace exposed_communication {

constexpr double min_share = 0.1;
constexpr double mostly = 0.5;

// Of the collectives whose parts the trace has.
struct Waits {
  double waiting = 0, lasting = 0;  // sums
  double share() const { return lasting > 0 ? waiting / lasting : 0; }
};

Waits waits_of(const Spans& spans) {
  Waits waits;
  const MeasureColumn* column = spans.measure(NumberRole::communication_wait);
  if (column == nullptr || column->values.size() != spans.size()) return waits;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (column->values[row] == MeasureColumn::missing) continue;
    waits.waiting += double(column->values[row]);
    waits.lasting += double(length_of(interval_of(spans, row)));
  }
  return waits;
}

RuleOutcome apply(FindingContext& context) {
  const Coarse& coarse = context.analysis().coarse();
  if (coarse.communication_active <= 0) return Missing{"communication with other devices"};
  const double exposed = context.part(Part::communication_alone);
  if (exposed < min_share * context.wall()) return DoesNotApply{};
  const Waits waits = waits_of(context.profile().spans);
  const bool is_late = waits.share() >= mostly;
  Finding finding;
  finding.title = is_late
                      ? fmt::format(
                            "Another rank is late: waiting is {} of communication, which takes {} "
                            "of the wall alone",
                            percent(waits.share()), percent(exposed / context.wall()))
                      : fmt::format("Communication that nothing hides takes {} of the wall",
                                    percent(exposed / context.wall()));
  finding.weight = Weight::high;
  finding.evidence = {
      share_evidence("exposed_share_of_wall", "communication alone, of the wall",
                     exposed / context.wall(), MeasureKind::wall, "show: WALL"),
      ticks_evidence("communication_alone", "communication, nothing computes or moves data",
                     exposed, MeasureKind::wall, "show: WALL"),
      ticks_evidence("communication_active", "communication, hidden or not",
                     double(coarse.communication_active), MeasureKind::active, "show: WALL")};
  if (waits.lasting > 0) {
    finding.evidence.push_back(ticks_evidence("waiting_for_ranks",
                                              "of the collectives, waiting for other ranks",
                                              waits.waiting, MeasureKind::work, "ops"));
    finding.evidence.push_back(share_evidence("waiting_share_of_communication",
                                              "share of the collectives' time", waits.share(),
                                              MeasureKind::work, "ops"));
  }
  const Profile& profile = context.profile();
  finding.places = places_where(context, work_of(profile, Domain::communication),
                                [&](UnitId unit, const SpanOfUnit& span) {
                                  return work_of(profile, Domain::compute)(unit, span) ||
                                         work_of(profile, Domain::movement)(unit, span);
                                });
  finding.gain = is_late ? context.gain_of_wall(std::min(exposed, waits.waiting),
                                                "all ranks ready at the same time")
                         : context.gain_by_hiding(exposed, "all of it hidden behind work");
  finding.advice =
      is_late
          ? "Other ranks come later to the collective than this one: open the traces of all ranks "
            "and find the one that waits least. Balance what ranks do between two collectives: "
            "loading of data, batches and sequences of different lengths, checkpoints and logs of "
            "one rank only, a slower clock or host. Neither bandwidth nor faster kernels of this "
            "rank gain anything here."
          : "Start a collective as soon as its data is there, on a stream of its own (gradients in "
            "buckets while the rest is computed), exchange fewer bytes (narrower types, rarer "
            "exchange), and join small collectives into one.";
  if (waits.lasting == 0) {
    finding.advice +=
        " The trace does not tell waiting for a late rank from transfer: compare the same "
        "collective in the traces of other ranks; where its length differs, somebody waits.";
  }
  return finding;
}

}  // namespace exposed_communication

const Rule exposed_communication_rule{
    {"exposed-communication", "exchange with other devices that no work hides, and why it lasts",
     "A part of the wall of npuscope show: communication alone. Of collectives whose parts the "
     "trace has (Ascend: tasks of their planes), the time in which a part waits for another rank "
     "and none transfers. Gain: all of it, but no more than the busiest unit leaves of the wall.",
     "10 % of the wall; a late rank where waiting is half of the collectives' time or more",
     "10 %: the threshold of exposed-dma; one half: npuscope's own",
     "Waiting inside a kernel of a library of collectives, which no trace shows (NCCL)."},
    exposed_communication::apply};

}  // namespace npuscope::analysis
