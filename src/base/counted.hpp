// Counts with their noun, which a reader would stumble over in the wrong number:
//
//   counted(1, "rule")                          "1 rule"
//   counted(2'000, "rule")                      "2,000 rules"
//   counted(1, "line is", "lines are")          "1 line is"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace npuscope {

inline std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return thousands(count).append(" ").append(count == 1 ? one : many);
}

inline std::string counted(std::uint64_t count, std::string_view one) {
  return counted(count, one, std::string(one) + "s");
}

}  // namespace npuscope
