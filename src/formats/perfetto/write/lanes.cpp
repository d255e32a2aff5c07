#include "formats/perfetto/write/lanes.hpp"

namespace npuscope::perfetto {
namespace {

void pop_ended(std::vector<std::int64_t>& open, std::int64_t start) {
  while (!open.empty() && open.back() <= start) open.pop_back();
}

}  // namespace

void LaneAssigner::forget_ended(std::int64_t start) {
  while (!busy_.empty() && busy_.begin()->first <= start) {
    const std::uint32_t lane = busy_.begin()->second;
    busy_.erase(busy_.begin());
    pop_ended(open_[lane], start);
    if (open_[lane].empty()) {
      idle_.insert(lane);
    } else {
      busy_.emplace(open_[lane].back(), lane);
    }
  }
}

std::uint32_t LaneAssigner::place(std::int64_t start, std::int64_t end) {
  std::vector<std::int64_t>& first = open_[0];
  pop_ended(first, start);
  if (first.empty() || end <= first.back()) {
    first.push_back(end);
    return 0;
  }
  forget_ended(start);
  std::uint32_t lane = 0;
  if (const auto tightest = busy_.lower_bound({end, 0}); tightest != busy_.end()) {
    lane = tightest->second;
    busy_.erase(tightest);
  } else if (!idle_.empty()) {
    lane = *idle_.begin();
    idle_.erase(idle_.begin());
  } else {
    lane = std::uint32_t(open_.size());
    open_.emplace_back();
  }
  open_[lane].push_back(end);
  busy_.emplace(end, lane);
  return lane;
}

}  // namespace npuscope::perfetto
