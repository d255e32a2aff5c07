#include "npu/targets/nsp/compile/describe/describe.hpp"

#include <algorithm>

#include "formats/qaic/stats/stats_buffer.hpp"
#include "npu/targets/nsp/compile/tasks/task_writer.hpp"

namespace npuscope::npu::nsp {
namespace {

using qaic::ThreadGroup;

constexpr ThreadGroup all_groups[] = {ThreadGroup::hvx, ThreadGroup::hmx, ThreadGroup::dma_issue};
constexpr std::string_view statistics_output = "aiccyclecounts";

bool recorded(const TaskSpec& spec, const qaic::Program& program) {
  qaic::Task task;
  task.flags = spec.flags;
  return program.records(task);
}

// What one queue contributes to the buffer, its end task included.
std::uint64_t queue_record_bytes(std::uint64_t records, ThreadGroup group,
                                 const qaic::Program& program) {
  const std::uint64_t per_record =
      sizeof(qaic::StatsOp) + (program.stats_level >= 100 ? sizeof(qaic::StatsOpPmu) : 0);
  const std::uint64_t ports = program.stats_level >= 50 ? 2 * sizeof(qaic::StatsPort) : 0;
  return program.thread_count(group) * (sizeof(qaic::StatsThread) + ports + records * per_record);
}

qaic::IoDataType io_type(DataType type) {
  switch (type) {
    case DataType::float16: return qaic::IoDataType::float16;
    case DataType::int8: return qaic::IoDataType::int8;
    case DataType::uint8:
    case DataType::boolean: return qaic::IoDataType::uint8q;
    case DataType::int16: return qaic::IoDataType::int16q;
    case DataType::int32: return qaic::IoDataType::int32i;
    case DataType::int64: return qaic::IoDataType::int64i;
    default: return qaic::IoDataType::float32;
  }
}

void add_binding(const Graph& graph, TensorId id, bool output, const std::vector<bool>& packed,
                 const CompileOptions& options, qaic::NetworkDescriptor& descriptor) {
  const Tensor& tensor = graph[id];
  qaic::IoBinding binding;
  binding.name = tensor.name;
  binding.initial.type = io_type(tensor.type);
  binding.initial.dims = tensor.shape;
  const DataType device = device_type(tensor.type, options.convert_to_fp16);
  if (device != tensor.type) {
    binding.transformed = binding.initial;
    binding.transformed->type = io_type(device);
  }
  (output ? descriptor.outputs : descriptor.inputs).push_back(std::move(binding));
  descriptor.dma_buffers.push_back(
      {device_bytes(tensor.elements(), type_in_ddr(graph, id, packed, options)), output ? 1u : 0u});
}

// `texts` has those of the task.
qaic::OpNameKind describe_op(const TaskSpec& spec, StringPool& texts) {
  qaic::OpNameKind op{spec.name, spec.kernel,     spec.types,        spec.memory, spec.shape,
                      {},        spec.attributes, spec.output_bytes, {}};
  std::string_view operands = texts[spec.operands];
  while (!operands.empty()) {
    const std::size_t end = operands.find('\n');
    op.operands.push_back(texts.intern(operands.substr(0, end)));
    operands.remove_prefix(end == std::string_view::npos ? operands.size() : end + 1);
  }
  return op;
}

// Its size is that of the whole buffer, as on the device.
void describe_statistics(std::uint64_t bytes, const CompileOptions& options, StringPool& texts,
                         qaic::OpNameKind& op) {
  const TaskOperand buffer{TaskOperand::Use::out, TaskOperand::Memory::ddr, statistics_output,
                           DataType::int8, Shape{std::int64_t(bytes)}};
  op.output_size = bytes;
  op.shape = texts.intern(shapes_of(std::span(&buffer, 1)));
  if (options.op_stats_verbosity < 2) return;
  op.operands = {texts.intern(operands_of(std::span(&buffer, 1)))};
}

}  // namespace

void append_end_of_statistics(LoweredNetwork& network, Schedule& schedule, const Target& target,
                              const qaic::Program& program) {
  if (program.stats_level < 40) return;
  TaskGraph& tasks = network.tasks;
  StringPool& strings = network.strings;
  const auto cost = target.kernels.find("aicendcyclestats");
  const KernelCost& cycles = cost != target.kernels.end() ? cost->second : target.default_kernel;
  const TaskIndex last_work = schedule.global.empty() ? no_task : schedule.global.back();
  for (std::uint32_t core = 0; core < tasks.cores(); ++core) {
    const auto queue = [&](ThreadGroup group) -> std::vector<TaskIndex>& {
      return schedule.queues[core * qaic::thread_groups + std::uint32_t(group)];
    };
    TaskNeeds work_done;
    for (ThreadGroup group : all_groups) {
      if (!queue(group).empty()) work_done.push_back({queue(group).back(), true});
    }
    // One without work is idle as long as the others are not.
    if (work_done.empty() && last_work != no_task) work_done.push_back({last_work, true});
    TaskNeeds needs = work_done;
    for (ThreadGroup group : all_groups) {
      const auto records =
          std::count_if(queue(group).begin(), queue(group).end(),
                        [&](TaskIndex task) { return recorded(tasks.tasks()[task], program); });
      TaskSpec spec;
      spec.group = group;
      spec.core = core;
      spec.flags = qaic::task_end_stats;
      spec.cycles = std::uint64_t(cycles.overhead_cycles);
      spec.name = strings.intern("statistics");
      spec.kernel = strings.intern("aicendcyclestats");
      spec.types = strings.intern("i8");
      spec.memory = strings.intern("DDR");
      const std::uint64_t own = program.stats_level >= 70 ? 1 : 0;  // this very task
      spec.write_purpose = TrafficPurpose::statistics;
      spec.ddr_write = queue_record_bytes(std::uint64_t(records) + own, group, program);
      const TaskIndex task = tasks.add(spec, group == ThreadGroup::dma_issue ? needs : work_done);
      needs.push_back({task, true});
      queue(group).push_back(task);
      schedule.global.push_back(task);
    }
  }
}

std::uint64_t statistics_bytes(const qaic::Program& program) {
  qaic::StatsIdentity identity;
  identity.stats_level = program.stats_level;
  identity.cores = program.cores;
  identity.threads_per_core = program.threads_per_core();
  identity.pmu_counters = std::uint32_t(program.pmu_events.size());
  std::uint64_t records = 0;
  for (std::uint32_t queue = 0; queue < program.queues(); ++queue) {
    const auto group = ThreadGroup(queue % qaic::thread_groups);
    for (std::uint32_t i = program.queue_begin[queue]; i < program.queue_begin[queue + 1]; ++i) {
      if (program.records(program.tasks[i])) records += program.thread_count(group);
    }
  }
  const std::uint64_t ports =
      program.stats_level >= 50 ? 2ull * program.cores * program.threads_per_core() : 0;
  return qaic::stats_buffer_bytes(identity, program.ddr_stats, ports, records,
                                  program.network_name);
}

qaic::NetworkDescriptor describe_network(const Graph& graph, const LoweredNetwork& network,
                                         const std::vector<TaskIndex>& origin,
                                         const qaic::Program& program,
                                         const CompileOptions& options) {
  qaic::NetworkDescriptor descriptor;
  descriptor.network_name = program.network_name;
  const std::vector<bool> packed = find_mxint8_state(graph, options);
  for (TensorId id : graph.inputs) add_binding(graph, id, false, packed, options, descriptor);
  for (TensorId id : graph.outputs) add_binding(graph, id, true, packed, options, descriptor);
  descriptor.num_cores = program.cores;
  descriptor.num_threads = program.threads_per_core();
  descriptor.num_hvx_threads = program.hvx_threads;
  for (ThreadGroup group : all_groups) {
    descriptor.thread_groups.insert(descriptor.thread_groups.end(), program.thread_count(group),
                                    std::uint32_t(group));
    descriptor.thread_group_names.emplace_back(name_of(group));
  }
  descriptor.batch_size = program.batch_size;
  descriptor.has_stats = program.stats_level >= 40;
  if (!descriptor.has_stats) return descriptor;

  const std::uint64_t bytes = statistics_bytes(program);
  qaic::IoBinding binding;
  binding.name = statistics_output;
  binding.initial.type = qaic::IoDataType::int8;
  binding.initial.dims = {std::int64_t(bytes)};
  descriptor.outputs.push_back(std::move(binding));
  qaic::StatsDescriptor& stats = descriptor.stats;
  stats.buffer_index = std::uint32_t(descriptor.dma_buffers.size());
  descriptor.dma_buffers.push_back({bytes, 1});
  stats.print_stats = true;
  stats.stats_level = program.stats_level;
  stats.print_op_stats = program.stats_level >= 70;
  stats.op_stats_level = program.stats_level >= 70 ? 1 : 0;
  stats.batch_size = program.stats_batch_size;
  stats.count_ddr_bandwidth = program.ddr_stats;
  stats.pmu_events.assign(program.pmu_events.begin(), program.pmu_events.end());
  stats.pmu_stats_level = program.stats_level >= 100 ? 1 : 0;
  stats.texts = network.strings;
  stats.ops.resize(program.cores, std::vector<std::vector<qaic::OpNameKind>>(qaic::thread_groups));
  for (std::uint32_t core = 0; core < program.cores; ++core) {
    std::int32_t ops = 0;
    for (std::uint32_t group = 0; group < qaic::thread_groups; ++group) {
      const std::uint32_t queue = core * qaic::thread_groups + group;
      auto& list = stats.ops[core][group];
      if (program.stats_level >= 70) {
        list.reserve(program.queue_begin[queue + 1] - program.queue_begin[queue]);
      }
      for (std::uint32_t i = program.queue_begin[queue]; i < program.queue_begin[queue + 1]; ++i) {
        if (!program.records(program.tasks[i])) continue;
        list.push_back(describe_op(network.tasks.tasks()[origin[i]], stats.texts));
        const bool end = (program.tasks[i].flags & qaic::task_end_stats) != 0;
        if (end) describe_statistics(bytes, options, stats.texts, list.back());
      }
      ops += std::int32_t(list.size());
    }
    stats.ops_per_core.push_back(ops);
  }
  return descriptor;
}

}  // namespace npuscope::npu::nsp
