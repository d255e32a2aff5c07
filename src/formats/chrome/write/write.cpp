#include "npuscope/formats/chrome/write.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "formats/chrome/write/event_output.hpp"
#include "formats/chrome/write/write_spans.hpp"
#include "formats/chrome/write/write_tracks.hpp"
#include "profile/names.hpp"
#include "profile/own_traces.hpp"

namespace npuscope::chrome {
namespace {

// Phases as slices of a process of their own.
class PhaseWriter {
 public:
  // Adds the tracks that they need.
  PhaseWriter(const Profile& profile, Layout& layout, EventOutput& out);

  void write();

 private:
  void write_phase(std::uint32_t number, std::uint32_t track);

  const Profile& profile_;
  EventOutput& out_;
  std::vector<std::uint32_t> order_, lane_;
  std::uint32_t first_track_ = 0;
  bool any_parent_ = false;
};

std::int64_t end_of(const Phase& phase) {
  return saturating_add(phase.start, std::max<std::int64_t>(0, phase.duration));
}

// Outer phases before those inside; those that overlap without nesting on tracks of their own.
PhaseWriter::PhaseWriter(const Profile& profile, Layout& layout, EventOutput& out)
    : profile_(profile), out_(out) {
  const auto& phases = profile_.phases;
  if (phases.empty()) return;
  order_.resize(phases.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) {
    if (phases[a].start != phases[b].start) return phases[a].start < phases[b].start;
    return phases[a].duration > phases[b].duration;
  });
  LanePlacer lanes;
  for (const std::uint32_t i : order_) {
    lane_.push_back(lanes.place({phases[i].start, end_of(phases[i])}));
  }
  first_track_ = add_process(layout, "phases", lanes.count());
  for (const Phase& phase : phases) any_parent_ |= phase.parent != no_phase;
}

void PhaseWriter::write() {
  for (std::size_t i = 0; i < order_.size(); ++i) {
    write_phase(order_[i], first_track_ + lane_[i]);
  }
}

void PhaseWriter::write_phase(std::uint32_t number, std::uint32_t track) {
  const Phase& phase = profile_.phases[number];
  TraceEvent event = out_.event(TracePhase::complete, out_.text(phase.name), track);
  out_.set_times(event, {phase.start, end_of(phase)});
  event.category = "phase";
  out_.events.add(event, [&] {
    JsonWriter<TextOutput>& json = out_.json;
    json.member("inference", phase.instance);
    if (phase.microseconds >= 0 && std::isfinite(phase.microseconds)) {
      json.member("microseconds", phase.microseconds);
    }
    if (any_parent_) json.member("phase", number);
    if (const auto parent = parent_number(phase)) json.member("parent", *parent);
  });
}

class TraceWriter {
 public:
  TraceWriter(const Profile& profile, const std::function<void(std::string_view)>& sink,
              const WriteOptions& options)
      : profile_(profile),
        options_(options),
        by_unit_(profile),
        layout_(lay_out(profile, by_unit_)),
        out_(profile, sink),
        flows_(profile, by_unit_, layout_, out_.nanoseconds),
        spans_(profile, layout_, flows_, out_),
        phases_(profile, layout_, out_) {}

  Losses write();

 private:
  void write_head();
  void write_names();
  void write_counters();
  void count_losses();

  const Profile& profile_;
  const WriteOptions& options_;
  RowsByUnit by_unit_;
  Layout layout_;
  EventOutput out_;
  FlowWriter flows_;
  BlockWriter spans_;
  PhaseWriter phases_;
  Losses losses_;
  std::uint64_t not_finite_ = 0;
};

void TraceWriter::write_head() {
  JsonWriter json(out_.out, own_style.values);
  json.begin_object();
  json.member("displayTimeUnit", "ns");
  json.key("otherData");
  json.begin_object();
  json.member("writer", "npuscope");
  json.member("format", profile_.provenance.format);
  const std::pair<const char*, const std::string*> facts[] = {
      {"version", &profile_.provenance.version},
      {"device", &profile_.provenance.device},
      {"graph", &profile_.provenance.graph},
      {"instrumentation", &profile_.provenance.instrumentation}};
  for (const auto& [name, text] : facts) {
    if (!text->empty()) json.member(name, *text);
  }
  if (!profile_.provenance.ran()) json.member("times", stable_name(profile_.provenance.times));
  const std::size_t base = index_of(profile_.base_clock);
  if (base < profile_.clocks.size()) {
    json.member("clock", out_.text(profile_.clocks[base].name));
    if (out_.nanoseconds.known()) {
      json.member("clock_hertz", profile_.clocks[base].rate.value);
    } else {
      json.member("time", "one tick of the clock is written as one nanosecond");
    }
  }
  json.end_object();
  json.key("traceEvents");
  json.begin_array();
}

void TraceWriter::write_names() {
  const auto metadata = [&](const char* what, const Track& track, bool of_thread, const char* key,
                            const auto& value) {
    out_.events.add({.phase = TracePhase::metadata,
                     .name = what,
                     .process = TraceId::of_json(track.process),
                     .thread = of_thread ? TraceId::of_json(track.thread) : TraceId()},
                    [&] { out_.json.member(key, value); });
  };
  for (const Track& track : layout_.tracks) {
    if (track.names_process && !track.process_name.empty()) {
      metadata("process_name", track, false, "name", track.process_name);
    }
    if (track.thread.empty() || track.thread_name.empty()) continue;
    metadata("thread_name", track, true, "name", track.thread_name);
    if (track.sort_index < 0) continue;
    metadata("thread_sort_index", track, true, "sort_index", track.sort_index);
  }
}

void TraceWriter::write_counters() {
  const Counters& counters = profile_.counters;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    if (counters.of[i] >= counters.series.size()) continue;
    if (!std::isfinite(counters.value[i])) {
      not_finite_ += 1;
      continue;
    }
    const CounterSeries& series = counters.series[counters.of[i]];
    TraceEvent event =
        out_.event(TracePhase::counter, out_.text(series.name), layout_.track(series.unit));
    event.time = out_.nanoseconds.of(counters.time[i]);
    // A name that viewers can show.
    const bool is_whole = series.part == StringId::empty;
    out_.events.add(event, [&] {
      out_.json.member(is_whole ? "value" : out_.text(series.part), counters.value[i]);
    });
  }
}

void TraceWriter::count_losses() {
  // Phases and samples stand on the same axis as the spans.
  const std::uint64_t times =
      profile_.spans.size() + profile_.counters.size() + profile_.phases.size();
  if (!out_.nanoseconds.known() && times > 0) {
    losses_.add("times whose clock has no known rate: one tick is written as one nanosecond",
                times);
  }
  if (out_.nanoseconds.rounds()) losses_.add("times between nanoseconds: rounded", times);
  losses_.add("spans that overlap on one unit: on further tracks of it", layout_.moved);
  losses_.add("units that are hardware: as processes and threads of their names",
              hardware_units(profile_));
  losses_.add("phases: as slices of a process of their own", profile_.phases.size());
  losses_.add("measures of spans: as arguments", numbers_of_spans(profile_));
  losses_.add("clocks beside the trace's own",
              std::max<std::size_t>(profile_.clocks.size(), 1) - 1);
  losses_.add("ops without a span", ops_without_span(profile_));
  losses_.add("numbers that are not finite", not_finite_ + spans_.not_finite());
  losses_.add("numbers about the run, units, ops and phases", profile_.measures.size());
  losses_.add("dependencies between ops", profile_.edges.size());
  losses_.add("tensors", profile_.tensors.size());
  losses_.add("checks", profile_.checks.size());
  losses_.add("notes", profile_.notes.size());
}

Losses TraceWriter::write() {
  out_.use_places(layout_.tracks);
  write_head();
  write_names();
  spans_.write(options_.progress);
  flows_.write_rest(out_);
  write_counters();
  phases_.write();
  losses_.add("flows that end before they begin", flows_.backwards());
  losses_.add(
      "flows into slices under way, or of slices that begin with one inside: viewers may differ",
      flows_.misread());
  out_.events.end();
  out_.out.flush();
  count_losses();
  return std::move(losses_);
}

}  // namespace

Losses write_trace(const Profile& profile, const std::function<void(std::string_view)>& sink,
                   const WriteOptions& options) {
  return TraceWriter(profile, sink, options).write();
}

}  // namespace npuscope::chrome
