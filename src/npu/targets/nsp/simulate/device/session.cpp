#include "npu/targets/nsp/simulate/device/session.hpp"

#include <algorithm>
#include <numeric>

#include "npu/targets/nsp/simulate/random.hpp"

namespace npuscope::npu::nsp {

double seconds_of_hoisting(const qaic::Program& program, const Target& target) {
  const std::uint32_t cores = program.cores / program.slices;  // of a device
  double seconds = 0;
  for (std::size_t first = 0; first < program.hoisted_bytes.size(); first += cores) {
    const auto begin = program.hoisted_bytes.begin() + std::ptrdiff_t(first);
    const auto end = begin + cores;
    const double all = double(std::accumulate(begin, end, std::uint64_t{0}));
    const double max = double(*std::max_element(begin, end));
    seconds = std::max({seconds, all / (target.ddr_bytes_per_s * target.ddr_efficiency),
                        max / target.ddr_bytes_per_s_per_core});
  }
  return seconds;
}

DeviceSession::Moment DeviceSession::moment(Picoseconds time) const {
  const std::uint32_t core = activation_ * context_.program.cores;
  return {context_.timers[core].ticks(time),
          context_.counter_bases[core] + std::uint64_t(machine_.cycles_at(activation_, time))};
}

Picoseconds DeviceSession::length(double seconds, std::uint32_t which) const {
  const std::uint64_t random =
      key_of(context_.options.seed, RandomUse::session, activation_, inference_, which);
  return from_seconds(seconds * std::max(0.05, 1 + context_.target.jitter * normal(random)));
}

void DeviceSession::add_phase(std::string_view name, Moment begin, Moment end) {
  phases_.push_back({name, begin.ticks, end.ticks, begin.cycles, end.cycles});
}

Picoseconds DeviceSession::enter(std::uint64_t inference, Picoseconds now) {
  const Session& session = *context_.target.session;
  const bool cold = !used_ || to_seconds(now - ended_) >= session.cold_after_s;
  state_ = cold ? &session.cold : &session.warm;
  used_ = true;
  inference_ = inference;
  phases_.clear();
  Picoseconds time = now;
  // The clock changes for the stretches up to the next change: their moments are taken at once.
  machine_.change_clock(activation_, time, state_->vtcm_acquire_hz);
  const Moment begin = moment(time);
  add_phase("QNN DSP Execute", begin, begin);
  time += length(state_->enter_s, 0);
  const Moment acquire = moment(time);
  time += length(state_->vtcm_acquire_s, 1);
  add_phase("VTCM Acquire", acquire, moment(time));
  time += length(state_->between_s, 2);
  machine_.change_clock(activation_, time, state_->power_on_hz);
  const Moment power = moment(time);
  time += length(state_->power_on_s, 3);
  add_phase("Resource Power On", power, moment(time));
  time += length(state_->prepare_s, 4);
  machine_.change_clock(activation_, time, state_->graph_hz);
  const Moment graph = moment(time);
  add_phase("Graph Execute", graph, graph);
  return time;
}

Picoseconds DeviceSession::leave(Picoseconds graph_end) {
  const Moment graph = moment(graph_end);
  phases_.back().end_ticks = graph.ticks;
  phases_.back().end_cycles = graph.cycles;
  ended_ = graph_end + length(state_->leave_s, 5);
  const Moment end = moment(ended_);
  phases_.front().end_ticks = end.ticks;
  phases_.front().end_cycles = end.cycles;
  return ended_;
}

}  // namespace npuscope::npu::nsp
