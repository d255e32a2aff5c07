// The NPU's side of a run, cycle by cycle where something changes.
#include "npu/targets/torq/execute.hpp"

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

namespace {

constexpr std::int64_t parts_of_byte = 1024;  // rates are whole parts a cycle
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

// A transfer under way: latency, then data at a rate that the other direction may lower.
struct Stream {
  bool active = false;
  std::int64_t data_from = 0;  // the cycle in which its first data move
  std::int64_t left = 0;       // parts of bytes
  std::int64_t rate = 0;       // alone
  std::int64_t began = 0;
};

class Device {
 public:
  Device(const Program& program, const Target& target) : program_(program), target_(target) {
    const auto parts = [](double bytes) {
      return std::max<std::int64_t>(1, std::int64_t(bytes * double(parts_of_byte)));
    };
    streams_[0].rate = parts(target.dma_rate(Direction::in));
    streams_[1].rate = parts(target.dma_rate(Direction::out));
    xram_rate_ = parts(target.device.xram_bytes_per_cycle);
  }

  DeviceRun take_run() {
    run_.cycles = now_;
    now_ = 0;
    kernel_ends_ = {};
    return std::exchange(run_, {});
  }

  void begin_block() { pass(std::int64_t(target_.device.block_cycles)); }

  void take(const Step& step) {
    const Target::Device& device = target_.device;
    const bool configures = step.starts && (is_dma(step.unit) || is_cdma(step.unit));
    pass(std::int64_t(device.step_cycles + (configures ? device.configure_cycles : 0)));
    step.starts ? start(step) : wait(step);
  }

 private:
  void start(const Step& step) {
    const Target::Device& device = target_.device;
    std::uint64_t cycles = 0;
    switch (step.unit) {
      case Unit::dma_in: return start_stream(streams_[0], step.bytes);
      case Unit::dma_out: return start_stream(streams_[1], step.bytes);
      case Unit::slice:
        cycles = device.slice_start_cycles + program_.kernels[step.kernel].device_cycles;
        break;
      case Unit::css:
        cycles = device.css_start_cycles + program_.kernels[step.kernel].device_cycles;
        break;
      default: cycles = device.cdma_latency_cycles + cdma_cycles(step.bytes, target_); break;
    }
    const std::size_t unit = std::size_t(unit_of(step));
    kernel_ends_[unit] = now_ + std::int64_t(cycles);
    run_.busy[unit] += std::int64_t(cycles);
  }

  void wait(const Step& step) {
    const std::size_t unit = std::size_t(unit_of(step));
    const std::int64_t began = now_;
    if (is_dma(step.unit)) {
      const Stream& stream = streams_[step.unit == Unit::dma_out];
      while (stream.active) advance(next_change());
    } else if (kernel_ends_[unit] > now_) {
      advance(kernel_ends_[unit]);
    }
    run_.waited[unit] += now_ - began;
  }

  void start_stream(Stream& stream, std::uint64_t bytes) {
    stream.active = true;
    stream.began = now_;
    stream.data_from = now_ + std::int64_t(target_.device.dma_latency_cycles);
    stream.left = std::int64_t(bytes) * parts_of_byte;
  }

  void pass(std::int64_t cycles) { advance(now_ + cycles); }

  void advance(std::int64_t until) {
    for (;;) {
      const std::int64_t next = next_change();
      move(std::min(next, until));
      if (next > until) return;  // what changes at `until` itself is done with
    }
  }

  // Both directions share XRAM in proportion to what each could take alone.
  std::int64_t rate_of(const Stream& stream) const {
    const bool both = flows(streams_[0]) && flows(streams_[1]);
    const std::int64_t wanted = streams_[0].rate + streams_[1].rate;
    if (!both || wanted <= xram_rate_) return std::min(stream.rate, xram_rate_);
    return std::max<std::int64_t>(
        1, std::int64_t(double(stream.rate) * double(xram_rate_) / double(wanted)));
  }

  bool flows(const Stream& stream) const { return stream.active && stream.data_from <= now_; }

  // When data begin to move or a transfer ends, if nothing else happens.
  std::int64_t next_change() const {
    std::int64_t next = never;
    for (const Stream& stream : streams_) {
      if (!stream.active) continue;
      if (!flows(stream)) {
        next = std::min(next, stream.data_from);
      } else {
        const std::int64_t rate = rate_of(stream);
        next = std::min(next, now_ + stream.left / rate + (stream.left % rate != 0));
      }
    }
    return next;
  }

  void move(std::int64_t until) {
    std::array<std::int64_t, 2> rates{};
    for (std::size_t i = 0; i < 2; ++i)
      if (flows(streams_[i])) rates[i] = rate_of(streams_[i]);
    if (rates[0] > 0 && rates[1] > 0) run_.both_ways += until - now_;
    const std::int64_t cycles = until - now_;
    now_ = until;
    for (std::size_t i = 0; i < 2; ++i) {
      Stream& stream = streams_[i];
      if (rates[i] == 0) continue;
      // Divided first, because rate times cycles may be more than 64 bits hold.
      stream.left = stream.left / rates[i] < cycles ? 0 : stream.left - rates[i] * cycles;
      if (stream.left > 0) continue;
      stream.active = false;
      run_.busy[std::size_t(i == 0 ? BusyUnit::dma_in : BusyUnit::dma_out)] += now_ - stream.began;
    }
  }

  static BusyUnit unit_of(const Step& step) {
    switch (step.unit) {
      case Unit::slice: return step.slice == 0 ? BusyUnit::slice_0 : BusyUnit::slice_1;
      case Unit::css: return BusyUnit::css;
      case Unit::dma_in: return BusyUnit::dma_in;
      case Unit::dma_out: return BusyUnit::dma_out;
      default: return BusyUnit::cdma;
    }
  }

  const Program& program_;
  const Target& target_;
  std::int64_t now_ = 0;
  std::array<Stream, 2> streams_;  // in, out
  std::int64_t xram_rate_ = 0;
  std::array<std::int64_t, busy_units> kernel_ends_{};  // of slices, CDMA and CSS
  DeviceRun run_;
};

}  // namespace

std::vector<DeviceRun> run_device(const Program& program, const Target& target) {
  std::vector<DeviceRun> runs;
  runs.reserve(program.nss_programs.size());
  Device device(program, target);
  const Task* task = program.tasks.data();
  const Step* step = program.steps.data();
  for (const NssProgram& nss : program.nss_programs) {
    device.begin_block();
    for (std::uint32_t i = 0; i < nss.tasks; ++i, ++task) {
      if (task->begins_block) device.begin_block();
      for (std::uint32_t k = 0; k < task->steps; ++k) device.take(*step++);
    }
    runs.push_back(device.take_run());
  }
  return runs;
}

}  // namespace npuscope::npu::torq
