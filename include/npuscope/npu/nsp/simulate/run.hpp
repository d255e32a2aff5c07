// `npuscope run` for NPUs with HMX and HVX cores as a library: executes the programs of a QPC on
// the reference NPU and writes the profiling files that were asked for. Everything that can be
// refused is refused before the run.
//
//   nsp::RunRequest request;
//   request.qpc = "binaries/programqpc.bin";
//   request.types.raw_device_stats = true;
//   request.output_folder = "stats";
//   Result<nsp::RunOutcome> outcome = nsp::run(request);
//
//   stats/aic-profiling-program-0-activation-0-inf-0-QAicGraph-aiccyclecounts.bin
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/progress.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/base/units.hpp"

namespace npuscope::npu::nsp {

struct SimulatedInference;

struct SimulationOptions {
  std::uint32_t program_number = 0;
  // Of a program for one device, where it is known; 0: it is worked out.
  std::uint64_t program_fingerprint = 0;
  std::uint32_t device = 0;
  std::uint32_t activations = 1;  // instances of the network, each on cores of its own
  std::uint32_t set_size = 10;    // inferences the host keeps queued per activation
  std::uint64_t inferences = 40;  // per activation; 0: until `seconds` have passed
  double seconds = 0;             // simulated
  std::uint64_t seed = 1;
  double core_hz = 0;              // fixed core clock; 0: the target's governor
  std::uint32_t host_threads = 4;  // of the host, that submit inferences
  // Which inferences' statistics buffers to keep: of each activation `samples` in a row, from the
  // first that is number first_sample or later and begins at first_sample_seconds or later.
  std::uint64_t first_sample = 0;
  std::uint64_t samples = 1;
  double first_sample_seconds = 0;
  // Also keep the buffers of the inferences [first_output, first_output + outputs).
  std::uint64_t first_output = 0;
  std::uint64_t outputs = 0;
  bool keep_truth = false;  // also keep what really happened (for tests)
  // On one core of a target with sessions, also keep the op records of the first inference of each
  // activation and the phases of every one, as a device does whose profiling is set to optrace.
  bool op_trace = false;
  // Takes each inference of the first activation, with op records, when it ends on the device; only
  // the first keeps them beyond that. May be empty.
  std::function<void(const SimulatedInference&)> on_op_trace;
  // Takes each sampled or output inference when it completes, with its buffer, which the result
  // then does not keep: memory stays bounded however many samples there are. An error ends the
  // simulation.
  std::function<Status(const SimulatedInference&)> on_sample;
  ProgressReport progress;  // thread tasks executed; may be empty
};

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

struct SimulationResult;  // src/npu/targets/nsp/simulate/simulate.hpp: each inference

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
  std::shared_ptr<const SimulationResult> result;  // without the buffers
};

struct RunOutcome {
  std::vector<ProgramRun> programs;
  std::vector<std::filesystem::path> files;  // written, in order
  std::vector<std::string> warnings;
  // Set when profiling was asked for and no inference could be sampled.
  std::optional<Error> nothing_sampled;
};

// Usage, input and output errors as they apply.
Result<RunOutcome> run(const RunRequest& request);

}  // namespace npuscope::npu::nsp
