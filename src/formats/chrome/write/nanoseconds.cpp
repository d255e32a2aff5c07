#include "formats/chrome/write/nanoseconds.hpp"

#include <cmath>
#include <limits>

namespace npuscope::chrome {
namespace {

__extension__ typedef __int128 Wide;  // products of two 64-bit numbers

}  // namespace

Nanoseconds::Nanoseconds(const Profile& profile) {
  const std::size_t base = index_of(profile.base_clock);
  if (base >= profile.clocks.size()) return;
  const double rate = profile.clocks[base].rate.value;
  if (!(rate > 0) || !(rate < 1e15)) return;
  known_ = true;
  if (rate == 1e9) return;
  scales_ = true;
  whole_rate_ = std::floor(rate) == rate ? std::int64_t(rate) : 0;
  scale_ = 1e9 / rate;
}

std::int64_t Nanoseconds::scaled(std::int64_t ticks) const {
  constexpr auto max = std::numeric_limits<std::int64_t>::max();
  if (whole_rate_ == 0) {
    const double time = std::round(double(ticks) * scale_);
    return time >= 9.2e18 ? max : time <= -9.2e18 ? -max : std::int64_t(time);
  }
  const Wide scaled = Wide(ticks) * 1'000'000'000;
  const Wide half = scaled < 0 ? -(whole_rate_ / 2) : whole_rate_ / 2;
  const Wide time = (scaled + half) / whole_rate_;
  return time > max ? max : time < -max ? -max : std::int64_t(time);
}

}  // namespace npuscope::chrome
