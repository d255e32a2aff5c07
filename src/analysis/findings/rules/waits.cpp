// Rules about waits: for communication that no work hides, for dependencies that nothing in the
// model asks for.
#include <algorithm>

#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"
#include "analysis/graph/false_dependencies.hpp"
#include "analysis/ops/op_times.hpp"

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

const Rule exposed_communication_rule{"exposed-communication", exposed_communication::apply};

namespace false_dependency {

constexpr double min_share = 0.01;
constexpr std::size_t max_named = 5;

std::string name_of_op(const Profile& profile, OpId id) {
  if (index_of(id) >= profile.ops.size()) return {};
  const Op& op = profile.ops[index_of(id)];
  return std::string(profile.text(op.label()));
}

RuleOutcome apply(FindingContext& context) {
  const Profile& profile = context.profile();
  if (profile.tensor_uses.empty()) return Missing{"the compiled graph with its tensors"};
  if (!context.has_timeline()) return Missing{context.no_timeline()};
  const SharedTensors shared =
      shared_tensors(profile, context.analysis().graph(), context.analysis().op_times());
  double waited = 0;
  std::vector<const SharedTensor*> waits;
  for (const SharedTensor& tensor : shared.findings) {
    if (tensor.verdict != SharingVerdict::waited) continue;
    waits.push_back(&tensor);
    waited += double(tensor.waited);
  }
  const Spread& inferences = context.analysis().coarse().inferences;
  const double wall = inferences.count > 1 ? inferences.median_of_rest : context.wall();
  if (waits.empty() || waited < min_share * wall) return DoesNotApply{};
  Finding finding;
  finding.title = fmt::format("Independent branches wait for {} shared tensor{}", waits.size(),
                              waits.size() == 1 ? "" : "s");
  finding.weight = Weight::high;
  const char* source = "graph: FALSE DEPENDENCIES";
  for (std::size_t i = 0; i < std::min(waits.size(), max_named); ++i) {
    const SharedTensor& each = *waits[i];
    const Tensor& tensor = profile.tensors[each.tensor];
    const std::string name(profile.text(tensor.name));
    finding.evidence.push_back(ticks_evidence(
        "waited",
        name_of_op(profile, each.second) + " waited for " + name_of_op(profile, each.first),
        double(each.waited), MeasureKind::span, source, name));
    finding.evidence.push_back(bytes_evidence("tensor_bytes", "bytes of the tensor",
                                              double(tensor.size.value), source, name));
  }
  std::vector<bool> late(profile.ops.size(), false);
  for (const SharedTensor* each : waits) late[index_of(each->second)] = true;
  finding.places = places_of_ops(context, late);
  finding.gain = context.gain_of_wall(
      waited, "all of these waits, as if none were at once with another", wall);
  finding.advice = context.words(
      {.usual = "Compilers keep one of equal constants: give each branch scratch that cannot be "
                "merged (different contents, or a graph input instead of a constant), and check "
                "with npuscope graph that it stays apart.",
       .sigmastar_ipu =
           "Converters keep one of equal constants: give each branch data that cannot be "
           "merged (different contents, or an input of the model instead of a constant), and "
           "check with npuscope graph that it stays apart."});
  return finding;
}

}  // namespace false_dependency

const Rule false_dependency_rule{"false-dependency", false_dependency::apply};

}  // namespace npuscope::analysis
