// How long something is tried, and the pauses between: a quarter of a second first, then longer.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace npuscope::fleet {

class Patience {
 public:
  explicit Patience(std::chrono::seconds time) : end_(std::chrono::steady_clock::now() + time) {}

  // False where the time is over.
  bool wait() {
    if (std::chrono::steady_clock::now() + pause_ > end_) return false;
    std::this_thread::sleep_for(pause_);
    pause_ = std::min(pause_ * 2, std::chrono::milliseconds(10'000));
    return true;
  }

 private:
  std::chrono::steady_clock::time_point end_;
  std::chrono::milliseconds pause_{250};
};

}  // namespace npuscope::fleet
