#include "npu/targets/torq/cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace npuscope::npu::torq {
namespace {

class Clock {
 public:
  Clock(const Program& program, const Target& target) : program_(program), target_(target) {}

  std::int64_t now() const { return now_; }
  void restart() {
    now_ = 0;
    ends_ = {};
  }

  // When what the step starts runs; empty for a wait.
  Interval take(const Step& step) {
    std::int64_t& end = ends_[place_of(step)];
    if (!step.starts) {
      now_ = std::max(now_, end);
      return {};
    }
    const Interval runs{now_, now_ + cycles_of(step)};
    end = std::max(end, runs.end);
    if (step.unit == Unit::slice || step.unit == Unit::css) ++now_;
    return runs;
  }

 private:
  static std::size_t place_of(const Step& step) {
    if (step.unit == Unit::slice) return unit_count + step.slice;
    return is_cdma(step.unit) ? std::size_t(Unit::cdma_lram_to_dtcm) : std::size_t(step.unit);
  }

  std::int64_t cycles_of(const Step& step) const {
    switch (step.unit) {
      case Unit::slice: return std::int64_t(program_.kernels[step.kernel].cycles);
      case Unit::css: return std::int64_t(target_.css.estimated_cycles);
      case Unit::dma_in: return std::int64_t(dma_cycles(step.bytes, target_, Direction::in));
      case Unit::dma_out: return std::int64_t(dma_cycles(step.bytes, target_, Direction::out));
      default: return std::int64_t(cdma_cycles(step.bytes, target_));
    }
  }

  const Program& program_;
  const Target& target_;
  std::int64_t now_ = 0;
  std::array<std::int64_t, unit_count + 256> ends_{};
};

std::uint64_t whole_cycles(std::uint64_t bytes, double bytes_per_cycle) {
  return std::uint64_t(std::ceil(double(bytes) / bytes_per_cycle));
}

}  // namespace

std::uint64_t dma_cycles(std::uint64_t bytes, const Target& target, Direction direction) {
  return whole_cycles(bytes, target.dma_rate(direction));
}

std::uint64_t cdma_cycles(std::uint64_t bytes, const Target& target) {
  return std::max<std::uint64_t>(1, whole_cycles(bytes, target.cdma_rate()));
}

Estimate estimate_times(const Program& program, const Target& target) {
  Estimate estimate;
  estimate.tasks.reserve(program.tasks.size());
  estimate.steps.reserve(program.steps.size());
  Clock clock(program, target);
  const Action* action = program.actions.data();
  const NssProgram* nss = program.nss_programs.data();
  const Task* task = program.tasks.data();
  const Step* step = program.steps.data();
  for (const Dispatch& dispatch : program.dispatches) {
    clock.restart();
    for (std::uint32_t id = 0; id < dispatch.actions; ++id, ++action) {
      if (action->kind != ActionKind::start_nss) continue;
      const std::int64_t begin = clock.now();
      for (std::uint32_t i = 0; i < nss->tasks; ++i, ++task) {
        const std::int64_t task_begin = clock.now();
        for (std::uint32_t k = 0; k < task->steps; ++k, ++step) {
          estimate.steps.push_back(clock.take(*step));
        }
        estimate.tasks.push_back({task_begin, clock.now()});
      }
      estimate.programs.push_back({begin, clock.now()});
      ++nss;
    }
    estimate.dispatches.push_back(clock.now());
  }
  return estimate;
}

}  // namespace npuscope::npu::torq
