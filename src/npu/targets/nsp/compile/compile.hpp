// The reference NPU's compiler: a model graph in, an instrumented program out.
//
//   CompileOptions options;
//   options.cores = 14;
//   options.convert_to_fp16 = true;
//   options.stats_level = 70;
//   Result<CompiledNetwork> network = compile_network(graph, target, options);
//   network->metrics.original_macs      6640631808 (Amber 7B, one token)
//
// How: every operator becomes kernels with the field's names, spread over the cores (split along
// one axis of its output, or repeated where that is cheaper), cut into tiles that fit the VTCM,
// with the DMA transfers, multicasts and layout conversions (d32 is what the HMX reads and writes)
// that this needs. docs/compiler.md explains the choices. Same graph, target and options: same
// program.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/qaic/qpc/network_descriptor.hpp"
#include "formats/qaic/qpc/program.hpp"
#include "formats/qaic/qpc/schematic.hpp"
#include "npu/graph/graph.hpp"
#include "npu/targets/nsp/target/target.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/npu/nsp/compile/build.hpp"

namespace npuscope::npu::nsp {

// Why bytes move between the device and its DDR: what a network must read and write, what it keeps,
// what the host and the profiler take, and what is moved only because VTCM was full.
//
//   Amber 7B, 32 tokens, 14 cores       read KB    write KB
//   constants                         12,912,224           0
//   retained state                        65,536      65,536
//   network input                              7           0
//   network output                             0          62
//   statistics                                 0       4,191
//   spill                                      0           0
//
// "Read minus constants" is no spill: here it is the state alone.

enum class TrafficPurpose : std::uint8_t {
  constants,       // weights, tables
  retained_state,  // X and X_RetainedState (-retained-state)
  network_input,
  network_output,
  statistics,  // the profiler's own buffer
  spill,       // activations that VTCM had no room for
};
inline constexpr std::size_t traffic_purposes = 6;

constexpr std::string_view name_of(TrafficPurpose purpose) {
  constexpr std::array<std::string_view, traffic_purposes> names{
      "constants", "retained state", "network input", "network output", "statistics", "spill"};
  return names[std::size_t(purpose)];
}

struct Traffic {
  std::uint64_t read_bytes = 0;   // from DDR
  std::uint64_t write_bytes = 0;  // to DDR
};

struct PurposeTraffic {
  std::array<Traffic, traffic_purposes> of{};
  Traffic& operator[](TrafficPurpose purpose) { return of[std::size_t(purpose)]; }
  const Traffic& operator[](TrafficPurpose purpose) const { return of[std::size_t(purpose)]; }
  Traffic total() const {
    Traffic sum;
    for (const Traffic& each : of) {
      sum.read_bytes += each.read_bytes;
      sum.write_bytes += each.write_bytes;
    }
    return sum;
  }
};

// All cores together. What moves under no tensor's name is the statistics buffer.
struct TensorTraffic {
  std::string tensor;
  TrafficPurpose purpose = TrafficPurpose::constants;
  Traffic ddr;
  std::uint32_t cores = 0;  // that take part
};

// An activation that went to DDR because VTCM had no room for it.
struct Spill {
  enum class Cause : std::uint8_t {
    pushed_out,  // something that was needed sooner took its place
    too_large,   // its slice alone is beyond what a core keeps in VTCM
    no_room,     // when it was made, what else was in use left no room
    rearranged,  // it had to be split over the cores in another way, beside which it did not fit
  };
  std::string tensor;
  std::uint64_t bytes = 0;          // of the tensor, all cores
  std::uint64_t bytes_of_core = 0;  // of the core that holds most of it
  Cause cause = Cause::pushed_out;
  std::string node;                // that was being lowered
  std::uint64_t wanted_bytes = 0;  // of one core, for what took its place; 0: nothing did
  std::string back_node;           // for which it came back; empty: never
  // When the first of it left and came back, by the compiler's estimate from the inference's begin.
  double out_s = 0;
  double back_s = 0;
};

struct CoreMetrics {
  std::uint64_t vtcm_bytes = 0;  // up to the highest address in use, prefetch included
  std::uint64_t ddr_read_bytes = 0;
  std::uint64_t ddr_read_constant_bytes = 0;  // of those, weights and other constants
  std::uint64_t hoisted_bytes = 0;  // read once more, before the first inference; constants too
  std::uint64_t ddr_write_bytes = 0;
  std::uint64_t multicast_bytes = 0;  // sent
  std::uint64_t peer_bytes = 0;       // sent to other devices
  PurposeTraffic by_purpose;          // adds up to ddr_read_bytes and ddr_write_bytes
  std::uint64_t hmx_cycles = 0;       // of all its tasks, one after the other
  std::uint64_t hvx_cycles = 0;
  std::uint64_t tasks = 0;
  std::uint64_t barriers = 0;  // tasks that other queues wait on
};

// Tensors that lie in DDR as blocks of 32 values with a scale, and that HVX packs and unpacks.
struct PackedTensors {
  DataType type = DataType::undefined;
  std::uint64_t tensors = 0;
  std::uint64_t bytes = 0;      // as float16
  std::uint64_t ddr_bytes = 0;  // as they lie there
};

struct CompileMetrics {
  std::uint64_t original_macs = 0;  // of the model as written
  std::uint64_t hmx_macs = 0;       // executed, padding to the HMX's granules included
  std::uint64_t non_hmx_macs = 0;   // products that run on HVX
  std::map<std::uint64_t, std::uint64_t> op_output_elements;  // elements -> operators of that size
  std::uint64_t constant_bytes = 0;      // distinct constants in device precision
  std::uint64_t d32_constant_bytes = 0;  // the same with matrices padded to d32
  std::uint64_t spill_bytes = 0;         // activations written to DDR because VTCM was full
  std::uint64_t spill_place_bytes = 0;   // of those that are there at once: places that are used
                                         // again when a tensor was read for the last time
  std::vector<PackedTensors> packed;     // of each type that there are
  std::vector<CoreMetrics> cores;
  // What the ports move: the host's inputs into DDR, and from it outputs and statistics. Retained
  // state is copied in and out there too, as the vendor's compiler counts it, though its bytes stay
  // on the device.
  PurposeTraffic host;
  std::vector<TensorTraffic> tensors;  // by purpose, then most bytes first
  std::vector<Spill> spills;           // in the order of the program
  std::uint64_t statistics_bytes = 0;  // of the buffer that one inference writes; 0: none
  std::uint64_t program_bytes = 0;     // of the QPC's section with the tasks
  std::vector<std::string> performance_warnings;
};

struct CompiledNetwork {
  qaic::Program program;
  qaic::NetworkDescriptor descriptor;
  CompileMetrics metrics;
  std::optional<qaic::Schematic> schematic;  // of one core of a target that has sessions
};

// Usage errors: more cores than the target has, a statistics level beyond 100, flags that need a
// higher level. Input errors: a graph that cannot be lowered (names the node).
Result<CompiledNetwork> compile_network(const Graph& graph, const Target& target,
                                        const CompileOptions& options);

// programqpc.bin. One network lies in the container itself; several (one per specialisation and
// device) each in a nested container under their name. `partition`, of a multi-device program, is
// the segment mdp_meta_info.
Result<std::vector<std::byte>> package_qpc(const std::vector<CompiledNetwork>& networks,
                                           const Target& target, std::string_view partition = {});

// The file of -mdp-load-partition-config and -mdp-dump-partition-config: which devices execute a
// multi-device program. The keys are those that the vendor's tools write for tensor slicing; one
// partition, whose devices share every layer, is what the reference compiler makes.
//
//   {"connections": [{"devices": [0, 1], "type": "p2p"}],
//    "partitions": [{"name": "Partition0",
//                    "devices": [{"deviceId": 0, "numCores": 16}, {"deviceId": 1, "numCores":
//                    16}]}]}

inline constexpr std::size_t max_partition_devices = 64;

// Input errors say what is wrong and where: several partitions or lists of nodes (a pipeline, which
// the reference compiler does not make), devices that are given twice, differ in cores or have no
// p2p connection.
Result<PartitionConfig> read_partition_config(ByteSpan json, std::string_view name);

std::string write_partition_config(const PartitionConfig& config);

// The list of -aic-pmu-events.

// "3F,70,200": 1 to 8 events by hexadecimal code, with or without 0x, or by name.
Result<std::vector<std::uint32_t>> parse_pmu_events(std::string_view list);

// Sets those of the recipe (-aic-pmu-recipe), if one is named; warns of events that `target` has
// not.
Status choose_pmu_events(const Target& target, const std::string& recipe, CompileOptions& options,
                         std::vector<std::string>& warnings);

}  // namespace npuscope::npu::nsp
