// A runtime log as a profile, with what debug information says of its actions.
#include <algorithm>
#include <list>
#include <map>
#include <set>

#include "formats/torq/annotate/log_intervals.hpp"
#include "formats/torq/annotate/simulator.hpp"
#include "formats/torq/debug/debug_folder.hpp"
#include "formats/torq/fields.hpp"
#include "formats/torq/profile/npu_target.hpp"
#include "formats/torq/profile/place_names.hpp"
#include "formats/torq/profile/program_split.hpp"
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

std::size_t dispatches_in(const RuntimeLog& log) {
  std::set<StringId> names;
  for (const LogEvent& event : log.events) {
    if (!is_internal(log.strings[event.dispatch])) names.insert(event.dispatch);
  }
  return names.size();
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

// What the compiler says of a span.
struct SpanEstimate {
  SpanId span = SpanId::none;
  std::optional<std::int64_t> cycles{}, read_bytes{}, written_bytes{};
};

// A program of the debug information as it was opened, with what its parts are called.
struct KnownProgram {
  const DispatchInfo* dispatch = nullptr;
  const ProgramRun* run = nullptr;
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
    SpanId span = SpanId::none;
  };
  using OpKey = std::tuple<StringId, std::int32_t, StringId, StringId>;
  // Of a part of a program: what ran on which unit for which place; unit none: no unit at work.
  using PartKey = std::tuple<const ProgramRun*, int, LocationId, std::string, bool>;

  void describe();
  void add(const LogInterval& each);
  void add_phase(const LogInterval& each, std::string_view type);
  void add_program_end(const LogInterval& wait, SpanId waited, std::list<Started>& started,
                       UnitId unit);
  void add_parts(const KnownProgram& program, std::span<const ProgramPart> parts,
                 const LogInterval& start, Interval at, StartedProgram& spans);
  void add_column(const NamedNumber& number, std::optional<std::int64_t> SpanEstimate::*value,
                  ClockId clock = {});
  OpId op_of(const LogInterval& each, bool is_program);
  OpId op_of(const KnownProgram& program, std::uint32_t work, const std::string& in);
  void describe_op(Op& op, const LogInterval& each, bool is_program);
  void describe_program(Op& op, const KnownProgram& program);
  KnownProgram program_of(const LogInterval& each) const;
  const PlaceNames& names_of(const DispatchInfo& dispatch);
  std::vector<const PlaceName*> operators_of(const KnownProgram& program);
  std::string prefix_of(StringId dispatch) const;
  StringId intern(std::string_view text) { return profile_.strings.intern(text); }
  SpanId add(UnitId unit, OpId op, SpanKind kind, const LogInterval& each, std::int64_t end_us) {
    return add(unit, op, kind, inferences_.of(each),
               to_nanoseconds(Interval{each.begin_us, end_us}));
  }
  SpanId add(UnitId unit, OpId op, SpanKind kind, std::uint32_t inference, Interval at) {
    profile_.spans.instance.push_back(inference);
    return add_span(profile_, unit, op, kind, at.begin, saturating_subtract(at.end, at.begin));
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
  std::vector<SpanEstimate> estimates_;
  std::set<std::string_view> without_debug_;
  std::map<PartKey, OpId> part_ops_;
  std::map<const ProgramRun*, std::vector<ProgramPart>> parts_;
  std::map<const DispatchInfo*, PlaceNames> names_;
  bool has_one_dispatch_ = false;
  SimulatorCheck simulator_;
};

Profile LogProfile::run() {
  describe();
  has_one_dispatch_ = dispatches_in(log_) <= 1;
  host_ = add_unit(profile_, "host", Engine::host, UnitId::none);
  const UnitId npu = add_unit(profile_, "NPU", Engine::device, UnitId::none);
  nss_ = add_unit(profile_, "NSS", Engine::core, npu);
  for (const LogInterval& each : intervals_) add(each);
  profile_.provenance.simulator_slowdown = simulator_.slowdown();
  profile_.provenance.split_ops = part_ops_.size();
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
    add_column({"estimate", MeasureKind::span}, &SpanEstimate::cycles,
               add_clock(profile_, "NPU cycles, estimated", ClockKind::unit_cycles, Hertz{0}));
  }
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
  profile_.base_clock = add_clock(profile_, "monotonic", ClockKind::wall, Hertz{1e9});
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
  if (const KnownProgram waited_for = program_of(wait); waited_for.run != nullptr) {
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
  const KnownProgram known = program_of(*chosen->start);
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
    const OpId op = op_of(*chosen->start, true);
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
    const OpId op = op_of(program, work, prefix_of(start.dispatch));
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

KnownProgram LogProfile::program_of(const LogInterval& each) const {
  const DispatchInfo* dispatch =
      debug_ == nullptr ? nullptr : debug_->find(log_.strings[each.dispatch]);
  const Action* action = dispatch == nullptr ? nullptr : dispatch->action(each.action);
  if (action == nullptr || action->program == no_program) return {};
  return {dispatch, &dispatch->programs[action->program]};
}

const PlaceNames& LogProfile::names_of(const DispatchInfo& dispatch) {
  return names_.try_emplace(&dispatch, dispatch, debug_).first->second;
}

// What a program computes, else what it moves.
std::vector<const PlaceName*> LogProfile::operators_of(const KnownProgram& program) {
  const PlaceNames& names = names_of(*program.dispatch);
  std::vector<const PlaceName*> all = names.of(*program.run), computed;
  for (const PlaceName* name : all) {
    if (name->has_kernels) computed.push_back(name);
  }
  return computed.empty() ? all : computed;
}

// Of a log with one dispatch its name says nothing.
std::string LogProfile::prefix_of(StringId dispatch) const {
  const std::string_view name = log_.strings[dispatch];
  return has_one_dispatch_ || name.empty() ? "" : fmt::format("{} > ", name);
}

void LogProfile::describe_op(Op& op, const LogInterval& each, bool is_program) {
  const std::string_view dispatch_name = log_.strings[each.dispatch];
  const std::string_view type = log_.strings[each.type];
  const std::string_view what = !is_program                ? type
                                : type.starts_with("HOST") ? "host program"
                                                           : "NSS program";
  const std::string in = prefix_of(each.dispatch);
  const std::string where = each.location == StringId::empty ? "" : " " + brief(each.location);
  op.name = intern(fmt::format("{}{} {}{}", in, what, each.action, where));
  op.kind = intern(what);
  op.attributes = intern(log_.strings[each.location]);
  op.is_unnamed = true;
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
  const KnownProgram program = program_of(each);
  const bool is_nss = program.run != nullptr && program.run->executor == Executor::nss;
  const std::vector<const PlaceName*> operators =
      is_nss ? operators_of(program) : std::vector<const PlaceName*>();
  std::string place = action->location == LocationId::unknown
                          ? std::string(trimmed(where))
                          : dispatch->locations.brief(action->location);
  if (operators.size() > 1) {
    place = is_program ? fmt::format("({} operators)", operators.size()) : program.run->name;
  } else {
    const auto named = debug_->operators_of(*dispatch, action->location);
    op.node = intern(joined(named, " "));
    if (named.size() == 1) op.node_kind = intern(kind_of_operator(named.front()));
    if (operators.size() == 1) {
      op.node = intern(operators.front()->label);
      op.node_kind = intern(operators.front()->kind);
    }
    op.is_unnamed =
        op.node == StringId::empty || (operators.size() == 1 && operators.front()->is_unnamed);
    op.identity = intern(fmt::format("{}{} {}", in, what, each.action));
  }
  const std::string detail = program.run != nullptr && is_program
                                 ? program.run->name
                                 : fmt::format("{} {}", what, each.action);
  op.name = intern(fmt::format("{}{}{}{}", in, detail, place.empty() ? "" : " ", place));
  if (is_program && program.run != nullptr) describe_program(op, program);
}

// Of a program that only moves data, or only computes, the hardware is known; of others it is not
// known when they did which.
void LogProfile::describe_program(Op& op, const KnownProgram& program) {
  std::vector<std::string> used;
  bool moves = false, computes = false;
  for (std::size_t unit = 0; unit < npu_unit_count; ++unit) {
    if (!program.run->uses[unit]) continue;
    used.emplace_back(torq::name_of(NpuUnit(unit)));
    (is_transfer(NpuUnit(unit)) ? moves : computes) = true;
  }
  if (moves != computes) op.engine = moves ? Engine::dma : Engine::compute;
  const std::vector<std::string> kernels = distinct(program.run->kernels);
  if (kernels.size() == 1) op.kind = intern(kernels.front());
  if (kernels.empty() && moves && !computes) op.kind = intern("transfers");
  std::string attributes = "uses " + joined(used, ", ");
  if (kernels.size() > 1) attributes += "; kernels " + joined(kernels, ", ");
  op.attributes = intern(attributes);
}

// Of a part of a program.
OpId LogProfile::op_of(const KnownProgram& program, std::uint32_t work, const std::string& in) {
  const UnitWork* each = work == no_work ? nullptr : &program.dispatch->work[work];
  const PartKey key = each == nullptr ? PartKey{program.run, -1, LocationId::unknown, "", false}
                                      : PartKey{program.run, int(each->unit), each->location,
                                                each->kernel, each->fetches_code};
  const auto [place, is_new] = part_ops_.try_emplace(key, OpId(profile_.ops.size()));
  if (!is_new) return place->second;
  Op op;
  op.split_from = intern(in + program.run->name);
  if (each == nullptr) {
    op.name = intern(fmt::format("{}{}, no unit at work", in, program.run->name));
    op.kind = intern("NSS");
    op.is_unnamed = true;
  } else {
    const PlaceName& name = names_of(*program.dispatch).of(*each);
    const std::string what = each->kernel.empty() ? torq::name_of(each->unit) : each->kernel;
    op.name = intern(fmt::format("{}{} > {}", in, program.run->name, what));
    if (each->location != LocationId::unknown) {
      op.name = intern(fmt::format("{} {}", profile_.text(op.name),
                                   program.dispatch->locations.brief(each->location)));
    }
    op.kind = intern(what);
    op.node = intern(name.label);
    op.node_kind = intern(name.kind);
    op.is_unnamed = name.is_unnamed;
    op.identity = intern(in + name.identity);
    op.engine = is_transfer(each->unit) ? Engine::dma : Engine::compute;
  }
  profile_.ops.push_back(op);
  return place->second;
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
