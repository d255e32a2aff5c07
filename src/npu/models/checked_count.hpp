// Counts that notice when they no longer fit in 63 bits instead of wrapping round.
#pragma once

#include <cstdint>

namespace npuscope::npu::models {

class CheckedCount {
 public:
  CheckedCount(std::int64_t value) : value_(value) {}  // NOLINT: counts mix with plain sizes

  CheckedCount& operator+=(CheckedCount other) {
    overflowed_ |= other.overflowed_ || __builtin_add_overflow(value_, other.value_, &value_);
    return *this;
  }
  CheckedCount& operator*=(CheckedCount other) {
    overflowed_ |= other.overflowed_ || __builtin_mul_overflow(value_, other.value_, &value_);
    return *this;
  }
  friend CheckedCount operator+(CheckedCount a, CheckedCount b) { return a += b; }
  friend CheckedCount operator*(CheckedCount a, CheckedCount b) { return a *= b; }

  CheckedCount padded_to(std::int64_t multiple) const {
    CheckedCount padded = *this + (multiple - 1);
    padded.value_ -= padded.value_ % multiple;
    return padded;
  }

  bool overflowed() const { return overflowed_; }
  std::uint64_t value() const { return std::uint64_t(value_); }

 private:
  std::int64_t value_ = 0;
  bool overflowed_ = false;
};

}  // namespace npuscope::npu::models
