// The runner's latency file (aic-profiling-program-<P>-latency.txt): four lines, then a CSV table
// with a row per sampled inference, all times in microseconds. The columns are those that the
// vendor's latency_stats_python3.py reads.
//
//   Profiling Data
//   ProgramId:0
//   ProgramName: QAicGraph
//   NumSamples collected: 1 Num Requested: 1
//   Sample, devInfPerSec, devExecUs, devInWaitTimeUs, devOutWaitTimeUs, hostRoundTripUs, …
//   0, 345.419, 23160.312, 1599.531, 0.104, 24771.250, …
//
// queued -> enqTime -> preProc -> submitTime -> execTotal (= exectoVc + execToComplete) -> postProc
// |<---------------------------------- totalRoundtripTime
// ---------------------------------------->|
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace npuscope::qaic {

struct LatencySample {
  std::uint64_t sample = 0;
  // Measured by the device; absent ("N/A") when the program was not compiled to measure it.
  std::optional<double> device_inferences_per_second;
  std::optional<double> device_exec_us;
  std::optional<double> device_input_wait_us;
  std::optional<double> device_output_wait_us;
  // Measured by the host
  double host_round_trip_us = 0;
  double enqueue_us = 0;  // waiting for a host thread
  double pre_process_us = 0;
  double submit_us = 0;
  double exec_total_us = 0;        // submitted to completed
  double exec_to_link_us = 0;      // exectoVc: submitted until the input goes on the link
  double exec_to_complete_us = 0;  // from there until completed
  double post_process_us = 0;
  double total_round_trip_us = 0;
  std::uint32_t queue_depth = 0;  // most inferences queued
  std::uint32_t in_queue = 0;     // queued when this one was, itself included
};

// What the host measured of an inference, by name: "enqueue", "host round trip".
struct HostTime {
  std::string name;
  double microseconds = 0;
};
std::vector<HostTime> host_times(const LatencySample& sample);  // in the order of the columns

struct LatencyReport {
  std::uint32_t program_id = 0;
  std::string program_name;
  std::uint64_t requested = 0;
  std::vector<LatencySample> samples;
};

std::string print_latency(const LatencyReport& report);

}  // namespace npuscope::qaic
