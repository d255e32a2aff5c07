// The path's what-if against the simulator, which runs the program again with a task made faster or
// slower. The bytes decide: the program's seed, cores, length, what its tasks wait for and how long
// they take, and which task changes.
#include "choices.hpp"
#include "flow/path_twin.hpp"
#include "fuzz/fuzzing.hpp"

namespace npuscope::fuzz {
namespace {

using namespace test;
using analysis::WhatIf;

// Random, then changed where the bytes say; even, so that half of it is whole.
qaic::Program decided_program(Choices& choices) {
  const std::uint32_t seed = choices.below(256) * 256 + choices.below(256);
  const std::uint32_t cores = 1 + choices.below(4), tasks = 1 + choices.below(60);
  qaic::Program program = program_of(seed, cores, tasks);
  for (std::uint32_t changes = choices.below(20); changes > 0 && !program.tasks.empty();
       --changes) {
    qaic::Task& task = program.tasks[choices.below(std::uint32_t(program.tasks.size()))];
    if (choices.below(2) == 0) {
      task.cycles = 2 + 2 * choices.below(500);
    } else {
      task.thread_imbalance = 0;
    }
  }
  return program;
}

// A latency that held nothing back in the run cannot be known from it, but it may hold back
// another.
constexpr auto unknown = double(far_sync_time + barrier_time);
// The simulator rounds a transfer to picoseconds, so that twice as many bytes may take one more or
// less than twice the time.
constexpr double rounded = 1;

// What looks like a latency may be what another constraint cost, where the run shows none without;
// and what looks like a delay a latency that only this start waited for. Both are as long in a
// prediction as they were.
bool is_of_device(std::int64_t gap) {
  constexpr std::int64_t latencies[] = {0,
                                        barrier_time,
                                        record_time,
                                        barrier_time + record_time,
                                        sync_time,
                                        sync_time + barrier_time,
                                        far_sync_time,
                                        far_sync_time + barrier_time};
  return std::ranges::find(latencies, gap) != std::end(latencies);
}

void compare(Choices choices) {
  static const npu::nsp::Target target = target_without_shared_bandwidth();
  const qaic::Program program = decided_program(choices);
  const auto truth = run(program, target);
  if (truth.empty()) return;
  const TruthProfile made(program, truth);
  require_sound(made.profile);
  const PathAnalysis analysis = analysis_of(made.profile);
  const CriticalPath path = analysis.observed();
  if (last_end(path) != last_end(truth)) __builtin_trap();
  for (std::uint32_t round = 0; round < 4; ++round) {
    const std::uint32_t task = choices.below(std::uint32_t(program.tasks.size()));
    const double factor = choices.below(2) == 0 ? 2 : 0.5;
    qaic::Program other = program;
    other.tasks[task].cycles = std::uint32_t(double(program.tasks[task].cycles) * factor);
    other.tasks[task].multicast = std::uint64_t(double(program.tasks[task].multicast) * factor);
    const WhatIf what_if = analysis.what_if(scale(made.profile, task, factor));
    const double predicted = what_if.after - double(path.tail);
    double beyond = 0;
    for (const auto& step : what_if.steps) {
      beyond += double(is_of_device(step.gap) ? step.delay : step.gap);
    }
    const auto really = double(last_end(run(other, target)));
    if (predicted <= really + rounded + beyond && predicted >= really - rounded - unknown) continue;
    fmt::print(stderr, "task {} times {}: {} predicted, {} really\n", task, factor, predicted,
               really);
    __builtin_trap();
  }
}

}  // namespace

std::vector<std::string> good_inputs() {
  std::vector<std::string> inputs;
  Choices choices(1u);
  for (int i = 0; i < 12; ++i) {
    std::string input;
    while (input.size() < 60) input += char(choices.below(256));
    inputs.push_back(input);
  }
  return inputs;
}

}  // namespace npuscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace npuscope;
  fuzz::compare(test::Choices(std::string(reinterpret_cast<const char*>(bytes), size)));
  return 0;
}
