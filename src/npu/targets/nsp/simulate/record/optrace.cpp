#include "npu/targets/nsp/simulate/run/run_files.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace npuscope::npu::nsp {
namespace {

using qaic::Program;
using qaic::Schematic;
using qaic::SchematicOp;
using qaic::SchematicRole;
using qaic::SchematicScale;
using qaic::Task;
using qaic::ThreadGroup;
using namespace qnn::optrace;

constexpr std::uint32_t nothing = OpTraceRecord::nothing;
constexpr std::uint64_t first_op_number = 0x1000;  // as in the chain8 sample

// Texts of the chain8 sample, SDK 2.45.
std::string_view description_of(std::string_view type) {
  if (type == "DmaCheckpointSet") {
    return "Records a previous DMA operation's completion tag in a table, so that "
           "DmaCheckpointWait can wait for it. Some Ops, such as SpillOp and FillOp, can record "
           "their own tag, and don't need this.";
  }
  if (type == "q::ConvLayer.opt.bias_to_vtcm") {
    return "Memory movement operation transfering a bias input for conv into VTCM memory";
  }
  if (type == "q::ConvLayer_s1.opt") {
    return "Conv2d with strides=(1,1) but there's an extra CTRL input that controls whether we do "
           "a depthwise/grouped conv or use the 4/8/16bit kernels.";
  }
  return "";
}

std::uint32_t hash_of(const std::vector<std::int64_t>& dims) {  // FNV-1a
  std::uint32_t hash = 0x811c9dc5;
  for (const std::int64_t dim : dims) {
    for (int shift = 0; shift < 64; shift += 8) {
      hash = (hash ^ std::uint32_t(std::uint64_t(dim) >> shift & 0xff)) * 0x01000193;
    }
  }
  return hash;
}

std::uint64_t part_of(std::uint64_t all, std::uint32_t thread, std::uint32_t threads) {
  return all / threads + (thread == 0 ? all % threads : 0);
}

// What a thread did of one op, in cycles one after the other.
struct RecordParts {
  std::uint64_t waiting = 0;  // for a transfer
  std::uint64_t work = 0;
  std::uint64_t completing = 0;  // recording that a transfer is under way
};

class RecordReader {
 public:
  RecordReader(const Program& program, const Schematic& schematic)
      : program_(program), schematic_(schematic) {}

  SchematicRole role_of(std::uint32_t op) const { return SchematicRole(schematic_.ops[op].role); }
  bool completes_apart(const OpTraceRecord& record) const {
    return role_of(record.task) == SchematicRole::dma && record.leave_cycle > record.end_cycle;
  }
  // Of the threads of a group one polls for all.
  bool waits(const OpTraceRecord& record) const {
    return record.waited_for != nothing && record.start_cycle > record.wait_cycle &&
           (record.thread == 0 || record.thread >= program_.hvx_threads);
  }
  RecordParts parts_of(const OpTraceRecord& record) const {
    RecordParts parts;
    if (waits(record)) parts.waiting = record.start_cycle - record.wait_cycle;
    const bool records_itself = role_of(record.task) == SchematicRole::spill;
    parts.work = (records_itself ? record.leave_cycle : record.end_cycle) - record.start_cycle;
    if (completes_apart(record)) parts.completing = record.leave_cycle - record.end_cycle;
    return parts;
  }

 private:
  const Program& program_;
  const Schematic& schematic_;
};

class OptraceBuilder {
 public:
  OptraceBuilder(const Program& program, const Schematic& schematic, const Target& target)
      : program_(program),
        schematic_(schematic),
        target_(target),
        reader_(program, schematic),
        set_ops_(program.tasks.size(), nothing),
        wait_ops_(program.tasks.size(), nothing) {}

  OptraceSet build(const std::vector<OpTraceRecord>& records) {
    set_.graph_name = program_.network_name;
    set_.timer_hz = target_.timer_hz;
    add_graph_ops();
    add_types();
    for (std::uint32_t i = 0; i < schematic_.ops.size(); ++i) add_op(i);
    add_lanes();
    add_completions_and_waits(records);
    for (const OpTraceRecord& record : records) add_record(record);
    add_vtcm_samples(records);
    return std::move(set_);
  }

 private:
  ThreadGroup group_of(std::uint32_t task) const {
    const auto after = std::ranges::upper_bound(program_.queue_begin, task);
    return ThreadGroup((after - program_.queue_begin.begin() - 1) % qaic::thread_groups);
  }

  void add_graph_ops() {
    for (const qaic::SchematicNode& node : schematic_.nodes) {
      set_.graph_ops.push_back({node.id, schematic_.texts[node.name], schematic_.texts[node.type]});
    }
    for (std::size_t i = 0; i < schematic_.ops.size(); ++i) {  // the service is named by its op
      GraphOp& owner = set_.graph_ops[schematic_.ops[i].node];
      if (owner.id != 0 || owner.name != owner.type) continue;
      owner.name += fmt::format("_{:x}", first_op_number + i);
    }
  }

  void add_types() {
    for (const std::string& text : schematic_.texts) {
      const bool changes_format = text.find("ForceFormat") != std::string::npos;
      set_.op_types.push_back({text, std::string(description_of(text)), changes_format});
    }
    checkpoint_type_ = std::uint32_t(set_.op_types.size());
    constexpr std::string_view checkpoint = "DmaCheckpointSet";
    set_.op_types.push_back(
        {std::string(checkpoint), std::string(description_of(checkpoint)), false});
  }

  OpFlag flag_of(std::uint32_t op) const {
    switch (reader_.role_of(op)) {
      case SchematicRole::compute:
        return group_of(op) == ThreadGroup::hmx ? OpFlag::uses_hmx : OpFlag::uses_hvx;
      case SchematicRole::dma:
      case SchematicRole::spill: return OpFlag::dma;
      case SchematicRole::sync: return OpFlag::sync;
      case SchematicRole::view: return OpFlag::null_exec;
      case SchematicRole::constant: return OpFlag::constant;
    }
    return OpFlag::sync;
  }

  const SchematicScale* scale_of(std::uint32_t op) const {  // null: not quantised
    const auto found = std::ranges::lower_bound(schematic_.scales, op, {}, &SchematicScale::op);
    return found != schematic_.scales.end() && found->op == op ? &*found : nullptr;
  }

  // Ops whose semaphores the task waits for. A transfer is waited for otherwise: it goes on after
  // its op, and the wait for it is an op of its own.
  std::vector<std::uint32_t> waited_by(const Task& task) const {
    std::vector<std::uint32_t> tasks;
    for (std::uint32_t i = task.wait_begin; i < task.wait_begin + task.wait_count; ++i) {
      const qaic::Wait& wait = program_.waits[i];
      if (wait.count == 0) continue;
      const std::uint32_t other = program_.queue_begin[wait.queue] + wait.count - 1;
      if (group_of(other) != ThreadGroup::dma_issue) tasks.push_back(other);
    }
    return tasks;
  }

  void add_op(std::uint32_t index) {
    const SchematicOp& from = schematic_.ops[index];
    HtpOp op;
    op.type = from.type;
    op.owner = from.node;
    op.flag = flag_of(index);
    op.has_output = from.data_type != 0;
    op.data_type = TensorType(from.data_type);
    const auto dims = schematic_.dims.begin() + from.dims_begin;
    op.dims.assign(dims, dims + from.dims_count);
    const auto inputs = schematic_.inputs.begin() + from.input_begin;
    op.inputs.assign(inputs, inputs + from.input_count);
    const bool is_shape = schematic_.texts[from.type] == "$Shape";
    // What is not quantised has a step of 1 (the Int32 tensors of chain8), scalars and shapes 0.
    op.step_size = op.has_output && !op.dims.empty() && !is_shape ? 1 : 0;
    if (const SchematicScale* scale = scale_of(index)) {
      op.step_size = scale->step;
      op.zero_offset = scale->zero_offset;
    }
    if (index < program_.tasks.size()) {
      const Task& task = program_.tasks[index];
      op.traffic = {task.ddr_read, task.ddr_write, from.vtcm_read, from.vtcm_write};
      op.after = waited_by(task);
    }
    const std::uint32_t owner_id = set_.graph_ops[op.owner].id;
    op.id = (first_op_number + index) << 32 | (is_shape ? hash_of(op.dims) : owner_id);
    set_.ops.push_back(std::move(op));
  }

  // An op of its own for what a task does beside its work.
  std::uint32_t add_helper(std::uint32_t type, OpFlag flag, std::uint32_t owner) {
    HtpOp op;
    op.type = type;
    op.owner = owner;
    op.flag = flag;
    const auto number = std::uint32_t(set_.ops.size());
    op.id = (first_op_number + number) << 32 | set_.graph_ops[owner].id;
    set_.ops.push_back(std::move(op));
    return number;
  }

  void add_lanes() {
    // SDK 2.45 has everything that is not HVX on one lane, 2.47 one lane for each.
    const bool shared = target_.shared_main_thread;
    set_.lanes.push_back({main_tid, shared ? "HMX" : "DMA"});
    for (std::uint32_t i = 0; i < program_.hvx_threads; ++i) {
      set_.lanes.push_back({first_hvx_tid + i, "HVX"});
    }
    if (!shared) set_.lanes.push_back({hmx_tid, "HMX"});
  }
  std::uint32_t tid_of(std::uint32_t thread) const {
    if (thread < program_.hvx_threads) return first_hvx_tid + thread;
    const bool hmx = thread == program_.first_thread(ThreadGroup::hmx);
    return hmx && !target_.shared_main_thread ? hmx_tid : main_tid;
  }

  void add_completions_and_waits(const std::vector<OpTraceRecord>& records) {
    std::vector<const OpTraceRecord*> by_task(program_.tasks.size(), nullptr);
    for (const OpTraceRecord& record : records) {
      if (by_task[record.task] == nullptr || record.thread == 0) by_task[record.task] = &record;
    }
    for (std::uint32_t task = 0; task < by_task.size(); ++task) {
      if (by_task[task] == nullptr || !reader_.completes_apart(*by_task[task])) continue;
      set_ops_[task] = add_helper(checkpoint_type_, OpFlag::dma_set, set_.ops[task].owner);
    }
    for (std::uint32_t task = 0; task < by_task.size(); ++task) {
      if (by_task[task] == nullptr || !reader_.waits(*by_task[task])) continue;
      const HtpOp& awaited = set_.ops[by_task[task]->waited_for];
      wait_ops_[task] = add_helper(awaited.type, OpFlag::dma_wait, awaited.owner);
    }
  }

  void add_instance(std::uint32_t op, std::uint32_t tid, std::uint64_t start, std::uint64_t cycles,
                    std::uint64_t packets, const Traffic& traffic) {
    set_.instances.push_back({op, tid, start, cycles, packets, traffic});
  }

  void add_record(const OpTraceRecord& record) {
    const std::uint32_t tid = tid_of(record.thread);
    const bool hvx = record.thread < program_.hvx_threads;
    const std::uint32_t sharing = program_.tasks[record.task].threads;
    const std::uint32_t threads = !hvx ? 1 : sharing > 0 ? sharing : program_.hvx_threads;
    const std::uint32_t thread = hvx ? record.thread : 0;
    const Traffic& all = set_.ops[record.task].traffic;
    const Traffic share{
        part_of(all.dram_read, thread, threads), part_of(all.dram_write, thread, threads),
        part_of(all.vtcm_read, thread, threads), part_of(all.vtcm_write, thread, threads)};
    const RecordParts parts = reader_.parts_of(record);
    if (parts.waiting > 0) {
      add_instance(wait_ops_[record.task], tid, record.wait_cycle, parts.waiting, record.polls, {});
    }
    add_instance(record.task, tid, record.start_cycle, parts.work, record.packets, share);
    if (parts.completing == 0) return;
    constexpr std::uint64_t checkpoint_packets = 4;  // chain8: 27 cycles at 6.75 a packet
    add_instance(set_ops_[record.task], tid, record.end_cycle, parts.completing, checkpoint_packets,
                 {});
  }

  // A buffer is allocated from when the first op that uses it starts until the last ends. What
  // takes memory over in order, without waiting, must not seem to hold it twice: of an HVX op the
  // first thread counts, since each goes on to the next op on its own, and of a transfer its issue,
  // since the engine serves one after the other.
  void add_vtcm_samples(const std::vector<OpTraceRecord>& records) {
    struct Use {
      std::uint64_t begin = ~0ull;
      std::uint64_t end = 0;
    };
    std::vector<Use> uses(schematic_.buffers.size());
    for (const OpTraceRecord& record : records) {
      if (record.thread > 0 && record.thread < program_.hvx_threads) continue;
      const SchematicOp& op = schematic_.ops[record.task];
      for (std::uint32_t i = 0; i < op.buffer_count; ++i) {
        Use& use = uses[schematic_.op_buffers[op.buffer_begin + i]];
        use.begin = std::min(use.begin, record.start_cycle);
        use.end = std::max(use.end, record.leave_cycle);
      }
    }
    std::map<std::uint64_t, std::uint64_t> changes;  // cycle -> bytes more, modulo 2^64
    for (std::size_t i = 0; i < uses.size(); ++i) {
      if (uses[i].begin == ~0ull) continue;
      changes[uses[i].begin] += schematic_.buffers[i];
      changes[uses[i].end] -= schematic_.buffers[i];
    }
    std::uint64_t bytes = 0;
    for (const auto& [cycle, more] : changes) {
      if (more == 0) continue;
      bytes += more;
      set_.vtcm_samples.push_back({cycle, bytes});
    }
  }

  static constexpr std::uint32_t main_tid = 256;
  static constexpr std::uint32_t first_hvx_tid = 512;
  static constexpr std::uint32_t hmx_tid = 768;

  const Program& program_;
  const Schematic& schematic_;
  const Target& target_;
  RecordReader reader_;
  std::uint32_t checkpoint_type_ = 0;
  std::vector<std::uint32_t> set_ops_;   // by task
  std::vector<std::uint32_t> wait_ops_;  // by task
  OptraceSet set_;
};

void add_executes(const SimulationResult& result, OptraceSet& set) {
  for (const SimulatedInference& inference : result.inferences) {
    if (inference.activation != 0) continue;
    Execute& execute = set.executes.emplace_back();
    for (const SessionPhase& phase : inference.phases) {
      execute.push_back({std::string(phase.name), phase.start_ticks, phase.end_ticks,
                         phase.start_cycles, phase.end_cycles});
    }
  }
}

std::uint64_t whole_microseconds(Picoseconds time) {
  return std::uint64_t(std::max<std::int64_t>(time.value, 0)) / 1'000'000;
}

// The device's call is its session and the wait for an output buffer, by its own timer; the host
// spends time of its own before it hands the call over.
LayerTimes layers_of(const SimulatedInference& inference, const Target& target) {
  LayerTimes times;
  const std::uint64_t ticks = inference.device_ticks + inference.output_wait_ticks;
  times.qnn_accelerator_us = std::uint64_t(double(ticks) * 1e6 / target.timer_hz);
  times.accelerator_us = std::uint64_t(double(inference.device_ticks) * 1e6 / target.timer_hz);
  const Picoseconds call = inference.completed - inference.submitted;
  times.rpc_us = whole_microseconds(call);
  times.qnn_us = whole_microseconds(call + Picoseconds{std::llround(target.host_submit_s * 1e12)});
  return times;
}

LayerTimes layers_of(const SessionCall& call) {
  const auto whole = [](double seconds) { return std::uint64_t(std::llround(seconds * 1e6)); };
  return {whole(call.qnn_s), whole(call.rpc_s), whole(call.qnn_accelerator_s),
          whole(call.accelerator_s)};
}

void add_calls(const SimulationResult& result, const Program& program, const Target& target,
               NodeCycles&& node_cycles, OptraceSet& set) {
  set.hvx_threads = program.hvx_threads;
  if (target.session->load) set.load = layers_of(*target.session->load);
  if (target.session->release) set.release = layers_of(*target.session->release);
  for (const SimulatedInference& inference : result.inferences) {
    if (inference.activation != 0 || inference.number >= node_cycles.size()) continue;
    set.calls.push_back({layers_of(inference, target), std::move(node_cycles[inference.number])});
  }
}

}  // namespace

Status check_optrace(const Program& program, const Schematic* schematic, const Target& target) {
  if (!target.session || program.cores != 1) {
    return input_error(
        "network {} was compiled for {} of {}; QNN optraces are of one HTP core: compile with "
        "-target=htp-v75",
        program.network_name,
        program.cores == 1 ? "one core" : fmt::format("{} cores", program.cores), target.name);
  }
  if (program.stats_level < 70) {
    return input_error(
        "network {} was compiled with -stats-level={}, which records no operators; for a QNN "
        "optrace compile with -stats-level=70 or more",
        program.network_name, program.stats_level);
  }
  if (schematic == nullptr) {
    return input_error("network {} has no {}; compile the model again", program.network_name,
                       "npuscope.schematic.bin");
  }
  const bool of_program = schematic->program_fingerprint == qaic::fingerprint(program) &&
                          schematic->ops.size() >= program.tasks.size();
  if (of_program) return {};
  return input_error("network {}: the schematic is of another program; compile the model again",
                     program.network_name);
}

std::vector<std::uint64_t> node_cycles_of(const Program& program, const Schematic& schematic,
                                          const SimulatedInference& inference) {
  const RecordReader reader(program, schematic);
  std::vector<std::uint64_t> cycles(schematic.nodes.size(), 0);
  for (const OpTraceRecord& record : inference.op_trace) {
    const RecordParts parts = reader.parts_of(record);
    cycles[schematic.ops[record.task].node] += parts.work + parts.completing;
    if (parts.waiting > 0) cycles[schematic.ops[record.waited_for].node] += parts.waiting;
  }
  return cycles;
}

Result<OptraceSet> make_optrace(const Program& program, const Schematic& schematic,
                                const Target& target, const SimulationResult& result,
                                NodeCycles node_cycles) {
  const auto traced = std::ranges::find_if(result.inferences, [](const SimulatedInference& it) {
    return it.activation == 0 && it.number == 0;
  });
  if (traced == result.inferences.end() || traced->op_trace.empty()) {
    return input_error("network {}: the run has no op records; simulate it with op_trace",
                       program.network_name);
  }
  OptraceSet set = OptraceBuilder(program, schematic, target).build(traced->op_trace);
  add_executes(result, set);
  if (!node_cycles.empty()) add_calls(result, program, target, std::move(node_cycles), set);
  return set;
}

}  // namespace npuscope::npu::nsp
