// The union of many sets, none of which is copied to begin with:
//
//   union_of_many({&of_one_unit, &of_another, &of_a_third})
//
// On all cores, one window of time after another: what is made of two of them on the way to all is
// as long as a window, not as long as the sets.
#pragma once

#include <vector>

#include "npuscope/profile/intervals.hpp"

namespace npuscope {

IntervalSet union_of_many(std::vector<const IntervalSet*> sets);

// The same where it need not be kept: what alone has anything is seen where it is, without a copy.
class SeenUnion {
 public:
  explicit SeenUnion(std::vector<const IntervalSet*> sets);
  SeenUnion(const SeenUnion&) = delete;
  SeenUnion& operator=(const SeenUnion&) = delete;

  const IntervalSet& all() const { return *all_; }
  IntervalSet take() &&;  // a copy of what is seen elsewhere

 private:
  IntervalSet made_;
  const IntervalSet* all_ = &made_;
};

}  // namespace npuscope
