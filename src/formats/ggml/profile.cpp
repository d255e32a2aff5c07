#include "formats/ggml/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "base/text.hpp"
#include "formats/ggml/layers.hpp"
#include "formats/ggml/numbers.hpp"
#include "formats/ggml/placement.hpp"
#include "formats/ggml/steps.hpp"

namespace npuscope::ggml {
namespace {

constexpr std::uint32_t no_run = ~std::uint32_t{0};

// What an event is work of.
enum class Lane : std::uint8_t { hvx, hmx, dma, wait, set_up };

Lane lane_of(std::string_view event) {
  if (event.starts_with("HVX_")) return Lane::hvx;
  if (event.starts_with("HMX_")) return Lane::hmx;
  if (event == "DMA") return Lane::dma;
  return event == "FENCE" ? Lane::wait : Lane::set_up;
}

// The steps that become one profile.
struct Group {
  StepPhase phase = StepPhase::other;
  std::vector<std::uint32_t> steps;
  bool is_interrupted = false;  // by steps of other phases
};

std::vector<Group> groups_of(const std::vector<Step>& steps) {
  constexpr std::size_t max_stretches = 8;
  std::vector<Group> groups;
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    if (groups.empty() || groups.back().phase != steps[i].phase) {
      groups.push_back({steps[i].phase, {}});
    }
    groups.back().steps.push_back(i);
  }
  if (groups.size() <= max_stretches) return groups;
  std::vector<Group> merged;
  for (Group& group : groups) {
    const auto found = std::ranges::find(merged, group.phase, &Group::phase);
    if (found == merged.end()) {
      merged.push_back(std::move(group));
      continue;
    }
    found->is_interrupted = true;
    found->steps.insert(found->steps.end(), group.steps.begin(), group.steps.end());
  }
  return merged;
}

struct SessionUnits {
  UnitId session = UnitId::none;
  std::array<std::array<UnitId, 5>, trace_threads> of{};  // by thread and lane
};

// The spans that carry the numbers of a run.
struct Carrier {
  std::uint32_t frame = 0, operation = 0;
  bool hands_on = false;  // to events
  std::uint32_t reads = frame, multiplies = frame;
  bool reads_right = false, multiplies_right = false;
};

class ProfileMaker {
 public:
  ProfileMaker(const Log& log, const Steps& steps, const Placement& placement,
               const std::vector<Layer>& layers, const Group& group)
      : log_(log), steps_(steps), placement_(placement), layers_(layers), group_(group) {
    for (const std::string& name : log.event_names) lanes_.push_back(lane_of(name));
    ops_.resize(log.operations.size() + 1);
  }

  Profile make() {
    describe();
    add_clocks();
    add_units();
    add_columns();
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
    add_op_numbers();
    add_run_numbers(log_, steps_, group_.steps, placement_, profile_);
    add_notes();
    return std::move(profile_);
  }

 private:
  StringId text(std::string_view text) { return profile_.strings.intern(text); }

  void describe() {
    Provenance& provenance = profile_.provenance;
    provenance.format = format_name;
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
    profile_.clocks.push_back({text("time"), ClockKind::wall, Hertz(ticks_per_s), false, 0});
    profile_.base_clock = ClockId(0);
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

  UnitId add_unit(std::string_view name, Engine engine, std::uint32_t core, std::uint32_t lane,
                  UnitId parent) {
    profile_.units.push_back({0, core, engine, lane, text(name), parent, {}, {}});
    return UnitId(std::uint32_t(profile_.units.size() - 1));
  }

  // Only what the log has events of.
  void add_units() {
    std::array<bool, trace_threads> has_hvx{}, has_dma{}, has_set_up{};
    bool has_hmx = false;
    for (const Event& event : log_.events) {
      const Lane lane = lanes_[event.name];
      has_hmx |= lane == Lane::hmx;
      has_hvx[event.thread] |= lane == Lane::hvx;
      has_dma[event.thread] |= lane == Lane::dma;
      has_set_up[event.thread] |= lane == Lane::set_up || lane == Lane::wait;
    }
    for (std::uint32_t core = 0; core < log_.sessions.size(); ++core) {
      SessionUnits units;
      units.session = add_unit(log_.sessions[core].name, Engine::core, core, 0, UnitId::none);
      for (std::uint32_t i = 0; i < trace_threads; ++i) {
        if (has_hvx[i]) {
          units.of[i][std::size_t(Lane::hvx)] =
              add_unit(fmt::format("HVX thread {}", i), Engine::hvx, core, i, units.session);
        }
        if (has_set_up[i]) {
          const UnitId unit =
              add_unit(fmt::format("set-up, thread {}", i), Engine::other, core, i, units.session);
          units.of[i][std::size_t(Lane::set_up)] = units.of[i][std::size_t(Lane::wait)] = unit;
        }
      }
      if (has_hmx) {
        const UnitId hmx = add_unit("HMX queue", Engine::hmx, core, 0, units.session);
        for (auto& of_thread : units.of) of_thread[std::size_t(Lane::hmx)] = hmx;
      }
      for (std::uint32_t i = 0; i < trace_threads; ++i) {
        if (!has_dma[i]) continue;
        units.of[i][std::size_t(Lane::dma)] = add_unit(fmt::format("DMA in flight, thread {}", i),
                                                       Engine::dma, core, i, units.session);
      }
      units_.push_back(units);
    }
  }

  void add_columns() {
    for (const Operation& operation : log_.operations) has_bytes_ |= operation.weight_bytes > 0;
  }

  OpId op_of(std::uint32_t operation, std::uint32_t event) {
    std::vector<OpId>& ops = ops_[operation == no_run ? log_.operations.size() : operation];
    const std::size_t place = event == no_run ? 0 : event + 1;
    if (place >= ops.size()) ops.resize(place + 1, OpId::none);
    if (ops[place] == OpId::none) {
      ops[place] = OpId(std::uint32_t(profile_.ops.size()));
      profile_.ops.push_back(make_op(operation, event));
      is_window_.push_back(event == no_run);
    }
    return ops[place];
  }

  // `event`: no_run for the op itself.
  Op make_op(std::uint32_t number, std::uint32_t event) {
    Op op;
    const std::string_view event_name =
        event == no_run ? std::string_view() : std::string_view(log_.event_names[event]);
    if (event != no_run) {
      op.kind = text(event_name);
      const Lane lane = lane_of(event_name);
      op.engine = lane == Lane::hvx   ? Engine::hvx
                  : lane == Lane::hmx ? Engine::hmx
                  : lane == Lane::dma ? Engine::dma
                                      : Engine::other;
    }
    if (number == no_run) {
      op.name = text("between ops");
      op.node = op.name;
      return op;
    }
    const Operation& operation = log_.operations[number];
    const Layer& layer = layers_[number];
    op.node = text(layer.label);
    op.node_kind = text(operation.op);
    if (event == no_run) {
      op.kind = text(kernel_of(operation));
      op.engine = Engine::core;
    }
    std::string operands;
    const auto add = [&](const std::vector<Tensor>& tensors, const char* side) {
      for (const Tensor& tensor : tensors) {
        operands += fmt::format("{}{} {} {} {}", operands.empty() ? "" : "\n", side, tensor.name,
                                tensor.type, tensor.extents_text);
      }
    };
    add(operation.inputs, "in");
    add(operation.outputs, "out");
    op.name = op.node;
    op.operands = text(operands);
    op.types = text(types_of(operation));
    op.attributes = text(operation.kernel);
    if (!operation.outputs.empty()) {
      const Tensor& output = operation.outputs.front();
      op.shape = text(output.extents_text);
      const std::array<std::int64_t, 4> extents{output.extents[3], output.extents[2],
                                                output.extents[1], output.extents[0]};
      const std::size_t skip = extents[0] == 1 && extents[1] == 1 ? 2 : 0;
      op.extents = profile_.shapes.intern(std::span(extents).subspan(skip));
    }
    op.once_per_inference = true;
    return op;
  }

  // "MUL_MAT hmx-tiled".
  static std::string kernel_of(const Operation& operation) {
    const std::string_view kernel = operation.kernel;
    const bool names_it = !kernel.empty() && !kernel.starts_with("vtcm") &&
                          !kernel.starts_with("nth") && !kernel.starts_with("idx") &&
                          !kernel.starts_with("seq");
    if (!names_it) return operation.op;
    return fmt::format("{} {}", operation.op, kernel.substr(0, kernel.find(' ')));
  }

  static std::string types_of(const Operation& operation) {
    std::vector<std::string_view> types;
    for (const auto* tensors : {&operation.inputs, &operation.outputs}) {
      for (const Tensor& tensor : *tensors) {
        if (tensor.type.empty() || std::ranges::find(types, tensor.type) != types.end()) continue;
        types.push_back(tensor.type);
      }
    }
    return fmt::format("{}", fmt::join(types, ", "));
  }

  void add_span(UnitId unit, OpId op, SpanKind kind, std::int64_t begin, std::int64_t end,
                std::int64_t cycles) {
    Spans& spans = profile_.spans;
    spans.unit.push_back(unit);
    spans.op.push_back(op);
    spans.kind.push_back(kind);
    spans.start.push_back(begin);
    spans.duration.push_back(std::max<std::int64_t>(0, end - begin));
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
    carriers_.clear();
    const std::int64_t complete_until = lose_events(batch);
    for (std::uint32_t i = 1; i < batch.runs; ++i) {
      const OpRun* run = &log_.runs[batch.first_run + i];
      after_.insert({run[-1].operation, run->operation});
    }
    for (std::uint32_t i = 0; i < batch.runs; ++i) {
      const OpRun& run = log_.runs[batch.first_run + i];
      const Operation& operation = log_.operations[run.operation];
      const auto cycles = std::int64_t(run.cycles);
      // Where events say what the threads did, an op is the frame of that.
      const bool is_known = has_events_ && run.start + cycles <= complete_until;
      affected_ += has_events_ && !is_known;
      const SpanKind kind = is_known                              ? SpanKind::annotation
                            : !operation.synchronises             ? SpanKind::op
                            : operation.op.starts_with("FENCE_W") ? SpanKind::sync
                                                                  : SpanKind::communication;
      const auto row = std::uint32_t(profile_.spans.size());
      if (run.pmu != no_run) pmu_of_.push_back({row, run.pmu});
      Carrier carrier{row, run.operation, is_known};
      carriers_.push_back(carrier);
      add_span(units.session, op_of(run.operation, no_run), kind, time(run.start),
               time(run.start + cycles), cycles);
    }
    add_events(number, batch, units);
    for (const Carrier& carrier : carriers_) {
      const Operation& operation = log_.operations[carrier.operation];
      if (operation.weight_bytes > 0) {
        bytes_of_.push_back({carrier.reads, std::int64_t(operation.weight_bytes)});
      }
      if (operation.is_product()) {
        macs_of_.insert({index_of(profile_.spans.op[carrier.multiplies]), operation.macs});
      }
    }
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
        if (is_inside) carry(carriers_[std::size_t(run - runs.begin())], lane);
        const std::int64_t until =
            run == runs.end()
                ? end
                : std::min(end, is_inside ? run->start + std::int64_t(run->cycles) : run->start);
        add_span(unit, op_of(is_inside ? run->operation : no_run, event.name), kind,
                 placement_.time(number, at), placement_.time(number, until), until - at);
        at = until;
      } while (at < end);
    }
  }

  // What an op reads is of its first transfer, what it multiplies of the unit that does; else of
  // any event, where its own span is the frame of these.
  void carry(Carrier& carrier, Lane lane) {
    if (!carrier.hands_on || lane == Lane::wait) return;
    const auto row = std::uint32_t(profile_.spans.size());  // of the span that comes next
    const auto take = [&](std::uint32_t& place, bool fits, bool& is_right) {
      if (is_right || (!fits && place != carrier.frame)) return;
      place = row;
      is_right = fits;
    };
    take(carrier.reads, lane == Lane::dma, carrier.reads_right);
    take(carrier.multiplies, lane == Lane::hmx, carrier.multiplies_right);
  }

  // Until when no thread's events are missing: of one that lost some, its last.
  std::int64_t lose_events(const Batch& batch) {
    std::array<std::int64_t, trace_threads> last{};
    bool any = batch.may_have_lost;
    for (const std::uint64_t lost : batch.lost) any |= lost > 0;
    may_have_lost_ += batch.may_have_lost;
    std::int64_t from = std::numeric_limits<std::int64_t>::max();
    if (!any) return from;
    for (std::uint32_t i = 0; i < batch.events; ++i) {
      const Event& event = log_.events[batch.first_event + i];
      std::int64_t& of_thread = last[event.thread];
      of_thread = std::max(of_thread, event.start + std::int64_t(event.cycles));
    }
    for (std::size_t i = 0; i < trace_threads; ++i) {
      lost_ += batch.lost[i];
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
      windows.values.push_back(is_window(row) ? spans.duration[row] : MeasureColumn::missing);
    }
    spans.measures.push_back(std::move(windows));
    if (has_bytes_) {
      MeasureColumn bytes = profile_.column_of(weight_bytes, Origin::estimated);
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
    const auto parts_of = [this](std::uint32_t operation) {
      const std::vector<OpId>& ops = ops_[operation];
      return std::span(ops).subspan(std::min<std::size_t>(1, ops.size()));  // without its window
    };
    for (const auto& [before, after] : after_) {
      for (const OpId from : parts_of(before)) {
        for (const OpId to : parts_of(after)) {
          const bool ran = from != OpId::none && to != OpId::none;
          if (ran) profile_.edges.push_back({from, to, EdgeKind::order});
        }
      }
    }
  }

  bool is_window(std::size_t row) const {
    const std::size_t op = index_of(profile_.spans.op[row]);
    return op < is_window_.size() && is_window_[op];
  }

  void add_op_numbers() {
    for (const auto& [op, macs] : macs_of_) {
      profile_.add_measure(Measure::Subject::op, op, product_macs, Origin::derived, {}, macs);
    }
  }

  void note(Severity severity, std::uint64_t count, std::string message) {
    profile_.notes.push_back({severity, log_.name, 0, std::move(message), count});
  }

  void add_notes() {
    profile_.notes = log_.notes;
    if (lost_ > 0) {
      note(Severity::warning, lost_,
           fmt::format("trace events were lost: shares of HVX, HMX and DMA are lower bounds, of {} "
                       "ops from the first lost event on; set a larger GGML_HEXAGON_OPTRACE",
                       thousands(affected_)));
    }
    if (may_have_lost_ > 0) {
      note(Severity::warning, may_have_lost_,
           "batches whose trace buffer was full, or whose last events have no end: events may be "
           "lost, and shares of HVX, HMX and DMA are lower bounds; set a larger "
           "GGML_HEXAGON_OPTRACE");
    }
    if (log_.calls_below_ops > 0) {
      note(Severity::warning, log_.calls_below_ops,
           "ops that took longer than the call that waited for them: the log was recorded without "
           "GGML_HEXAGON_OPSYNC=1, and its times belong to other ops");
    }
    if (!placement_.has_counter()) {
      note(Severity::warning, 1,
           "the log has no start times: ops follow each other without the gaps between them, so "
           "that "
           "the wall is the sum of the ops");
    } else if (!placement_.has_print_times()) {
      note(Severity::info, 1,
           "lines have no times: gaps between batches are lower bounds, because the NPU's counter "
           "nearly stops while it waits; record with --log-prefix and --log-timestamps");
    }
    if (placement_.printing_us() > 0) {
      note(Severity::info, 1,
           fmt::format("the host printed the profile for {:.3f} ms between batches, which is left "
                       "out of the timeline",
                       double(placement_.printing_us()) / 1e3));
    }
    note(Severity::info, 1, coverage_text(log_.results));
    if (group_.is_interrupted) {
      note(Severity::info, 1,
           "steps of other phases ran in between: idle time of this phase includes them");
    }
  }

  const Log& log_;
  const Steps& steps_;
  const Placement& placement_;
  const std::vector<Layer>& layers_;
  const Group& group_;
  Profile profile_;
  std::uint32_t instance_ = 0;
  std::vector<SessionUnits> units_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> after_;       // operations, one after the other
  std::vector<Carrier> carriers_;                                 // of the batch, by run
  std::vector<std::pair<std::uint32_t, std::int64_t>> bytes_of_;  // by span
  std::map<std::uint32_t, double> macs_of_;                       // by op
  std::vector<Lane> lanes_;                                       // by name of an event
  std::vector<std::vector<OpId>> ops_;  // by operation: its window, then by name of an event
  std::vector<bool> is_window_;         // by op
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pmu_of_;  // span, place in Log::pmu
  bool has_bytes_ = false, has_events_ = false;
  std::uint64_t lost_ = 0, affected_ = 0, may_have_lost_ = 0;
};

// Of results alone.
Profile results_profile(const Log& log) {
  Profile profile;
  profile.provenance.format = "llama.cpp results";
  profile.provenance.files = {log.name};
  profile.clocks.push_back(
      {profile.strings.intern("time"), ClockKind::wall, Hertz(ticks_per_s), false, 0});
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
  for (const Group& group : groups_of(steps.steps)) {
    profiles.push_back(ProfileMaker(log, steps, placement, layers, group).make());
  }
  return profiles;
}

}  // namespace npuscope::ggml
