// The fast simulator against its slow twin, on random programs.
#include <gtest/gtest.h>

#include "npu/targets/nsp/simulate/random_program.hpp"
#include "npu/targets/nsp/simulate/slow_twin.hpp"

namespace npuscope::npu::nsp::twin_test {
namespace {

// Times are rounded to picoseconds once per task and transfer: differences add up along a path.
constexpr double tolerance = 500;  // picoseconds

void expect_same(const qaic::Program& program, const Target& target, SimulationOptions options) {
  options.inferences = 1;
  options.samples = 1;
  options.keep_truth = true;
  const auto result = simulate(program, target, options);
  ASSERT_TRUE(result) << result.error().message;
  std::vector<double> begins(options.activations);
  for (const SimulatedInference& inference : result->inferences) {
    begins[inference.activation] = double(inference.device_begin.value);
  }
  SlowTwin twin(program, target, options, begins);
  twin.run();
  for (const SimulatedInference& inference : result->inferences) {
    for (const TaskTruth& truth : inference.truth) {
      const std::uint32_t queue = std::uint32_t(
          std::upper_bound(program.queue_begin.begin(), program.queue_begin.end(), truth.task) -
          program.queue_begin.begin() - 1);
      const std::uint32_t first = program.first_thread(qaic::ThreadGroup(queue % 3));
      const auto& twin_times = twin.times(inference.activation, truth.task, truth.thread - first);
      const auto where = [&] {
        return fmt::format("activation {} queue {} task {} thread {}", inference.activation, queue,
                           truth.task - program.queue_begin[queue], truth.thread);
      };
      ASSERT_NEAR(double(truth.sync_begin.value), twin_times.sync_begin, tolerance) << where();
      ASSERT_NEAR(double(truth.start.value), twin_times.start, tolerance) << where();
      ASSERT_NEAR(double(truth.kernel_end.value), twin_times.kernel_end, tolerance) << where();
      ASSERT_NEAR(double(truth.barrier_end.value), twin_times.barrier_end, tolerance) << where();
      ASSERT_NEAR(double(truth.transfer_end.value), twin_times.transfer_end, tolerance) << where();
    }
  }
}

TEST(SlowTwinAgrees, OnAFixedClock) {
  SimulationOptions options;
  options.core_hz = 1.2e9;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    expect_same(random_program(seed, 1 + seed % 4, 60, 70), realistic_target(), options);
    if (HasFatalFailure()) return;
  }
}

TEST(SlowTwinAgrees, UnderTheGovernor) {
  SimulationOptions options;
  for (std::uint64_t seed = 100; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    options.seed = seed;
    expect_same(random_program(seed, 1 + seed % 3, 80, 100), realistic_target(), options);
    if (HasFatalFailure()) return;
  }
}

TEST(SlowTwinAgrees, WithActivationsThatShareTheMemory) {
  SimulationOptions options;
  options.activations = 3;
  for (std::uint64_t seed = 200; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    expect_same(random_program(seed, 2, 60, 50), realistic_target(), options);
    if (HasFatalFailure()) return;
  }
}

TEST(SlowTwinAgrees, WhenTheMemoryIsTheBottleneck) {
  SimulationOptions options;
  options.activations = 2;
  Target target = realistic_target();
  target.ddr_bytes_per_s = 3e9;
  target.dma_depth = 2;
  for (std::uint64_t seed = 300; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    expect_same(random_program(seed, 3, 60, 40), target, options);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace npuscope::npu::nsp::twin_test
