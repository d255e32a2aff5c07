// Ticks of a profile's base clock as nanoseconds of a trace.
#pragma once

#include <cstdint>

#include "npuscope/profile/profile.hpp"

namespace npuscope::perfetto {

class TraceTime {
 public:
  explicit TraceTime(const Profile& profile);

  // False: one tick is taken as one nanosecond.
  bool rate_is_known() const { return rate_is_known_; }
  // Whether some times fall between nanoseconds.
  bool rounds() const { return denominator_ != 1; }
  // Never less than 0: negative times move to 0 unless `shift` says by how much all times move.
  std::int64_t of(std::int64_t ticks) const {
    if (denominator_ == 1 && numerator_ == 1) return moved(ticks);
    return moved(scaled(ticks));
  }
  std::int64_t end_of(std::int64_t start, std::int64_t duration) const;
  void shift_by(std::int64_t nanoseconds) { shift_ = nanoseconds; }
  // Without the shift; may be negative.
  std::int64_t scaled(std::int64_t ticks) const;

 private:
  std::int64_t moved(std::int64_t time) const;

  bool rate_is_known_ = false;
  std::int64_t numerator_ = 1;  // nanoseconds = ticks * numerator / denominator
  std::int64_t denominator_ = 1;
  std::int64_t shift_ = 0;
};

}  // namespace npuscope::perfetto
