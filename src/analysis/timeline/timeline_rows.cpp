#include "npuscope/analysis/timeline_rows.hpp"

#include <algorithm>
#include <functional>

#include "analysis/answers.hpp"
#include "analysis/timeline/span_groups.hpp"
#include "base/parallel.hpp"
#include "profile/append_interval.hpp"

namespace npuscope::analysis {

const char* name_of(RowsBy by) {
  constexpr const char* names[] = {"unit", "engine", "stage", "node", "kind", "op"};
  return names[std::size_t(by)];
}

namespace {

// What one unit did.
struct UnitActivity {
  IntervalSet work, occupied, compute, movement;
};

UnitActivity activity_of_row(const Profile& profile, UnitId unit,
                             std::span<const SpanOfUnit> spans) {
  UnitActivity activity;
  for (const SpanOfUnit& span : spans) {
    const Role role = role_of(span.kind);
    if (role != Role::work && role != Role::wait) continue;
    const Interval interval = span.interval();
    append(activity.occupied, interval);
    if (role == Role::wait) continue;
    append(activity.work, interval);
    const Domain domain = domain_of(profile, unit, span);
    if (domain == Domain::compute) append(activity.compute, interval);
    if (domain == Domain::movement) append(activity.movement, interval);
  }
  if (const IntervalSet held = held_within_work(spans); !held.empty()) {
    activity.work = difference_of(activity.work, held);
    activity.compute = difference_of(activity.compute, held);
    activity.movement = difference_of(activity.movement, held);
  }
  return activity;
}

class RowsBuilder {
 public:
  RowsBuilder(const Analysis& analysis, const TimelineRequest& request)
      : profile_(analysis.profile()),
        by_unit_(analysis.spans_by_unit()),
        self_times_(analysis.self_times()),
        request_(request) {}

  TimelineRows make();

 private:
  struct Group {
    std::uint32_t number = 0;
    std::uint64_t spans = 0, waits = 0;
    std::int64_t work = 0, waiting = 0;
    Interval of_work, of_waits;

    std::int64_t start() const { return spans > 0 ? of_work.begin : of_waits.begin; }
  };

  void set_window();
  void add_units();
  void add_concurrency(std::vector<IntervalSet> work_sets);
  void add_gaps(const IntervalSet& occupied);
  void sum_spans(const SpanGroups& groups);
  void keep_top();
  void add_rows(const SpanGroups& groups);
  void collect_intervals(const SpanGroups& groups, std::vector<std::vector<Interval>>& work,
                         std::vector<std::vector<Interval>>& waits) const;

  const Profile& profile_;
  const SpansByUnit& by_unit_;
  const std::vector<std::int64_t>& self_times_;
  const TimelineRequest& request_;
  std::vector<Group> groups_;
  TimelineRows found_;
};

void RowsBuilder::set_window() {
  const Interval ran = timeline_of(profile_);
  found_.window = request_.window.value_or(ran);
  if (length_of(ran) > 0) {
    found_.window.begin = std::min(found_.window.begin, ran.begin);
    found_.window.end = std::max(found_.window.end, ran.end);
  }
  found_.wall = length_of(found_.window);
}

void RowsBuilder::add_units() {
  const std::size_t units = profile_.units.size() + 1;
  std::vector<IntervalSet> work(units), occupied(units), compute(units), movement(units);
  parallel_for(units, [&](std::size_t unit) {
    const UnitId id = unit + 1 < units ? UnitId(std::uint32_t(unit)) : UnitId::none;
    UnitActivity activity = activity_of_row(profile_, id, by_unit_.spans_of(id));
    work[unit] = std::move(activity.work);
    occupied[unit] = std::move(activity.occupied);
    compute[unit] = std::move(activity.compute);
    movement[unit] = std::move(activity.movement);
  });
  const IntervalSet all_occupied = union_of_sets(std::move(occupied));
  found_.occupied.length = length_of(all_occupied);
  found_.idle = saturating_subtract(found_.wall, found_.occupied.length);
  add_gaps(all_occupied);
  const IntervalSet all_compute = union_of_sets(std::move(compute));
  const IntervalSet all_movement = union_of_sets(std::move(movement));
  found_.compute = length_of(all_compute);
  found_.movement = length_of(all_movement);
  found_.compute_and_movement = length_of(intersection_of(all_compute, all_movement));
  add_concurrency(std::move(work));
}

void RowsBuilder::add_concurrency(std::vector<IntervalSet> work_sets) {
  std::vector<Interval> all;
  std::size_t count = 0;
  for (const IntervalSet& set : work_sets) count += set.size();
  all.reserve(count);
  for (IntervalSet& set : work_sets) {
    all.insert(all.end(), set.begin(), set.end());
    set = {};
  }
  found_.concurrency = concurrency_of(all);
  auto& time_at = found_.concurrency.time_at;
  if (time_at.empty()) time_at.push_back(0);
  std::int64_t at_work = 0;
  double weighted = 0;
  for (std::size_t k = 1; k < time_at.size(); ++k) {
    at_work = saturating_add(at_work, time_at[k]);
    weighted += double(k) * double(time_at[k]);
  }
  found_.busy.length = at_work;
  found_.waits.length = saturating_subtract(found_.occupied.length, at_work);
  time_at[0] = saturating_subtract(found_.wall, at_work);
  found_.mean_concurrency = at_work > 0 ? weighted / double(at_work) : 0;
}

void RowsBuilder::add_gaps(const IntervalSet& occupied) {
  IntervalSet gaps = gaps_in(occupied, found_.window);
  found_.gap_count = gaps.size();
  const auto longer = [](const Interval& a, const Interval& b) {
    const std::int64_t of_a = length_of(a), of_b = length_of(b);
    return of_a != of_b ? of_a > of_b : a.begin < b.begin;
  };
  const auto kept = gaps.begin() + std::ptrdiff_t(std::min(gaps.size(), request_.gaps));
  std::partial_sort(gaps.begin(), kept, gaps.end(), longer);
  gaps.erase(kept, gaps.end());
  for (const Interval& gap : gaps) found_.gaps.push_back({gap});
}

void RowsBuilder::sum_spans(const SpanGroups& groups) {
  const Spans& spans = profile_.spans;
  groups_.resize(groups.count());
  const auto extend = [](Interval& extent, Interval interval, bool is_first) {
    extent = is_first ? interval
                      : Interval{std::min(extent.begin, interval.begin),
                                 std::max(extent.end, interval.end)};
  };
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const Role role = role_of(spans.kind[row]);
    found_.not_drawn += role == Role::overlay;
    if (role != Role::work && role != Role::wait) continue;
    Group& group = groups_[groups.of(row)];
    const Interval interval = interval_of(spans, row);
    if (role == Role::work) {
      extend(group.of_work, interval, group.spans == 0);
      group.work = saturating_add(group.work, self_times_[row]);
      group.spans += 1;
    } else {
      extend(group.of_waits, interval, group.waits == 0);
      group.waiting = saturating_add(group.waiting, self_times_[row]);
      group.waits += 1;
    }
  }
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    groups_[i].number = std::uint32_t(i);
    found_.busy.sum = saturating_add(found_.busy.sum, groups_[i].work);
    found_.waits.sum = saturating_add(found_.waits.sum, groups_[i].waiting);
  }
  found_.occupied.sum = saturating_add(found_.busy.sum, found_.waits.sum);
}

void RowsBuilder::keep_top() {
  std::erase_if(groups_, [](const Group& group) { return group.spans + group.waits == 0; });
  found_.row_count = groups_.size();
  const auto by_work = [](const Group& a, const Group& b) {
    if (a.work != b.work) return a.work > b.work;
    if (a.waiting != b.waiting) return a.waiting > b.waiting;
    return a.number < b.number;
  };
  const std::size_t kept = std::min(groups_.size(), request_.top);
  std::partial_sort(groups_.begin(), groups_.begin() + std::ptrdiff_t(kept), groups_.end(),
                    by_work);
  for (std::size_t i = kept; i < groups_.size(); ++i) {
    found_.work_left_out = saturating_add(found_.work_left_out, groups_[i].work);
  }
  groups_.resize(kept);
  if (request_.order == RowOrder::work) return;
  std::sort(groups_.begin(), groups_.end(), [&](const Group& a, const Group& b) {
    if (request_.order == RowOrder::start && a.start() != b.start()) return a.start() < b.start();
    return a.number < b.number;
  });
}

// What of a span of work its unit was not held up in.
void append_free(Interval interval, const IntervalSet& held, std::vector<Interval>& out) {
  auto next =
      std::lower_bound(held.begin(), held.end(), interval.begin,
                       [](const Interval& each, std::int64_t begin) { return each.end <= begin; });
  for (; next != held.end() && next->begin < interval.end; ++next) {
    out.push_back({interval.begin, next->begin});
    interval.begin = next->end;
  }
  out.push_back(interval);
}

void RowsBuilder::collect_intervals(const SpanGroups& groups,
                                    std::vector<std::vector<Interval>>& work,
                                    std::vector<std::vector<Interval>>& waits) const {
  constexpr auto left_out = ~std::uint32_t{0};
  std::vector<std::uint32_t> place(groups.count(), left_out);
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    place[groups_[i].number] = std::uint32_t(i);
    work[i].reserve(groups_[i].spans);
    waits[i].reserve(groups_[i].waits);
  }
  // An op's own row has all of it; a row of hardware, what that worked.
  const bool of_hardware = request_.by == RowsBy::unit || request_.by == RowsBy::engine;
  std::vector<IntervalSet> held(profile_.units.size() + 1);
  for (std::size_t unit = 0; of_hardware && unit < profile_.units.size(); ++unit) {
    held[unit] = held_within_work(by_unit_.spans_of(UnitId(std::uint32_t(unit))));
  }
  const Spans& spans = profile_.spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const Role role = role_of(spans.kind[row]);
    if (role != Role::work && role != Role::wait) continue;
    const std::uint32_t to = place[groups.of(row)];
    if (to == left_out) continue;
    const std::size_t unit = std::min<std::size_t>(index_of(spans.unit[row]), held.size() - 1);
    if (role == Role::wait) {
      waits[to].push_back(interval_of(spans, row));
    } else if (held[unit].empty()) {
      work[to].push_back(interval_of(spans, row));
    } else {
      append_free(interval_of(spans, row), held[unit], work[to]);
    }
  }
}

void RowsBuilder::add_rows(const SpanGroups& groups) {
  std::vector<std::vector<Interval>> work(groups_.size()), waits(groups_.size());
  collect_intervals(groups, work, waits);
  found_.rows.resize(groups_.size());
  parallel_for(groups_.size(), [&](std::size_t i) {
    const Group& group = groups_[i];
    TimelineRow& row = found_.rows[i];
    row.label = groups.label(group.number);
    row.group = group.number;
    row.spans = group.spans;
    row.work = group.work;
    row.span = length_of(group.spans > 0 ? group.of_work : group.of_waits);
    row.work_set = union_of(std::move(work[i]));
    row.wait_set = difference_of(union_of(std::move(waits[i])), row.work_set);
    row.busy = length_of(row.work_set);
    row.waiting = length_of(row.wait_set);
    row.idle = saturating_subtract(found_.wall, saturating_add(row.busy, row.waiting));
    for (const Interval& gap : gaps_in(union_of(row.work_set, row.wait_set), found_.window)) {
      row.longest_idle = std::max(row.longest_idle, length_of(gap));
    }
  });
}

// Spans at the edges of gaps, the first of the profile where there are several.
class Neighbours {
 public:
  explicit Neighbours(const std::vector<TimelineGap>& gaps)
      : begins_(edges_of(gaps, [](const Interval& gap) { return gap.begin; })),
        ends_(edges_of(gaps, [](const Interval& gap) { return gap.end; })) {}

  // Fills in those among the rows from first to last.
  void find(const Spans& spans, std::size_t first, std::size_t last,
            std::vector<TimelineGap>& gaps) const {
    for (std::size_t row = first; row < last; ++row) {
      const Role role = role_of(spans.kind[row]);
      if ((role != Role::work && role != Role::wait) || spans.duration[row] <= 0) continue;
      const Interval interval = interval_of(spans, row);
      if (const auto gap = gap_at(begins_, interval.end)) {
        if (gaps[*gap].before == TimelineGap::none) gaps[*gap].before = std::uint32_t(row);
      }
      if (const auto gap = gap_at(ends_, interval.begin)) {
        if (gaps[*gap].after == TimelineGap::none) gaps[*gap].after = std::uint32_t(row);
      }
    }
  }

 private:
  using Edges = std::vector<std::pair<std::int64_t, std::size_t>>;  // time and gap, sorted

  template <class Edge>
  static Edges edges_of(const std::vector<TimelineGap>& gaps, const Edge& edge) {
    Edges edges;
    for (std::size_t i = 0; i < gaps.size(); ++i) edges.push_back({edge(gaps[i].interval), i});
    std::sort(edges.begin(), edges.end());
    return edges;
  }

  static std::optional<std::size_t> gap_at(const Edges& edges, std::int64_t time) {
    const auto found = std::lower_bound(edges.begin(), edges.end(), std::pair{time, std::size_t{}});
    if (found == edges.end() || found->first != time) return std::nullopt;
    return found->second;
  }

  Edges begins_, ends_;
};

void find_neighbours(const Profile& profile, std::vector<TimelineGap>& gaps) {
  if (gaps.empty()) return;
  const Neighbours neighbours(gaps);
  const std::size_t rows = profile.spans.size();
  constexpr std::size_t rows_of_part = 262'144;
  std::vector<std::vector<TimelineGap>> parts((rows + rows_of_part - 1) / rows_of_part, gaps);
  parallel_for(parts.size(), [&](std::size_t part) {
    const std::size_t first = part * rows_of_part;
    neighbours.find(profile.spans, first, std::min(rows, first + rows_of_part), parts[part]);
  });
  for (const std::vector<TimelineGap>& part : parts) {
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      if (gaps[i].before == TimelineGap::none) gaps[i].before = part[i].before;
      if (gaps[i].after == TimelineGap::none) gaps[i].after = part[i].after;
    }
  }
}

TimelineRows RowsBuilder::make() {
  found_.by = request_.by;
  set_window();
  const SpanGroups groups(profile_, request_.by);
  // These fill different members, so that they can be filled side by side.
  const std::function<void()> questions[] = {
      [&] { sum_spans(groups); }, [&] { add_units(); },
      [&] { found_.inferences = inference_walls(profile_); }};
  parallel_for(std::size(questions), [&](std::size_t i) { questions[i](); });
  find_neighbours(profile_, found_.gaps);
  keep_top();
  add_rows(groups);
  return std::move(found_);
}

}  // namespace

TimelineRows find_timeline(const Analysis& analysis, const TimelineRequest& request) {
  return RowsBuilder(analysis, request).make();
}

}  // namespace npuscope::analysis
