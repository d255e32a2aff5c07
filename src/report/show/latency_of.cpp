#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/call_names.hpp"
#include "analysis/latency.hpp"
#include "profile/names.hpp"
#include "report/document/document_value.hpp"
#include "report/show/show_sections.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;

// What the first call took by a layer of that name, which its median leaves out.
std::optional<double> first_of(const Analysis& analysis, const std::string& name) {
  const Profile& profile = analysis.profile();
  for (const NumberRow& row : analysis.numbers()) {
    if (row.subject != Measure::Subject::profile || row.values.count < 2) continue;
    if (row.kind == MeasureKind::count || profile.text(row.what) != name) continue;
    const std::size_t clock = index_of(row.clock);
    if (clock >= profile.clocks.size() || !(profile.clocks[clock].rate.value > 0)) continue;
    return row.values.first / profile.clocks[clock].rate.value;
  }
  for (const PhaseRow& row : analysis.phases()) {
    if (profile.text(row.name) != name || row.microseconds.count < 2) continue;
    return row.microseconds.first * 1e-6;
  }
  return std::nullopt;
}

// Times around the call: of an inference that several graphs make up, and as the runtime saw them
// that gave the graph away.
void add_times_around(const Analysis& analysis, LatencyOfCall& latency) {
  struct Around {
    NumberRole role;
    const char *what, *note;
  };
  constexpr Around around[] = {
      {NumberRole::all_graphs_execute, "all graphs", "of one inference, in order"},
      {NumberRole::session_node, "node", "of the graph, in its session"},
      {NumberRole::session_run, "session", "an inference, all nodes"}};
  const Profile& profile = analysis.profile();
  for (const Around& each : around) {
    for (const NumberRow& row : analysis.numbers()) {
      if (row.meaning.role != each.role || row.values.count == 0) continue;
      if (index_of(row.clock) >= profile.clocks.size()) continue;
      const double hertz = profile.clocks[index_of(row.clock)].rate.value;
      if (!(hertz > 0)) continue;
      LatencyRow time{each.what, std::string(profile.text(row.what)), {}, {}, {}, each.note};
      time.cold_seconds = row.values.first / hertz;
      if (row.values.count > 1) time.warm_seconds = row.values.median_of_rest / hertz;
      latency.rows.push_back(std::move(time));
    }
  }
}

void add_call(const Analysis& analysis, const Call& call, LatencyOfCall& latency) {
  const auto add = [&](const char* what, const CallLayer& layer) {
    LatencyRow row{what, layer.name, {}, {}, {}};
    (!call.warm ? row.cold_seconds : call.is_mean ? row.seconds : row.warm_seconds) = layer.seconds;
    if (call.warm && !call.is_mean) row.cold_seconds = first_of(analysis, layer.name);
    latency.rows.push_back(std::move(row));
  };
  latency.origin = call.origin;
  add(call.starts_on_device ? "on the NPU" : "call", call.layers.front());
  if (call.starts_on_device && call.layers.size() > 1) add("graph", call.layers.back());
  if (call.has_device()) {
    add(call.origin == Origin::simulated ? "emulated NPU" : "on the NPU", call.layers[call.device]);
    if (call.layers.size() > call.device + 1) add("graph", call.layers.back());
    latency.outside = 1 - call.device_seconds() / call.seconds();
  }
  latency.warm_count = call.warm ? call.count : 0;
  add_times_around(analysis, latency);
  for (const NumberRow& row : analysis.numbers()) {
    const bool is_stated = row.subject == Measure::Subject::profile &&
                           row.meaning.role == NumberRole::run_rate && row.values.count == 1;
    // Of what the page's own times are of.
    if (is_stated && (call.starts_on_device || call.is_mean))
      latency.stated_rate = row.values.first;
  }
}

// Of several the first is apart unless others ran before it, as in what `check` and `diff` compare.
void add_samples(const Spread& seconds, LatencyRow row, const Profile& profile,
                 LatencyOfCall& latency) {
  using Temperature = Provenance::Temperature;
  const Temperature temperature = profile.provenance.temperature;
  if (temperature == Temperature::warm) {
    row.warm_seconds = seconds.median;
    latency.warm_count = seconds.count;
  } else if (temperature == Temperature::cold) {
    row.cold_seconds = seconds.median;
  } else if (seconds.count > 1) {
    row.cold_seconds = seconds.first;
    row.warm_seconds = seconds.median_of_rest;
    latency.warm_count = seconds.count - 1;
  } else {
    const bool is_cold = temperature == Temperature::cold_then_warm;
    (is_cold ? row.cold_seconds : row.seconds) = seconds.first;
  }
  latency.rows.push_back(std::move(row));
}

// Steps that a trace names.
bool add_steps(const Analysis& analysis, LatencyOfCall& latency) {
  const Profile& profile = analysis.profile();
  const StepTimes steps = step_times(profile);
  const std::size_t base = index_of(profile.base_clock);
  if (steps.samples.empty() || base >= profile.clocks.size()) return false;
  const double rate = profile.clocks[base].rate.value;
  if (!(rate > 0)) return false;
  std::vector<double> seconds;
  for (const Sample& sample : steps.samples) seconds.push_back(sample.value / rate);
  add_samples(spread_of(seconds), {"step", steps.name, {}, {}, {}}, profile, latency);
  latency.recorder = profile.provenance.instrumentation;
  return true;
}

// The host's calls of an inference, of which a log has phases and no number.
bool add_phases_of_call(const Analysis& analysis, LatencyOfCall& latency) {
  const Profile& profile = analysis.profile();
  for (const std::vector<CallLayerName>& layers : known_calls()) {
    const CallLayerName& outer = layers.front();
    const bool is_phase = outer.form == CallLayerName::Form::phase;
    if (!is_phase || outer.place != CallLayerName::Place::host) continue;
    std::map<std::uint32_t, double> by_inference;
    for (const Phase& phase : profile.phases) {
      if (profile.text(phase.name) != outer.phase) continue;
      if (phase.microseconds < 0) return false;
      by_inference[phase.instance] += phase.microseconds * 1e-6;
    }
    if (by_inference.empty()) continue;
    std::vector<double> seconds;
    for (const auto& [inference, sum] : by_inference) seconds.push_back(sum);
    add_samples(spread_of(seconds), {"call", std::string(outer.phase), {}, {}, {}}, profile,
                latency);
    return true;
  }
  return false;
}

// Of a latency file: those from before the host had filled its queue say nothing of the others.
std::vector<double> round_trips(const Profile& profile) {
  const Spans& spans = profile.spans;
  if (spans.instance.size() != spans.size()) return {};
  const std::vector<bool> beginning = samples_of_beginning(profile);
  const bool all = std::ranges::find(beginning, false) == beginning.end();
  const bool is_warm = profile.provenance.temperature == Provenance::Temperature::warm;
  const auto first = std::ranges::min_element(spans.instance) - spans.instance.begin();
  std::vector<double> ticks;
  if (!is_warm) ticks.push_back(double(spans.duration[std::size_t(first)]));
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const bool is_apart = !is_warm && spans.instance[row] == spans.instance[std::size_t(first)];
    if (is_apart || (beginning[row] && !all)) continue;
    ticks.push_back(double(spans.duration[row]));
  }
  return ticks;
}

void add_inferences(const Analysis& analysis, LatencyOfCall& latency) {
  const Profile& profile = analysis.profile();
  const Coarse& coarse = analysis.coarse();
  if (coarse.wall <= 0) return;
  const auto rate = clock_rate_during(profile, coarse.timeline);
  if (!rate) return;
  std::vector<double> walls;
  if (profile.spans.measure(NumberRole::host_round_trip) != nullptr) walls = round_trips(profile);
  if (walls.empty()) {
    for (const auto& [inference, extent] : analysis.inference_extents()) {
      walls.push_back(double(length_of(extent)));
    }
  }
  if (walls.empty() && profile.provenance.inferences == 1) walls = {double(coarse.wall)};
  if (walls.empty()) return;
  for (double& wall : walls) wall /= rate->rate.value;
  add_samples(spread_of(walls), {"inference", {}, {}, {}, {}}, profile, latency);
}

}  // namespace

LatencyOfCall latency_of(const Analysis& analysis) {
  LatencyOfCall latency;
  if (const auto& call = analysis.call()) {
    add_call(analysis, *call, latency);
  } else if (!add_steps(analysis, latency) && !add_phases_of_call(analysis, latency)) {
    add_inferences(analysis, latency);
  }
  return latency;
}

// A call in its parts, each with what it has of the whole.
Section latency_section(const LatencyOfCall& latency) {
  const LatencyRow* whole = latency.first();
  if (whole == nullptr) return {};
  Section section{.key = "latency", .title = "LATENCY"};
  if (latency.warm_count > 1) {
    section.title += fmt::format(", median of {}{}", latency.warm_count,
                                 whole->cold_seconds ? " after the first" : "");
  }
  if (latency.origin == Origin::simulated) section.title += ", simulated on the host";
  section.facts = {{{"origin"}, stable_name(latency.origin)},
                   {{"warm_median_seconds"}, whole->warm_seconds},
                   {{"cold_seconds"}, whole->cold_seconds},
                   {{"seconds"}, whole->seconds},
                   {{"warm_count"}, latency.warm_count},
                   {{"share_outside_npu"}, latency.outside},
                   {{"stated_inferences_per_second", "in the file, inferences/s", Format::number},
                    latency.stated_rate ? Value(*latency.stated_rate) : Value()}};
  section.table.fields = {{"part", "part"},
                          {"warm_median_seconds", "warm", Format::seconds, true, true},
                          {"cold_seconds", "cold", Format::seconds, true, true},
                          {"seconds", "time", Format::seconds, true, true},
                          {"", " ", Format::bar, true, true},
                          {"", " ", Format::name, true, true},
                          {"name", "name in the files", Format::name, false, true}};
  const auto time_of = [](const LatencyRow& row) {
    return row.warm_seconds ? row.warm_seconds : row.seconds ? row.seconds : row.cold_seconds;
  };
  if (!latency.recorder.empty()) {
    section.remarks.push_back(
        fmt::format("Recorded by {}, which slows the runs: upper bounds of the latency without it.",
                    latency.recorder));
  }
  for (const LatencyRow& row : latency.rows) {
    Value bar, note;
    if (!row.around.empty()) {
      note = row.around;
    } else if (latency.outside && &row == whole) {
      bar = *latency.outside;
      note = percent_text(*latency.outside, 1) + " outside the NPU";
    } else if (latency.outside) {
      const double share = *time_of(row) / *time_of(*whole);
      bar = share;
      note = percent_text(share, 1) + " of the call";
    }
    section.table.rows.push_back(
        {row.what, row.warm_seconds, row.cold_seconds, row.seconds, bar, note, if_any(row.name)});
  }
  return section;
}

}  // namespace npuscope::report
