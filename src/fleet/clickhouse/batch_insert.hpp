// One batch into the shards of a store, whatever holds meanwhile: see clickhouse_store.hpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <span>
#include <thread>
#include <unordered_set>

#include "fleet/clickhouse/server.hpp"
#include "fleet/rows.hpp"

namespace npuscope::fleet {

// How long something is tried, and the pauses between: a quarter of a second first, then longer.
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

// The runs in `known` are left out. An output error where the batch is not there.
Status insert_batch(std::span<Server* const> shards, const Batch& batch,
                    const std::unordered_set<Id>& known, std::chrono::seconds patience);

}  // namespace npuscope::fleet
