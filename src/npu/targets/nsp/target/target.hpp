// The description of an NPU whose cores have HMX and HVX (architecture nsp), read from a TOML data
// file (targets/*.toml; aic100 and htp-v75 are built in). Every figure in the file says where it
// comes from.
//
//   Result<Target> aic100 = builtin_target("aic100");
//   aic100->cores   16
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/result.hpp"

namespace npuscope::npu::nsp {

// How long a kernel takes on one core: cycles = overhead + KiB of output * cycles_per_kib, shared
// evenly by the engine's threads (the figure is the group's).
struct KernelCost {
  double cycles_per_kib = 0;
  double overhead_cycles = 0;
  // Of targets whose vectors are cut into tiles (Target::vector_tile_bytes), where the figures are
  // of one thread:
  double cycles_per_padded_kib = 0;  // more, for each KiB with rows and channels padded
  double cycles_per_row = 0;         // more, for each row of the innermost dimension
  double row_columns = 0;            // less for longer rows, nothing for those of so many columns
  double first_kib = 0;              // of so many padded KiB ...
  double cycles_per_first_kib = 0;   // ... each takes so much more, where one thread takes it all
  double whole_bytes = 0;            // no more than these are left to one thread
  double tile_bytes = 0;             // that one thread takes at a time; 0: vector_tile_bytes
  double tile_cycles = 0;            // that a tile takes at least
  double ddr_reads = 0;              // times its result that it reads from DDR on the way ...
  double ddr_writes = 0;             // ... and writes there
  bool by_input = false;             // KiB of the first input, not of the result
  bool by_window = false;            // times the places of a pooling window
  bool by_block = false;             // a tile is a block of 32 channels: of a strip of an image, or
                                     // of a matrix; of rows that become heads, a head
  bool on_hmx = false;
};

struct PmuEvent {
  std::uint32_t code = 0;
  std::string name;
  std::string counts;  // what the simulator counts: cycles, hmx_macs, hmx_cycles, hvx_cycles,
                       // dma_cycles, ddr_read_bytes, ddr_write_bytes, multicast_bytes, tasks
  std::uint32_t divisor = 1;  // one count per this many of them
};

// What an HTP does around a graph, in one state of its power. The core's clock differs from phase
// to phase; times between phases run at the clock of the one before.
struct SessionState {
  double enter_s = 0;  // from the call to the first phase
  double vtcm_acquire_s = 0;
  double vtcm_acquire_hz = 0;
  double between_s = 0;
  double power_on_s = 0;
  double power_on_hz = 0;
  double prepare_s = 0;  // from power to the graph
  double graph_hz = 0;
  double leave_s = 0;
};

// A call to the device that does not execute a graph, as each layer of software sees it, the
// outermost first.
struct SessionCall {
  double qnn_s = 0;
  double rpc_s = 0;
  double qnn_accelerator_s = 0;
  double accelerator_s = 0;
};

struct Session {
  double cold_after_s = 0;  // without work for so long, the power is off
  double cycles_per_packet = 0;
  double polling_cycles_per_packet = 0;
  // Of one look at whether a transfer is complete, on the thread that runs the HMX. Each such wait
  // takes at least one, also when the transfer is complete long before. 0: it costs nothing.
  double poll_cycles_min = 0;
  double poll_cycles_max = 0;
  SessionState cold;
  SessionState warm;
  std::optional<SessionCall> load = {};     // of a graph, before its first execution; none: unknown
  std::optional<SessionCall> release = {};  // after its last
};

// How inferences of a card differ from one another (simulate/noise.hpp).
struct TargetNoise {
  double kernels = 0;    // mean share by which those of an inference are slower than at best
  double ddr = 0;        // relative standard deviation of the DDR's rate in an inference
  double barrier_s = 0;  // mean of what a barrier takes beyond its signal
  double host = 0;       // share of a step of the host that varies
};

struct Target {
  std::string name;
  std::string description;

  std::uint32_t cores = 0;
  std::uint32_t hvx_threads = 0;  // per core; plus 1 HMX and 1 DMAIssue thread
  std::uint64_t vtcm_bytes = 0;   // per core
  std::uint64_t vtcm_reserved_bytes = 0;
  std::uint64_t l2_bytes = 0;
  // Most of a core's VTCM that constants may keep between inferences; 0: all are read each time.
  double hoisted_share = 0;

  // One thread of a core issues transfers and runs the HMX, one after the other.
  bool shared_main_thread = false;
  std::optional<Session> session;  // none: a call executes the network and nothing else

  double core_hz = 0;            // nominal core clock
  double core_hz_min = 0;        // the governor's floor under full HMX load
  double governor_window_s = 0;  // clock scaling: load is averaged over this long
  double core_spread = 0;        // relative difference of clocks between cores, one sigma
  double timer_hz = 0;           // UTIMER

  double hmx_macs_per_cycle_int8 = 0;  // peak
  double hmx_macs_per_cycle_fp16 = 0;
  double hmx_efficiency = 1;       // sustained share of the peak
  double hmx_overhead_cycles = 0;  // per task
  // Power of an HMX at work on integers, of what it takes with float16: what the governor weighs.
  double hmx_int8_power_of_fp16 = 1;
  double hmx_two_blocks_less_int8 = 0;  // cycles less of 3x3 over 33 to 64 channels, a task
  // More for each channel, whatever the size of the convolution's kernel; 0: none.
  double hmx_channel_macs_per_cycle_fp16 = 0;
  double hmx_output_cycles_per_kib = 0;
  // Of float16; 0: as of integers. Products one block of channels deep go through places next to
  // each other at a rate of their own; 0: that of others.
  double hmx_output_cycles_per_kib_fp16 = 0;
  double hmx_shallow_macs_per_cycle_fp16 = 0;
  double hmx_dilated_int8 = 1;  // how much longer windows with gaps take
  double hmx_dilated_fp16 = 1;
  // Places of a window along one axis with strides, in float16; 0: as many as it has.
  std::uint32_t hmx_strided_sequence_places_fp16 = 0;
  std::uint32_t hmx_tile_rows = 0;     // of an image, in a task; of a matrix 32 times as many; 0:
  std::uint32_t hmx_tile_columns = 0;  // as large as VTCM allows
  std::uint32_t hmx_alignment = 32;    // rows, depth and columns are padded to multiples of this
  double hvx_macs_per_cycle_int8 = 0;  // of one core, all HVX threads together
  double hvx_macs_per_cycle_fp16 = 0;
  double hvx_macs_per_cycle_fp32 = 0;  // float32 products run here: the HMX has no float32

  // What one HVX thread takes of a result at a time; 0: all threads share every kernel evenly.
  std::uint64_t vector_tile_bytes = 0;
  // Graphs are prepared as QNN and its front end for ONNX do it (qnn_graph.hpp).
  bool qnn_graphs = false;
  // What its compiler does without leaving tiles (compile/lower/tile_formats.hpp): Concat, Resize
  // and the like, and transposes between rows and heads.
  bool moves_tiles = false;
  bool moves_heads = false;
  bool sorts_places = false;  // for windows with strides (compile/images.hpp)

  double ddr_bytes_per_s = 0;            // peak
  double ddr_efficiency = 1;             // sustained share of it
  double ddr_bytes_per_s_per_core = 0;   // what one core's DMA can draw
  double ddr_latency_s = 0;              // per transfer
  std::uint64_t ddr_capacity_bytes = 0;  // of a device; 0: not known, nothing is refused
  double multicast_bytes_per_s_per_core = 0;
  double multicast_latency_s = 0;
  double dma_issue_cycles = 0;       // of the DMAIssue thread per descriptor
  std::uint32_t dma_depth = 0;       // transfers in flight per core
  std::uint64_t dma_unit_bytes = 1;  // constants and inputs are moved in whole ones

  // To other devices of a multi-device program, all cores of the sender together; 0: it has no such
  // link.
  double peer_bytes_per_s = 0;
  double peer_latency_s = 0;  // until the receiver sees the last byte

  double host_link_bytes_per_s = 0;  // PCIe
  double host_latency_s = 0;         // per direction and inference
  // Software per inference: until a host thread takes it, what that does to its inputs and to hand
  // it over; after the outputs are there, until a thread wakes, and what that does with them.
  double host_enqueue_s = 0;
  double host_preprocess_s = 0;
  double host_submit_s = 0;
  double host_wake_s = 0;
  double host_postprocess_s = 0;

  double sync_cycles = 0;             // semaphore seen from the same core
  double cross_core_sync_cycles = 0;  // from another core
  double barrier_cycles = 0;
  double jitter = 0;  // relative standard deviation of a kernel's cycles
  TargetNoise noise;

  double record_cycles_thread = 0;  // instrumentation: per thread and inference, level >= 40
  double record_cycles_port = 0;    // per port and thread, level >= 50
  double record_cycles_op = 0;      // per task and thread, level >= 70
  double record_cycles_op_pmu = 0;  // more per task and thread, level >= 100
  double activation_s = 0;          // set-up of a thread before the first inference

  std::map<std::string, KernelCost, std::less<>> kernels;
  KernelCost default_kernel;  // for HVX kernels the file does not name
  std::vector<PmuEvent> pmu_events;
  std::map<std::string, std::vector<std::uint32_t>, std::less<>> pmu_recipes;

  std::string toml;  // the text it was read from
};

// Reads the description that a program holds; an input error names the missing or senseless field,
// and its line if known. Fields that are unknown are passed over: an older version may have made
// it.
Result<Target> parse_target(std::string_view toml, const std::string& name);

// A built-in target's name ("aic100", "htp-v75") or the path of a .toml file. An unknown name is a
// usage error that lists them; so is a target of another architecture (target_file.hpp). A field
// of the file that is unknown is an input error.
Result<Target> find_target(const std::string& name_or_path);
// One that is certainly a name.
Result<Target> builtin_target(std::string_view name);

}  // namespace npuscope::npu::nsp
