#include "npu/compile/metrics.hpp"

#include <algorithm>

#include "npuscope/npu/graph/semantics.hpp"

namespace npuscope::npu {
namespace {

void warn_about_performance(const std::vector<NodePlan>& plans, const Graph& graph,
                            CompileMetrics& metrics) {
  std::uint64_t unknown = 0;
  for (std::size_t i = 0; i < plans.size(); ++i) unknown += graph.nodes[i].unknown ? 1 : 0;
  if (metrics.non_hmx_macs > 0) {
    const double share =
        double(metrics.non_hmx_macs) / double(std::max<std::uint64_t>(metrics.original_macs, 1));
    metrics.performance_warnings.push_back(fmt::format(
        "{:.1f}% of the multiply-accumulates run on HVX, not HMX (float32 products and depthwise "
        "convolutions); for float32 models compile with -convert-to-fp16",
        share * 100));
  }
  if (metrics.spill_bytes > 0) {
    metrics.performance_warnings.push_back(fmt::format(
        "{} KB of activations are spilled to DDR because the VTCM is full; use more cores "
        "or a smaller batch",
        metrics.spill_bytes / 1024));
  }
  if (unknown > 0) {
    metrics.performance_warnings.push_back(
        fmt::format("{} operators are unknown and costed as elementwise", unknown));
  }
}

}  // namespace

void complete_metrics(const Graph& graph, const std::vector<NodePlan>& plans,
                      const LoweredNetwork& network, const qaic::Program& program,
                      CompileMetrics& metrics) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    metrics.original_macs += multiply_accumulates(graph, node);
    if (plans[i].fate == NodeFate::folded || node.outputs.empty()) continue;
    if (node.outputs[0] != TensorId::none) {
      ++metrics.op_output_elements[graph[node.outputs[0]].elements()];
    }
  }
  for (const TaskSpec& task : network.tasks.tasks()) {
    CoreMetrics& core = metrics.cores[task.core];
    core.ddr_read_bytes += task.ddr_read;
    if (task.reads_constant) core.ddr_read_constant_bytes += task.ddr_read;
    core.ddr_write_bytes += task.ddr_write;
    core.multicast_bytes += task.multicast;
    ++core.tasks;
  }
  for (std::uint32_t queue = 0; queue < program.queues(); ++queue) {
    for (std::uint32_t i = program.queue_begin[queue]; i < program.queue_begin[queue + 1]; ++i) {
      const bool signals = (program.tasks[i].flags & qaic::task_signals) != 0;
      if (signals) ++metrics.cores[queue / qaic::thread_groups].barriers;
    }
  }
  warn_about_performance(plans, graph, metrics);
}

}  // namespace npuscope::npu
