#include "npu/targets/nsp/compile/describe/describe.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/counted.hpp"
#include "base/sort_rows.hpp"
#include "npu/graph/semantics.hpp"

namespace npuscope::npu::nsp {
namespace {

void add(Traffic& sum, const Traffic& traffic) {
  sum.read_bytes += traffic.read_bytes;
  sum.write_bytes += traffic.write_bytes;
}

// What the model is made of, before anything is lowered.
void describe_model(const Graph& graph, CompileMetrics& metrics) {
  for (const Node& node : graph.nodes) {
    metrics.original_macs += multiply_accumulates(graph, node);
    if (node.outputs.empty() || classify(graph, node) == OpClass::folded) continue;
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
      rows.back().cores = std::uint32_t(std::ranges::count(row.cores, true));
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

// In the order of the program, in which tasks take their turns save for transfers ahead of time.
std::uint64_t most_spilled_at_once(const std::vector<SpillLog>& log) {
  std::map<TaskIndex, std::int64_t> changes;
  for (const SpillLog& entry : log) {
    if (entry.out == no_task) continue;
    changes[entry.out] += std::int64_t(entry.spill.bytes);
    changes[entry.last + 1] -= std::int64_t(entry.spill.bytes);
  }
  std::int64_t now = 0, most = 0;
  for (const auto& [task, change] : changes) most = std::max(most, now += change);
  return std::uint64_t(most);
}

void add_spills(const std::vector<SpillLog>& log, const Schedule& schedule,
                CompileMetrics& metrics) {
  metrics.spill_place_bytes = most_spilled_at_once(log);
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

void complete_metrics(const Graph& model, const Graph& graph, const LoweredNetwork& network,
                      const Schedule& schedule, const Target& target, const qaic::Program& program,
                      CompileMetrics& metrics) {
  describe_model(model, metrics);
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
  metrics.program_bytes = qaic::program_bytes(program);
  count_barriers(program, metrics);
  add_spills(network.spills, schedule, metrics);
  metrics.performance_warnings = performance_warnings(graph, target, metrics);
}

namespace {

// -aic-perf-warnings: what costs time, by how much, and what would change it.

constexpr double kibibyte = 1024;

double share_of(std::uint64_t part, std::uint64_t all) {
  return 100.0 * double(part) / double(std::max<std::uint64_t>(all, 1));
}

// How long the network takes at least on each of the two things that all networks need.
struct Floors {
  double ddr_s = 0;
  double hmx_s = 0;  // of the core with the most work
};

Floors floors_of(const Target& target, const CompileMetrics& metrics) {
  Floors floors;
  double bytes = 0;
  for (const CoreMetrics& core : metrics.cores) {
    bytes += double(core.ddr_read_bytes) + double(core.ddr_write_bytes);
    floors.hmx_s = std::max(floors.hmx_s, double(core.hmx_cycles) / target.core_hz);
  }
  const double all = target.ddr_bytes_per_s * target.ddr_efficiency;
  const double of_cores = target.ddr_bytes_per_s_per_core * double(metrics.cores.size());
  floors.ddr_s = bytes / std::min(all, of_cores);
  return floors;
}

void warn_of_float32(const CompileMetrics& metrics, std::vector<std::string>& warnings) {
  if (metrics.non_hmx_macs == 0) return;
  warnings.push_back(fmt::format(
      "{:.1f}% of the multiply-accumulates run on HVX, not HMX (float32 products and depthwise "
      "convolutions); for float32 models compile with -convert-to-fp16",
      share_of(metrics.non_hmx_macs, metrics.original_macs)));
}

std::string cause_of(const Spill& spill, const Target& target) {
  const double slice = double(spill.bytes_of_core) / kibibyte;
  const double vtcm = double(target.vtcm_bytes - target.vtcm_reserved_bytes) / kibibyte;
  switch (spill.cause) {
    case Spill::Cause::too_large:
      return fmt::format(
          "its {:.0f} KB on one core are more than two fifths of the {:.0f} KB of "
          "VTCM, so it is streamed",
          slice, vtcm);
    case Spill::Cause::pushed_out:
      return fmt::format("its {:.0f} KB on one core made room for {:.0f} KB of '{}'", slice,
                         double(spill.wanted_bytes) / kibibyte, spill.node);
    case Spill::Cause::no_room:
      return fmt::format("its {:.0f} KB on one core did not fit beside what '{}' holds", slice,
                         spill.node);
    case Spill::Cause::rearranged:
      return fmt::format(
          "'{}' needs it split over the cores in another way, and there was no "
          "room for both",
          spill.node);
  }
  return {};
}

void warn_of_spill(const Target& target, const CompileMetrics& metrics,
                   std::vector<std::string>& warnings) {
  if (metrics.spills.empty()) return;
  const Spill& largest = *std::ranges::max_element(
      metrics.spills, [](const Spill& a, const Spill& b) { return a.bytes < b.bytes; });
  const std::string back =
      largest.back_node.empty()
          ? std::string()
          : fmt::format("; away for {:.0f} us by estimate, until '{}'",
                        (largest.back_s - largest.out_s) * 1e6, largest.back_node);
  warnings.push_back(fmt::format(
      "{:.0f} KB of activations are spilled to DDR ({}) because the VTCM is full; use more "
      "cores or a smaller batch. The largest, '{}': {}{}",
      double(metrics.spill_bytes) / kibibyte, counted(metrics.spills.size(), "tensor"),
      largest.tensor, cause_of(largest, target), back));
}

void warn_of_unknown(const Graph& graph, std::vector<std::string>& warnings) {
  const auto unknown =
      std::ranges::count_if(graph.nodes, [](const Node& node) { return node.unknown; });
  if (unknown == 0) return;
  warnings.push_back(counted(std::uint64_t(unknown), "operator is", "operators are") +
                     " unknown and costed as elementwise");
}

void warn_of_memory_bound(const Target& target, const CompileMetrics& metrics,
                          std::vector<std::string>& warnings) {
  constexpr double clearly = 2;
  const Floors floors = floors_of(target, metrics);
  if (metrics.hmx_macs == 0 || floors.ddr_s < clearly * floors.hmx_s) return;
  std::uint64_t constants = 0, all = 0;
  for (const CoreMetrics& core : metrics.cores) {
    constants += core.ddr_read_constant_bytes;
    all += core.ddr_read_bytes + core.ddr_write_bytes;
  }
  warnings.push_back(fmt::format(
      "memory bound: DDR traffic takes {:.2f} ms at least, {:.0f}% of it constants, and the "
      "products {:.2f} ms; more inputs at once (batch, tokens) share the constants' traffic",
      floors.ddr_s * 1e3, share_of(constants, all), floors.hmx_s * 1e3));
}

std::size_t working_cores(const CompileMetrics& metrics) {
  return std::size_t(std::ranges::count_if(metrics.cores, [](const CoreMetrics& core) {
    return core.hmx_cycles + core.hvx_cycles > 0;
  }));
}

void warn_of_padding(const Target& target, const CompileMetrics& metrics,
                     std::vector<std::string>& warnings) {
  const std::uint64_t of_hmx =
      metrics.original_macs - std::min(metrics.original_macs, metrics.non_hmx_macs);
  if (metrics.hmx_macs < 2 * of_hmx || of_hmx == 0) return;
  warnings.push_back(fmt::format(
      "{:.1f}% of the HMX's multiply-accumulates are padding to {} rows and columns; as many as {} "
      "rows (batch, tokens) cost what one does",
      share_of(metrics.hmx_macs - of_hmx, metrics.hmx_macs), target.hmx_alignment,
      target.hmx_alignment));
}

void warn_of_idle_cores(const CompileMetrics& metrics, std::vector<std::string>& warnings) {
  const std::size_t working = working_cores(metrics);
  if (working == 0 || working == metrics.cores.size()) return;
  warnings.push_back(
      fmt::format("{} of {} cores work: with more the network would not be faster, by estimate; "
                  "-aic-num-cores={} leaves the others to other activations",
                  working, metrics.cores.size(), working));
}

void warn_of_imbalance(const CompileMetrics& metrics, std::vector<std::string>& warnings) {
  constexpr double worth_saying = 1.15;
  std::uint64_t max = 0, all = 0;
  for (const CoreMetrics& core : metrics.cores) {
    max = std::max(max, core.hmx_cycles);
    all += core.hmx_cycles;
  }
  const double even = double(all) / double(std::max<std::size_t>(working_cores(metrics), 1));
  if (metrics.cores.size() < 2 || metrics.hmx_macs == 0 || double(max) < worth_saying * even)
    return;
  warnings.push_back(fmt::format(
      "the busiest core's HMX has {:.0f}% more work than an even share; a number of cores that "
      "divides the model's batch, heads or columns balances it",
      100 * (double(max) / even - 1)));
}

}  // namespace

std::vector<std::string> performance_warnings(const Graph& graph, const Target& target,
                                              const CompileMetrics& metrics) {
  std::vector<std::string> warnings;
  warn_of_float32(metrics, warnings);
  warn_of_spill(target, metrics, warnings);
  warn_of_memory_bound(target, metrics, warnings);
  warn_of_padding(target, metrics, warnings);
  warn_of_idle_cores(metrics, warnings);
  warn_of_imbalance(metrics, warnings);
  warn_of_unknown(graph, warnings);
  return warnings;
}

}  // namespace npuscope::npu::nsp
