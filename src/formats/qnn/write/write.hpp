// Writes a QNN HTP optrace set, what Qualcomm's qnn-profile-viewer makes of a run:
//
//   <stem>.json                             OP_TRACE    ops of the first execute on their lanes
//   <stem>_htp.json                         HTP_GRAPH   the compiled graph with its cycles
//   <stem>_runtrace.json                    RUN_TRACE   the phases of every execute
//   <stem>_qnn_htp_analysis_summary.json    QHAS        totals, and the true cycles of each slice
//   <stem>_profile.txt                      (text)      host times and cycles by node of every one
//
//   using namespace qnn::optrace;
//   OptraceSet set;                                   // plain data, made by whoever ran the graph
//   set.op_types.push_back({"q::Softmax"});
//   set.ops.push_back({.id = 0x100000000012, .flag = OpFlag::uses_hvx});
//   set.instances.push_back({.op = 0, .tid = 512, .start_cycle = 8'000'000'000'000, .cycles = 90});
//   …
//   return write_optrace_set(set, "out/chrometrace");
//
// Everything that the viewer derives is derived here: the copies per QNN op, the arguments that
// repeat one slice, the made-up times of tensors that do not execute, flows, counters of bytes in
// flight, dominant path, sums and shares. Line layout and quirks are those of SDK 2.45
// (docs/formats/qnn-written.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/result.hpp"

namespace npuscope::qnn::optrace {

// QNN_DATATYPE_ values, which HTP_GRAPH shows as numbers and the others as names.
enum class TensorType : std::uint32_t {
  none = 0,
  int8 = 0x0008,
  int16 = 0x0016,
  int32 = 0x0032,
  int64 = 0x0064,
  uint8 = 0x0108,
  uint16 = 0x0116,
  uint32 = 0x0132,
  uint64 = 0x0164,
  float16 = 0x0216,
  float32 = 0x0232,
  sfixed8 = 0x0308,
  sfixed16 = 0x0316,
  ufixed8 = 0x0408,
  ufixed16 = 0x0416,
  bool8 = 0x0508,
};
std::string_view name_of(TensorType type);  // "QUInt8"; "" for none

enum class OpFlag : std::uint8_t {
  constant,   // a tensor, not executed and without flags
  null_exec,  // an op that only renames bytes: not executed
  dma,
  dma_set,
  dma_wait,
  uses_hvx,
  uses_hmx,
  sync,
};
std::string_view name_of(OpFlag flag);  // "uses_hvx"; "" for constant
constexpr bool executes(OpFlag flag) {
  return flag != OpFlag::constant && flag != OpFlag::null_exec;
}

struct GraphOp {  // an op of the QNN graph, which HTP ops belong to
  std::uint32_t id = 0;
  std::string name = {};  // "MatMul_0"
  std::string type = {};  // "FullyConnected"
};

struct OpType {
  std::string name = {};         // "q::ConvLayer_s1.opt"
  std::string description = {};  // may be empty
  bool format_change = false;
};

struct Traffic {  // bytes
  std::uint64_t dram_read = 0;
  std::uint64_t dram_write = 0;
  std::uint64_t vtcm_read = 0;
  std::uint64_t vtcm_write = 0;
};

struct HtpOp {
  std::uint64_t id = 0;     // unique; the upper half numbers HTP ops, the lower is its owner's id
  std::uint32_t type = 0;   // in op_types
  std::uint32_t owner = 0;  // in graph_ops
  OpFlag flag = OpFlag::dma;
  bool has_output = false;  // makes a tensor, which the next four describe
  TensorType data_type = TensorType::none;
  float step_size = 0;
  std::int32_t zero_offset = 0;
  std::vector<std::int64_t> dims = {};     // empty: a scalar
  std::vector<std::uint32_t> inputs = {};  // in ops: who makes what it reads
  // In ops: what the sequencer lets end first, of what may run on other lanes.
  std::vector<std::uint32_t> after = {};
  Traffic traffic = {};  // of all its slices
};

struct Instance {         // one execution of an op, or of one of its slices, on one lane
  std::uint32_t op = 0;   // in ops
  std::uint32_t tid = 0;  // of the lane
  std::uint64_t start_cycle = 0;
  std::uint64_t cycles = 0;
  std::uint64_t packets = 0;  // instruction packets; 0: not counted
  Traffic traffic = {};       // its share
};

struct Lane {
  std::uint32_t tid = 0;
  std::string type = {};  // "HMX", "HVX", "DMA"
};

struct VtcmSample {
  std::uint64_t cycle = 0;
  std::uint64_t bytes = 0;  // allocated from then on
};

struct Phase {
  std::string name = {};  // "QNN DSP Execute" and, inside it, "VTCM Acquire", "Graph Execute" ...
  std::uint64_t start_ticks = 0;
  std::uint64_t end_ticks = 0;
  std::uint64_t start_cycles = 0;
  std::uint64_t end_cycles = 0;
};
using Execute = std::vector<Phase>;

// A call to the device as the layers of software see it, the host's call outermost. Whole
// microseconds, rounded down.
struct LayerTimes {
  std::uint64_t qnn_us = 0;
  std::uint64_t rpc_us = 0;
  std::uint64_t qnn_accelerator_us = 0;
  std::uint64_t accelerator_us = 0;
};

// What the viewer's text says of an execute beside its phases.
struct HostCall {
  LayerTimes times = {};                      // the accelerator's own is that of QNN DSP Execute
  std::vector<std::uint64_t> op_cycles = {};  // of each of graph_ops, summed over threads
};

struct OptraceSet {
  std::string graph_name = {};
  double timer_hz = 19.2e6;
  std::vector<GraphOp> graph_ops;
  std::vector<OpType> op_types;
  std::vector<HtpOp> ops;
  std::vector<Lane> lanes;
  std::vector<Instance> instances;       // of the first execute, in any order
  std::vector<VtcmSample> vtcm_samples;  // in order of time
  std::vector<Execute> executes;         // all; the first is the one that the instances are of
  // For the viewer's text:
  std::uint32_t hvx_threads = 0;
  std::optional<LayerTimes> load = {};     // of the graph, before all executes
  std::optional<LayerTimes> release = {};  // after them
  std::vector<HostCall> calls = {};        // one for each execute, or none at all
};

// A usage error that names the first thing that contradicts itself: an index outside its table, an
// id that occurs twice, two instances at the same time on one lane, nothing that executed, a first
// execute without the phases "QNN DSP Execute" and "Graph Execute", calls that are not of the
// executes or whose cycles are not those of the instances.
Status check_optrace_set(const OptraceSet& set);

// Take text piece by piece. The set must pass check_optrace_set.
using TextSink = std::function<void(std::string_view)>;
void write_op_trace(const OptraceSet& set, const TextSink& out);
void write_htp_graph(const OptraceSet& set, const TextSink& out);
void write_run_trace(const OptraceSet& set, const TextSink& out);
void write_qhas(const OptraceSet& set, const TextSink& out);
void write_viewer_text(const OptraceSet& set, const TextSink& out);  // needs calls

// The names of the files, in the order above; a set without calls has no text.
std::vector<std::filesystem::path> optrace_files(const OptraceSet& set,
                                                 const std::filesystem::path& stem);

// Checks and writes all of them; an output error when one cannot be written.
Status write_optrace_set(const OptraceSet& set, const std::filesystem::path& stem);

}  // namespace npuscope::qnn::optrace
