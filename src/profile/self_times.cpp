#include "profile/self_times.hpp"

#include <algorithm>
#include <limits>

#include "profile/interval_sets.hpp"

namespace npuscope {
namespace {

// The slices in which another may lie. One that ends before a later one is no more the innermost of
// any, so the ends only fall towards the top of the stack, and each slice comes and goes once.
class Nesting {
 public:
  explicit Nesting(std::int64_t tolerance) : tolerance_(tolerance) {}

  // In the order of SpansByUnit.
  void add(std::uint32_t place, Interval interval, std::vector<std::int64_t>& own) {
    while (!open_.empty() && !encloses(open_.back().end, interval, tolerance_)) open_.pop_back();
    if (!open_.empty()) {
      Open& outer = open_.back();
      const std::int64_t end = std::min(outer.end, interval.end);
      own[outer.place] -= length_of({std::max(outer.covered, interval.begin), end});
      outer.covered = std::max(outer.covered, end);
    }
    open_.push_back({place, interval.end, interval.begin});
  }

 private:
  struct Open {
    std::uint32_t place;
    std::int64_t end;
    std::int64_t covered;  // by what is inside, up to here
  };
  std::vector<Open> open_;
  std::int64_t tolerance_;
};

}  // namespace

std::int64_t nesting_tolerance(const Profile& profile) {
  const std::size_t base = index_of(profile.base_clock);
  return base < profile.clocks.size() ? profile.clocks[base].resolution : 0;
}

template <class OfUnit>
void find_self_times(const OfUnit& spans, std::int64_t tolerance, std::vector<std::int64_t>& own) {
  own.resize(spans.size());
  // Of most units nothing begins before what began has ended: each span has its whole time.
  std::int64_t work_until = std::numeric_limits<std::int64_t>::min(), waits_until = work_until;
  bool nests = false;
  for (std::size_t place = 0; place < spans.size(); ++place) {
    const SpanOfUnit& span = spans[place];
    own[place] = whole_time(span.kind, span.interval());
    const NestedIn nesting = nested_in(span.kind);
    if (nesting == NestedIn::neither || span.end <= span.begin) continue;
    std::int64_t& until = nesting == NestedIn::work ? work_until : waits_until;
    nests = nests || span.begin < until;
    until = std::max(until, span.end);
  }
  if (!nests) return;
  Nesting work(tolerance), waits(tolerance);
  for (std::uint32_t place = 0; place < spans.size(); ++place) {
    const SpanOfUnit& span = spans[place];
    const NestedIn nesting = nested_in(span.kind);
    if (nesting == NestedIn::neither || span.end <= span.begin) continue;
    (nesting == NestedIn::work ? work : waits).add(place, span.interval(), own);
  }
}

template <class OfUnit>
IntervalSet held_within_work(const OfUnit& spans) {
  const auto is_wait = [](const SpanOfUnit& span) { return span.kind == SpanKind::wait; };
  if (std::none_of(spans.begin(), spans.end(), is_wait)) return {};
  struct Open {
    std::int64_t end;
    bool is_held, is_in_work;
  };
  std::vector<Open> open;  // the last to begin has the unit
  IntervalSet held;
  std::int64_t now = 0;
  const auto advance = [&](std::int64_t until) {
    while (!open.empty() && now < until) {
      const std::int64_t end = std::min(open.back().end, until);
      if (open.back().is_held && end > now) append(held, {now, end});
      now = std::max(now, end);
      if (open.back().end <= now) open.pop_back();
    }
  };
  for (const SpanOfUnit& span : spans) {
    const bool works = role_of(span.kind) == Role::work;
    if ((!works && !is_wait(span)) || span.end <= span.begin) continue;
    advance(span.begin);
    now = span.begin;
    const bool in_work = !open.empty() && open.back().is_in_work;
    open.push_back({span.end, !works && in_work, works || in_work});
  }
  advance(std::numeric_limits<std::int64_t>::max());
  return held;
}

template void find_self_times(const SpansOfUnit&, std::int64_t, std::vector<std::int64_t>&);
template void find_self_times(const std::vector<SpanOfUnit>&, std::int64_t,
                              std::vector<std::int64_t>&);
template IntervalSet held_within_work(const SpansOfUnit&);
template IntervalSet held_within_work(const std::vector<SpanOfUnit>&);

}  // namespace npuscope
