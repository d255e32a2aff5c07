// Rules about hosts: what a call costs beside the device, and devices that wait for their host.
#include <fmt/format.h>
#include <algorithm>
#include <map>

#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"
#include "base/counted.hpp"
#include "base/sort_rows.hpp"
#include "npuscope/analysis/statistics.hpp"

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
  for (const OpRow& row : context.active_kinds().rows) {
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
  const auto active = context.active_kinds().place_of("active");
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

const Rule host_overhead_rule{"host-overhead", host_overhead::apply};

namespace host_bound {

constexpr double min_share = 0.1;
constexpr std::size_t calls_named = 3;

struct Calls {  // of the runtime, by name
  std::string name;
  std::uint64_t count = 0;
  std::int64_t time = 0, longest = 0;  // own
};

struct Runtime {
  std::vector<Calls> calls;  // those that take most first
  std::uint64_t launches = 0;
  double launch_delay = 0;  // ticks, the median: from the start of the call to that of the work
};

bool is_on_device(FindingContext& context, std::size_t row) {
  return is_of_device(domain_of(context.profile(), row));
}

void find_launches(FindingContext& context, Runtime& runtime) {
  const Spans& spans = context.profile().spans;
  std::vector<double> delays;
  for (const Flow& flow : context.profile().flows) {
    const std::size_t from = index_of(flow.from), to = index_of(flow.to);
    if (from >= spans.size() || to >= spans.size()) continue;
    if (spans.kind[from] != SpanKind::runtime_call || !is_on_device(context, to)) continue;
    if (role_of(spans.kind[to]) != Role::work) continue;
    delays.push_back(double(saturating_subtract(spans.start[to], spans.start[from])));
  }
  runtime.launches = delays.size();
  if (!delays.empty()) runtime.launch_delay = median_of(std::move(delays));
}

Runtime runtime_of(FindingContext& context) {
  const Profile& profile = context.profile();
  const auto& own = context.analysis().self_times();
  std::map<std::string_view, Calls> calls;
  Runtime runtime;
  for (const SpanOfUnit& span : context.analysis().spans_by_unit().all()) {
    if (span.kind != SpanKind::runtime_call) continue;
    const bool has_op = index_of(span.op) < profile.ops.size();
    Calls& of = calls[has_op ? profile.text(profile.ops[index_of(span.op)].name) : ""];
    of.count += 1;
    of.time = saturating_add(of.time, own.of(span));
    of.longest = std::max(of.longest, own.of(span));
  }
  for (auto& [name, of] : calls) {
    of.name = name;
    runtime.calls.push_back(std::move(of));
  }
  sort_rows(runtime.calls.begin(), runtime.calls.end(),
            [](const Calls& a, const Calls& b) { return a.time > b.time; });
  find_launches(context, runtime);
  return runtime;
}

std::string advice_for(const Calls& dearest) {
  std::string advice;
  if (dearest.count > 1 && dearest.longest >= dearest.time - dearest.longest) {
    advice = fmt::format(
        "One call of {} takes more than half of what all {} take: a first call loads code or sets "
        "up the device; profile after warm-up, and load modules before the first request. ",
        dearest.name, dearest.count);
  }
  return advice +
         "Give the device more work per call: compile the model into one graph (graph capture, "
         "torch.compile), fuse small operators, enlarge the batch; issue copies asynchronously "
         "from "
         "pinned memory, and do not wait for the device until a result is needed.";
}

RuleOutcome apply(FindingContext& context) {
  const auto& kinds = context.profile().spans.kind;
  if (std::find(kinds.begin(), kinds.end(), SpanKind::runtime_call) == kinds.end()) {
    return Missing{"calls of the device's runtime on the host"};
  }
  if (!context.has_timeline()) return Missing{context.no_timeline()};
  const double wall = context.wall();
  const double busy = context.part(Part::compute_alone) + context.part(Part::compute_and_movement) +
                      context.part(Part::movement_alone) + context.part(Part::communication_alone);
  const double alone = context.part(Part::host_alone);
  if (alone < min_share * wall) return DoesNotApply{};
  const Runtime runtime = runtime_of(context);
  Finding finding;
  finding.title = fmt::format("Host bound: the device is idle for {:.1f} % of the wall",
                              100 * (wall - busy) / wall);
  finding.weight = Weight::high;
  finding.evidence = {
      share_evidence("device_busy_share_of_wall", "the device computes or moves data, of the wall",
                     busy / wall, MeasureKind::wall, "show: WALL"),
      ticks_evidence("host_alone", "only the host works", alone, MeasureKind::wall, "show: WALL"),
      share_evidence("host_alone_share_of_wall", "only the host works, of the wall", alone / wall,
                     MeasureKind::wall, "show: WALL")};
  for (std::size_t i = 0; i < std::min(runtime.calls.size(), calls_named); ++i) {
    const Calls& call = runtime.calls[i];
    if (call.time <= 0) continue;
    finding.evidence.push_back(
        ticks_evidence("runtime_call_work", "work of " + counted(call.count, "call"),
                       double(call.time), MeasureKind::work, "ops", call.name));
    finding.evidence.push_back(ticks_evidence("runtime_call_longest", "the longest of them",
                                              double(call.longest), MeasureKind::span, "query",
                                              call.name));
  }
  if (runtime.launches > 0) {
    finding.evidence.push_back(count_evidence("launches", "arrows from a call to device work",
                                              double(runtime.launches), "query: flows"));
    finding.evidence.push_back(
        ticks_evidence("launch_delay", "from a call's start to its work's, median",
                       runtime.launch_delay, MeasureKind::span, "query: flows"));
  }
  finding.places = places_where(context, work_of(context.profile(), Domain::host),
                                [&](UnitId unit, const SpanOfUnit& span) {
                                  return role_of(span.kind) == Role::work &&
                                         domain_of(context.profile(), unit, span) != Domain::host;
                                });
  finding.gain =
      context.gain_of_wall(alone, "all of the host's time alone hidden behind the device");
  finding.advice = runtime.calls.empty() ? "" : advice_for(runtime.calls.front());
  return finding;
}

}  // namespace host_bound

const Rule host_bound_rule{"host-bound", host_bound::apply};

}  // namespace npuscope::analysis
