// Programs and targets for the simulator's tests.
#pragma once

#include <random>

#include "formats/qaic/qpc/program.hpp"
#include "npu/targets/nsp/target/target.hpp"

namespace npuscope::npu::nsp {

// Round figures: 1 cycle is 1 ns, the DDR moves 1 byte/ns, or 0.5 byte/ns for one core.
inline Target round_target() {
  Target target;
  target.name = "round";
  target.cores = 16;
  target.hvx_threads = 4;
  target.core_hz = 1e9;
  target.timer_hz = 19.2e6;
  target.ddr_bytes_per_s = 1e9;
  target.ddr_bytes_per_s_per_core = 0.5e9;
  target.multicast_bytes_per_s_per_core = 2e9;
  target.dma_depth = 4;
  target.host_link_bytes_per_s = 1e10;
  return target;
}

inline Target realistic_target() {
  Target target = round_target();
  target.name = "realistic";
  target.core_hz = 1.45e9;
  target.core_hz_min = 1.05e9;
  target.core_spread = 0.006;
  target.governor_window_s = 20e-6;
  target.ddr_bytes_per_s = 50e9;
  target.ddr_efficiency = 0.8;
  target.ddr_bytes_per_s_per_core = 24e9;
  target.ddr_latency_s = 0.6e-6;
  target.multicast_bytes_per_s_per_core = 90e9;
  target.multicast_latency_s = 0.3e-6;
  target.host_latency_s = 5e-6;
  target.host_enqueue_s = 3e-6;
  target.host_preprocess_s = 4e-6;
  target.host_submit_s = 8e-6;
  target.host_wake_s = 20e-6;
  target.host_postprocess_s = 50e-6;
  target.sync_cycles = 60;
  target.cross_core_sync_cycles = 600;
  target.barrier_cycles = 15;
  target.hmx_int8_power_of_fp16 = 0.3;
  target.jitter = 0.02;
  target.record_cycles_thread = 200;
  target.record_cycles_port = 60;
  target.record_cycles_op = 60;
  target.record_cycles_op_pmu = 120;
  target.activation_s = 228e-6;
  target.pmu_events = {{0x3f, "CYCLES", "cycles", 1},          {0x70, "HMX", "hmx_cycles", 1},
                       {0x71, "HVX", "hvx_cycles", 1},         {0x72, "DMA", "dma_cycles", 1},
                       {0x80, "MACS", "hmx_macs", 16},         {0x90, "READ", "ddr_read_bytes", 64},
                       {0x91, "WRITE", "ddr_write_bytes", 64}, {0x92, "TASKS", "tasks", 1}};
  return target;
}

// Builds a program task by task, in an order in which it can run.
class ProgramBuilder {
 public:
  ProgramBuilder(std::uint32_t cores, std::uint32_t stats_level)
      : queues_(cores * qaic::thread_groups) {
    program_.network_name = "QAicGraph";
    program_.cores = cores;
    program_.stats_level = stats_level;
    program_.kernels = {"kernel"};
  }
  qaic::Program& program() { return program_; }

  static constexpr std::uint32_t queue(std::uint32_t core, qaic::ThreadGroup group) {
    return core * qaic::thread_groups + std::uint32_t(group);
  }
  std::uint32_t count(std::uint32_t queue) const { return std::uint32_t(queues_[queue].size()); }

  qaic::Task& add(std::uint32_t queue, std::uint32_t cycles, std::vector<qaic::Wait> waits = {}) {
    qaic::Task task;
    task.cycles = cycles;
    queues_[queue].push_back({task, std::move(waits)});
    return queues_[queue].back().task;
  }

  qaic::Program finish() {
    for (const auto& queue : queues_) {
      program_.queue_begin.push_back(std::uint32_t(program_.tasks.size()));
      for (const Entry& entry : queue) {
        qaic::Task task = entry.task;
        task.wait_begin = std::uint32_t(program_.waits.size());
        task.wait_count = std::uint32_t(entry.waits.size());
        program_.waits.insert(program_.waits.end(), entry.waits.begin(), entry.waits.end());
        task.dependency_begin = 0;
        program_.tasks.push_back(task);
      }
    }
    program_.queue_begin.push_back(std::uint32_t(program_.tasks.size()));
    return program_;
  }

 private:
  struct Entry {
    qaic::Task task;
    std::vector<qaic::Wait> waits;
  };
  qaic::Program program_;
  std::vector<std::vector<Entry>> queues_;
};

inline qaic::Task random_task(std::mt19937_64& random, bool moves_data) {
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  qaic::Task task;
  task.cycles = std::uint32_t(below(4) == 0 ? below(60000) : below(4000));
  task.flags = below(2) ? qaic::task_signals : 0;
  if (below(5) == 0) task.flags |= qaic::task_pipelined_port;
  task.thread_imbalance = std::uint8_t(below(3) == 0 ? below(60) : 0);
  task.macs = below(100000);
  if (moves_data) {
    if (below(3) != 0) task.ddr_read = below(100000);
    if (below(5) == 0) task.ddr_write = below(50000);
    if (below(3) == 0) task.multicast = below(200000);
  }
  return task;
}

// Random waits on what has been added before, so that it cannot deadlock.
inline qaic::Program random_program(std::uint64_t seed, std::uint32_t cores, std::uint32_t tasks,
                                    std::uint32_t stats_level) {
  std::mt19937_64 random(seed);
  ProgramBuilder builder(cores, stats_level);
  const std::uint32_t queues = cores * qaic::thread_groups;
  for (std::uint32_t i = 0; i < tasks; ++i) {
    const std::uint32_t queue = std::uint32_t(random() % queues);
    const bool is_dma = queue % qaic::thread_groups == std::uint32_t(qaic::ThreadGroup::dma_issue);
    std::vector<qaic::Wait> waits;
    for (std::uint64_t wait = random() % 3; wait > 0; --wait) {
      const std::uint32_t producer = std::uint32_t(random() % queues);
      if (producer == queue || builder.count(producer) == 0) continue;
      waits.push_back({producer, std::uint32_t(random() % builder.count(producer)) + 1});
    }
    const bool moves_data = is_dma || random() % 8 == 0;
    qaic::Task& task = builder.add(queue, 0, waits) = random_task(random, moves_data);
    const bool is_hmx = queue % qaic::thread_groups == std::uint32_t(qaic::ThreadGroup::hmx);
    if (is_hmx && task.macs % 2 == 0) task.flags |= qaic::task_hmx_int8;
  }
  for (std::uint32_t queue = 0; queue < queues; ++queue) {
    qaic::Task& last = builder.add(queue, 500);
    last.flags = qaic::task_end_stats;
    last.ddr_write = 4096;
  }
  builder.program().ddr_stats = stats_level >= 40;
  if (stats_level >= 40) {
    builder.program().pmu_events = {0x3f, 0x70, 0x71, 0x72, 0x80, 0x90, 0x91, 0x92};
  }
  builder.program().input_bytes = 100000;
  builder.program().output_bytes = 4000;
  return builder.finish();
}

}  // namespace npuscope::npu::nsp
