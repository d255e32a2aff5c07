#include <fmt/format.h>

#include <algorithm>

#include "analysis/findings/rules/rules.hpp"
#include "base/sort_rows.hpp"

namespace npuscope::analysis {
namespace host_overhead {

constexpr double min_share = 0.1;

const char* advice() {
  return "Fewer round trips: put more of the model into one graph, more inputs into one execution, "
         "and keep several executions in flight so that the host's part of one hides behind the "
         "device's of another. Share buffers with the device instead of copying, and keep its "
         "power "
         "vote between executions.";
}

const char* copies_advice() {
  return "The host copies what the device wrote: have the compiler write each result in the layout "
         "that its reader wants, so that the copy goes or becomes one of whole blocks; let a DMA "
         "engine join tensors, or the op before write into its part of the joined one; share "
         "buffers with the device instead of copying.";
}

// What the host does, the longest first.
std::vector<const OpRow*> kinds_on_host(FindingContext& context, std::size_t active) {
  std::vector<const OpRow*> rows;
  for (const OpRow& row : context.kinds().rows) {
    const bool on_host = !row.engines.empty() && row.engines.front() == Engine::host;
    if (on_host && row.has_name && row.values[active].value_or(0) > 0) rows.push_back(&row);
  }
  sort_rows(rows.begin(), rows.end(), [&](const OpRow* a, const OpRow* b) {
    return *a->values[active] > *b->values[active];
  });
  return rows;
}

bool is_copy(const OpRow& row) {
  return row.name.find("COPY") != row.name.npos || row.name.find("copy") != row.name.npos ||
         row.name.find("Copy") != row.name.npos;
}

RuleOutcome of_call(const Call& call) {
  if (!call.has_device()) return Missing{"what the device takes of a call"};
  const double beyond = call.seconds() - call.device_seconds();
  const double share = beyond / call.seconds();
  if (share < min_share) return DoesNotApply{};
  const std::string what = call.warm ? "warm call" : "call";
  Finding finding;
  finding.title = fmt::format("Host and transport take {:.1f} % of a {}", share * 100, what);
  finding.weight = Weight::high;
  const char* source = "show: CALL";
  finding.evidence = {
      seconds_evidence("host_seconds", "as the host sees it", call.seconds(), MeasureKind::wall,
                       source, call.layers.front().name),
      seconds_evidence("device_seconds", "on the device", call.device_seconds(), MeasureKind::wall,
                       source, call.layers[call.device].name),
      seconds_evidence("beyond_seconds", "the rest: calls, copies, queues", beyond,
                       MeasureKind::wall, "derived"),
      share_evidence("beyond_share", "share of call", share, MeasureKind::wall, "derived")};
  for (std::size_t i = 0; i < call.device; ++i) {
    finding.evidence.push_back(seconds_evidence("layer_seconds", "in this layer alone",
                                                call.layers[i].own, MeasureKind::wall, source,
                                                call.layers[i].name));
  }
  Gain gain;
  gain.ticks = beyond;
  gain.share = share;
  gain.of_wall = false;
  gain.of = "a " + what;
  gain.how = "all that the device does not take";
  if (call.warm) gain.of_call = GainOfCall{beyond, share};
  finding.gain = std::move(gain);
  finding.advice = advice();
  return finding;
}

RuleOutcome apply(FindingContext& context) {
  if (const auto& call = context.analysis().call()) return of_call(*call);
  const Coarse& coarse = context.analysis().coarse();
  if (coarse.host_active == 0 || coarse.active <= coarse.host_active) {
    return Missing{"times of the host around single inferences"};
  }
  const auto& kinds = context.profile().spans.kind;
  const bool is_told = std::find(kinds.begin(), kinds.end(), SpanKind::runtime_call) != kinds.end();
  if (is_told) return DoesNotApply{};  // host-bound says it, with the calls
  const double alone = context.part(Part::host_alone);
  if (alone < min_share * context.wall()) return DoesNotApply{};
  Finding finding;
  finding.title = fmt::format("The host works and the device is idle for {} of the wall",
                              percent(alone / context.wall()));
  finding.weight = Weight::high;
  finding.evidence = {
      ticks_evidence("host_alone", "the host alone works", alone, MeasureKind::wall, "show: WALL"),
      share_evidence("host_alone_share_of_wall", "share of wall", alone / context.wall(),
                     MeasureKind::wall, "show: WALL")};
  finding.gain = context.gain_of_wall(alone, "all of that time hidden behind the device");
  finding.advice = advice();
  const auto active = context.kinds().place_of("active");
  if (!active) return finding;
  const auto rows = kinds_on_host(context, *active);
  constexpr std::size_t kinds_named = 3;
  for (std::size_t i = 0; i < std::min(rows.size(), kinds_named); ++i) {
    finding.evidence.push_back(ticks_evidence("host_kind_active", "active, on the host",
                                              *rows[i]->values[*active], MeasureKind::active,
                                              "ops --by kind", rows[i]->name));
  }
  if (!rows.empty() && is_copy(*rows.front())) finding.advice = copies_advice();
  return finding;
}

}  // namespace host_overhead

const Rule host_overhead_rule{
    {"host-overhead", "host time around the device's",
     "An execution as the host saw it less the device's part of it, medians after the first where "
     "there are several; or of a timeline the host alone at work, and what it does. Gain: all of "
     "it; of an execution "
     "it is outside of the device's wall.",
     "10 % of the execution, or of the wall",
     "10 %: users of Cloud AI 100 expect system throughput slightly below the device's; the "
     "vendor's "
     "notebook says to look at the host where they differ widely",
     "Inferences that queue for one another (such samples are left out, where they say so). "
     "Detailed "
     "profiling itself lengthens the host's part."},
    host_overhead::apply};

}  // namespace npuscope::analysis
