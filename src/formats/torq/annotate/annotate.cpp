#include "formats/torq/annotate/annotate.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/sort_rows.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::torq {
namespace {

// 16 bytes each: what a log makes of them is bounded by its rows and this.
constexpr std::size_t max_cells = std::size_t{1} << 28;

// Event by event, so that none need be held.
class Annotator {
 public:
  // `log`: what is known of it so far; its events are not read.
  Annotator(const RuntimeLog& log, const DebugInfo& debug)
      : log_(log), debug_(debug), notes_(log.name), pairing_(log, debug), hal_(log.strings) {
    for (const DispatchInfo& dispatch : debug.dispatches) out_.rows.push_back(rows_of(dispatch));
  }

  Status take(const LogEvent& event);
  Result<Annotation> finish();

 private:
  static constexpr std::uint32_t unknown = ~std::uint32_t{0};

  std::vector<ActionRow> rows_of(const DispatchInfo& dispatch) const;
  std::uint32_t dispatch_of(StringId name);
  const AnnotatedInvocation* invocation_of(const LogEvent& event);
  void take_action(const LogEvent& event, const AnnotatedInvocation& invocation);
  void take_job(const LogEvent& event, const AnnotatedInvocation& invocation);
  void set(std::size_t cell, const LogEvent& event);
  void count_odd_times();
  void name_programs_without_start();

  const RuntimeLog& log_;
  const DebugInfo& debug_;
  CountedNotes notes_;
  PairingCheck pairing_;
  HalCalls hal_;
  Annotation out_;
  InvocationNumbers numbers_;
  std::vector<std::uint32_t> annotated_;  // by number; unknown: of a dispatch without information
  std::unordered_map<StringId, std::uint32_t> dispatches_;
  std::uint32_t missing_ = 0;  // dispatches without information
  bool has_too_many_cells_ = false;
};

Status Annotator::take(const LogEvent& event) {
  if (auto status = pairing_.take(event); !status) return status;
  if (is_hal(log_.strings[event.dispatch])) {
    hal_.take(event);
  } else if (const AnnotatedInvocation* invocation = invocation_of(event)) {
    log_.kind == LogKind::nss_jobs ? take_job(event, *invocation) : take_action(event, *invocation);
  }
  return {};
}

Result<Annotation> Annotator::finish() {
  TRY_AS(pairing, pairing_.finish());
  if (has_too_many_cells_) {
    return input_error("{}: its invocations have more than {} actions together; cut the log",
                       log_.name, thousands(max_cells));
  }
  out_.pairing = std::move(*pairing);
  out_.debug = &debug_;
  out_.log_name = log_.name;
  out_.log_kind = log_.kind;
  out_.strings = log_.strings;
  out_.hal = hal_.finish();
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

// That the event is of, new or known; whose dispatch its first event names.
const AnnotatedInvocation* Annotator::invocation_of(const LogEvent& event) {
  const std::uint32_t number = numbers_.of(event.invocation);
  if (number == annotated_.size()) {
    annotated_.push_back(unknown);
    const std::uint32_t dispatch = dispatch_of(event.dispatch);
    if (dispatch == unknown) return nullptr;
    const std::size_t size = out_.begin_us.size() + out_.rows[dispatch].size();
    has_too_many_cells_ |= size > max_cells;
    if (has_too_many_cells_) return nullptr;
    annotated_[number] = std::uint32_t(out_.invocations.size());
    out_.invocations.push_back({event.invocation, dispatch, out_.begin_us.size()});
    out_.begin_us.resize(size, no_time);
    out_.end_us.resize(size, no_time);
  }
  return annotated_[number] == unknown ? nullptr : &out_.invocations[annotated_[number]];
}

void Annotator::take_action(const LogEvent& event, const AnnotatedInvocation& invocation) {
  if (event.action == no_action) return;
  const DispatchInfo& dispatch = debug_.dispatches[invocation.dispatch];
  const Action* action = dispatch.action(event.action);
  if (action == nullptr) return;  // refused before
  set(invocation.first + std::size_t(action - dispatch.actions.data()), event);
}

// A job is the n-th program of the NSS; its times are those of the wait.
void Annotator::take_job(const LogEvent& event, const AnnotatedInvocation& invocation) {
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

void Annotator::set(std::size_t cell, const LogEvent& event) {
  (event.edge == LogEdge::begin ? out_.begin_us : out_.end_us)[cell] = event.time_us;
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
  note(hal_.without_partner(), "HAL events without a partner; rows of length zero");
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
  Annotator annotator(log, debug);
  for (const LogEvent& event : log.events) {
    TRY(annotator.take(event));
  }
  return annotator.finish();
}

Result<Annotation> annotate(ByteSource& source, const DebugInfo& debug,
                            const ProgressReport& progress) {
  RuntimeLog log;
  log.name = source.name();
  Annotator annotator(log, debug);
  const auto take = [&](const LogEvent& event) { return annotator.take(event); };
  TRY(read_log(source, log, take, progress));
  return annotator.finish();
}

std::string_view location_of(const Annotation& annotation, const HalCall& call) {
  const std::string_view type = annotation.strings[call.type];
  if (type != "HAL_CALL") return type;
  const std::string_view name = annotation.strings[call.dispatch];
  const auto first = std::min(name.find_first_not_of('_'), name.size());
  return name.substr(first, name.find_last_not_of('_') - first + 1);
}

std::optional<ProgramCells> cells_of(const DispatchInfo& dispatch, const ProgramRun& program,
                                     LogKind kind) {
  const Action* start = dispatch.action(program.start_action);
  const Action* wait = dispatch.action(program.wait_action);
  if (start == nullptr || wait == nullptr) return std::nullopt;
  const auto place = [&](const Action* action) {
    return std::size_t(action - dispatch.actions.data());
  };
  if (kind == LogKind::host && program.executor == Executor::host) {
    return ProgramCells{place(start), place(start)};
  }
  const bool of_jobs = kind == LogKind::nss_jobs;  // these have no starts
  return ProgramCells{place(of_jobs ? wait : start), place(wait)};
}

std::optional<Interval> time_of(const Annotation& annotation, const AnnotatedInvocation& invocation,
                                ProgramCells cells) {
  const std::int64_t begin = annotation.begin_us[invocation.first + cells.begin];
  const std::int64_t end = annotation.end_us[invocation.first + cells.end];
  if (begin == no_time || end == no_time || end < begin) return std::nullopt;
  return Interval{begin, end};
}

std::optional<Interval> time_of(const Annotation& annotation, const AnnotatedInvocation& invocation,
                                std::size_t action) {
  return time_of(annotation, invocation, ProgramCells{action, action});
}

std::optional<Interval> time_of(const Annotation& annotation, const AnnotatedInvocation& invocation,
                                const ProgramRun& program) {
  const DispatchInfo& dispatch = annotation.debug->dispatches[invocation.dispatch];
  const auto cells = cells_of(dispatch, program, annotation.log_kind);
  return cells ? time_of(annotation, invocation, *cells) : std::nullopt;
}

void HalCalls::take(const LogEvent& event) {
  const std::uint32_t number = numbers_.of(event.invocation);
  if (number == invocations_.size()) invocations_.push_back({event.dispatch});
  invocations_[number].has_details |= !is_whole(event.type);
  const std::uint64_t key = std::uint64_t(number) << 32 | std::uint32_t(event.type);
  const auto next = std::uint32_t(calls_.size());
  const auto add = [&](std::uint32_t before) {
    calls_.push_back({event.time_us, event.time_us, event.type, number, event.action, before});
  };
  if (event.edge == LogEdge::begin) {
    const auto [last, is_first] = open_.try_emplace(key, next);
    add(is_first ? none : std::exchange(last->second, next));
    ++open_count_;
    return;
  }
  const auto last = event.edge == LogEdge::end ? open_.find(key) : open_.end();
  if (last == open_.end()) {
    add(none);
    ends_without_begin_ += event.edge == LogEdge::end;
    return;
  }
  const Call& ended = calls_[last->second];
  calls_[last->second].end_us = event.time_us;
  --open_count_;
  if (ended.before == none) {
    open_.erase(last);
  } else {
    last->second = ended.before;
  }
}

std::vector<HalCall> HalCalls::finish() {
  numbers_ = {};  // a log of nothing but calls has as many
  std::erase_if(calls_, [&](const Call& each) {
    return invocations_[each.invocation].has_details && is_whole(each.type);
  });
  const auto earlier = [&](const Call& a, const Call& b) {
    const auto key = [&](const Call& each) {
      return std::tuple(each.invocation, each.begin_us, each.action);
    };
    const auto of_a = key(a), of_b = key(b);
    return of_a != of_b ? of_a < of_b : strings_[a.type] < strings_[b.type];
  };
  if (!std::is_sorted(calls_.begin(), calls_.end(), earlier)) {
    sort_rows(calls_.begin(), calls_.end(), earlier);
  }
  std::vector<HalCall> calls;
  calls.reserve(calls_.size());
  for (const Call& each : calls_) {
    calls.push_back({invocations_[each.invocation].dispatch, each.type,
                     std::min(each.begin_us, each.end_us), std::max(each.begin_us, each.end_us)});
  }
  std::vector<Call>().swap(calls_);
  return calls;
}

}  // namespace npuscope::torq
