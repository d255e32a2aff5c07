#include "npu/targets/torq/execute.hpp"

#include <gmock/gmock.h>

#include <random>

#include "npu/targets/torq/fixture.hpp"

namespace npuscope::npu::torq::run_test {
namespace {

using testing::HasSubstr;

// --- the device, against a twin that looks at every cycle ---

struct TwinStream {
  bool active = false;
  std::int64_t began = 0, left = 0;
};

class Twin {
 public:
  Twin(const Program& program, const Target& target) : program_(program), target_(target) {}

  DeviceRun run() {
    cycles(target_.device.block_cycles);
    const Step* step = program_.steps.data();
    for (const Task& task : program_.tasks) {
      if (task.begins_block) cycles(target_.device.block_cycles);
      for (std::uint32_t i = 0; i < task.steps; ++i) take(*step++);
    }
    run_.cycles = now_;
    return run_;
  }

 private:
  static std::size_t unit(const Step& step) {
    if (step.unit == Unit::slice) return step.slice;
    if (step.unit == Unit::css) return 5;
    return is_dma(step.unit) ? (step.unit == Unit::dma_in ? 2 : 3) : 4;
  }
  static std::int64_t parts(double rate) { return std::int64_t(rate * 1024); }

  bool flows(int i) const {
    return streams_[i].active &&
           now_ >= streams_[i].began + std::int64_t(target_.device.dma_latency_cycles);
  }
  void cycles(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) cycle();
  }
  void cycle() {
    const std::int64_t alone[2] = {parts(target_.dma_rate(Direction::in)),
                                   parts(target_.dma_rate(Direction::out))};
    const std::int64_t xram = parts(target_.device.xram_bytes_per_cycle);
    const bool both = flows(0) && flows(1);
    const bool flow[2] = {flows(0), flows(1)};
    run_.both_ways += both;
    ++now_;
    for (int i = 0; i < 2; ++i) {
      if (!flow[i]) continue;
      std::int64_t rate = std::min(alone[i], xram);
      if (both && alone[0] + alone[1] > xram) {
        rate = std::int64_t(double(alone[i]) * double(xram) / double(alone[0] + alone[1]));
      }
      streams_[i].left -= rate;
      if (streams_[i].left > 0) continue;
      streams_[i].active = false;
      run_.busy[std::size_t(2 + i)] += now_ - streams_[i].began;
    }
  }
  void take(const Step& step) {
    const Target::Device& device = target_.device;
    const bool moves = is_dma(step.unit) || is_cdma(step.unit);
    cycles(device.step_cycles + (step.starts && moves ? device.configure_cycles : 0));
    const std::size_t index = unit(step);
    if (!step.starts) {
      while (is_dma(step.unit) ? streams_[index - 2].active : now_ < ends_[index]) {
        cycle();
        ++run_.waited[index];
      }
    } else if (is_dma(step.unit)) {
      streams_[index - 2] = {true, now_, std::int64_t(step.bytes) * 1024};
    } else {
      const std::uint64_t takes =
          is_cdma(step.unit)
              ? device.cdma_latency_cycles + cdma_cycles(step.bytes, target_)
              : program_.kernels[step.kernel].device_cycles +
                    (step.unit == Unit::css ? device.css_start_cycles : device.slice_start_cycles);
      ends_[index] = now_ + std::int64_t(takes);
      run_.busy[index] += std::int64_t(takes);
    }
  }

  const Program& program_;
  const Target& target_;
  std::int64_t now_ = 0;
  TwinStream streams_[2];
  std::int64_t ends_[6] = {};
  DeviceRun run_;
};

// Starts and waits in any order that is allowed, over all units.
Program random_program(std::mt19937& random) {
  ProgramMaker make;
  const std::uint32_t kernel = make.kernel(100, random() % 3000);
  const std::uint32_t css = make.kernel(8000, random() % 3000, true);
  const std::vector<Step> starts{
      ProgramMaker::run(Unit::slice, kernel, 0), ProgramMaker::run(Unit::slice, kernel, 1),
      ProgramMaker::run(Unit::css, css),         ProgramMaker::start(Unit::dma_in, 0),
      ProgramMaker::start(Unit::dma_out, 0),     ProgramMaker::start(Unit::cdma_dtcm_to_lram, 0)};
  std::vector<bool> running(starts.size());
  const auto toggle = [&](std::size_t unit) {
    Step step = starts[unit];
    step.starts = !running[unit];
    step.bytes = step.starts ? 1 + random() % 9000 : 0;
    running[unit] = step.starts;
    make.task({step});
    make.program.tasks.back().begins_block = random() % 8 == 0;
  };
  for (int i = 0; i < 40; ++i) toggle(random() % starts.size());
  for (std::size_t unit = 0; unit < starts.size(); ++unit) {
    if (running[unit]) toggle(unit);
  }
  return make.program;
}

TEST(Device, DoesWhatATwinDoesCycleByCycle) {
  std::mt19937 random(3);
  std::int64_t both_ways = 0;
  for (int round = 0; round < 300; ++round) {
    const Program program = random_program(random);
    ASSERT_TRUE(check_program(program, 2, "random"));
    Target target = sl2610();
    target.device.xram_bytes_per_cycle = round % 3 == 0 ? 20 : 3 + round % 5;
    target.device.dma_latency_cycles = random() % 100;
    const DeviceRun run = run_device(program, target)[0];
    const DeviceRun twin = Twin(program, target).run();
    ASSERT_EQ(run.cycles, twin.cycles) << round;
    ASSERT_EQ(run.busy, twin.busy) << round;
    ASSERT_EQ(run.waited, twin.waited) << round;
    ASSERT_EQ(run.both_ways, twin.both_ways) << round;
    both_ways += run.both_ways;
  }
  EXPECT_GT(both_ways, 10'000);
}

// With nothing beyond the cost model, a run takes what the estimate says, but for the cycle that
// the model gives a start of a slice.
TEST(Device, IsTheEstimateWhereNothingIsBeyondIt) {
  Target target = sl2610();
  target.device = {};
  target.device.xram_bytes_per_cycle = 100;
  ProgramMaker make;
  make.transfer(Unit::dma_in, 10'000);
  const std::uint32_t kernel = make.kernel(5000, 5000);
  make.task({ProgramMaker::run(Unit::slice, kernel)});
  make.transfer(Unit::dma_in, 3000);
  make.task({ProgramMaker::wait(Unit::slice)});
  make.transfer(Unit::dma_out, 10'000);
  const std::int64_t estimated = estimate_times(make.program, target).programs[0].end;
  const DeviceRun run = run_device(make.program, target)[0];
  EXPECT_NEAR(double(run.cycles), double(estimated), 2);  // rates are whole 1024ths of a byte
  EXPECT_EQ(run.busy[0], 5000);
}

// --- the runtime ---

TEST(RunTorq, LogsEveryScopeOnceAndInOrder) {
  const Compilation model = compiled(repository_graph("light_squeezenet.onnx"));
  const auto run = torq::run(model.program, sl2610(), {.inferences = 2});
  ASSERT_TRUE(run) << run.error().message;
  std::map<std::tuple<std::int64_t, std::int32_t, std::string>, int> open;
  std::int64_t before = 0;
  for (const npuscope::torq::LogEvent& event : run->log.events) {
    ASSERT_GE(event.time_us, before);
    before = event.time_us;
    int& level = open[{event.invocation, event.action, std::string(run->log.strings[event.type])}];
    level += event.edge == npuscope::torq::LogEdge::begin ? 1 : -1;
    ASSERT_TRUE(level == 0 || level == 1);
  }
  for (const auto& [key, level] : open) EXPECT_EQ(level, 0) << std::get<2>(key);
  ASSERT_EQ(run->truth.inferences.size(), 2u);
  EXPECT_EQ(length_of(run->truth.inferences[0]), length_of(run->truth.inferences[1]));
}

TEST(RunTorq, RefusesRunsThatNobodyCouldLog) {
  const Compilation model = compiled(repository_graph("light_squeezenet.onnx"));
  EXPECT_THAT(run(model.program, sl2610(), {.inferences = 0}).error().message,
              HasSubstr("--num-iter=0"));
  const auto endless = run(model.program, sl2610(), {.inferences = 1'000'000});
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().kind, ErrorKind::usage);
  EXPECT_THAT(endless.error().message, HasSubstr("lower --num-iter"));
}

TEST(RunTorq, SlowTargetsEndAndNeverGoBack) {
  ProgramMaker make;
  make.transfer(Unit::dma_in, max_bytes);
  make.task({ProgramMaker::run(Unit::slice, make.kernel(max_cycles, max_cycles))});
  make.task({ProgramMaker::wait(Unit::slice)});
  auto target = *parse_target(changed_toml("clock_hz = 800e6", "clock_hz = 1e6"), "slow");
  target.dma.bytes_per_cycle = 0.02;
  const auto run = torq::run(make.program, target, {.inferences = 50});
  ASSERT_TRUE(run) << run.error().message;
  for (std::size_t i = 1; i < run->log.events.size(); ++i) {
    ASSERT_GE(run->log.events[i].time_us, run->log.events[i - 1].time_us);
  }
}

}  // namespace
}  // namespace npuscope::npu::torq::run_test
