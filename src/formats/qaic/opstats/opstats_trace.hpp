// The device trace (.qaic-opstats.trace.json): Chrome Trace Event JSON, one event a line, that
// opens in Perfetto and chrome://tracing. Tracks, names and args: docs/formats/opstats.md.
//
//   TraceOptions options;
//   options.flow_events = true;
//   const Profile* inferences[] = {&first, &second};      // profiles from stats_decoder.hpp
//   auto report = write_opstats_trace(inferences, options, "out.trace.json");
//
// A process per core, and in it tracks on which no two slices overlap:
//
//   QAicGraph_Core_0               |----------------- Core-0-Execution ------------------|
//   QAicGraph_Core_0_HVX           | sync HVX |aicconverttod32|      | sync HVX |aicsoftmax|
//   QAicGraph_Core_0_HMX           |   sync HMX               |aicconvolutiond32|
//   QAicGraph_Core_0_DMAIssue      |aiccopytovtcm|
//   QAicGraph_Core_0_DMAIssue_DMA  |aiccopytovtcm ......|
//
// ts and dur are microseconds, rounded to nanoseconds; the first event is at about 0. Memory is
// bounded by the profiles, not by the size of the text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "formats/chrome/trace_events.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::qaic {

// How qaic-opstats prints trace events.

consteval chrome::TraceStyle opstats_style(chrome::TraceTime time = chrome::TraceTime::fifths) {
  constexpr std::string_view members =
      R"({"name": ?, "cat": ?, "ph": ?, "bp": ?, "id": ?, "pid": ?, "tid": ?, "ts": ?, "dur": ?, )"
      R"("args": ?})";
  constexpr chrome::TraceForm plain{members, JsonLayout::wide()};
  constexpr chrome::TraceForm of_ops{members, {.between = ", ", .colon = " : "}};
  return {.events = of_ops, .counter = plain, .metadata = plain, .time = time};
}

inline constexpr chrome::TraceStyle device_style = opstats_style();

struct HostTrace;

struct TraceOptions {
  std::vector<std::uint32_t> cores = {};    // only these; empty: all
  std::vector<std::uint32_t> devices = {};  // only these; empty: all
  // One track per thread group, on which an op lasts from its first thread's begin to its last
  // one's end; false: one per thread (QAicGraph_Core_0_HVX_T0 …).
  bool merge_thread_groups = true;
  bool flow_events = false;               // Profile::edges as arrows
  bool show_barrier_events = false;       // on tracks of their own (…_HVX_Barrier)
  const HostTrace* host_trace = nullptr;  // merged in; opstats_host_trace.hpp
};

struct TraceReport {
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  std::uint64_t flows_not_drawn = 0;  // dependencies whose consumer began before its producer
};

// Several inferences, activations and devices go into one file. Output errors as AtomicFile; a
// usage error when the chosen cores and devices leave nothing; an input error when the profiles'
// timers have different rates, or the host trace lies over 31 years away.
Result<TraceReport> write_opstats_trace(std::span<const Profile* const> profiles,
                                        const TraceOptions& options,
                                        const std::filesystem::path& path);

}  // namespace npuscope::qaic
