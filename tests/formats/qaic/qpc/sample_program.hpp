// A program small enough to check by hand, and random ones.
#pragma once

#include <random>

#include "formats/qaic/qpc/program.hpp"

namespace npuscope::test {

inline void add_wait(qaic::Program& program, qaic::Task& task, qaic::Wait wait) {
  if (task.wait_count == 0) task.wait_begin = std::uint32_t(program.waits.size());
  program.waits.push_back(wait);
  ++task.wait_count;
}

inline void add_dependency(qaic::Program& program, qaic::Task& task, qaic::Dependency dependency) {
  if (task.dependency_count == 0) {
    task.dependency_begin = std::uint32_t(program.dependencies.size());
  }
  program.dependencies.push_back(dependency);
  ++task.dependency_count;
}

// One core. HVX: convert, softmax. HMX: convolution. DMAIssue: copy in.
// The convolution (task 2) needs the conversion (task 0) and the copy (task 3); the softmax (task
// 1) needs the convolution.
inline qaic::Program sample_program() {
  qaic::Program program;
  program.network_name = "QAicGraph";
  program.cores = 1;
  program.input_bytes = 1000;
  program.output_bytes = 200;
  program.stats_level = 70;
  program.ddr_stats = true;
  program.pmu_events = {0x3F, 0x70};
  program.kernels = {"aicconverttod32", "aicsoftmax", "aicconvolutiond32", "aiccopytovtcm"};
  program.queue_begin = {0, 2, 3, 4};
  program.tasks.resize(4);
  for (std::uint32_t i = 0; i < 4; ++i) {
    program.tasks[i].kernel = i;
    program.tasks[i].cycles = 100 * (i + 1);
  }
  program.tasks[2].macs = 4096;
  program.tasks[3].ddr_read = 512;
  add_wait(program, program.tasks[1], {1, 1});
  add_dependency(program, program.tasks[1], {2, 0});
  add_wait(program, program.tasks[2], {0, 1});
  add_wait(program, program.tasks[2], {2, 1});
  add_dependency(program, program.tasks[2], {0, 1});
  add_dependency(program, program.tasks[2], {3, 0});
  return program;
}

// Sound but for its waits, which are random: about half of these programs deadlock.
inline qaic::Program random_program(std::mt19937& random) {
  const auto below = [&](std::uint32_t limit) {
    return limit == 0 ? 0 : std::uint32_t(random() % limit);
  };
  qaic::Program program;
  program.network_name = "random";
  program.cores = 1 + below(3);
  program.hvx_threads = 1 + below(16);
  program.kernels = {"a", "", "ccc"};
  for (std::uint32_t queue = 0; queue <= program.queues(); ++queue) {
    program.queue_begin.push_back(queue == 0 ? 0 : program.queue_begin.back() + below(6));
  }
  program.tasks.resize(program.queue_begin.back());
  for (qaic::Task& task : program.tasks) {
    task.kernel = below(3);
    task.cycles = below(1000);
    const bool waits = below(3) == 0;
    for (std::uint32_t i = waits ? 1 + below(2) : 0; i > 0; --i) {
      const std::uint32_t queue = below(program.queues());
      const auto length = program.queue_begin[queue + 1] - program.queue_begin[queue];
      add_wait(program, task, {queue, below(length + 1)});
    }
  }
  return program;
}

}  // namespace npuscope::test
