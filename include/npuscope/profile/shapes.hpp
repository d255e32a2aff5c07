// Shapes and operands as numbers, beside the texts in which files print them. Each distinct list is
// kept once and named by a 32-bit id, as StringPool does with texts.
//
//   profile.shapes[op.extents]                                        1, 8, 32, 256
//   for (const Operand& operand : profile.operand_lists[op.operand_list])
//     operand.is_output, operand.bits, profile.shapes[operand.shape]  true, 16, 64 and 192
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace npuscope {

enum class ShapeId : std::uint32_t { none = 0 };     // none: not known; that of a scalar is empty
enum class OperandsId : std::uint32_t { none = 0 };  // none: not known

struct Operand {
  ShapeId shape = ShapeId::none;
  std::uint8_t bits = 0;  // of one element
  bool is_output = false;

  bool operator==(const Operand&) const = default;
};

constexpr std::uint64_t hashed_bits(std::int64_t extent) { return std::uint64_t(extent); }
constexpr std::uint64_t hashed_bits(const Operand& operand) {
  return std::uint64_t(operand.shape) << 16 | std::uint64_t(operand.bits) << 8 | operand.is_output;
}

template <class Id, class Value>
class ListPool {
 public:
  Id intern(std::span<const Value> list) {
    if (ends_.size() * 2 >= slots_.size()) grow();
    std::uint32_t& slot = slots_[slot_of(list)];
    if (slot == 0) {
      values_.insert(values_.end(), list.begin(), list.end());
      ends_.push_back(values_.size());
      slot = std::uint32_t(ends_.size());
    }
    return Id(slot);
  }
  // Of none the empty list. Valid until the next intern().
  std::span<const Value> operator[](Id id) const {
    const auto place = std::uint32_t(id);
    if (place == 0) return {};
    const std::size_t begin = place == 1 ? 0 : ends_[place - 2];
    return {values_.data() + begin, ends_[place - 1] - begin};
  }
  std::size_t size() const { return ends_.size(); }

 private:
  static std::uint64_t hash_of(std::span<const Value> list) {
    std::uint64_t hash = list.size();
    for (const Value& value : list) {
      hash = (hash ^ hashed_bits(value)) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 32;
    }
    return hash;
  }
  // Where the list is, or where it would go.
  std::size_t slot_of(std::span<const Value> list) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash_of(list) & mask;
    while (slots_[slot] != 0 && !std::ranges::equal((*this)[Id(slots_[slot])], list)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }
  void grow() {
    slots_.assign(std::max<std::size_t>(16, 2 * slots_.size()), 0);
    for (std::uint32_t place = 1; place <= ends_.size(); ++place) {
      slots_[slot_of((*this)[Id(place)])] = place;
    }
  }

  std::vector<Value> values_;
  std::vector<std::size_t> ends_;     // of each list in values_
  std::vector<std::uint32_t> slots_;  // ids; open addressing, a power of two, at most half full
};

using Shapes = ListPool<ShapeId, std::int64_t>;
using OperandLists = ListPool<OperandsId, Operand>;

}  // namespace npuscope
