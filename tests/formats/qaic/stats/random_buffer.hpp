// Random networks with a statistics buffer that fits them: descriptor, program and records agree
// with one another, and everything follows from the seed.
//
//   RandomCase random = make_random_case({.seed = 7, .cores = 2, .ops_per_group = 50});
#pragma once

#include <algorithm>
#include <random>

#include "formats/qaic/qpc/network_descriptor.hpp"
#include "formats/qaic/qpc/program.hpp"
#include "formats/qaic/stats/stats_buffer.hpp"

namespace npuscope::qaic::test_support {

struct RandomOptions {
  std::uint64_t seed = 1;
  std::uint32_t cores = 2;
  std::uint32_t ops_per_group = 20;
  std::uint32_t stats_level = 70;
  std::uint32_t pmu_counters = 0;
  bool ddr_stats = false;
  std::string network = "QAicGraph";
};

struct StatsBuffer {
  StatsIdentity identity;
  std::string network;
  std::vector<StatsThread> threads;
  std::vector<StatsCore> cores;
  std::vector<StatsPort> ports;
  std::vector<std::vector<StatsOp>> ops;        // by core * threads_per_core + thread
  std::vector<std::vector<StatsOpPmu>> op_pmu;  // as ops
};

inline std::vector<std::byte> write_stats_buffer(const StatsBuffer& buffer) {
  std::vector<std::uint64_t> ops(buffer.threads.size());
  for (std::size_t i = 0; i < buffer.ops.size(); ++i) ops[i] = buffer.ops[i].size();
  StatsBufferWriter writer(buffer.identity, buffer.network, !buffer.cores.empty(),
                           buffer.ports.size(), ops);
  const StatsRecords& records = writer.records();
  std::ranges::copy(buffer.threads, records.threads.begin());
  std::ranges::copy(buffer.cores, records.cores.begin());
  std::ranges::copy(buffer.ports, records.ports.begin());
  for (std::size_t i = 0; i < records.ops.size(); ++i) {
    std::ranges::copy(buffer.ops[i], records.ops[i].begin());
  }
  for (std::size_t i = 0; i < records.op_pmu.size(); ++i) {
    std::ranges::copy(buffer.op_pmu[i], records.op_pmu[i].begin());
  }
  return writer.take();
}

struct RandomCase {
  NetworkDescriptor descriptor;
  Program program;
  StatsBuffer buffer;

  std::vector<std::byte> bytes() const { return write_stats_buffer(buffer); }
};

class RandomNetwork {
 public:
  explicit RandomNetwork(const RandomOptions& options) : options_(options), engine_(options.seed) {}

  RandomCase make() {
    make_program();
    make_descriptor();
    make_identity();
    for (std::uint32_t core = 0; core < options_.cores; ++core) make_core(core);
    if (options_.stats_level >= 50) make_ports();
    return std::move(case_);
  }

 private:
  // In [low, high]; not std::uniform_int_distribution, whose values differ between libraries.
  std::uint64_t number(std::uint64_t low, std::uint64_t high) {
    return low + engine_() % (high - low + 1);
  }
  bool chance(unsigned percent) { return number(0, 99) < percent; }

  std::string kernel(ThreadGroup group) {
    static const std::vector<std::vector<std::string>> kernels{
        {"aicsoftmax", "elementadd", "aicmulsplat", "aictranspose", "aicinputsemaphoreinc"},
        {"aicconvolutiond32", "aiccopysamevtcm2d"},
        {"aiccopytovtcm", "aicmulticastvtcm"}};
    const auto& of_group = kernels[std::size_t(group)];
    return of_group[number(0, of_group.size() - 1)];
  }

  void make_program() {
    Program& program = case_.program;
    program.network_name = options_.network;
    program.cores = options_.cores;
    program.stats_level = options_.stats_level;
    program.stats_batch_size = 8;
    program.ddr_stats = options_.ddr_stats;
    for (std::uint32_t i = 0; i < options_.pmu_counters; ++i)
      program.pmu_events.push_back(0x3f + i);
    program.queue_begin.push_back(0);
    for (std::uint32_t queue = 0; queue < program.queues(); ++queue) {
      for (std::uint32_t i = 0; i < options_.ops_per_group; ++i) {
        Task task;
        task.kernel = std::uint32_t(program.kernels.size());
        program.kernels.push_back(kernel(ThreadGroup(queue % thread_groups)));
        task.cycles = 100;
        if (i == 0) task.flags = task_pipelined_port;
        task.dependency_begin = std::uint32_t(program.dependencies.size());
        while (!program.tasks.empty() && task.dependency_count < 2 && chance(60)) {
          program.dependencies.push_back(
              {std::uint32_t(number(0, program.tasks.size() - 1)), std::uint32_t(number(0, 1))});
          task.dependency_count += 1;
        }
        program.tasks.push_back(task);
      }
      program.queue_begin.push_back(std::uint32_t(program.tasks.size()));
    }
  }

  void make_descriptor() {
    NetworkDescriptor& descriptor = case_.descriptor;
    descriptor.network_name = options_.network;
    descriptor.num_cores = options_.cores;
    descriptor.num_threads = 6;
    descriptor.num_hvx_threads = 4;
    descriptor.thread_groups = {0, 0, 0, 0, 1, 2};
    descriptor.thread_group_names = {"HVX", "HMX", "DMAIssue"};
    descriptor.has_stats = true;
    descriptor.stats.stats_level = options_.stats_level;
    descriptor.stats.batch_size = 8;
    const Program& program = case_.program;
    StringPool& texts = descriptor.stats.texts;
    descriptor.stats.ops.assign(options_.cores, {{}, {}, {}});
    for (std::uint32_t queue = 0; queue < program.queues(); ++queue) {
      for (auto i = program.queue_begin[queue]; i < program.queue_begin[queue + 1]; ++i) {
        if (!program.records(program.tasks[i])) continue;
        OpNameKind op;
        op.name =
            texts.intern("/layer." + std::to_string(i / 7) + "/MatMul/__" + std::to_string(i));
        op.kind = texts.intern(program.kernels[program.tasks[i].kernel]);
        op.type = texts.intern(chance(50) ? "float16" : chance(50) ? "float16, i8" : "");
        op.memory = texts.intern(chance(80) ? "TCM" : "DDR");
        op.output_size = chance(5) ? 0 : number(1, 64) * 512;
        op.operands = {
            texts.intern("out TCM Dest x/__" + std::to_string(i) + " float16 <1 x 32> 1KB")};
        descriptor.stats.ops[queue / thread_groups][queue % thread_groups].push_back(op);
      }
    }
  }

  void make_identity() {
    StatsIdentity& identity = case_.buffer.identity;
    identity.program_fingerprint = fingerprint(case_.program);
    identity.inference = 213;
    identity.stats_level = options_.stats_level;
    identity.stats_batch_size = 8;
    identity.cores = options_.cores;
    identity.threads_per_core = 6;
    identity.pmu_counters = options_.pmu_counters;
    for (std::uint32_t i = 0; i < options_.pmu_counters; ++i) {
      identity.pmu_events[i] = case_.program.pmu_events[i];
    }
    case_.buffer.network = options_.network;
  }

  void make_core(std::uint32_t core) {
    const bool records_ops = options_.stats_level >= 50;
    for (std::uint32_t thread = 0; thread < 6; ++thread) {
      const std::uint32_t group = case_.descriptor.thread_groups[thread];
      StatsThread whole;
      whole.begin_ticks = 9803252406782 + number(0, 3);
      whole.begin_cycles = 50'000'000'000 + number(0, 100);
      std::uint64_t now = whole.begin_ticks;
      std::vector<StatsOp> ops;
      std::vector<StatsOpPmu> pmu;
      const auto& listed = case_.descriptor.stats.ops[core][group];
      for (std::uint32_t position = 0; position < listed.size(); ++position) {
        ops.push_back(make_op(position, group == 2, now));
        pmu.emplace_back();
        for (std::uint32_t i = 0; i < options_.pmu_counters; ++i) {
          pmu.back().counts[i] = std::uint32_t(number(0, 1u << 20));
        }
      }
      whole.end_ticks = now + number(0, 50);
      whole.end_cycles = whole.begin_cycles + (whole.end_ticks - whole.begin_ticks) * 65;
      whole.activation_ticks = number(1000, 5000);
      whole.activation_cycles = whole.activation_ticks * 60;
      for (std::uint32_t i = 0; i < options_.pmu_counters; ++i) {
        whole.pmu[i] = std::uint32_t(number(1u << 30, 0xffffffff));  // more than its ops
      }
      case_.buffer.threads.push_back(whole);
      if (records_ops) case_.buffer.ops.push_back(std::move(ops));
      if (records_ops) case_.buffer.op_pmu.push_back(std::move(pmu));
    }
    if (options_.ddr_stats) {
      case_.buffer.cores.push_back({number(0, 1u << 30), number(0, 1u << 30)});
    }
  }

  StatsOp make_op(std::uint32_t position, bool asynchronous, std::uint64_t& now) {
    StatsOp op;
    op.position_and_flags = position | StatsOp::written;
    if (chance(80)) {
      op.position_and_flags |= StatsOp::synced;
      op.sync_ticks = std::uint32_t(chance(20) ? 0 : number(1, 300));
    }
    op.start_ticks = now + number(0, 2) + op.sync_ticks;
    op.kernel_ticks = std::uint32_t(chance(5) ? 0 : number(1, 500));
    op.cycles = op.kernel_ticks * 65 + std::uint32_t(number(1, 60));
    if (chance(90)) {
      op.position_and_flags |= StatsOp::barriered;
      op.barrier_ticks = std::uint32_t(number(0, 20));
    }
    if (asynchronous && chance(70)) op.transfer_ticks = std::uint32_t(number(1, 3000));
    now = op.start_ticks + op.kernel_ticks + op.barrier_ticks;
    return op;
  }

  void make_ports() {
    for (std::uint16_t core = 0; core < options_.cores; ++core) {
      for (const std::uint32_t port : {100u, 101u}) {
        for (std::uint16_t thread = 0; thread < 6; ++thread) {
          const bool owner = port == 100 && thread == 0;
          case_.buffer.ports.push_back({core, thread, port, owner ? number(1, 40000) : number(0, 2),
                                        owner ? 9803252406782 : std::uint64_t{0}});
        }
      }
    }
  }

  RandomOptions options_;
  std::mt19937_64 engine_;
  RandomCase case_;
};

inline RandomCase make_random_case(const RandomOptions& options) {
  return RandomNetwork(options).make();
}

}  // namespace npuscope::qaic::test_support
