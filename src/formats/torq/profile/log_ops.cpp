#include "formats/torq/profile/log_ops.hpp"

#include <algorithm>

#include "formats/torq/fields.hpp"
#include "formats/torq/profile/program_split.hpp"

namespace npuscope::torq {

bool is_internal(std::string_view dispatch) { return dispatch.starts_with("__"); }

LogInferences::LogInferences(const RuntimeLog& log, const std::vector<LogInterval>& intervals) {
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

std::uint32_t LogInferences::of(const LogInterval& each) const {
  if (by_queue()) {
    const auto after =
        std::upper_bound(calls_.begin(), calls_.end(), each.begin_us,
                         [](std::int64_t at, const Interval& call) { return at < call.begin; });
    return std::uint32_t(std::max<std::ptrdiff_t>(0, after - calls_.begin() - 1));
  }
  const auto found = of_invocation_.find(each.invocation);
  return found == of_invocation_.end() ? 0 : found->second;
}

// Without the queue: how many calls of the same dispatch were before.
void LogInferences::count_calls(const RuntimeLog& log) {
  std::map<StringId, std::uint32_t> calls_of;
  for (const LogEvent& event : log.events) {
    if (is_internal(log.strings[event.dispatch])) continue;
    if (event.action == no_action && log.strings[event.type] != "DISPATCH") continue;
    const auto [place, is_new] = of_invocation_.try_emplace(event.invocation, 0);
    if (is_new) place->second = calls_of[event.dispatch]++;
    count_ = std::max(count_, place->second + 1);
  }
}

std::uint32_t inference_count(const RuntimeLog& log) {
  CountedNotes notes(log.name);
  return LogInferences(log, pair_events(log, notes)).count();
}

namespace {

std::size_t dispatches_in(const RuntimeLog& log) {
  std::set<StringId> names;
  for (const LogEvent& event : log.events) {
    if (!is_internal(log.strings[event.dispatch])) names.insert(event.dispatch);
  }
  return names.size();
}

}  // namespace

LogOps::LogOps(const RuntimeLog& log, const DebugInfo* debug, Profile& profile, CountedNotes& notes)
    : log_(log),
      debug_(debug),
      profile_(profile),
      notes_(notes),
      has_one_dispatch_(dispatches_in(log) <= 1) {}

void LogOps::note_missing_dispatches() {
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
}

OpId LogOps::of(const LogInterval& each, bool is_program) {
  const Key key{each.dispatch, is_program ? -2 - each.action : each.action, each.type,
                each.location};
  const auto [place, is_new] = ops_.try_emplace(key, OpId(profile_.ops.size()));
  if (!is_new) return place->second;
  Op op;
  describe(op, each, is_program);
  profile_.ops.push_back(op);
  return place->second;
}

std::string LogOps::brief(StringId location) {
  const auto id = locations_.parse(log_.strings[location]);
  return id ? locations_.brief(*id) : std::string(log_.strings[location]);
}

KnownProgram LogOps::program_of(const LogInterval& each) const {
  const DispatchInfo* dispatch =
      debug_ == nullptr ? nullptr : debug_->find(log_.strings[each.dispatch]);
  const Action* action = dispatch == nullptr ? nullptr : dispatch->action(each.action);
  if (action == nullptr || action->program == no_program) return {};
  return {dispatch, &dispatch->programs[action->program]};
}

const PlaceNames& LogOps::names_of(const DispatchInfo& dispatch) {
  return names_.try_emplace(&dispatch, dispatch, debug_).first->second;
}

// What a program computes, else what it moves.
std::vector<const PlaceName*> LogOps::operators_of(const KnownProgram& program) {
  const PlaceNames& names = names_of(*program.dispatch);
  std::vector<const PlaceName*> all = names.of(*program.run), computed;
  for (const PlaceName* name : all) {
    if (name->has_kernels) computed.push_back(name);
  }
  return computed.empty() ? all : computed;
}

// Of a log with one dispatch its name says nothing.
std::string LogOps::prefix_of(StringId dispatch) const {
  const std::string_view name = log_.strings[dispatch];
  return has_one_dispatch_ || name.empty() ? "" : fmt::format("{} > ", name);
}

void LogOps::describe(Op& op, const LogInterval& each, bool is_program) {
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
void LogOps::describe_program(Op& op, const KnownProgram& program) {
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
OpId LogOps::part_of(const KnownProgram& program, std::uint32_t work, StringId dispatch) {
  const std::string in = prefix_of(dispatch);
  const UnitWork* each = work == no_work ? nullptr : &program.dispatch->work[work];
  const PartKey key = each == nullptr ? PartKey{program.run, -1, LocationId::unknown, "", false}
                                      : PartKey{program.run, int(each->unit), each->location,
                                                each->kernel, each->fetches_code};
  const auto [place, is_new] = parts_.try_emplace(key, OpId(profile_.ops.size()));
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

}  // namespace npuscope::torq
