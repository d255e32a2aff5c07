// The distinct shapes of arguments, numbered in the order in which they come; 0 is that of none.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "npuscope/profile/arguments.hpp"

namespace npuscope::chrome {

class ShapeTable {
 public:
  ShapeTable();
  void clear();
  std::uint32_t intern(std::span<const ArgumentKey> keys);
  const ArgumentShape& operator[](std::uint32_t shape) const { return shapes_[shape]; }
  const std::vector<ArgumentShape>& shapes() const { return shapes_; }
  std::vector<ArgumentShape> take_shapes();

 private:
  void grow();

  std::vector<ArgumentShape> shapes_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> slots_;  // shape + 1; open addressing, at most half full
};

}  // namespace npuscope::chrome
