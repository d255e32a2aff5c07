#include "formats/torq/annotate/annotate.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/text.hpp"
#include "formats/torq/annotate/expected_type.hpp"
#include "formats/torq/annotate/log_intervals.hpp"

namespace npuscope::torq {
namespace {

// 16 bytes each: what a log makes of them is bounded by its rows and this.
constexpr std::size_t max_cells = std::size_t{1} << 28;

bool is_hal(std::string_view dispatch) { return dispatch.starts_with("__HAL"); }

class Annotator {
 public:
  Annotator(const RuntimeLog& log, const DebugInfo& debug)
      : log_(log), debug_(debug), notes_(log.name) {}

  Result<Annotation> run();

 private:
  static constexpr std::uint32_t unknown = ~std::uint32_t{0};
  struct Current {
    std::int64_t id = 0;
    std::uint32_t index = unknown;  // in invocations; unknown: of a dispatch without information
  };

  std::vector<ActionRow> rows_of(const DispatchInfo& dispatch) const;
  std::uint32_t dispatch_of(StringId name);
  bool enter(const LogEvent& event);
  void take(const LogEvent& event);
  void take_job(const LogEvent& event);
  void set(std::size_t cell, const LogEvent& event);
  void add_hal();
  void count_odd_times();
  void name_programs_without_start();

  const RuntimeLog& log_;
  const DebugInfo& debug_;
  CountedNotes notes_;
  Annotation out_;
  std::unordered_map<std::int64_t, std::uint32_t> invocations_;
  std::unordered_map<StringId, std::uint32_t> dispatches_;
  std::uint32_t missing_ = 0;  // dispatches without information
  Current current_;
  bool has_current_ = false;
  std::uint64_t hal_without_partner_ = 0;
};

Result<Annotation> Annotator::run() {
  auto pairing = check_pairing(log_, debug_);
  if (!pairing) return tl::unexpected(pairing.error());
  out_.pairing = std::move(*pairing);
  out_.debug = &debug_;
  out_.log_name = log_.name;
  out_.log_kind = log_.kind;
  out_.strings = log_.strings;
  for (const DispatchInfo& dispatch : debug_.dispatches) out_.rows.push_back(rows_of(dispatch));
  for (const LogEvent& event : log_.events) {
    if (is_hal(log_.strings[event.dispatch])) continue;
    if (!enter(event)) continue;
    if (out_.begin_us.size() > max_cells) {
      return input_error("{}: its invocations have more than {} actions together; cut the log",
                         log_.name, thousands(max_cells));
    }
    log_.kind == LogKind::nss_jobs ? take_job(event) : take(event);
  }
  add_hal();
  count_odd_times();
  if (log_.kind != LogKind::nss_jobs) name_programs_without_start();
  out_.notes = log_.notes;
  out_.notes.insert(out_.notes.end(), out_.pairing.notes.begin(), out_.pairing.notes.end());
  notes_.append_to(out_.notes);
  for (const DispatchInfo& dispatch : debug_.dispatches) {
    out_.notes.insert(out_.notes.end(), dispatch.notes.begin(), dispatch.notes.end());
  }
  return std::move(out_);
}

std::vector<ActionRow> Annotator::rows_of(const DispatchInfo& dispatch) const {
  std::vector<ActionRow> rows;
  for (const Action& action : dispatch.actions) {
    ActionRow row{.action = action.id};
    row.operation = action.operation;
    row.operators = debug_.operators_of(dispatch, action.location);
    row.location = dispatch.locations.brief(action.location);
    if (action.program != no_program) {
      const ProgramRun& program = dispatch.programs[action.program];
      row.job = program.job;
      row.kernels = program.kernels;
      if (program.executor == Executor::nss) row.uses = program.uses;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::uint32_t Annotator::dispatch_of(StringId name) {
  const auto [place, is_new] = dispatches_.try_emplace(name, unknown);
  if (is_new) {
    if (const DispatchInfo* found = debug_.find(log_.strings[name])) {
      place->second = std::uint32_t(found - debug_.dispatches.data());
    } else {
      constexpr std::uint32_t max_named = 20;
      const bool named = missing_++ < max_named;
      notes_.add(Severity::warning, 0,
                 named ? fmt::format("no debug information of dispatch {}; its rows are left out",
                                     printable(log_.strings[name]))
                       : "no debug information of more dispatches; their rows are left out");
    }
  }
  return place->second;
}

// The invocation that the event is of, new or known; whose dispatch its first event names.
bool Annotator::enter(const LogEvent& event) {
  if (has_current_ && current_.id == event.invocation) return current_.index != unknown;
  const auto [place, is_new] = invocations_.try_emplace(event.invocation, unknown);
  if (is_new) {
    const std::uint32_t dispatch = dispatch_of(event.dispatch);
    if (dispatch != unknown) {
      place->second = std::uint32_t(out_.invocations.size());
      out_.invocations.push_back({event.invocation, dispatch, out_.begin_us.size()});
      const std::size_t size = out_.begin_us.size() + out_.rows[dispatch].size();
      if (size <= max_cells) {
        out_.begin_us.resize(size, no_time);
        out_.end_us.resize(size, no_time);
      } else {
        out_.begin_us.resize(max_cells + 1, no_time);  // run() ends here
      }
    }
  }
  current_ = {event.invocation, place->second};
  has_current_ = true;
  return current_.index != unknown;
}

void Annotator::set(std::size_t cell, const LogEvent& event) {
  (event.edge == LogEdge::begin ? out_.begin_us : out_.end_us)[cell] = event.time_us;
}

void Annotator::take(const LogEvent& event) {
  if (event.action == no_action) return;
  const AnnotatedInvocation& invocation = out_.invocations[current_.index];
  const DispatchInfo& dispatch = debug_.dispatches[invocation.dispatch];
  const Action* action = dispatch.action(event.action);
  if (action == nullptr) return;  // refused before
  set(invocation.first + std::size_t(action - dispatch.actions.data()), event);
}

// A job is the n-th program of the NSS; its times are those of the wait.
void Annotator::take_job(const LogEvent& event) {
  const AnnotatedInvocation& invocation = out_.invocations[current_.index];
  const DispatchInfo& dispatch = debug_.dispatches[invocation.dispatch];
  std::int32_t job = 0;
  for (const ProgramRun& program : dispatch.programs) {
    if (program.executor != Executor::nss) continue;
    if (job++ != event.action) continue;
    const Action* wait = dispatch.action(program.wait_action);
    if (wait == nullptr) break;
    return set(invocation.first + std::size_t(wait - dispatch.actions.data()), event);
  }
}

// As the vendor pairs them: within an invocation and a name an end belongs to the last open begin;
// what has no partner has happened, at the time that is known of it. A call as a whole stands only
// where nothing inside it is logged.
void Annotator::add_hal() {
  struct Call {
    HalCall call;
    std::int32_t action = no_action;
    StringId type{};
  };
  struct Invocation {
    StringId dispatch{};  // of its first event
    bool has_details = false;
    std::vector<Call> calls{};
    std::map<StringId, std::vector<std::size_t>> open{};  // in calls, by type
  };
  std::vector<Invocation> invocations;
  std::unordered_map<std::int64_t, std::size_t> places;
  const auto whole = log_.strings.find("HAL_CALL");
  for (const LogEvent& event : log_.events) {
    if (!is_hal(log_.strings[event.dispatch])) continue;
    const auto [place, is_new] = places.try_emplace(event.invocation, invocations.size());
    if (is_new) invocations.push_back({.dispatch = event.dispatch});
    Invocation& of = invocations[place->second];
    of.has_details |= !whole || event.type != *whole;
    auto& open = of.open[event.type];
    if (event.edge == LogEdge::end && !open.empty()) {
      of.calls[open.back()].call.end_us = event.time_us;
      open.pop_back();
      continue;
    }
    if (event.edge == LogEdge::begin) open.push_back(of.calls.size());
    const HalCall call{of.dispatch, event.type, event.time_us, event.time_us};
    of.calls.push_back({call, event.action, event.type});
    hal_without_partner_ += event.edge == LogEdge::end;
  }
  for (Invocation& of : invocations) {
    for (const auto& [type, open] : of.open) hal_without_partner_ += open.size();
    std::erase_if(of.calls,
                  [&](const Call& each) { return of.has_details && whole && each.type == *whole; });
    const auto key = [&](const Call& each) {
      return std::tuple(each.call.begin_us, each.action, log_.strings[each.type]);
    };
    std::stable_sort(of.calls.begin(), of.calls.end(),
                     [&](const Call& a, const Call& b) { return key(a) < key(b); });
    for (Call& each : of.calls) {
      if (each.call.end_us < each.call.begin_us) std::swap(each.call.begin_us, each.call.end_us);
      out_.hal.push_back(each.call);
    }
  }
}

void Annotator::count_odd_times() {
  std::uint64_t one_sided = 0, reversed = 0;
  for (std::size_t cell = 0; cell < out_.begin_us.size(); ++cell) {
    const bool begins = out_.begin_us[cell] != no_time, ends = out_.end_us[cell] != no_time;
    one_sided += begins != ends;
    reversed += begins && ends && out_.end_us[cell] < out_.begin_us[cell];
  }
  const auto note = [&](std::uint64_t count, std::string_view what) {
    if (count > 0) notes_.add(Severity::warning, 0, what, count);
  };
  note(one_sided, "actions that only begin or only end; without a total");
  note(reversed, "actions that end before they begin; without a total, and in no sum");
  note(hal_without_partner_, "HAL events without a partner; rows of length zero");
}

// Those whose end is known and whose begin was lost.
void Annotator::name_programs_without_start() {
  std::map<std::pair<std::uint32_t, std::size_t>, std::uint64_t> lost;  // by dispatch and program
  for (const AnnotatedInvocation& invocation : out_.invocations) {
    const DispatchInfo& dispatch = debug_.dispatches[invocation.dispatch];
    for (std::size_t i = 0; i < dispatch.programs.size(); ++i) {
      const Action* start = dispatch.action(dispatch.programs[i].start_action);
      const Action* wait = dispatch.action(dispatch.programs[i].wait_action);
      if (start == nullptr || wait == nullptr) continue;
      const auto at = [&](const Action* action) {
        return invocation.first + std::size_t(action - dispatch.actions.data());
      };
      if (out_.begin_us[at(start)] != no_time || out_.end_us[at(wait)] == no_time) continue;
      ++lost[{invocation.dispatch, i}];
    }
  }
  std::size_t named = 0;
  constexpr std::size_t max_named = 20;
  for (const auto& [place, count] : lost) {
    const DispatchInfo& dispatch = debug_.dispatches[place.first];
    const ProgramRun& program = dispatch.programs[place.second];
    const std::string text =
        fmt::format("{} > {}: the begin of its start (action {}) is not in the log; in no sum",
                    dispatch.name, program.name, program.start_action);
    notes_.add(Severity::warning, 0,
               named++ < max_named ? text : "more programs without a begin; in no sum", count);
  }
}

}  // namespace

Result<Annotation> annotate(const RuntimeLog& log, const DebugInfo& debug) {
  return Annotator(log, debug).run();
}

std::string_view location_of(const Annotation& annotation, const HalCall& call) {
  const std::string_view type = annotation.strings[call.type];
  if (type != "HAL_CALL") return type;
  const std::string_view name = annotation.strings[call.dispatch];
  const auto first = std::min(name.find_first_not_of('_'), name.size());
  return name.substr(first, name.find_last_not_of('_') - first + 1);
}

std::optional<Interval> time_of(const Annotation& annotation, const AnnotatedInvocation& invocation,
                                std::size_t action) {
  const std::int64_t begin = annotation.begin_us[invocation.first + action];
  const std::int64_t end = annotation.end_us[invocation.first + action];
  if (begin == no_time || end == no_time || end < begin) return std::nullopt;
  return Interval{begin, end};
}

std::optional<Interval> time_of(const Annotation& annotation, const AnnotatedInvocation& invocation,
                                const ProgramRun& program) {
  const DispatchInfo& dispatch = annotation.debug->dispatches[invocation.dispatch];
  const Action* start = dispatch.action(program.start_action);
  const Action* wait = dispatch.action(program.wait_action);
  if (start == nullptr || wait == nullptr) return std::nullopt;
  const auto at = [&](const Action* action) {
    return invocation.first + std::size_t(action - dispatch.actions.data());
  };
  if (annotation.log_kind == LogKind::host && program.executor == Executor::host) {
    return time_of(annotation, invocation, std::size_t(start - dispatch.actions.data()));
  }
  const bool of_jobs = annotation.log_kind == LogKind::nss_jobs;  // these have no starts
  const std::int64_t begin = annotation.begin_us[at(of_jobs ? wait : start)];
  const std::int64_t end = annotation.end_us[at(wait)];
  if (begin == no_time || end == no_time || end < begin) return std::nullopt;
  return Interval{begin, end};
}

}  // namespace npuscope::torq
