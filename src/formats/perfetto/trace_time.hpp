// Ticks of a profile's base clock as nanoseconds of a trace, and back.
#pragma once

#include <cstdint>

#include "npuscope/profile/profile.hpp"

namespace npuscope::perfetto {

class TraceTime {
 public:
  explicit TraceTime(const Profile& profile);
  explicit TraceTime(Hertz rate);  // 0: unknown

  // False: one tick is taken as one nanosecond.
  bool rate_is_known() const { return rate_is_known_; }
  // Whether some times fall between nanoseconds.
  bool rounds() const { return denominator_ != 1; }
  // Never less than 0: negative times move to 0 unless `shift` says by how much all times move.
  std::int64_t of(std::int64_t ticks) const {
    if (is_nanoseconds()) return moved(ticks);
    return moved(scaled(ticks));
  }
  std::int64_t end_of(std::int64_t start, std::int64_t duration) const;
  void shift_by(std::int64_t nanoseconds) { shift_ = nanoseconds; }
  // Whether ticks_at() gives every time of a trace back as it is.
  bool is_identity() const { return is_nanoseconds() && shift_ == 0; }
  // Without the shift; may be negative.
  std::int64_t scaled(std::int64_t ticks) const;
  // The ticks at a time of the trace: those that were written, where a tick is a nanosecond or
  // more.
  std::int64_t ticks_at(std::int64_t nanoseconds) const;
  bool is_finer_than_nanoseconds() const { return denominator_ > numerator_; }

 private:
  std::int64_t moved(std::int64_t time) const;
  bool is_nanoseconds() const { return denominator_ == 1 && numerator_ == 1; }

  bool rate_is_known_ = false;
  std::int64_t numerator_ = 1;  // nanoseconds = ticks * numerator / denominator
  std::int64_t denominator_ = 1;
  std::int64_t shift_ = 0;
};

}  // namespace npuscope::perfetto
