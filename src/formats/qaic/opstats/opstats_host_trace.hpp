// A Chrome trace of the host, to be merged into a device trace (opstats --host-trace).
//
//   auto host = read_host_trace("host.json");
//   options.host_trace = &*host;
//
// The vendor's schema and alignment are not public; this is npuscope's own definition. The file is
// {"traceEvents": [...]} or a bare array, whose closing bracket may be missing. Events are kept as
// they are, except ts and dur, which become whole nanoseconds, and, where they collide with a
// device process, pid. Alignment: when the file has
//   "otherData": {"utimer_ticks_at_zero": "9803252376071"}
// host time 0 µs is that UTIMER tick; without it, the earliest host event is put at the earliest
// device event. Either way the merged trace begins at about 0.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/files.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::qaic {

// One event: its text without line breaks, and where ts, dur and pid stand in it.
struct HostEvent {
  std::string text;
  std::size_t ts_offset = 0;  // of the value; length 0: no ts (metadata)
  std::size_t ts_length = 0;
  double ts_microseconds = 0;
  std::size_t dur_offset = 0;  // of a number; length 0: none
  std::size_t dur_length = 0;
  double dur_microseconds = 0;
  std::size_t pid_offset = 0;  // of an integer value; length 0: none
  std::size_t pid_length = 0;
  std::int64_t pid = 0;
};

struct HostTrace {
  std::vector<HostEvent> events;
  double first_microseconds = 0;  // earliest ts
  std::optional<std::int64_t> utimer_ticks_at_zero;
  std::uint64_t largest_flow_id = 0;  // so that device flows take others
};

// Input errors name the file and, where it is known, the byte. Either may be compressed.
Result<HostTrace> parse_host_trace(ByteSpan bytes, const std::string& name);
Result<HostTrace> read_host_trace(const std::filesystem::path& path);

// The event as a line of a trace, after the break, later by `offset_microseconds`, in process
// `pid`. Begin and end are rounded to nanoseconds, so that slices that follow one another do not
// overlap.
void append_host_event(std::string& out, const HostEvent& event, double offset_microseconds,
                       std::int64_t pid);

}  // namespace npuscope::qaic
