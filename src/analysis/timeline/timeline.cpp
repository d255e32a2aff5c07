#include "npuscope/analysis/timeline.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "analysis/answers.hpp"
#include "analysis/self_times.hpp"
#include "base/parallel.hpp"
#include "base/per_thread.hpp"
#include "profile/interval_sets.hpp"

namespace npuscope::analysis {

const char* name_of(Domain domain) {
  constexpr const char* names[] = {"compute", "data movement", "communication", "host", "other"};
  return names[std::size_t(domain)];
}

namespace {

// What some rows of one nesting cover, as far as each begins no earlier than those before it end.
struct InOrder {
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
};

// By unit, the last for those without one, and nesting; nothing where any two overlap.
std::vector<InOrder> in_order_of(const Profile& profile, RowRange rows) {
  const Spans& spans = profile.spans;
  const std::size_t units = profile.units.size();
  std::vector<InOrder> of_units(2 * (units + 1));
  InOrder* const units_of_rows = of_units.data();
  for (std::size_t row = rows.first; row < rows.last; ++row) {
    const SpanKind kind = spans.kind[row];
    const Interval interval = interval_of(spans, row);
    const NestedIn nesting = nested_in(kind);
    if (nesting == NestedIn::neither || interval.end <= interval.begin) continue;
    const std::size_t unit = std::min<std::size_t>(index_of(spans.unit[row]), units);
    InOrder& in_order = units_of_rows[2 * unit + std::size_t(nesting)];
    if (interval.begin < in_order.end) return {};
    in_order.begin = std::min(in_order.begin, interval.begin);
    in_order.end = interval.end;
  }
  return of_units;
}

// Where a look at the rows as they come shows that no span lies inside another, each has its whole
// time to itself. False: one may.
bool are_whole(const Profile& profile) {
  constexpr std::size_t rows_a_unit = 64, few_units = 1'024;
  const std::size_t units = profile.units.size();
  // Of very many units with few spans each, noting them would cost too much.
  if (units > few_units && profile.spans.size() / rows_a_unit < units) return false;
  const std::vector<RowRange> parts =
      ranges_of(profile.spans.size(), std::max<std::size_t>(65'536, rows_a_unit * units));
  std::vector<std::vector<InOrder>> of_parts(parts.size());
  std::atomic<bool> any = false;
  parallel_for(parts.size(), [&](std::size_t part) {
    if (any) return;
    of_parts[part] = in_order_of(profile, parts[part]);
    if (of_parts[part].empty()) any = true;
  });
  if (any) return false;
  std::vector<InOrder>& before = of_parts.front();
  for (std::size_t part = 1; part < parts.size(); ++part) {
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (of_parts[part][i].begin < before[i].end) return false;
      before[i].end = std::max(before[i].end, of_parts[part][i].end);
    }
  }
  return true;
}

}  // namespace

SelfTimes find_self_times(const Analysis& analysis) {
  const Profile& profile = analysis.profile();
  if (!profile.spans.own.empty()) return {profile.spans, profile.spans.own};
  if (are_whole(profile)) return SelfTimes(profile.spans);
  Column<std::int64_t> own;
  own.resize(profile.spans.size());
  const SpansByUnit& by_unit = analysis.spans_by_unit();
  PerThread<std::vector<std::int64_t>> own_of_unit;
  parallel_for(by_unit.groups(), [&](std::size_t group) {
    const SpansOfUnit spans = by_unit.spans_of(UnitId(std::uint32_t(group)));
    std::vector<std::int64_t>& of_unit = own_of_unit.mine();
    find_self_times(profile, spans, of_unit);
    for (std::size_t place = 0; place < spans.size(); ++place) {
      ask_ahead(own, spans, place);
      own[spans.row(place)] = of_unit[place];
    }
  });
  return {profile.spans, std::move(own)};
}

IntervalSet held_up(const Profile& profile, UnitId unit, SpansOfUnit spans) {
  const std::vector<Spans::HeldUp>& of_whole = profile.spans.held_up;
  if (of_whole.empty()) return held_within_work(spans);
  IntervalSet held;
  for (const Spans::HeldUp& each : of_whole) {
    if (each.unit == unit) append(held, {each.begin, each.end});
  }
  return held;
}

std::optional<ClockRate> clock_rate_during(const Profile& profile, Interval window) {
  const std::size_t base = index_of(profile.base_clock);
  const Clock clock = base < profile.clocks.size() ? profile.clocks[base] : Clock{};
  if (clock.rate.value > 0) return ClockRate{clock.rate};
  const Phase* shortest = nullptr;
  for (const Phase& phase : profile.phases) {
    const bool contains =
        phase.start <= window.begin && window.end <= saturating_add(phase.start, phase.duration);
    if (!contains || !(phase.microseconds > 0) || phase.duration <= 0) continue;
    if (shortest == nullptr || phase.duration < shortest->duration) shortest = &phase;
  }
  if (shortest != nullptr) {
    return ClockRate{Hertz{double(shortest->duration) / shortest->microseconds * 1e6}};
  }
  if (!(clock.derived_rate.value > 0)) return std::nullopt;
  return ClockRate{clock.derived_rate, Origin::derived, clock.derived_error};
}

std::optional<Hertz> rate_during(const Profile& profile, Interval window) {
  const auto known = clock_rate_during(profile, window);
  return known ? std::optional(known->rate) : std::nullopt;
}

}  // namespace npuscope::analysis
