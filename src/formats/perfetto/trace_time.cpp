#include "formats/perfetto/trace_time.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "npuscope/profile/intervals.hpp"

namespace npuscope::perfetto {
namespace {

__extension__ typedef __int128 Wide;  // products of two 64-bit numbers

constexpr std::int64_t latest = std::int64_t{1} << 61;  // what a reader takes

Hertz rate_of(const Profile& profile) {
  const std::size_t base = index_of(profile.base_clock);
  return base < profile.clocks.size() ? profile.clocks[base].rate : Hertz{0};
}

}  // namespace

TraceTime::TraceTime(const Profile& profile) : TraceTime(rate_of(profile)) {}

TraceTime::TraceTime(Hertz hertz) {
  const double rate = hertz.value;
  if (!(rate > 0) || !(rate <= 1e15)) return;
  rate_is_known_ = true;
  // Rates that are no whole numbers of hertz are kept to millihertz.
  const bool whole = std::floor(rate) == rate;
  denominator_ = std::max<std::int64_t>(1, std::llround(whole ? rate : rate * 1000));
  numerator_ = whole ? 1'000'000'000 : 1'000'000'000'000;
  const std::int64_t common = std::gcd(numerator_, denominator_);
  numerator_ /= common;
  denominator_ /= common;
}

// Rounded to the nearest; order is kept.
std::int64_t TraceTime::scaled(std::int64_t ticks) const {
  if (is_nanoseconds()) return std::clamp(ticks, -latest, latest);
  const Wide product = Wide(ticks) * numerator_;
  const Wide half = product < 0 ? -(denominator_ / 2) : denominator_ / 2;
  const Wide time = (product + half) / denominator_;
  return std::int64_t(std::clamp<Wide>(time, -latest, latest));
}

std::int64_t TraceTime::ticks_at(std::int64_t nanoseconds) const {
  const std::int64_t unscaled = saturating_subtract(nanoseconds, shift_);
  if (is_nanoseconds()) {
    return std::max(unscaled, -std::numeric_limits<std::int64_t>::max());
  }
  const Wide product = Wide(unscaled) * denominator_;
  const Wide half = product < 0 ? -(numerator_ / 2) : numerator_ / 2;
  constexpr Wide max = std::numeric_limits<std::int64_t>::max();
  return std::int64_t(std::clamp<Wide>((product + half) / numerator_, -max, max));
}

std::int64_t TraceTime::moved(std::int64_t time) const {
  return std::clamp<std::int64_t>(saturating_add(time, shift_), 0, latest);
}

std::int64_t TraceTime::end_of(std::int64_t start, std::int64_t duration) const {
  return of(saturating_add(start, std::max<std::int64_t>(duration, 0)));
}

}  // namespace npuscope::perfetto
