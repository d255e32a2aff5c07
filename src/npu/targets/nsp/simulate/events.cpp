#include "npu/targets/nsp/simulate/events.hpp"

#include <algorithm>
#include <cmath>

namespace npuscope::npu::nsp {

namespace {
// Enough for any kernel; keeps the memory of an endless inference bounded.
constexpr std::size_t max_past_windows = 1 << 16;
}  // namespace

CoreClock::CoreClock(double highest, double lowest, Picoseconds window)
    : highest_(highest), lowest_(lowest), window_(window) {
  set_hertz(highest);
  if (lowest < highest && window > Picoseconds{}) window_end_ = window;
}

void CoreClock::set_hertz(double hertz) {
  hertz_ = hertz;
  cycles_per_ps_ = hertz * 1e-12;
  ps_per_cycle_ = 1e12 / hertz;
}

bool CoreClock::next_window() {
  const double length = double((window_end_ - window_begin_).value);
  const double before = hertz_;
  if (past_.size() == max_past_windows) {
    past_.erase(past_.begin(), past_.begin() + max_past_windows / 2);
  }
  past_.push_back({window_begin_, cycles_, cycles_per_ps_});
  cycles_ += length * cycles_per_ps_;
  window_begin_ = window_end_;
  window_end_ += window_;
  set_hertz(highest_ - (highest_ - lowest_) * (hmx_time_ / length));
  hmx_time_ = 0;
  return hertz_ != before;
}

void CoreClock::change(Picoseconds time, double hertz) {
  past_.push_back({window_begin_, cycles_, cycles_per_ps_});
  cycles_ += double((time - window_begin_).value) * cycles_per_ps_;
  window_begin_ = time;
  highest_ = lowest_ = hertz;
  set_hertz(hertz);
}

void CoreClock::extend_window(std::int64_t windows) { window_end_ += window_ * windows; }

double CoreClock::past_cycles_at(Picoseconds time) const {
  auto after = std::ranges::upper_bound(past_, time, {}, &Window::begin);
  if (after == past_.begin()) {
    return cycles_ - double((window_begin_ - time).value) * cycles_per_ps_;
  }
  const Window& window = *(after - 1);
  return window.cycles + double((time - window.begin).value) * window.cycles_per_ps;
}

void CoreClock::run_in_past(double& remaining, Picoseconds& position) const {
  for (std::size_t i = 0; i < past_.size() && position < window_begin_; ++i) {
    const Picoseconds end = i + 1 < past_.size() ? past_[i + 1].begin : window_begin_;
    if (position >= end) continue;
    const double available = double((end - position).value) * past_[i].cycles_per_ps;
    if (remaining <= available) {
      position += picoseconds(remaining / past_[i].cycles_per_ps);
      remaining = 0;
      return;
    }
    remaining -= available;
    position = end;
  }
}

}  // namespace npuscope::npu::nsp
