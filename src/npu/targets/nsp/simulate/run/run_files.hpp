// The files that a run leaves for one program. Statistics, traces and summaries are made from the
// bytes of the raw buffers by the same decoder that opstats uses.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/qaic/stats/stats_decoder.hpp"
#include "formats/qaic/text/latency.hpp"
#include "npu/targets/nsp/simulate/record/optrace.hpp"
#include "npu/targets/nsp/simulate/run/run_plan.hpp"
#include "npu/targets/nsp/simulate/simulate.hpp"

namespace npuscope::npu::nsp {

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
