// What the Torq runtime logs while a model runs, in each of the three forms that it has had:
//
//   dispatches  dispatch_name,invocation_id,action_id,timestamp_us,event       2026-02 on
//               main_dispatch_0,3,1,5001042,NSS_START_BEGIN
//   host        actionIndex, elapsed_time(us), timestamp(us), event, location  --torq_profile_host
//               1,26,5001042,NSS_START,loc(unknown)                            until 2026-02
//   nss_jobs    id;time_since_open;time_since_start;location                   --torq_profile
//               0;1060;18;loc(unknown)                                         until 2026-02
//
// All become events that begin or end something, in the words of the first form; a job becomes two.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/progress.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::torq {

// Times of a runtime log, which are whole microseconds, in the nanoseconds of a profile.

// Saturates: a forged log has times of any size.
constexpr std::int64_t to_nanoseconds(std::int64_t microseconds) {
  constexpr std::int64_t limit = std::numeric_limits<std::int64_t>::max() / 1000;
  return std::clamp(microseconds, -limit, limit) * 1000;
}

constexpr Interval to_nanoseconds(Interval microseconds) {
  return {to_nanoseconds(microseconds.begin), to_nanoseconds(microseconds.end)};
}

enum class LogKind : std::uint8_t { none, dispatches, host, nss_jobs };

// By the first bytes of a file.
LogKind recognise_log(std::string_view head);

// Instant: of the HAL alone, whose events need not end.
enum class LogEdge : std::uint8_t { begin, end, instant };

inline constexpr std::int32_t no_action = -1;

struct LogEvent {
  std::int64_t time_us = 0;         // of a monotonic clock
  std::int64_t invocation = 0;      // of the old host log: its runs through the actions, counted
  std::int32_t action = no_action;  // of nss_jobs: the job
  StringId dispatch{};              // empty in the older forms
  StringId type{};                  // "NSS_START", "HOST_COPY", "DISPATCH", "HAL_CALL"
  StringId location{};              // "loc(…)", older forms
  LogEdge edge = LogEdge::begin;
};

struct RuntimeLog {
  LogKind kind = LogKind::none;
  std::string name;  // of the file
  StringPool strings;
  std::vector<LogEvent> events;
  std::vector<Note> notes;    // rows that are none, counted
  std::vector<Check> checks;  // what the older forms say twice
};

struct DebugInfo;

// An input error when the file is none of the three or lacks a column. A log without rows is one
// without events.
Result<RuntimeLog> read_log(ByteSource& source, const ProgressReport& progress = {});

// The same, for a log that need not be held: each event is handed on when it is read, `log` is what
// is known of it so far, and stays without events. An error of `take` ends the reading.
using TakeEvent = std::function<Status(const LogEvent& event)>;
Status read_log(ByteSource& source, RuntimeLog& log, const TakeEvent& take,
                const ProgressReport& progress = {});

// In the current form, dispatches; events in their order.
Status write_log(const RuntimeLog& log, const std::filesystem::path& path);

// What --torq_profile wrote: a row for each NSS program of a log of dispatches, numbered within its
// dispatch.
Status write_job_log(const RuntimeLog& log, const std::filesystem::path& path);

// Host actions and NSS programs as spans in microseconds; INIT, DISPATCH and HAL scopes as phases.
// An inference is a call of the HAL's queue that runs dispatches, else the n-th call of a dispatch.
// With debug information, programs are named after their kernels and source operators.
Profile make_profile(const RuntimeLog& log, const DebugInfo* debug = nullptr);

// How many inferences that are.
std::uint32_t inference_count(const RuntimeLog& log);

}  // namespace npuscope::torq
