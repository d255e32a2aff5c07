// A runtime log as a profile, with what debug information says of its actions.
#include <algorithm>
#include <list>
#include <map>
#include <set>

#include "formats/torq/annotate/log_intervals.hpp"
#include "formats/torq/debug/debug_folder.hpp"
#include "formats/torq/fields.hpp"
#include "formats/torq/profile/rows.hpp"
#include "formats/torq/runtime_log.hpp"
#include "npuscope/profile/intervals.hpp"
#include "profile/shared_numbers.hpp"

namespace npuscope::torq {
namespace {

const char* name_of(LogKind kind) {
  constexpr const char* names[] = {"", "dispatches", "host actions", "NSS jobs"};
  return names[std::size_t(kind)];
}

bool is_internal(std::string_view dispatch) { return dispatch.starts_with("__"); }

// "HAL_QUEUE_EXECUTE" of "__HAL_QUEUE_EXECUTE__".
std::string_view without_underscores(std::string_view name) {
  const auto first = name.find_first_not_of('_');
  if (first == name.npos) return name;
  return name.substr(first, name.find_last_not_of('_') - first + 1);
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

// Which inference something is of, by when it began.
class Inferences {
 public:
  // Calls of the queue count where a dispatch begins within them.
  Inferences(const RuntimeLog& log, const std::vector<LogInterval>& intervals) {
    std::vector<std::int64_t> dispatches;
    std::vector<Interval> calls;
    for (const LogInterval& each : intervals) {
      const std::string_view type = log.strings[each.type];
      if (type == "DISPATCH") dispatches.push_back(each.begin_us);
      if (type == "HAL_CALL" && log.strings[each.dispatch] == "__HAL_QUEUE_EXECUTE__") {
        calls.push_back({each.begin_us, each.end_us});
      }
    }
    std::sort(dispatches.begin(), dispatches.end());
    std::sort(calls.begin(), calls.end(), [](Interval a, Interval b) { return a.begin < b.begin; });
    for (const Interval& call : calls) {
      const auto first = std::lower_bound(dispatches.begin(), dispatches.end(), call.begin);
      if (first != dispatches.end() && *first <= call.end) calls_.push_back(call);
    }
    if (calls_.empty()) count_calls(log);
  }

  bool by_queue() const { return !calls_.empty(); }
  const std::vector<Interval>& calls() const { return calls_; }
  std::uint32_t count() const { return by_queue() ? std::uint32_t(calls_.size()) : count_; }

  std::uint32_t of(const LogInterval& each) const {
    if (by_queue()) {
      const auto after =
          std::upper_bound(calls_.begin(), calls_.end(), each.begin_us,
                           [](std::int64_t at, const Interval& call) { return at < call.begin; });
      return std::uint32_t(std::max<std::ptrdiff_t>(0, after - calls_.begin() - 1));
    }
    const auto found = of_invocation_.find(each.invocation);
    return found == of_invocation_.end() ? 0 : found->second;
  }

 private:
  // Without the queue: how many calls of the same dispatch were before.
  void count_calls(const RuntimeLog& log) {
    std::map<StringId, std::uint32_t> calls_of;
    for (const LogEvent& event : log.events) {
      if (is_internal(log.strings[event.dispatch])) continue;
      if (event.action == no_action && log.strings[event.type] != "DISPATCH") continue;
      const auto [place, is_new] = of_invocation_.try_emplace(event.invocation, 0);
      if (is_new) place->second = calls_of[event.dispatch]++;
      count_ = std::max(count_, place->second + 1);
    }
  }

  std::vector<Interval> calls_;
  std::map<std::int64_t, std::uint32_t> of_invocation_;
  std::uint32_t count_ = 0;
};

class LogProfile {
 public:
  LogProfile(const RuntimeLog& log, const DebugInfo* debug)
      : log_(log),
        debug_(debug),
        notes_(log.name),
        without_start_(log.name),
        intervals_(pair_events(log, notes_)),
        inferences_(log, intervals_) {}

  Profile run();

 private:
  struct Started {
    const LogInterval* start = nullptr;
    OpId op{};
    SpanId span = SpanId::none;
  };
  using OpKey = std::tuple<StringId, std::int32_t, StringId, StringId>;

  void describe();
  void add(const LogInterval& each);
  void add_phase(const LogInterval& each, std::string_view type);
  void add_program_end(const LogInterval& wait, SpanId waited, std::list<Started>& started,
                       UnitId unit);
  void add_bytes(const NamedNumber& number, std::optional<std::int64_t> ProgramRun::*bytes);
  void add_estimates();
  OpId op_of(const LogInterval& each, bool is_program);
  void describe_op(Op& op, const LogInterval& each, bool is_program);
  void describe_program(Op& op, const ProgramRun& program);
  SpanId add(UnitId unit, OpId op, SpanKind kind, const LogInterval& each, std::int64_t end_us) {
    profile_.spans.instance.push_back(inferences_.of(each));
    return add_span(profile_, unit, op, kind, each.begin_us,
                    saturating_subtract(end_us, each.begin_us));
  }
  std::string brief(StringId location);

  const RuntimeLog& log_;
  const DebugInfo* debug_;
  CountedNotes notes_, without_start_;
  std::vector<LogInterval> intervals_;
  Inferences inferences_;
  Profile profile_;
  Locations locations_;
  UnitId host_{}, nss_{}, programs_ = UnitId::none;
  std::map<OpKey, OpId> ops_;
  std::map<std::pair<std::int64_t, StringId>, std::list<Started>> nss_started_, host_started_;
  std::vector<StartedProgram> waited_for_;
  std::vector<std::pair<SpanId, const ProgramRun*>> programs_of_spans_;
  std::set<std::string_view> without_debug_;
};

Profile LogProfile::run() {
  describe();
  host_ = add_unit(profile_, "host", Engine::host, UnitId::none);
  const UnitId npu = add_unit(profile_, "NPU", Engine::device, UnitId::none);
  nss_ = add_unit(profile_, "NSS", Engine::core, npu);
  for (const LogInterval& each : intervals_) add(each);
  add_program_flows(profile_, host_, waited_for_);
  for (const auto& [invocation, started] : nss_started_) {
    if (!started.empty()) {
      notes_.add(Severity::warning, 0, "NSS programs that were started and never waited for",
                 started.size());
    }
  }
  if (inferences_.by_queue()) {
    for (std::uint32_t i = 0; i < inferences_.calls().size(); ++i) {
      const Interval call = inferences_.calls()[i];
      add_span(profile_, host_, OpId::none, SpanKind::inference, call.begin, length_of(call));
      profile_.spans.instance.push_back(i);
    }
  }
  if (debug_ != nullptr && debug_->sources) {
    for (const std::string& name : debug_->sources->operators()) {
      add_source_operator(profile_, name);
    }
  }
  add_bytes(ddr_read_bytes, &ProgramRun::read_bytes);
  add_bytes(ddr_write_bytes, &ProgramRun::written_bytes);
  add_estimates();
  std::size_t named = 0;
  constexpr std::size_t max_named = 20;
  for (const std::string_view name : without_debug_) {
    if (named++ == max_named) break;
    notes_.add(Severity::warning, 0,
               fmt::format("no debug information of dispatch {}", std::string(name)));
  }
  if (without_debug_.size() > max_named) {
    notes_.add(Severity::warning, 0, "no debug information of more dispatches",
               without_debug_.size() - max_named);
  }
  profile_.checks = log_.checks;
  profile_.notes = log_.notes;
  notes_.append_to(profile_.notes);
  append_first(without_start_, profile_.notes);
  return std::move(profile_);
}

void LogProfile::describe() {
  Provenance& from = profile_.provenance;
  from.format = "Torq runtime log";
  from.version = name_of(log_.kind);
  from.device = "Torq";
  from.inferences = inferences_.count();
  from.instrumentation = "runtime log";
  if (from.inferences > 0) {
    from.temperature = from.inferences == 1 ? Provenance::Temperature::cold
                                            : Provenance::Temperature::cold_then_warm;
  }
  // std::chrono::steady_clock, cut to microseconds.
  profile_.base_clock = add_clock(profile_, "monotonic", ClockKind::wall, Hertz{1e6});
}

void LogProfile::add(const LogInterval& each) {
  const std::string_view type = log_.strings[each.type];
  const std::pair key{each.invocation, each.dispatch};
  if (each.action == no_action) return add_phase(each, type);
  if (type == "NSS_JOB") {
    add(nss_, op_of(each, true), SpanKind::op, each, each.end_us);
    return;
  }
  const OpId op = op_of(each, false);
  const bool waits = type == "NSS_WAIT" || type == "HOST_WAIT";
  const SpanId span = add(host_, op, waits ? SpanKind::sync : SpanKind::host, each, each.end_us);
  if (type == "NSS_START") nss_started_[key].push_back({&each, op_of(each, true), span});
  if (type == "NSS_WAIT") add_program_end(each, span, nss_started_[key], nss_);
  if (type == "HOST_START") host_started_[key].push_back({&each, op_of(each, true), span});
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
  const DispatchInfo* dispatch =
      debug_ == nullptr ? nullptr : debug_->find(log_.strings[wait.dispatch]);
  const Action* action = dispatch == nullptr ? nullptr : dispatch->action(wait.action);
  if (action != nullptr && action->program != no_program) {
    const std::int32_t start = dispatch->programs[action->program].start_action;
    chosen = std::find_if(started.begin(), started.end(),
                          [&](const Started& each) { return each.start->action == start; });
  }
  if (chosen == started.end()) {
    const std::string_view in = log_.strings[wait.dispatch];
    const std::string name = fmt::format("{}{} {}", in.empty() ? "" : fmt::format("{} > ", in),
                                         log_.strings[wait.type], wait.action);
    return without_start_.add(Severity::warning, 0,
                              name + ": what it waits for has no start in the log; in no sum");
  }
  const Engine engine = profile_.ops[index_of(chosen->op)].engine;
  const SpanKind kind = engine == Engine::dma ? SpanKind::transfer : SpanKind::op;
  const SpanId program =
      add(unit, chosen->op, kind, *chosen->start, std::max(wait.end_us, chosen->start->begin_us));
  waited_for_.push_back({chosen->span, program, waited});
  if (action != nullptr && action->program != no_program) {
    programs_of_spans_.push_back({program, &dispatch->programs[action->program]});
  }
  started.erase(chosen);
}

void LogProfile::add_phase(const LogInterval& each, std::string_view type) {
  const std::string_view name =
      type == "HAL_CALL" ? without_underscores(log_.strings[each.dispatch]) : type;
  const std::int64_t duration = saturating_subtract(each.end_us, each.begin_us);
  const std::uint32_t inference = inferences_.of(each);
  profile_.phases.push_back(
      {profile_.strings.intern(name), inference, host_, each.begin_us, duration, double(duration)});
  if (type == "DISPATCH" && !inferences_.by_queue()) {
    add(host_, OpId::none, SpanKind::inference, each, each.end_us);
  }
}

// What the transfers of a program are configured for, the compiler's word. XRAM is external memory.
void LogProfile::add_bytes(const NamedNumber& number,
                           std::optional<std::int64_t> ProgramRun::*bytes) {
  const bool any = std::any_of(programs_of_spans_.begin(), programs_of_spans_.end(),
                               [&](const auto& each) { return (each.second->*bytes).has_value(); });
  if (!any) return;
  MeasureColumn column = profile_.column_of(number, Origin::estimated);
  for (std::size_t row = 0; row < profile_.spans.size(); ++row) {
    column.values.push_back(MeasureColumn::missing);
  }
  for (const auto& [span, program] : programs_of_spans_) {
    if (program->*bytes) column.values[index_of(span)] = *(program->*bytes);
  }
  profile_.spans.measures.push_back(std::move(column));
}

// In cycles of the compiler's cost model, whose rate nothing says.
void LogProfile::add_estimates() {
  const bool any = std::any_of(programs_of_spans_.begin(), programs_of_spans_.end(),
                               [](const auto& each) { return each.second->cycles.has_value(); });
  if (!any) return;
  const ClockId cycles =
      add_clock(profile_, "NPU cycles, estimated", ClockKind::unit_cycles, Hertz{0});
  MeasureColumn column =
      profile_.column_of({"estimate", MeasureKind::span}, Origin::estimated, cycles);
  for (std::size_t row = 0; row < profile_.spans.size(); ++row) {
    column.values.push_back(MeasureColumn::missing);
  }
  for (const auto& [span, program] : programs_of_spans_) {
    if (program->cycles) column.values[index_of(span)] = length_of(*program->cycles);
  }
  profile_.spans.measures.push_back(std::move(column));
}

OpId LogProfile::op_of(const LogInterval& each, bool is_program) {
  const OpKey key{each.dispatch, is_program ? -2 - each.action : each.action, each.type,
                  each.location};
  const auto [place, is_new] = ops_.try_emplace(key, OpId(profile_.ops.size()));
  if (!is_new) return place->second;
  Op op;
  describe_op(op, each, is_program);
  profile_.ops.push_back(op);
  return place->second;
}

std::string LogProfile::brief(StringId location) {
  const auto id = locations_.parse(log_.strings[location]);
  return id ? locations_.brief(*id) : std::string(log_.strings[location]);
}

void LogProfile::describe_op(Op& op, const LogInterval& each, bool is_program) {
  const std::string_view dispatch_name = log_.strings[each.dispatch];
  const std::string_view type = log_.strings[each.type];
  const std::string_view what = !is_program                ? type
                                : type.starts_with("HOST") ? "host program"
                                                           : "NSS program";
  const std::string in = dispatch_name.empty() ? "" : fmt::format("{} > ", dispatch_name);
  const std::string where = each.location == StringId::empty ? "" : " " + brief(each.location);
  op.name = profile_.strings.intern(fmt::format("{}{} {}{}", in, what, each.action, where));
  op.kind = profile_.strings.intern(what);
  op.attributes = profile_.strings.intern(log_.strings[each.location]);
  if (debug_ == nullptr) return;
  const DispatchInfo* dispatch = debug_->find(dispatch_name);
  const Action* action = dispatch == nullptr ? nullptr : dispatch->action(each.action);
  if (dispatch == nullptr) without_debug_.insert(dispatch_name);
  if (action == nullptr) {
    if (dispatch != nullptr) {
      notes_.add(Severity::warning, 0, "actions that the debug information does not have");
    }
    return;
  }
  op.node = profile_.strings.intern(joined(debug_->operators_of(*dispatch, action->location), " "));
  const std::string place = dispatch->locations.brief(action->location);
  const std::string detail = action->program != no_program && is_program
                                 ? dispatch->programs[action->program].name
                                 : fmt::format("{} {}", what, each.action);
  op.name = profile_.strings.intern(fmt::format("{}{} {}", in, detail, place));
  if (is_program && action->program != no_program) {
    describe_program(op, dispatch->programs[action->program]);
  }
}

// Of a program that only moves data, or only computes, the hardware is known; of others it is not
// known when they did which.
void LogProfile::describe_program(Op& op, const ProgramRun& program) {
  std::vector<std::string> used;
  bool moves = false, computes = false;
  for (std::size_t unit = 0; unit < npu_unit_count; ++unit) {
    if (!program.uses[unit]) continue;
    used.emplace_back(torq::name_of(NpuUnit(unit)));
    const bool is_dma = NpuUnit(unit) == NpuUnit::dma_in || NpuUnit(unit) == NpuUnit::dma_out ||
                        NpuUnit(unit) == NpuUnit::cdma;
    (is_dma ? moves : computes) = true;
  }
  if (moves != computes) op.engine = moves ? Engine::dma : Engine::compute;
  if (!program.kernels.empty())
    op.kind = profile_.strings.intern(joined(distinct(program.kernels), ","));
  if (program.kernels.empty() && moves && !computes) op.kind = profile_.strings.intern("transfers");
  op.attributes = profile_.strings.intern("uses " + joined(used, ", "));
}

}  // namespace

Profile make_profile(const RuntimeLog& log, const DebugInfo* debug) {
  return LogProfile(log, debug).run();
}

std::uint32_t inference_count(const RuntimeLog& log) {
  CountedNotes notes(log.name);
  return Inferences(log, pair_events(log, notes)).count();
}

}  // namespace npuscope::torq
