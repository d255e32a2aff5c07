// A runtime log as a profile, with the estimates of its debug information.
#include <algorithm>
#include <list>
#include <map>
#include <set>

#include "formats/torq/annotate/log_intervals.hpp"
#include "formats/torq/annotate/simulator.hpp"
#include "formats/torq/debug/debug_folder.hpp"
#include "formats/torq/fields.hpp"
#include "formats/torq/profile/log_ops.hpp"
#include "formats/torq/profile/npu_target.hpp"
#include "formats/torq/profile/program_split.hpp"
#include "formats/torq/profile/rows.hpp"
#include "formats/torq/profile/schedule_numbers.hpp"
#include "formats/torq/runtime_log.hpp"
#include "npuscope/profile/intervals.hpp"
#include "profile/shared_numbers.hpp"

namespace npuscope::torq {
namespace {

const char* name_of(LogKind kind) {
  constexpr const char* names[] = {"", "dispatches", "host actions", "NSS jobs"};
  return names[std::size_t(kind)];
}

// "HAL_QUEUE_EXECUTE" of "__HAL_QUEUE_EXECUTE__".
std::string_view without_underscores(std::string_view name) {
  const auto first = name.find_first_not_of('_');
  if (first == name.npos) return name;
  return name.substr(first, name.find_last_not_of('_') - first + 1);
}

bool is_started_in(const ProgramRun& program, const UnitWork& work) {
  return work.task >= program.first_task && work.task - program.first_task < program.task_count;
}

// Each of the first notes, and one of all others.
void append_first(const CountedNotes& from, std::vector<Note>& notes) {
  constexpr std::size_t max = 20;
  std::vector<Note> all;
  from.append_to(all);
  for (std::size_t i = 0; i < std::min(max, all.size()); ++i) notes.push_back(all[i]);
  std::uint64_t more = 0;
  for (std::size_t i = max; i < all.size(); ++i) more += all[i].count;
  if (more == 0) return;
  notes.push_back({Severity::warning, from.file(), 0,
                   "more waits for what has no start in the log; in no sum", more});
}

// What the compiler says of a span.
struct SpanEstimate {
  SpanId span = SpanId::none;
  std::optional<std::int64_t> cycles{}, read_bytes{}, written_bytes{};
};

class LogProfile {
 public:
  LogProfile(const RuntimeLog& log, const DebugInfo* debug)
      : log_(log),
        debug_(debug),
        notes_(log.name),
        without_start_(log.name),
        intervals_(pair_events(log, notes_)),
        inferences_(log, intervals_),
        ops_(log, debug, profile_, notes_) {}

  Profile run();

 private:
  struct Started {
    const LogInterval* start = nullptr;
    SpanId span = SpanId::none;
  };

  void describe();
  void add(const LogInterval& each);
  void add_phase(const LogInterval& each, std::string_view type);
  void add_program_end(const LogInterval& wait, SpanId waited, std::list<Started>& started,
                       UnitId unit);
  void add_parts(const KnownProgram& program, std::span<const ProgramPart> parts,
                 const LogInterval& start, Interval at, StartedProgram& spans);
  void add_schedule(ClockId clock);
  void add_column(const NamedNumber& number, std::optional<std::int64_t> SpanEstimate::*value,
                  ClockId clock = {});
  StringId intern(std::string_view text) { return profile_.strings.intern(text); }
  SpanId add(UnitId unit, OpId op, SpanKind kind, const LogInterval& each, std::int64_t end_us) {
    return add(unit, op, kind, inferences_.of(each),
               to_nanoseconds(Interval{each.begin_us, end_us}));
  }
  SpanId add(UnitId unit, OpId op, SpanKind kind, std::uint32_t inference, Interval at) {
    profile_.spans.instance.push_back(inference);
    return profile_.spans.add(unit, op, kind, at.begin, saturating_subtract(at.end, at.begin));
  }

  const RuntimeLog& log_;
  const DebugInfo* debug_;
  CountedNotes notes_, without_start_;
  std::vector<LogInterval> intervals_;
  LogInferences inferences_;
  Profile profile_;
  LogOps ops_;
  UnitId host_{}, nss_{}, programs_ = UnitId::none;
  std::map<std::pair<std::int64_t, StringId>, std::list<Started>> nss_started_, host_started_;
  std::vector<StartedProgram> waited_for_;
  std::vector<SpanEstimate> estimates_;
  std::map<const ProgramRun*, std::vector<ProgramPart>> parts_;
  SimulatorCheck simulator_;
};

Profile LogProfile::run() {
  describe();
  host_ = add_unit(profile_, "host", Engine::host, UnitId::none);
  const UnitId npu = add_unit(profile_, "NPU", Engine::device, UnitId::none);
  nss_ = add_unit(profile_, "NSS", Engine::core, npu);
  for (const LogInterval& each : intervals_) add(each);
  profile_.provenance.simulator_slowdown = simulator_.slowdown();
  profile_.provenance.split_ops = ops_.parts();
  add_program_flows(profile_, host_, waited_for_);
  for (const auto& [invocation, started] : nss_started_) {
    if (!started.empty()) {
      notes_.add(Severity::warning, 0, "NSS programs that were started and never waited for",
                 started.size());
    }
  }
  if (inferences_.by_queue()) {
    for (std::uint32_t i = 0; i < inferences_.calls().size(); ++i) {
      add(host_, OpId::none, SpanKind::inference, i, to_nanoseconds(inferences_.calls()[i]));
    }
  }
  if (debug_ != nullptr && debug_->sources) {
    for (const std::string& name : debug_->sources->operators()) {
      add_source_operator(profile_, name);
    }
  }
  add_column(ddr_read_bytes, &SpanEstimate::read_bytes);
  add_column(ddr_write_bytes, &SpanEstimate::written_bytes);
  // In cycles of the compiler's cost model, whose rate nothing says.
  const bool any = std::any_of(estimates_.begin(), estimates_.end(),
                               [](const SpanEstimate& each) { return each.cycles.has_value(); });
  if (any) {
    const ClockId clock =
        profile_.add_clock("NPU cycles, estimated", ClockKind::unit_cycles, Hertz{0});
    add_column({"estimate", MeasureKind::span}, &SpanEstimate::cycles, clock);
    add_schedule(clock);
  }
  ops_.note_missing_dispatches();
  profile_.checks = log_.checks;
  profile_.notes = log_.notes;
  if (debug_ != nullptr) {
    for (const DispatchInfo& dispatch : debug_->dispatches) {
      profile_.notes.insert(profile_.notes.end(), dispatch.notes.begin(), dispatch.notes.end());
    }
  }
  notes_.append_to(profile_.notes);
  append_first(without_start_, profile_.notes);
  return std::move(profile_);
}

void LogProfile::describe() {
  Provenance& from = profile_.provenance;
  from.format = "Torq runtime log";
  from.platform = Provenance::Platform::torq;
  from.version = name_of(log_.kind);
  DmaRates rates;
  if (debug_ != nullptr) {
    for (const DispatchInfo& dispatch : debug_->dispatches) take_rates(dispatch, rates);
  }
  from.device = rates.device();
  from.inferences = inferences_.count();
  from.instrumentation = "runtime log";
  if (from.inferences > 0) {
    from.temperature = from.inferences == 1 ? Provenance::Temperature::cold
                                            : Provenance::Temperature::cold_then_warm;
  }
  // std::chrono::steady_clock, cut to microseconds; parts of programs need finer ticks.
  profile_.base_clock = profile_.add_clock("monotonic", ClockKind::wall, Hertz{1e9});
}

void LogProfile::add(const LogInterval& each) {
  const std::string_view type = log_.strings[each.type];
  const std::pair key{each.invocation, each.dispatch};
  if (each.action == no_action) return add_phase(each, type);
  if (type == "NSS_JOB") {
    add(nss_, ops_.of(each, true), SpanKind::op, each, each.end_us);
    return;
  }
  const OpId op = ops_.of(each, false);
  const bool waits = type == "NSS_WAIT" || type == "HOST_WAIT";
  const SpanId span = add(host_, op, waits ? SpanKind::sync : SpanKind::host, each, each.end_us);
  if (type == "NSS_START") nss_started_[key].push_back({&each, span});
  if (type == "NSS_WAIT") add_program_end(each, span, nss_started_[key], nss_);
  if (type == "HOST_START") host_started_[key].push_back({&each, span});
  if (type == "HOST_WAIT") {
    if (programs_ == UnitId::none) {
      programs_ = add_unit(profile_, "host programs", Engine::host, UnitId::none);
    }
    add_program_end(each, span, host_started_[key], programs_);
  }
}

// From the begin of the start to the end of the wait; programs end in the order of their starts
// where debug information does not say which wait is whose.
void LogProfile::add_program_end(const LogInterval& wait, SpanId waited,
                                 std::list<Started>& started, UnitId unit) {
  auto chosen = started.begin();
  if (const KnownProgram waited_for = ops_.program_of(wait); waited_for.run != nullptr) {
    chosen = std::find_if(started.begin(), started.end(), [&](const Started& each) {
      return each.start->action == waited_for.run->start_action;
    });
  }
  if (chosen == started.end()) {
    const std::string_view in = log_.strings[wait.dispatch];
    const std::string name = fmt::format("{}{} {}", in.empty() ? "" : fmt::format("{} > ", in),
                                         log_.strings[wait.type], wait.action);
    return without_start_.add(Severity::warning, 0,
                              name + ": what it waits for has no start in the log; in no sum");
  }
  const Interval at = to_nanoseconds(
      Interval{chosen->start->begin_us, std::max(wait.end_us, chosen->start->begin_us)});
  StartedProgram spans{.start = chosen->span, .wait = waited};
  const KnownProgram known = ops_.program_of(*chosen->start);
  if (known.run != nullptr && known.run->cycles) {
    simulator_.take(length_of(*known.run->cycles), length_of(at));
  }
  std::span<const ProgramPart> parts;
  if (known.run != nullptr) {
    const auto [place, is_new] = parts_.try_emplace(known.run);
    if (is_new) place->second = parts_of(*known.dispatch, *known.run);
    parts = place->second;
  }
  if (parts.size() > 1) {
    add_parts(known, parts, *chosen->start, at, spans);
  } else {
    const OpId op = ops_.of(*chosen->start, true);
    const bool moves = profile_.ops[index_of(op)].engine == Engine::dma;
    const SpanId program = add(unit, op, moves ? SpanKind::transfer : SpanKind::op,
                               inferences_.of(*chosen->start), at);
    spans.first = spans.last = program;
    if (known.run != nullptr) {
      const auto& cycles = known.run->cycles;
      estimates_.push_back({program, cycles ? std::optional(length_of(*cycles)) : std::nullopt,
                            known.run->read_bytes, known.run->written_bytes});
    }
  }
  waited_for_.push_back(spans);
  started.erase(chosen);
}

// What a program did within its measured time, by the estimate.
void LogProfile::add_parts(const KnownProgram& program, std::span<const ProgramPart> parts,
                           const LogInterval& start, Interval at, StartedProgram& spans) {
  const std::uint32_t inference = inferences_.of(start);
  const std::vector<std::int64_t> ends = split(length_of(at), parts);
  profile_.phases.push_back({intern(program.run->name), inference, nss_, at.begin, length_of(at),
                             double(length_of(at)) / 1e3});
  std::set<std::uint32_t> counted;
  std::int64_t begin = at.begin;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::uint32_t work = parts[i].work;
    const OpId op = ops_.part_of(program, work, start.dispatch);
    const bool moves = profile_.ops[index_of(op)].engine == Engine::dma;
    const std::int64_t end = saturating_add(at.begin, ends[i]);
    const SpanId span =
        add(nss_, op, moves ? SpanKind::transfer : SpanKind::op, inference, {begin, end});
    if (i == 0) spans.first = span;
    if (i > 0) profile_.flows.push_back({spans.last, span, EdgeKind::order, intern("NSS"), {}});
    spans.last = span;
    begin = end;
    SpanEstimate estimate{.span = span, .cycles = length_of(parts[i].cycles)};
    const bool is_first = work != no_work && counted.insert(work).second;
    if (is_first && is_started_in(*program.run, program.dispatch->work[work])) {
      const UnitWork& each = program.dispatch->work[work];
      if (each.unit == NpuUnit::dma_in) estimate.read_bytes = each.bytes;
      if (each.unit == NpuUnit::dma_out) estimate.written_bytes = each.bytes;
    }
    estimates_.push_back(estimate);
  }
}

void LogProfile::add_phase(const LogInterval& each, std::string_view type) {
  const std::string_view name =
      type == "HAL_CALL" ? without_underscores(log_.strings[each.dispatch]) : type;
  const Interval at = to_nanoseconds(Interval{each.begin_us, each.end_us});
  const std::int64_t duration = saturating_subtract(at.end, at.begin);
  profile_.phases.push_back(
      {intern(name), inferences_.of(each), host_, at.begin, duration, double(duration) / 1e3});
  if (type == "DISPATCH" && !inferences_.by_queue()) {
    add(host_, OpId::none, SpanKind::inference, each, each.end_us);
  }
}

// Of the dispatches that the log has, if debug information has estimates of all of them.
void LogProfile::add_schedule(ClockId clock) {
  std::set<const DispatchInfo*> ran;
  for (const LogInterval& each : intervals_) {
    if (each.action == no_action || is_internal(log_.strings[each.dispatch])) continue;
    const DispatchInfo* dispatch = debug_->find(log_.strings[each.dispatch]);
    if (dispatch == nullptr) return;
    if (has_estimates(*dispatch)) ran.insert(dispatch);
  }
  std::vector<const DispatchInfo*> in_order;
  for (const DispatchInfo& each : debug_->dispatches) {
    if (ran.contains(&each)) in_order.push_back(&each);
  }
  if (in_order.empty()) return;
  if (const auto estimate = make_profile(in_order, nullptr)) {
    add_estimated_schedule(profile_, clock, *estimate);
  }
}

void LogProfile::add_column(const NamedNumber& number,
                            std::optional<std::int64_t> SpanEstimate::*value, ClockId clock) {
  const bool any = std::any_of(estimates_.begin(), estimates_.end(),
                               [&](const auto& each) { return (each.*value).has_value(); });
  if (!any) return;
  MeasureColumn column = profile_.column_of(number, Origin::estimated, clock);
  for (std::size_t row = 0; row < profile_.spans.size(); ++row) {
    column.values.push_back(MeasureColumn::missing);
  }
  for (const SpanEstimate& each : estimates_) {
    if (each.*value) column.values[index_of(each.span)] = *(each.*value);
  }
  profile_.spans.measures.push_back(std::move(column));
}

}  // namespace

Profile make_profile(const RuntimeLog& log, const DebugInfo* debug) {
  return LogProfile(log, debug).run();
}

}  // namespace npuscope::torq
