#include "analysis/path/path_groups.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/parallel.hpp"
#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::int64_t max_delay_cycles = 100;
constexpr double max_seconds = 100e-9;
constexpr std::size_t moments_tried = 1'000;

std::int64_t ticks_within(const Profile& profile) {
  const std::size_t base = index_of(profile.base_clock);
  if (base >= profile.clocks.size()) return max_delay_cycles;
  const Clock& clock = profile.clocks[base];
  if (clock.kind == ClockKind::unit_cycles || !(clock.rate.value > 0)) return max_delay_cycles;
  return std::llround(std::clamp(clock.rate.value * max_seconds, 1.0, 1e6));
}

std::int64_t unrecorded(const PathStep& step) {
  return step.gap_parts[std::size_t(GapPart::unrecorded)];
}

// The wait beyond what the constraint that is known takes. That its unit was free explains none.
std::int64_t unexplained(const PathStep& step) {
  const bool free = step.reason == Reason::start || step.reason == Reason::unit;
  return std::min(unrecorded(step), free ? step.gap : step.delay);
}

// Moments in order of time, and of each the span that ended last in the time before it.
class Ends {
 public:
  Ends(std::vector<std::int64_t> moments, std::int64_t within)
      : moments_(std::move(moments)), within_(within), last_(moments_.size()) {}

  // `unit_of(place)` is the unit whose own spans do not count for a moment.
  template <class UnitOf>
  void take(std::uint32_t row, Interval span, UnitId unit, const UnitOf& unit_of) {
    auto at = std::lower_bound(moments_.begin(), moments_.end(), span.end);
    for (; at != moments_.end() && saturating_subtract(*at, span.end) <= within_; ++at) {
      const auto place = std::size_t(at - moments_.begin());
      if (unit_of(place) != unit) last_[place].take({row, span});
    }
  }

  // What others have found among later rows.
  void take(const Ends& others) {
    for (std::size_t i = 0; i < last_.size(); ++i) last_[i].take(others.last_[i]);
  }

  struct Last {
    std::uint32_t row = no_row;
    Interval span;

    void take(const Last& other) {
      if (other.row == no_row) return;
      const bool later = row == no_row || other.span.end > span.end ||
                         (other.span.end == span.end && other.span.begin < span.begin);
      if (later) *this = other;
    }
  };
  const std::vector<Last>& last() const { return last_; }

 private:
  std::vector<std::int64_t> moments_;
  std::int64_t within_;
  std::vector<Last> last_;
};

// Which parts of the path's time any of the moments is close behind: most spans end in none, and so
// need not be looked up.
class Nearby {
 public:
  Nearby(const CriticalPath& path, std::int64_t within)
      : begin_(path.begin), within_(within), shift_(shift_for(path.wall)) {
    is_near_.assign(std::size_t(std::max<std::int64_t>(path.wall, 0) >> shift_) + 1, false);
  }

  void add(const std::vector<std::int64_t>& moments) {  // in order of time
    std::size_t next = 0;
    for (const std::int64_t moment : moments) {
      const std::size_t first = part_of(saturating_subtract(moment, within_));
      next = std::max(next, first);
      for (; next <= part_of(moment); ++next) is_near_[next] = true;
    }
  }

  bool has(std::int64_t end) const { return is_near_[part_of(end)]; }

 private:
  static int shift_for(std::int64_t wall) {
    constexpr int max_bits = 17;
    return std::max(0,
                    int(std::bit_width(std::uint64_t(std::max<std::int64_t>(wall, 0)))) - max_bits);
  }
  // Of times beyond the path, its first or last part.
  std::size_t part_of(std::int64_t time) const {
    const std::int64_t since = std::max<std::int64_t>(saturating_subtract(time, begin_), 0);
    return std::min(std::size_t(since >> shift_), is_near_.size() - 1);
  }

  std::int64_t begin_, within_;
  int shift_;
  std::vector<char> is_near_;
};

std::vector<std::int64_t> evenly_spread(const CriticalPath& path) {
  std::vector<std::int64_t> moments;
  for (std::size_t i = 0; i < moments_tried; ++i) {
    const double part = (double(i) + 0.5) / double(moments_tried);
    moments.push_back(path.begin + std::int64_t(part * double(path.wall)));
  }
  return moments;
}

}  // namespace

LikelyReasons likely_reasons(const Profile& profile, const CriticalPath& path,
                             std::optional<std::uint32_t> instance) {
  LikelyReasons likely;
  likely.within = ticks_within(profile);
  std::vector<std::size_t> steps;
  std::vector<std::int64_t> starts;
  for (std::size_t i = 0; i < path.steps.size(); ++i) {
    if (unexplained(path.steps[i]) <= likely.within) continue;
    steps.push_back(i);
    starts.push_back(path.steps[i].start);
  }
  if (steps.empty()) return likely;
  std::vector<std::int64_t> anywhere = evenly_spread(path);
  Nearby nearby(path, likely.within);
  nearby.add(starts);
  nearby.add(anywhere);
  Ends before_steps(std::move(starts), likely.within);
  Ends before_any(std::move(anywhere), likely.within);
  const Spans& spans = profile.spans;
  const auto parts = ranges_of(spans.size(), std::max<std::size_t>(65'536, 8 * steps.size()));
  std::vector<std::pair<Ends, Ends>> of_parts(parts.size(), {before_steps, before_any});
  parallel_for(parts.size(), [&](std::size_t part) {
    auto& [of_steps, of_any] = of_parts[part];
    for (std::size_t row = parts[part].first; row < parts[part].last; ++row) {
      if (role_of(spans.kind[row]) != Role::work || spans.duration[row] <= 0) continue;
      if (instance && spans.instance[row] != *instance) continue;
      const Interval span = interval_of(spans, row);
      if (!nearby.has(span.end)) continue;
      of_steps.take(std::uint32_t(row), span, spans.unit[row],
                    [&](std::size_t place) { return path.steps[steps[place]].unit; });
      of_any.take(std::uint32_t(row), span, spans.unit[row],
                  [](std::size_t) { return UnitId::none; });
    }
  });
  for (const auto& [of_steps, of_any] : of_parts) {
    before_steps.take(of_steps);
    before_any.take(of_any);
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Ends::Last& last = before_steps.last()[i];
    if (last.row == no_row) continue;
    const PathStep& step = path.steps[steps[i]];
    likely.reasons.push_back({steps[i], last.row, step.start - last.span.end});
    likely.waiting += unrecorded(step);
  }
  const auto& tried = before_any.last();
  const auto close = std::count_if(tried.begin(), tried.end(),
                                   [](const auto& last) { return last.row != no_row; });
  likely.by_chance = double(close) / double(tried.size());
  return likely;
}

}  // namespace npuscope::analysis
