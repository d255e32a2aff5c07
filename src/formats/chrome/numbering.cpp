#include "formats/chrome/numbering.hpp"

#include <algorithm>

namespace npuscope::chrome {
namespace {

constexpr std::size_t first_shape_slots = 256;

std::uint64_t hash_of(std::span<const ArgumentKey> keys) {
  std::uint64_t hash = keys.size();
  for (const ArgumentKey& key : keys) {
    hash ^= std::uint64_t(key.name) << 8 | std::uint64_t(key.type);
    hash *= 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

ShapeTable::ShapeTable() { clear(); }

void ShapeTable::clear() {
  shapes_.clear();
  hashes_.clear();
  slots_.assign(first_shape_slots, 0);
  intern({});
}

std::uint32_t ShapeTable::intern(std::span<const ArgumentKey> keys) {
  const std::uint64_t hash = hash_of(keys);
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const std::uint32_t shape = slots_[slot] - 1;
    if (hashes_[shape] == hash && std::ranges::equal(shapes_[shape], keys)) return shape;
  }
  shapes_.emplace_back(keys.begin(), keys.end());
  hashes_.push_back(hash);
  slots_[slot] = std::uint32_t(shapes_.size());
  if (shapes_.size() * 2 > slots_.size()) grow();
  return std::uint32_t(shapes_.size() - 1);
}

void ShapeTable::grow() {
  std::vector<std::uint32_t> bigger(slots_.size() * 2);
  const std::size_t mask = bigger.size() - 1;
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    std::size_t slot = hashes_[i] & mask;
    while (bigger[slot] != 0) slot = (slot + 1) & mask;
    bigger[slot] = std::uint32_t(i + 1);
  }
  slots_ = std::move(bigger);
}

std::vector<ArgumentShape> ShapeTable::take_shapes() {
  std::vector<ArgumentShape> taken = std::move(shapes_);
  clear();
  return taken;
}

}  // namespace npuscope::chrome
