// A made-up graph that a host compiled and estimated, with everything known about it, and the files
// that ONNX Runtime's QNN provider would write of it: the log with the estimate, the schematic, the
// csv, the trace of the framework (docs/formats/qnn.md). What a reader finds is compared with it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace npuscope::qnn::test {

// Of an hmx_thread: work that the lane FG hands to a lane HMX, as it does to those of HVX.
enum class HostWork { hmx, hmx_thread, hvx, dma };

struct HostOp {
  std::uint64_t id = 0;
  std::string kind;  // "q::ConvLayer_s1.opt"
  HostWork work = HostWork::hvx;
  int tid = 0;
  std::int64_t start = 0, cycles = 0;
  std::int64_t ddr_read = 0, ddr_write = 0, vtcm_read = 0, vtcm_write = 0;
  std::vector<std::int64_t> dims{1, 8, 8, 32};
  std::vector<std::uint64_t> inputs;
  int waits_for = 0, counts_for = 0;  // checkpoints; 0: none
};

struct QnnNode {
  std::uint32_t id = 0;
  std::string name, type;            // "conv0", "Conv2d"
  std::vector<std::string> sources;  // of the model
  std::vector<std::uint32_t> inputs = {};
};

struct HostRun {
  std::string graph = "QNNExecutionProvider_QNNExecutionProvider_17_1_0";
  std::vector<HostOp> ops;
  std::vector<QnnNode> nodes;
  double megahertz = 1497.6;
  std::int64_t vtcm_bytes = 8 << 20;
  std::vector<std::pair<std::int64_t, std::int64_t>> vtcm_usage{{0, 4096}, {700, 65536}};
  std::vector<std::pair<std::string, std::string>> on_host;  // name and type

  std::int64_t cycles() const;  // first start to last end
  std::int64_t ddr_read() const;
  std::int64_t ddr_write() const;
};

// A convolution of two tiles between its transfers, and a conversion on one thread.
HostRun small_host_run();

std::string estimate_json_of(const HostRun& run);
std::string log_of(const std::vector<HostRun>& runs);  // closed bytes around each estimate
std::string schematic_of(const HostRun& run);
std::string csv_of(const HostRun& run, int emulated_executes);
std::string framework_trace_of(const std::vector<HostRun>& runs);

}  // namespace npuscope::qnn::test
