#include <algorithm>

#include "analysis/findings/rules/rules.hpp"

namespace npuscope::analysis {
namespace host_overhead {

constexpr double least_share = 0.1;

struct HostTimes {
  double host = 0, device = 0;  // seconds of one execution
  std::uint64_t count = 0;
  std::string host_name, device_name;
};

std::optional<double> seconds_of(const Profile& profile, const NumberRow& row) {
  const std::size_t clock = index_of(row.clock);
  if (clock >= profile.clocks.size() || !(profile.clocks[clock].rate.value > 0)) return {};
  return row.values.median_of_rest / profile.clocks[clock].rate.value;
}

// Names of the same execution as the host and as the device count it.
struct Pair {
  const char* host;
  const char* device;
};
constexpr Pair pairs[] = {{"QNN (execute) time", "Accelerator (execute) time"},
                          {"total round trip, mean", "device execution, mean"},
                          {"host round trip", "device execution"}};

const NumberRow* number_named(FindingContext& context, std::string_view name) {
  for (const NumberRow& row : context.numbers()) {
    if (context.profile().text(row.what) == name) return &row;
  }
  return nullptr;
}

// Round trips of inferences that queue for one another are not those of one execution.
bool is_queued(FindingContext& context) {
  const NumberRow* depth = number_named(context, "queue depth");
  return depth != nullptr && depth->values.median > 1;
}

std::optional<HostTimes> host_times(FindingContext& context) {
  if (is_queued(context)) return std::nullopt;
  for (const Pair& pair : pairs) {
    const NumberRow* host = number_named(context, pair.host);
    const NumberRow* device = number_named(context, pair.device);
    if (host == nullptr || device == nullptr) continue;
    const auto all = seconds_of(context.profile(), *host);
    const auto part = seconds_of(context.profile(), *device);
    if (!all || !part || !(*part > 0) || *part > *all) continue;
    return HostTimes{*all, *part, host->values.count, pair.host, pair.device};
  }
  return std::nullopt;
}

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
  std::stable_sort(rows.begin(), rows.end(), [&](const OpRow* a, const OpRow* b) {
    return *a->values[active] > *b->values[active];
  });
  return rows;
}

bool is_copy(const OpRow& row) {
  return row.name.find("COPY") != row.name.npos || row.name.find("copy") != row.name.npos ||
         row.name.find("Copy") != row.name.npos;
}

RuleOutcome of_executions(const HostTimes& times) {
  const double beyond = times.host - times.device;
  if (beyond < least_share * times.host) return DoesNotApply{};
  Finding finding;
  finding.title = "Most of an execution is spent around the device, not on it";
  if (beyond < 0.5 * times.host) {
    finding.title = "A part of an execution is spent around the device, not on it";
  }
  finding.weight = Weight::high;
  const std::string median = times.count > 1 ? ", median after the first" : "";
  const char* source = "show: NUMBERS OF THE RUN";
  finding.evidence = {seconds_evidence("host_seconds", "as the host sees it" + median, times.host,
                                       MeasureKind::wall, source, times.host_name),
                      seconds_evidence("device_seconds", "on the device" + median, times.device,
                                       MeasureKind::wall, source, times.device_name),
                      seconds_evidence("beyond_seconds", "the rest: calls, copies, queues", beyond,
                                       MeasureKind::wall, "derived"),
                      share_evidence("beyond_share", "that, of the execution", beyond / times.host,
                                     MeasureKind::wall, "derived")};
  Gain gain;
  gain.ticks = beyond;
  gain.share = beyond / times.host;
  gain.of_wall = false;
  gain.of = "an execution";
  gain.how = "all that the device does not take";
  finding.gain = std::move(gain);
  finding.advice = advice();
  return finding;
}

RuleOutcome apply(FindingContext& context) {
  if (const auto times = host_times(context)) return of_executions(*times);
  const Coarse& coarse = context.coarse();
  if (coarse.host_active == 0 || coarse.active <= coarse.host_active) {
    return Missing{"times of the host around single inferences"};
  }
  const double alone = context.part(Part::host_alone);
  if (alone < least_share * context.wall()) return DoesNotApply{};
  Finding finding;
  finding.title = "The device stands still while the host works";
  finding.weight = Weight::high;
  finding.evidence = {
      ticks_evidence("host_alone", "the host alone works", alone, MeasureKind::wall, "show: WALL"),
      share_evidence("host_alone_share_of_wall", "that, of the wall", alone / context.wall(),
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
