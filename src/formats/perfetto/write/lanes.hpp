// Slices on as few lanes as let every lane nest: two slices of one lane either lie apart or one
// lies within the other.
//
//   LaneAssigner lanes;
//   lanes.place(0, 10)   // 0
//   lanes.place(2, 5)    // 0, within the first
//   lanes.place(4, 12)   // 1: overlaps both without nesting
//   lanes.place(10, 20)  // 0 again
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace npuscope::perfetto {

class LaneAssigner {
 public:
  // Intervals must come by start, and longer before shorter ones where starts are equal. The first
  // lane takes all it can; another lane takes what fits it most tightly. O(log lanes) each.
  std::uint32_t place(std::int64_t start, std::int64_t end);

 private:
  void forget_ended(std::int64_t start);

  std::vector<std::vector<std::int64_t>> open_{1};  // ends of the open intervals, by lane
  // Lanes beside the first: those with something open by the end of the innermost, and the others.
  std::set<std::pair<std::int64_t, std::uint32_t>> busy_;
  std::set<std::uint32_t> idle_;
};

}  // namespace npuscope::perfetto
