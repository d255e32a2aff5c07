#include "formats/torq/profile/timeline_debug.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "formats/torq/annotate/log_intervals.hpp"

namespace npuscope::torq {
namespace {

struct TimedProgram {
  std::int32_t start_action = no_action, wait_action = no_action;
  double measured_us = 0;  // of all its runs
  std::int64_t end_cycles = 0;
};

NpuUnit unit_of(const TimelineRow& row) {
  switch (row.event) {
    case TimelineEvent::dma_in: return NpuUnit::dma_in;
    case TimelineEvent::dma_out: return NpuUnit::dma_out;
    case TimelineEvent::css: return NpuUnit::css;
    case TimelineEvent::slice: return row.slice > 0 ? NpuUnit::slice_1 : NpuUnit::slice_0;
    default: return NpuUnit::cdma;
  }
}

class TimelineDebug {
 public:
  TimelineDebug(const CompileTimeline& timeline, const RuntimeLog& log)
      : timeline_(timeline), log_(log) {}

  std::optional<DispatchInfo> run() {
    if (!find_programs()) return std::nullopt;
    add_work();
    find_ends();
    dispatch_.name = std::string(log_.strings[name_]);
    for (const TimedProgram& each : programs_) add(each);
    for (const std::int32_t id : actions_) {
      if (programs_of_.contains(id)) continue;
      dispatch_.actions.push_back({.id = id});
    }
    std::sort(dispatch_.actions.begin(), dispatch_.actions.end(),
              [](const Action& a, const Action& b) { return a.id < b.id; });
    return std::move(dispatch_);
  }

 private:
  // In the order in which they first ran; false where they are of several dispatches.
  bool find_programs() {
    CountedNotes notes(log_.name);
    std::map<std::int64_t, std::deque<const LogInterval*>> started;  // by invocation
    std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> places;
    const std::vector<LogInterval> intervals = pair_events(log_, notes);
    for (const LogInterval& each : intervals) {
      if (each.action == no_action) continue;
      const std::string_view type = log_.strings[each.type];
      const bool starts = type == "NSS_START";
      if (starts || type == "NSS_WAIT") {
        if (!programs_.empty() && each.dispatch != name_) return false;
        if (starts) started[each.invocation].push_back(&each);
      }
      if (type != "NSS_WAIT" || started[each.invocation].empty()) continue;
      const LogInterval& start = *started[each.invocation].front();
      started[each.invocation].pop_front();
      name_ = each.dispatch;
      const auto [place, is_new] =
          places.try_emplace({start.action, each.action}, programs_.size());
      if (is_new) programs_.push_back({start.action, each.action});
      programs_[place->second].measured_us +=
          std::max(0.0, double(each.end_us) - double(start.begin_us));
    }
    for (const LogInterval& each : intervals) {
      if (each.action != no_action && each.dispatch == name_) actions_.insert(each.action);
    }
    return !programs_.empty();
  }

  void add_work() {
    std::vector<const TimelineRow*> rows;
    for (const TimelineRow& row : timeline_.rows) rows.push_back(&row);
    std::stable_sort(rows.begin(), rows.end(), [](const TimelineRow* a, const TimelineRow* b) {
      return a->start_cycles < b->start_cycles;
    });
    for (const TimelineRow* row : rows) {
      UnitWork work;
      work.unit = unit_of(*row);
      const auto location = dispatch_.locations.parse(timeline_.strings[row->location]);
      if (location) work.location = *location;
      work.kernel = timeline_.strings[row->operation];
      work.task = work.waiting_task = std::uint32_t(dispatch_.work.size());
      work.cycles = {row->start_cycles, std::max(row->start_cycles, row->end_cycles)};
      work.duration_cycles = length_of(*work.cycles);
      work.bytes = row->bytes;
      end_ = std::max(end_, work.cycles->end);
      dispatch_.work.push_back(std::move(work));
      ids_.push_back(row->id);
    }
  }

  void find_ends() {
    if (timeline_.version == TimelineVersion::action_index && take_actions()) return;
    double all = 0, until = 0;
    for (const TimedProgram& each : programs_) all += each.measured_us;
    for (TimedProgram& each : programs_) {
      until += each.measured_us;
      const double share = all > 0 ? until / all : 1;
      each.end_cycles = share < 1 ? std::int64_t(double(end_) * share) : end_;
    }
    programs_.back().end_cycles = end_;
  }

  // Each row's number is the action that waited for its program.
  bool take_actions() {
    std::int64_t end = 0;
    for (TimedProgram& each : programs_) {
      for (std::size_t i = 0; i < ids_.size(); ++i) {
        if (ids_[i] == each.wait_action) end = std::max(end, dispatch_.work[i].cycles->end);
      }
      each.end_cycles = end;
    }
    return std::all_of(ids_.begin(), ids_.end(), [&](std::int64_t id) {
      return std::any_of(programs_.begin(), programs_.end(),
                         [&](const TimedProgram& each) { return each.wait_action == id; });
    });
  }

  void add(const TimedProgram& timed) {
    const auto place = std::uint32_t(dispatch_.programs.size());
    ProgramRun program;
    program.name = fmt::format("nss_program_{}", place);
    program.start_action = timed.start_action;
    program.wait_action = timed.wait_action;
    program.cycles = {begin_, std::max(begin_, timed.end_cycles)};
    const bool is_last = place + 1 == programs_.size();
    for (std::uint32_t i = 0; i < dispatch_.work.size(); ++i) {
      const Interval at = *dispatch_.work[i].cycles;
      const bool starts_here = at.begin >= begin_ && (at.begin < program.cycles->end || is_last);
      const bool runs_here = at.begin < program.cycles->end && at.end > begin_;
      if (!starts_here && !runs_here) continue;
      program.work.push_back(i);
      program.uses[std::size_t(dispatch_.work[i].unit)] = true;
      if (!dispatch_.work[i].kernel.empty()) program.kernels.push_back(dispatch_.work[i].kernel);
      if (!starts_here) continue;
      if (program.task_count == 0) program.first_task = i;
      ++program.task_count;
    }
    begin_ = program.cycles->end;
    dispatch_.programs.push_back(std::move(program));
    add_action(timed.start_action, ActionKind::start, place);
    add_action(timed.wait_action, ActionKind::wait, place);
  }

  void add_action(std::int32_t id, ActionKind kind, std::uint32_t program) {
    if (!programs_of_.insert(id).second) return;
    const char* operation =
        kind == ActionKind::start ? "torq_hl.start_program" : "torq_hl.wait_program";
    dispatch_.actions.push_back(
        {.id = id, .kind = kind, .operation = operation, .program = program});
  }

  const CompileTimeline& timeline_;
  const RuntimeLog& log_;
  StringId name_{};
  std::vector<TimedProgram> programs_;
  std::set<std::int32_t> actions_, programs_of_;
  std::vector<std::int64_t> ids_;  // of the rows, by work
  std::int64_t begin_ = 0, end_ = 0;
  DispatchInfo dispatch_;
};

}  // namespace

std::optional<DebugInfo> debug_of_timeline(const CompileTimeline& timeline, const RuntimeLog& log,
                                           std::shared_ptr<SourceFiles> sources) {
  auto dispatch = TimelineDebug(timeline, log).run();
  if (!dispatch) return std::nullopt;
  DebugInfo debug;
  debug.dispatches.push_back(std::move(*dispatch));
  debug.sources = std::move(sources);
  return debug;
}

}  // namespace npuscope::torq
