// `npuscope run` as a library: executes the programs of a QPC on the reference NPU and writes the
// profiling files that were asked for. Everything that can be refused is refused before the run.
//
//   RunRequest request;
//   request.qpc = "binaries/programqpc.bin";
//   request.types.raw_device_stats = true;
//   request.output_folder = "stats";
//   Result<RunOutcome> outcome = run_qpc(request);
//
//   stats/aic-profiling-program-0-activation-0-inf-0-QAicGraph-aiccyclecounts.bin
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "npuscope/base/result.hpp"
#include "npuscope/npu/simulate/simulate.hpp"

namespace npuscope::npu {

struct ProfilingTypes {
  bool stats = false;             // aic-profiling-program-P-activation-A-inf-I.txt
  bool trace = false;             // aic-profiling-program-P-trace.json, and -host-trace.json
  bool raw_device_stats = false;  // …-activation-A-inf-I-NETWORK-aiccyclecounts.bin
  bool latency = false;           // aic-profiling-program-P-latency.txt

  bool any() const { return stats || trace || raw_device_stats || latency; }
};

struct RunRequest {
  std::filesystem::path qpc;              // a programqpc.bin, or the folder it lies in
  std::string program;                    // only this one: name, or place in the QPC; empty: all
  std::vector<std::uint32_t> devices{0};  // a program of its own on each; slice NN of a
                                          // multi-device QPC runs on the NN-th
  ProfilingTypes types;
  std::filesystem::path output_folder = ".";
  // Also a QNN optrace set, chrometrace.json and its companions, of each program; empty: no.
  std::filesystem::path qnn_folder;
  // Also the buffers of [simulation.first_output, + outputs) as outputs; empty: no.
  std::filesystem::path write_output_folder;
  std::uint64_t outputs = 1;
  // program_number, device and on_sample are filled in; without profiling no samples are taken.
  SimulationOptions simulation;
  std::function<void(std::string_view)> tell;  // takes "Writing file:…"; may be empty
};

// One program on one device, or a multi-device program on all of its.
struct ProgramRun {
  std::uint32_t number = 0;  // <P>
  std::uint32_t device = 0;  // the first of them
  std::vector<std::uint32_t> devices;
  std::string network;
  std::uint32_t batch_size = 1;
  std::uint32_t stats_level = 0;
  std::uint32_t activations = 1;
  std::uint64_t samples = 0;  // collected, of all activations
  Hertz timer{};
  SimulationResult result;  // without the buffers
};

struct RunOutcome {
  std::vector<ProgramRun> programs;
  std::vector<std::filesystem::path> files;  // written, in order
  std::vector<std::string> warnings;
  // Set when profiling was asked for and no inference could be sampled.
  std::optional<Error> nothing_sampled;
};

// Usage, input and output errors as they apply.
Result<RunOutcome> run_qpc(const RunRequest& request);

}  // namespace npuscope::npu
