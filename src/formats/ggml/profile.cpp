#include "formats/ggml/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "formats/ggml/engine_units.hpp"
#include "formats/ggml/numbers.hpp"
#include "formats/ggml/op_table.hpp"
#include "formats/ggml/placement.hpp"
#include "formats/ggml/steps.hpp"

namespace npuscope::ggml {
namespace {

constexpr std::uint32_t no_pmu = ~std::uint32_t{0};

class ProfileMaker {
 public:
  ProfileMaker(const Log& log, const Steps& steps, const Placement& placement,
               const std::vector<Layer>& layers, const StepGroup& group)
      : log_(log),
        steps_(steps),
        placement_(placement),
        group_(group),
        ops_(log, layers, profile_) {
    for (const std::string& name : log.event_names) lanes_.push_back(lane_of(name));
  }

  Profile make() {
    describe();
    add_clocks();
    units_ = add_units(log_, profile_);
    std::vector<bool> is_of_group(steps_.steps.size(), false);
    for (const std::uint32_t step : group_.steps) is_of_group[step] = true;
    const auto is_of_this = [&](std::size_t i) { return is_of_group[steps_.of_batch[i]]; };
    std::size_t rows = 0;
    for (std::size_t i = 0; i < log_.batches.size(); ++i) {
      if (!is_of_this(i)) continue;
      has_events_ |= log_.batches[i].events > 0;
      rows += 1 + log_.batches[i].runs + log_.batches[i].events;
    }
    profile_.spans.reserve(rows);
    for (std::size_t i = 0; i < log_.batches.size(); ++i) {
      instance_ = steps_.of_batch[i];
      if (is_of_this(i)) add_batch(i);
    }
    finish_columns();
    add_edges();
    for (const auto& [op, of] : macs_of_) {
      const Operation& operation = log_.operations[of.first];
      const Origin origin = operation.is_at_most ? Origin::estimated : Origin::derived;
      profile_.add_measure(Measure::Subject::op, op, op_macs, origin, {},
                           operation.macs / of.second);
    }
    add_ops_elsewhere(log_, steps_, group_, profile_);
    add_run_numbers(log_, steps_, group_.steps, placement_, profile_);
    add_notes(log_, placement_, group_, lost_, profile_);
    return std::move(profile_);
  }

 private:
  StringId text(std::string_view text) { return profile_.strings.intern(text); }

  void describe() {
    Provenance& provenance = profile_.provenance;
    provenance.format = format_name;
    provenance.platform = Provenance::Platform::hexagon;
    provenance.files = {log_.name};
    provenance.version = fmt::format("G{}", int(log_.generation) - int(Generation::g0));
    provenance.device = log_.arch.empty() ? "Hexagon" : "Hexagon " + log_.arch;
    provenance.graph = name_of(group_.phase);
    if (log_.mode) provenance.instrumentation = fmt::format("GGML_HEXAGON_PROFILE={}", *log_.mode);
    provenance.inferences = std::uint32_t(group_.steps.size());
    using Temperature = Provenance::Temperature;
    const bool is_first = !group_.steps.empty() && group_.steps.front() == 0;
    provenance.temperature = !is_first                            ? Temperature::warm
                             : group_.phase == StepPhase::warm_up ? Temperature::cold
                             : group_.steps.size() > 1            ? Temperature::cold_then_warm
                                                                  : Temperature::unknown;
  }

  void add_clocks() {
    profile_.base_clock = profile_.add_clock("time", ClockKind::wall, Hertz(ticks_per_s));
    double cycles = 0, seconds = 0;
    for (std::size_t i = 0; i < log_.batches.size(); ++i) {
      const double hertz = log_.clocks[log_.batches[i].clock].cycles_per_us * 1e6;
      if (!(hertz > 0)) continue;
      cycles += double(placement_.cycles_of(i));
      seconds += double(placement_.cycles_of(i)) / hertz;
    }
    Clock core{text("core cycles"), ClockKind::unit_cycles,
               Hertz(seconds > 0 ? cycles / seconds : 0)};
    profile_.clocks.push_back(core);
  }

  void add_span(UnitId unit, OpId op, SpanKind kind, std::int64_t begin, std::int64_t end,
                std::int64_t cycles) {
    Spans& spans = profile_.spans;
    spans.add(unit, op, kind, begin, std::max<std::int64_t>(0, end - begin));
    spans.processor_cycles.push_back(cycles);
    spans.instance.push_back(instance_);
  }

  void add_batch(std::size_t number) {
    const Batch& batch = log_.batches[number];
    const SessionUnits& units = units_[batch.session];
    const auto time = [&](std::int64_t counter) { return placement_.time(number, counter); };
    const bool is_counted = placement_.has_counter();
    const std::int64_t begin = placement_.begin_of(number), end = placement_.end_of(number);
    add_span(units.session, OpId::none, SpanKind::inference, begin, end,
             is_counted ? placement_.cycles_of(number) : -1);
    Phase phase;
    phase.name = text("NPU batch");
    phase.instance = instance_;
    phase.unit = units.session;
    phase.start = begin;
    phase.duration = end - begin;
    profile_.phases.push_back(phase);
    if (batch.host_usec) {
      phase.name = text("host, from push to pop");
      phase.duration = std::int64_t(*batch.host_usec) * ticks_per_us;
      phase.start = end - phase.duration;
      phase.parent = outermost_phase;
      profile_.phases.push_back(phase);
    }
    const std::int64_t complete_until = lose_events(batch);
    for (std::uint32_t i = 1; i < batch.runs; ++i) {
      const OpRun* run = &log_.runs[batch.first_run + i];
      after_.insert({run[-1].operation, run->operation});
    }
    std::uint32_t cores = 1;
    for (std::uint32_t i = 0; i < batch.runs; ++i) {
      const OpRun& run = log_.runs[batch.first_run + i];
      const Operation& operation = log_.operations[run.operation];
      cores = std::max(cores, operation.cores);
      const auto cycles = std::int64_t(run.cycles);
      // Where events say what the threads did, an op is the frame of that.
      const bool is_known = has_events_ && run.start + cycles <= complete_until;
      lost_.ops += has_events_ && !is_known;
      const SpanKind kind = is_known                              ? SpanKind::annotation
                            : !operation.synchronises             ? SpanKind::op
                            : operation.op.starts_with("FENCE_W") ? SpanKind::sync
                                                                  : SpanKind::communication;
      const auto row = std::uint32_t(profile_.spans.size());
      if (run.pmu != no_pmu) pmu_of_.push_back({row, run.pmu});
      if (operation.read_bytes() > 0) {
        bytes_of_.push_back({row, std::int64_t(operation.read_bytes() / cores)});
      }
      const OpId op = ops_.window_of(run.operation);
      if (operation.macs > 0) macs_of_.insert({index_of(op), {run.operation, cores}});
      add_span(units.session, op, kind, time(run.start), time(run.start + cycles), cycles);
    }
    add_events(number, batch, units);
  }

  // Cut at the windows of the ops; what lies in none of them is of the batch.
  void add_events(std::size_t number, const Batch& batch, const SessionUnits& units) {
    const auto runs = std::span(log_.runs).subspan(batch.first_run, batch.runs);
    const auto events = std::span(log_.events).subspan(batch.first_event, batch.events);
    for (const Event& event : events) {
      const Lane lane = lanes_[event.name];
      const UnitId unit = units.of[event.thread][std::size_t(lane)];
      const SpanKind kind = lane == Lane::dma    ? SpanKind::transfer
                            : lane == Lane::wait ? SpanKind::wait
                                                 : SpanKind::op;
      const std::int64_t end = event.start + std::int64_t(event.cycles);
      std::int64_t at = event.start;
      auto run = std::upper_bound(
          runs.begin(), runs.end(), at,
          [](std::int64_t begin, const OpRun& each) { return begin < each.start; });
      if (run != runs.begin()) --run;
      do {
        while (run != runs.end() && run->start + std::int64_t(run->cycles) <= at) ++run;
        const bool is_inside = run != runs.end() && run->start <= at;
        const std::int64_t until =
            run == runs.end()
                ? end
                : std::min(end, is_inside ? run->start + std::int64_t(run->cycles) : run->start);
        add_span(unit,
                 is_inside ? ops_.part_of(run->operation, event.name) : ops_.between(event.name),
                 kind, placement_.time(number, at), placement_.time(number, until), until - at);
        at = until;
      } while (at < end);
    }
  }

  // Until when no thread's events are missing: of one that lost some, its last.
  std::int64_t lose_events(const Batch& batch) {
    std::array<std::int64_t, trace_threads> last{};
    bool any = batch.may_have_lost;
    for (const std::uint64_t lost : batch.lost) any |= lost > 0;
    lost_.batches += batch.may_have_lost;
    std::int64_t from = std::numeric_limits<std::int64_t>::max();
    if (!any) return from;
    for (std::uint32_t i = 0; i < batch.events; ++i) {
      const Event& event = log_.events[batch.first_event + i];
      std::int64_t& of_thread = last[event.thread];
      of_thread = std::max(of_thread, event.start + std::int64_t(event.cycles));
    }
    for (std::size_t i = 0; i < trace_threads; ++i) {
      lost_.events += batch.lost[i];
      if (batch.lost[i] > 0 || batch.may_have_lost) from = std::min(from, last[i]);
    }
    return from;
  }

  void finish_columns() {
    Spans& spans = profile_.spans;
    MeasureColumn windows = profile_.column_of(op_window, profile_.provenance.times);
    windows.clock = profile_.base_clock;
    windows.values.reserve(spans.size());
    for (std::size_t row = 0; row < spans.size(); ++row) {
      const bool is_window = ops_.is_window(spans.op[row]);
      windows.values.push_back(is_window ? spans.duration[row] : MeasureColumn::missing);
    }
    spans.measures.push_back(std::move(windows));
    const bool has_bytes = std::ranges::any_of(
        log_.operations, [](const Operation& operation) { return operation.read_bytes() > 0; });
    if (has_bytes) {
      MeasureColumn bytes = profile_.column_of(read_bytes, Origin::estimated);
      bytes.values.assign(spans.size(), MeasureColumn::missing);
      for (const auto& [row, value] : bytes_of_) bytes.values[row] = value;
      spans.measures.push_back(std::move(bytes));
    }
    for (std::size_t i = 0; i < pmu_counters && !pmu_of_.empty(); ++i) {
      MeasureColumn counts = make_pmu_column(log_, i, profile_);
      counts.values.assign(spans.size(), MeasureColumn::missing);
      for (const auto& [row, place] : pmu_of_) counts.values[row] = log_.pmu[place][i];
      spans.measures.push_back(std::move(counts));
    }
  }

  // Ops of a session run in the order of the lines, none before the end of the one before.
  void add_edges() {
    if (!has_events_) return;
    for (const auto& [before, after] : after_) {
      for (const OpId from : ops_.parts(before)) {
        for (const OpId to : ops_.parts(after)) {
          const bool ran = from != OpId::none && to != OpId::none;
          if (ran) profile_.edges.push_back({from, to, EdgeKind::order});
        }
      }
    }
  }

  const Log& log_;
  const Steps& steps_;
  const Placement& placement_;
  const StepGroup& group_;
  Profile profile_;
  OpTable ops_;
  std::uint32_t instance_ = 0;
  std::vector<SessionUnits> units_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> after_;       // operations, one after the other
  std::vector<std::pair<std::uint32_t, std::int64_t>> bytes_of_;  // by span
  // By op: its operation, and how many cores do it together, each logging all of it.
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> macs_of_;
  std::vector<Lane> lanes_;                                      // by name of an event
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pmu_of_;  // span, place in Log::pmu
  bool has_events_ = false;
  LostEvents lost_;
};

// Of results alone.
Profile results_profile(const Log& log) {
  Profile profile;
  profile.provenance.format = "llama.cpp results";
  profile.provenance.platform = Provenance::Platform::hexagon;
  profile.provenance.files = {log.name};
  profile.add_clock("time", ClockKind::wall, Hertz(ticks_per_s));
  profile.notes = log.notes;
  add_result_numbers(log.results, profile);
  return profile;
}

}  // namespace

std::vector<Profile> make_profiles(Log& log) {
  std::vector<Profile> profiles;
  if (log.batches.empty()) {
    profiles.push_back(results_profile(log));
    return profiles;
  }
  const Placement placement(log);
  const Steps steps = find_steps(log);
  const std::vector<Layer> layers = find_layers(log);
  for (const StepGroup& group : groups_of(steps.steps)) {
    profiles.push_back(ProfileMaker(log, steps, placement, layers, group).make());
  }
  return profiles;
}

}  // namespace npuscope::ggml
