// The files that a run leaves for one program. Statistics, traces and summaries are made from the
// bytes of the raw buffers by the same decoder that opstats uses.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/qaic/qpc/network_descriptor.hpp"
#include "formats/qaic/qpc/program.hpp"
#include "formats/qaic/qpc/schematic.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"
#include "formats/qaic/text/latency.hpp"
#include "formats/qnn/write/write.hpp"
#include "npu/targets/nsp/simulate/simulate.hpp"
#include "npu/targets/nsp/target/target.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/npu/nsp/simulate/run.hpp"

namespace npuscope::npu::nsp {

// A run of the reference HTP as a QNN optrace set: the first inference op by op, from the records
// that the device wrote and the schematic that the compiler kept, and the phases of every one.
//
//   NodeCycles cycles;
//   options.op_trace = true;
//   options.on_op_trace = [&](const SimulatedInference& inference) {
//     cycles.push_back(node_cycles_of(program, schematic, inference));
//   };
//   auto result = simulate(program, target, options);
//   auto set = make_optrace(program, schematic, target, *result, std::move(cycles));
//   return qnn::optrace::write_optrace_set(*set, "out/chrometrace");

// Ok when an optrace can be made of the program: an input error that says what is missing.
// `schematic` may be null.
Status check_optrace(const qaic::Program& program, const qaic::Schematic* schematic,
                     const Target& target);

// What the nodes of the schematic took in one inference, summed over threads, from its op records;
// waiting for a transfer counts for the node that it is of.
std::vector<std::uint64_t> node_cycles_of(const qaic::Program& program,
                                          const qaic::Schematic& schematic,
                                          const SimulatedInference& inference);
using NodeCycles = std::vector<std::vector<std::uint64_t>>;  // by inference

// Of the first activation, of all whose inferences `node_cycles` must be, or it may be empty: then
// the set has no calls, and the viewer's text cannot be written. The program must pass
// check_optrace; an input error when the result has no op records.
Result<qnn::optrace::OptraceSet> make_optrace(const qaic::Program& program,
                                              const qaic::Schematic& schematic,
                                              const Target& target, const SimulationResult& result,
                                              NodeCycles node_cycles = {});

// What a run will execute: the programs of a QPC, read and checked before anything starts.

struct LoadedProgram {
  std::string path;       // in the QPC, "" for the outer container
  std::string label;      // of the device in traces: QAicGraph_slice00, or the network's name
  qaic::Program program;  // without its dependencies where only the device runs it
  std::uint64_t program_fingerprint = 0;
  qaic::NetworkDescriptor descriptor;  // where something is decoded
  std::optional<qaic::Schematic> schematic;
  Target target;
};

struct PlannedRun {
  std::uint32_t number = 0;  // <P>: place in the QPC, times the devices each program runs on
  std::vector<std::uint32_t> devices;
  // One; of a multi-device program one per device, in order of their slices.
  std::vector<std::shared_ptr<const LoadedProgram>> parts;

  const LoadedProgram& first() const { return *parts.front(); }
  bool is_multi_device() const { return parts.size() > 1; }
  std::vector<const qaic::Program*> programs() const {
    std::vector<const qaic::Program*> all;
    for (const auto& part : parts) all.push_back(&part->program);
    return all;
  }
  std::string label() const;  // of the whole program
};

// Refuses what can be refused without running: folders that cannot be written, programs that do
// not fit the device or do not record what is asked for, samples that no inference can give.
Result<std::vector<PlannedRun>> plan_run(const RunRequest& request);

// What the host saw of the sampled inferences, as a Chrome trace that can join the device's
// (opstats --host-trace): a slice per phase, and tracks on which inferences under way at once lie
// side by side.
//
//   queue     the application has it ready, no host thread is free
//   prepare   the host thread makes of its inputs what the device takes
//   submit    and hands it over
//   send      until the device begins: its input moves, the inference before it ends
//   device    the device executes it
//   complete  its outputs move, and a host thread sees that it is done
//   post      which makes of the outputs what the application takes
class HostPhases {
 public:
  // A host that keeps `set_size` inferences of each activation queued.
  explicit HostPhases(std::uint32_t set_size) : set_size_(set_size) {}

  // `device_begin_tick`: the tick at which the device began it.
  void add(const SimulatedInference& inference, std::int64_t device_begin_tick,
           double timer_kilohertz);
  // All of them as JSON, with the device's tick at host time 0. Empty when there are none.
  std::string trace() const;

 private:
  struct Slice {
    const char* name;
    std::uint64_t track;
    std::int64_t begin, duration;  // nanoseconds
    std::uint64_t inference;
    std::uint32_t activation;
  };
  void slice(const char* name, const SimulatedInference& inference, Picoseconds begin,
             Picoseconds end);

  std::uint32_t set_size_;
  std::vector<Slice> slices_;
  std::optional<std::int64_t> ticks_at_zero_;
};

class RunFiles {
 public:
  // All three must outlive it. `outcome` gets the names of what is written.
  RunFiles(const RunRequest& request, const PlannedRun& run, RunOutcome& outcome);

  // Writes what one sampled inference gives.
  Status add(const SimulatedInference& inference);
  // Writes what all of them together give.
  Status finish();
  // Keeps what the optrace set says of each inference.
  void add_op_trace(const SimulatedInference& inference);
  // Writes the QNN optrace set, and drops the records that it is made from.
  Status add_optrace(SimulationResult& result);

  std::uint64_t samples() const { return latency_.samples.size(); }

 private:
  Status add_output(const SimulatedInference& inference);
  Status add_buffer(const SimulatedInference& inference);
  Status add_decoded(const SimulatedInference& inference);
  qaic::LatencySample latency_of(const SimulatedInference& inference) const;
  Status decode_against_networks();
  Status add_decoded(std::size_t part, const SimulatedInference& inference);
  // "-QAicGraph_slice01" of a multi-device program's parts, which share all other names.
  std::string part_name(std::size_t part) const;
  // What `action` writes; told and listed when it is written.
  Status write(const std::vector<std::filesystem::path>& files,
               const std::function<Status()>& action);
  Status write(const std::filesystem::path& file, ByteSpan bytes);

  const RunRequest& request_;
  const PlannedRun& run_;
  RunOutcome& outcome_;
  std::vector<qaic::StatsNetwork> networks_;  // by part
  std::vector<Profile> profiles_;             // for the trace
  HostPhases host_phases_;
  qaic::LatencyReport latency_;
  NodeCycles node_cycles_;
};

}  // namespace npuscope::npu::nsp
