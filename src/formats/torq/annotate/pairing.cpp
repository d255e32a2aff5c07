#include "formats/torq/annotate/pairing.hpp"

#include "base/try.hpp"
#include "formats/torq/debug/debug_info.hpp"
#include "formats/torq/overview.hpp"

namespace npuscope::torq {
namespace {

// What a log calls an action that debug information has: "NSS_START" of one that starts a program
// of the NSS; empty for actions that have no name there.
std::string_view expected_type(const Action& action, const DispatchInfo& dispatch) {
  if (action.kind == ActionKind::host_copy) return "HOST_COPY";
  if (action.program == no_program) return "";
  const bool starts = action.kind == ActionKind::start;
  switch (dispatch.programs[action.program].executor) {
    case Executor::nss: return starts ? "NSS_START" : "NSS_WAIT";
    case Executor::host: return starts ? "HOST_START" : "HOST_WAIT";
    case Executor::other: break;
  }
  return "";
}

// What a dispatch has beyond its last event in the log. One action is no proof of another model,
// and neither are the start and the wait of one program, which a log may have lost; more actions
// are, and a second dispatch without its last program.
struct MissingEnd {
  std::size_t actions = 0;
  std::string program;  // where they are the start and the wait of one
};

MissingEnd missing_end(const DispatchInfo& info, std::int64_t last_action) {
  MissingEnd missing;
  std::vector<std::uint32_t> programs;
  for (const Action& action : info.actions) {
    if (action.id <= last_action || expected_type(action, info).empty()) continue;
    ++missing.actions;
    programs.push_back(action.program);
  }
  const bool of_one =
      missing.actions == 2 && programs[0] == programs[1] && programs[0] != no_program;
  if (of_one) missing.program = info.programs[programs[0]].name;
  return missing;
}

}  // namespace

PairingCheck::Dispatch& PairingCheck::dispatch_of(StringId name) {
  if (last_dispatch_ != nullptr && last_name_ == name) return *last_dispatch_;
  const auto [place, is_new] = dispatches_.try_emplace(name);
  Dispatch& dispatch = place->second;
  if (is_new) {
    names_.push_back(name);
    dispatch.info = debug_.find(text(name));
    if (dispatch.info != nullptr) {
      dispatch.jobs =
          std::count_if(dispatch.info->programs.begin(), dispatch.info->programs.end(),
                        [](const ProgramRun& each) { return each.executor == Executor::nss; });
    } else {
      pairing_.missing.emplace_back(text(name));
    }
  }
  last_name_ = name;
  last_dispatch_ = &dispatch;
  return dispatch;
}

PairingCheck::Invocation& PairingCheck::invocation_of(const LogEvent& event) {
  const std::uint32_t number = numbers_.of(event.invocation);
  if (number == invocations_.size()) invocations_.push_back({{event.time_us, event.time_us}});
  return invocations_[number];
}

Status PairingCheck::take(const LogEvent& event) {
  const bool is_hal = text(event.dispatch).starts_with("__HAL");
  if (!is_hal) {
    Dispatch& dispatch = dispatch_of(event.dispatch);
    Invocation& invocation = invocation_of(event);
    invocation.has_debug = dispatch.info != nullptr;
    const std::string_view type = text(event.type);
    invocation.ran |= event.action != no_action || !type.starts_with("INIT");
    invocation.extent.begin = std::min(invocation.extent.begin, event.time_us);
    invocation.extent.end = std::max(invocation.extent.end, event.time_us);
    if (event.action == no_action) {
      dispatch.ended |= event.edge == LogEdge::end && type == "DISPATCH";
    } else if (dispatch.info != nullptr) {
      if (auto status = take_action(event, dispatch); !status) return status;
    }
    if (!invocation.ran) return {};
  }
  if (!has_wall_) pairing_.wall_us = {event.time_us, event.time_us};
  has_wall_ = true;
  pairing_.wall_us.begin = std::min(pairing_.wall_us.begin, event.time_us);
  pairing_.wall_us.end = std::max(pairing_.wall_us.end, event.time_us);
  return {};
}

Status PairingCheck::take_action(const LogEvent& event, Dispatch& dispatch) {
  const DispatchInfo& info = *dispatch.info;
  dispatch.last_action = std::max<std::int64_t>(dispatch.last_action, event.action);
  if (log_.kind == LogKind::nss_jobs) {
    if (event.action < dispatch.jobs) return {};
    return input_error("{}: logs job {}, and {} has {} NSS programs, counted from 0; {}", log_.name,
                       event.action, info.file, dispatch.jobs, advice);
  }
  const Action* action = info.action(event.action);
  const std::string_view type = text(event.type);
  if (action == nullptr) {
    return input_error("{}: {}logs {} as action {}, which {} does not have; {}", log_.name,
                       named(text(event.dispatch)), printable(type), event.action, info.file,
                       advice);
  }
  const std::string_view expected = expected_type(*action, info);
  // The older form calls a host program by another name, and has no event of waiting for it.
  const bool fits = expected.empty() || expected == type ||
                    (log_.kind == LogKind::host && type == "HOST_PROGRAM" &&
                     expected.starts_with("HOST_") && expected != "HOST_COPY");
  if (fits) return {};
  return input_error("{}: {}logs {} as action {}, which is {} in {}; {}", log_.name,
                     named(text(event.dispatch)), printable(type), event.action, expected,
                     info.file, advice);
}

// What only the whole log tells.
Status PairingCheck::check_whole() {
  if (names_.empty()) return {};
  if (pairing_.missing.size() == names_.size()) {
    const std::string& first = pairing_.missing.front();
    if (first.empty()) {
      return input_error(
          "{}: does not name its dispatch, and the debug information has {}; name the file of the "
          "one that ran",
          log_.name, debug_.dispatches.size());
    }
    return input_error(
        "{}: no debug information of dispatch {}; name the folder of the model that ran", log_.name,
        printable(first));
  }
  if (auto status = check_ends(); !status) return status;
  if (!pairing_.is_partial()) return {};
  for (const DispatchInfo& info : debug_.dispatches) {
    const bool ran = std::any_of(dispatches_.begin(), dispatches_.end(),
                                 [&](const auto& each) { return each.second.info == &info; });
    if (ran) continue;
    return input_error(
        "{}: {} of its {} dispatches have no debug information (the first: {}), and "
        "{} is of a dispatch that it does not have; {}",
        log_.name, pairing_.missing.size(), names_.size(), printable(pairing_.missing.front()),
        info.file, advice);
  }
  return {};
}

Status PairingCheck::check_ends() {
  if (log_.kind != LogKind::dispatches) return {};
  std::vector<Note> lost;
  for (const StringId name : names_) {
    const Dispatch& dispatch = dispatches_.at(name);
    if (dispatch.info == nullptr || !dispatch.ended) continue;
    const MissingEnd missing = missing_end(*dispatch.info, dispatch.last_action);
    if (missing.actions < 2) continue;
    if (!missing.program.empty() && lost.empty()) {
      lost.push_back(
          {Severity::warning, log_.name, 0,
           fmt::format("{}ends before {} of {}, which is in no sum: its start and its "
                       "wait were lost, or the debug information is of another build",
                       named(text(name)), printable(missing.program), dispatch.info->file),
           1});
      continue;
    }
    return input_error("{}: {}ends after action {}, and {} has {} more; {}", log_.name,
                       named(text(name)), dispatch.last_action, dispatch.info->file,
                       missing.actions, advice);
  }
  pairing_.notes = std::move(lost);
  return {};
}

Result<Pairing> PairingCheck::finish() {
  TRY(check_whole());
  std::vector<Interval> seen;
  for (const Invocation& invocation : invocations_) {
    if (invocation.has_debug && invocation.ran) seen.push_back(invocation.extent);
  }
  pairing_.seen_us = union_of(std::move(seen));
  pairing_.dispatches = dispatches_.size();
  return std::move(pairing_);
}

Result<Pairing> check_pairing(const RuntimeLog& log, const DebugInfo& debug) {
  PairingCheck check(log, debug);
  for (const LogEvent& event : log.events) {
    TRY(check.take(event));
  }
  return check.finish();
}

std::string coverage_text(const Pairing& pairing) {
  if (!pairing.is_partial()) return "";
  const std::int64_t seen = to_nanoseconds(length_of(pairing.seen_us));
  const std::int64_t wall = to_nanoseconds(length_of(pairing.wall_us));
  return fmt::format("debug information of {} of {} dispatches: {:.1f} % of the wall ({} of {})",
                     pairing.dispatches - pairing.missing.size(), pairing.dispatches,
                     wall > 0 ? double(seen) / double(wall) * 100 : 0, duration_text(seen),
                     duration_text(wall));
}

}  // namespace npuscope::torq
