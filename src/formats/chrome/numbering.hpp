// Numbers in the order in which things come: pairs of ids, shapes of arguments.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "npuscope/profile/arguments.hpp"

namespace npuscope::chrome {

// Numbers distinct pairs of 32-bit ids in the order in which they come.
class PairTable {
 public:
  PairTable() { clear(); }

  void clear() {
    keys_.clear();
    slots_.assign(first_slots, 0);
  }

  std::uint32_t intern(std::uint32_t high, std::uint32_t low) {
    const std::uint64_t key = std::uint64_t{high} << 32 | low;
    const std::uint32_t slot = slot_of(slots_, key);
    if (slots_[slot] != 0) return slots_[slot] - 1;
    keys_.push_back(key);
    slots_[slot] = std::uint32_t(keys_.size());
    if (keys_.size() * 2 > slots_.size()) grow();
    return std::uint32_t(keys_.size() - 1);
  }

  std::size_t size() const { return keys_.size(); }
  std::uint32_t high(std::size_t index) const { return std::uint32_t(keys_[index] >> 32); }
  std::uint32_t low(std::size_t index) const { return std::uint32_t(keys_[index]); }

 private:
  static constexpr std::size_t first_slots = 64;

  std::uint32_t slot_of(const std::vector<std::uint32_t>& slots, std::uint64_t key) const {
    const std::size_t mask = slots.size() - 1;
    std::size_t slot = ((key * 0x9e3779b97f4a7c15) >> 24) & mask;
    while (slots[slot] != 0 && keys_[slots[slot] - 1] != key) slot = (slot + 1) & mask;
    return std::uint32_t(slot);
  }

  void grow() {
    std::vector<std::uint32_t> bigger(slots_.size() * 2);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      bigger[slot_of(bigger, keys_[i])] = std::uint32_t(i + 1);
    }
    slots_ = std::move(bigger);
  }

  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> slots_;  // index + 1; open addressing, at most half full
};

// The distinct shapes of arguments, numbered in the order in which they come; 0 is that of none.
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
