// Ticks of a profile's base clock as the nanoseconds that a trace counts.
#pragma once

#include <cstdint>

#include "npuscope/profile/profile.hpp"

namespace npuscope::chrome {

class Nanoseconds {
 public:
  explicit Nanoseconds(const Profile& profile);

  // False: one tick is taken as one nanosecond.
  bool known() const { return known_; }
  // Whether some times fall between nanoseconds.
  bool rounds() const { return scales_ && (whole_rate_ == 0 || 1'000'000'000 % whole_rate_ != 0); }
  // Whether different ticks can be one nanosecond.
  bool merges() const { return scales_ && scale_ < 1; }
  std::int64_t of(std::int64_t ticks) const { return scales_ ? scaled(ticks) : ticks; }

 private:
  std::int64_t scaled(std::int64_t ticks) const;

  bool known_ = false;
  bool scales_ = false;
  std::int64_t whole_rate_ = 0;  // 0: not whole
  double scale_ = 1;
};

}  // namespace npuscope::chrome
