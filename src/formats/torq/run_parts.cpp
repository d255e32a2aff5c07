#include "formats/torq/overview.hpp"

#include <algorithm>
#include <limits>

namespace npuscope::torq {

RunTimes::RunTimes(std::vector<RunPart> parts) {
  const auto earlier = [](const RunPart& a, const RunPart& b) { return a.at.begin < b.at.begin; };
  if (!std::is_sorted(parts.begin(), parts.end(), earlier)) {
    std::sort(parts.begin(), parts.end(), earlier);
  }
  for (const RunPart& part : parts) {
    if (part.at.end <= part.at.begin) continue;
    end_until(part.at.begin);
    pass_until(part.at.begin);
    for (std::size_t bit = 0; bit < doing_bits; ++bit) open_[bit] += part.doing >> bit & 1;
    now_doing_ |= part.doing;
    endings_.push({part.at.end, part.doing});
  }
  end_until(std::numeric_limits<std::int64_t>::max());
}

void RunTimes::end_until(std::int64_t time) {
  while (!endings_.empty() && endings_.top().end <= time) {
    const Ending ending = endings_.top();
    endings_.pop();
    pass_until(ending.end);
    for (std::size_t bit = 0; bit < doing_bits; ++bit) {
      if ((ending.doing >> bit & 1) != 0 && --open_[bit] == 0) now_doing_ &= ~(1u << bit);
    }
  }
}

void RunTimes::pass_until(std::int64_t time) {
  if (now_doing_ != 0 && time > now_) {
    std::int64_t& sum = time_doing_[now_doing_];
    Interval& extent = extent_[now_doing_];
    if (sum == 0) extent.begin = now_;
    extent.end = time;
    sum = saturating_add(sum, saturating_subtract(time, now_));
  }
  now_ = time;
}

}  // namespace npuscope::torq
