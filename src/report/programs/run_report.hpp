// What the runner prints at the end: throughput and the device's own measurements.
//
//   RunReport report = report_run(program_run);
//   std::string text = print_run_report(report);
//
//    ---- Stats ----
//   InferenceCnt 10 TotalDuration 2242274us BatchSize 1 Inf/Sec 4.460
//   Device Performance:
//   Metric,          Avg,           Min,           Max,           Std
//   ExecTimeUs,      124826.111,    124682.969,    124958.542,    93.740
//   InputWaitTimeUs, 103266.866,    78898.594,     178349.688,    34244.603
//   OutputWaitTimeUs,0.113,         0.104,         0.156,         0.019
//
//   Latency of an inference, from the host's queue to its result: median 227530.1 us, 99 % …
//
//   Throughput of an activation: device 8.01 Inf/Sec, system 4.38 Inf/Sec, 45.3 % less.
//   The device waits for inputs, because only one inference is under way: …
//
// A metric that the program was not compiled to measure is N/A: ExecTimeUs needs -stats-level=40,
// the waits need 50.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/latency.hpp"
#include "npu/targets/nsp/simulate/simulate.hpp"
#include "npuscope/npu/nsp/simulate/run.hpp"
#include "report/document/document_json.hpp"

namespace npuscope::report {

struct Distribution {
  double average = 0;
  double min = 0;
  double max = 0;
  double deviation = 0;  // population standard deviation
};
// None for no values.
std::optional<Distribution> distribution_of(std::span<const double> values);

struct RunMetric {
  std::string name;                    // ExecTimeUs
  std::uint32_t needs_level = 0;       // -stats-level that measures it
  std::optional<Distribution> values;  // over all inferences, microseconds
};

struct RunReport {
  std::uint32_t program = 0;
  std::uint32_t device = 0;
  std::vector<std::uint32_t> devices;  // of a multi-device program all
  std::string network;
  std::uint32_t stats_level = 0;
  std::uint32_t activations = 1;
  std::uint64_t samples = 0;
  std::uint64_t inference_count = 0;  // of the batch size each
  double total_duration_us = 0;
  std::uint32_t batch_size = 1;
  double inferences_per_second = 0;
  std::optional<npu::nsp::RequestTimes> request;  // none: nothing ran
  std::vector<RunMetric> metrics;
  // Of one activation, batches per second, from its second inference on; none: there is no second,
  // or execution was not measured.
  std::optional<analysis::Throughput> throughput;
};

RunReport report_run(const npu::nsp::ProgramRun& run);

std::string print_run_report(const RunReport& report);
void write_run_report(Json& json, const RunReport& report);  // members of an object

// All of a run: reports, files and warnings, one key a line.
std::string run_outcome_json(const npu::nsp::RunOutcome& outcome);

}  // namespace npuscope::report
