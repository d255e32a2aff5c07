// The spans of each unit in the order in which a viewer nests them: by start, the longer first, and
// in the profile's order where both agree.
//
//   const SpansByUnit by_unit(profile);
//   for (const std::uint32_t row : by_unit.of(UnitId{3})) … profile.spans.start[row] …
//
// Spans without a unit, or of one that does not exist, are in of(UnitId::none).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope {

class SpansByUnit {
 public:
  explicit SpansByUnit(const Profile& profile);

  std::span<const std::uint32_t> of(UnitId unit) const;

 private:
  std::vector<std::uint32_t> first_;  // of each unit in rows_; one more for those without a unit
  std::vector<std::uint32_t> rows_;
};

}  // namespace npuscope
