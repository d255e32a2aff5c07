// Which constraints share a latency: those of one reason; on one queue, core, device or none; of a
// transfer or not; with a barrier or not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "npuscope/analysis/path.hpp"

namespace npuscope::analysis {

// The threads of an engine take their ops in one order, without semaphores; so do the thread that
// issues transfers and the engine that serves them. None: no such engine.
inline Engine queue_of(Engine used) {
  if (used == Engine::dma) return Engine::dma_issue;
  const bool queues = used == Engine::hvx || used == Engine::hmx || used == Engine::dma_issue;
  return queues ? used : Engine::none;
}

class LatencyClasses {
 public:
  // An end of a constraint: where it runs, and on the queue of which engine.
  struct Place {
    UnitId unit;
    Engine queue;
  };

  explicit LatencyClasses(const Profile& profile) {
    for (const Unit& unit : profile.units) where_.push_back({unit.device, unit.core, true});
    where_.emplace_back();
    last_ = std::uint32_t(where_.size() - 1);
  }

  static constexpr std::size_t count = reason_count * 16;
  std::uint8_t of(Reason reason, Place from, Place to, bool transfer, bool barrier) const {
    return of(nearest(reason, transfer, barrier), from, to);
  }
  // The same in two steps, for those who ask it of one constraint from many places to many.
  static std::uint8_t nearest(Reason reason, bool transfer, bool barrier) {
    return std::uint8_t(std::size_t(reason) * 16 + std::size_t(transfer) * 2 +
                        std::size_t(barrier));
  }
  std::uint8_t of(std::uint8_t nearest, Place from, Place to) const {
    return std::uint8_t(nearest + distance(from, to) * 4);
  }

 private:
  struct Where {
    std::uint32_t device = 0, core = 0;
    bool known = false;
  };

  // Nearer than 3, from unit to unit: of one unit or queue, one core, one device.
  std::size_t distance(Place from, Place to) const {
    const Where& a = where_[std::min(index_of(from.unit), last_)];
    const Where& b = where_[std::min(index_of(to.unit), last_)];
    if (!a.known || !b.known || a.device != b.device) return 3;
    if (from.unit == to.unit) return 0;
    if (a.core != b.core) return 2;
    return from.queue != Engine::none && from.queue == to.queue ? 0 : 1;
  }

  std::vector<Where> where_;  // by unit; one more for what has none
  std::uint32_t last_;
};

}  // namespace npuscope::analysis
