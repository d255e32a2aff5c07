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

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "formats/qaic/qpc/network_descriptor.hpp"
#include "formats/qaic/qpc/program.hpp"
#include "formats/qaic/qpc/schematic.hpp"
#include "npu/graph/graph.hpp"
#include "npu/targets/nsp/compile/traffic.hpp"
#include "npu/targets/nsp/target/target.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/npu/nsp/compile/build.hpp"

namespace npuscope::npu::nsp {

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

struct CompileMetrics {
  std::uint64_t original_macs = 0;  // of the model as written
  std::uint64_t hmx_macs = 0;       // executed, padding to the HMX's granules included
  std::uint64_t non_hmx_macs = 0;   // products that run on HVX
  std::map<std::uint64_t, std::uint64_t> op_output_elements;  // elements -> operators of that size
  std::uint64_t constant_bytes = 0;      // distinct constants in device precision
  std::uint64_t d32_constant_bytes = 0;  // the same with matrices padded to d32
  std::uint64_t spill_bytes = 0;         // activations written to DDR because VTCM was full
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

}  // namespace npuscope::npu::nsp
