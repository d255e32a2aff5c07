#include "npu/nsp/compile/describe/metrics.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/sort_rows.hpp"
#include "npu/graph/semantics.hpp"
#include "npu/nsp/compile/schedule/instrument.hpp"

namespace npuscope::npu::nsp {
namespace {

void add(Traffic& sum, const Traffic& traffic) {
  sum.read_bytes += traffic.read_bytes;
  sum.write_bytes += traffic.write_bytes;
}

// What the model is made of, before anything is lowered.
void describe_model(const Graph& graph, const std::vector<NodePlan>& plans,
                    CompileMetrics& metrics) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    metrics.original_macs += multiply_accumulates(graph, node);
    if (plans[i].fate == NodeFate::folded || node.outputs.empty()) continue;
    if (node.outputs[0] != TensorId::none) {
      ++metrics.op_output_elements[graph[node.outputs[0]].elements()];
    }
  }
}

void add_work(const TaskSpec& task, CoreMetrics& core) {
  if (task.group == qaic::ThreadGroup::hmx) core.hmx_cycles += task.cycles;
  if (task.group == qaic::ThreadGroup::hvx) core.hvx_cycles += task.cycles;
  core.by_purpose[task.read_purpose].read_bytes += task.ddr_read;
  core.by_purpose[task.write_purpose].write_bytes += task.ddr_write;
  core.multicast_bytes += task.multicast;
  ++core.tasks;
}

// Who moves what, tensor by tensor; the statistics belong to none.
class TensorTable {
 public:
  explicit TensorTable(const Graph& graph) : graph_(graph) {}

  void add_task(const TaskSpec& task) {
    const TensorId read = task.read_tensor != TensorId::none ? task.read_tensor : task.tensor;
    if (task.ddr_read > 0) add_traffic(read, task.read_purpose, task.core, {task.ddr_read, 0});
    if (task.ddr_write == 0 || task.write_purpose == TrafficPurpose::statistics) return;
    add_traffic(task.tensor, task.write_purpose, task.core, {0, task.ddr_write});
  }

  std::vector<TensorTraffic> rows() const {
    std::vector<TensorTraffic> rows;
    for (const auto& [key, row] : rows_) {
      rows.push_back(row.traffic);
      rows.back().cores = std::uint32_t(std::count(row.cores.begin(), row.cores.end(), true));
    }
    sort_rows(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      const auto bytes = [](const TensorTraffic& row) {
        return row.ddr.read_bytes + row.ddr.write_bytes;
      };
      return a.purpose != b.purpose ? a.purpose < b.purpose : bytes(a) > bytes(b);
    });
    return rows;
  }

 private:
  struct Row {
    TensorTraffic traffic;
    std::vector<bool> cores;
  };

  void add_traffic(TensorId tensor, TrafficPurpose purpose, std::uint32_t core,
                   const Traffic& traffic) {
    Row& row = rows_[{tensor, purpose}];
    if (row.cores.size() <= core) row.cores.resize(core + 1, false);
    row.cores[core] = true;
    row.traffic.purpose = purpose;
    if (tensor != TensorId::none) row.traffic.tensor = graph_[tensor].name;
    add(row.traffic.ddr, traffic);
  }

  const Graph& graph_;
  std::map<std::pair<TensorId, TrafficPurpose>, Row> rows_;
};

PurposeTraffic traffic_of_host(const qaic::Program& program, std::uint64_t statistics) {
  PurposeTraffic host;
  host[TrafficPurpose::retained_state] = {program.retained_bytes, program.retained_bytes};
  host[TrafficPurpose::network_input].write_bytes = program.input_bytes;
  host[TrafficPurpose::network_output].read_bytes = program.output_bytes;
  host[TrafficPurpose::statistics].read_bytes = statistics;
  return host;
}

void count_barriers(const qaic::Program& program, CompileMetrics& metrics) {
  for (std::uint32_t queue = 0; queue < program.queues(); ++queue) {
    for (std::uint32_t i = program.queue_begin[queue]; i < program.queue_begin[queue + 1]; ++i) {
      const bool signals = (program.tasks[i].flags & qaic::task_signals) != 0;
      if (signals) ++metrics.cores[queue / qaic::thread_groups].barriers;
    }
  }
}

void add_spills(const std::vector<SpillLog>& log, const Schedule& schedule,
                CompileMetrics& metrics) {
  const auto seconds = [&](TaskIndex task) {
    return task == no_task ? 0.0 : double(schedule.begin[task]) * 1e-12;
  };
  for (const SpillLog& entry : log) {
    if (entry.out == no_task) continue;  // nothing of it was ever stored
    metrics.spills.push_back(entry.spill);
    metrics.spills.back().out_s = seconds(entry.out);
    metrics.spills.back().back_s = seconds(entry.back);
  }
}

}  // namespace

void complete_metrics(const Graph& graph, const std::vector<NodePlan>& plans,
                      const LoweredNetwork& network, const Schedule& schedule, const Target& target,
                      const qaic::Program& program, CompileMetrics& metrics) {
  describe_model(graph, plans, metrics);
  TensorTable tensors(graph);
  for (const TaskSpec& task : network.tasks.tasks()) {
    add_work(task, metrics.cores[task.core]);
    tensors.add_task(task);
  }
  metrics.tensors = tensors.rows();
  for (CoreMetrics& core : metrics.cores) {
    core.ddr_read_bytes = core.by_purpose.total().read_bytes;
    core.ddr_write_bytes = core.by_purpose.total().write_bytes;
    core.ddr_read_constant_bytes = core.by_purpose[TrafficPurpose::constants].read_bytes;
    metrics.spill_bytes += core.by_purpose[TrafficPurpose::spill].write_bytes;
  }
  metrics.statistics_bytes = program.stats_level >= 40 ? statistics_bytes(program) : 0;
  metrics.host = traffic_of_host(program, metrics.statistics_bytes);
  metrics.program_bytes = qaic::write_program(program).size();
  count_barriers(program, metrics);
  add_spills(network.spills, schedule, metrics);
  metrics.performance_warnings = performance_warnings(graph, target, metrics);
}

}  // namespace npuscope::npu::nsp
