#include "npuscope/analysis/timeline_rows.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "analysis/answers.hpp"
#include "analysis/timeline/span_groups.hpp"
#include "analysis/units/unit_busy.hpp"
#include "base/counting_sort.hpp"
#include "base/parallel.hpp"
#include "npuscope/profile/column.hpp"
#include "profile/interval_sets.hpp"

namespace npuscope::analysis {

const char* name_of(RowsBy by) {
  constexpr const char* names[] = {"unit", "engine", "stage", "node", "kind", "op"};
  return names[std::size_t(by)];
}

namespace {

class RowsBuilder {
 public:
  RowsBuilder(const Analysis& analysis, const TimelineRequest& request)
      : analysis_(analysis),
        profile_(analysis.profile()),
        self_times_(analysis.self_times()),
        request_(request) {}

  TimelineRows make();

 private:
  struct Group {
    std::uint32_t number = 0;
    std::uint64_t spans = 0, waits = 0;
    std::int64_t work = 0, waiting = 0;
    Interval of_work = no_extent, of_waits = no_extent;

    void add(Role role, Interval interval, std::int64_t own) {
      const bool works = role == Role::work;
      extend_by(works ? of_work : of_waits, interval);
      std::int64_t& sum = works ? work : waiting;
      sum = saturating_add(sum, own);
      (works ? spans : waits) += 1;
    }
    void add(const Group& other) {
      extend_by(of_work, other.of_work);
      extend_by(of_waits, other.of_waits);
      work = saturating_add(work, other.work);
      waiting = saturating_add(waiting, other.waiting);
      spans += other.spans;
      waits += other.waits;
    }

    std::int64_t start() const { return spans > 0 ? of_work.begin : of_waits.begin; }
  };

  void set_window();
  void add_units();
  void add_concurrency();
  void add_gaps(const IntervalSet& occupied);
  void sum_spans(const SpanGroups& groups);
  void keep_top();
  void add_rows(const SpanGroups& groups);
  void find_sets(const SpanGroups& groups);
  void find_sets_of_units();
  void find_sets_of_engines();
  void find_sets_of_ops(const SpanGroups& groups);
  std::array<IntervalSet, engine_count> waits_of_engines() const;

  const Analysis& analysis_;
  const Profile& profile_;
  const SelfTimes& self_times_;
  const TimelineRequest& request_;
  std::vector<Group> groups_;
  TimelineRows found_;
};

void RowsBuilder::set_window() {
  const Interval ran = analysis_.timeline_extent();
  found_.window = request_.window.value_or(ran);
  if (length_of(ran) > 0) {
    found_.window.begin = std::min(found_.window.begin, ran.begin);
    found_.window.end = std::max(found_.window.end, ran.end);
  }
  found_.wall = length_of(found_.window);
}

void RowsBuilder::add_units() {
  const BusyTogether& busy = analysis_.busy_together();
  std::vector<const IntervalSet*> sets{&busy.dma_waits, &busy.other_waits};
  for (const IntervalSet& of_domain : busy.domains) sets.push_back(&of_domain);
  const SeenUnion seen(std::move(sets));
  const IntervalSet& occupied = seen.all();
  found_.occupied.length = length_of(occupied);
  found_.idle = saturating_subtract(found_.wall, found_.occupied.length);
  add_gaps(occupied);
  const IntervalSet &compute = busy.of(Domain::compute), &movement = busy.of(Domain::movement);
  found_.compute = length_of(compute);
  found_.movement = length_of(movement);
  found_.compute_and_movement = length_of(intersection_of(compute, movement));
  add_concurrency();
}

void RowsBuilder::add_concurrency() {
  found_.concurrency = analysis_.concurrency();
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
  const auto longer = [](const Interval& a, const Interval& b) {
    const std::int64_t of_a = length_of(a), of_b = length_of(b);
    return of_a != of_b ? of_a > of_b : a.begin < b.begin;
  };
  std::vector<Interval> kept;  // a heap, the shortest on top
  for_each_gap(occupied, found_.window, [&](Interval gap) {
    found_.gap_count += 1;
    const bool is_full = kept.size() >= request_.gaps;
    if (is_full && (kept.empty() || !longer(gap, kept.front()))) return;
    kept.push_back(gap);
    std::push_heap(kept.begin(), kept.end(), longer);
    if (!is_full) return;
    std::pop_heap(kept.begin(), kept.end(), longer);
    kept.pop_back();
  });
  std::sort_heap(kept.begin(), kept.end(), longer);
  for (const Interval& gap : kept) found_.gaps.push_back({gap});
}

void RowsBuilder::sum_spans(const SpanGroups& groups) {
  const Spans& spans = profile_.spans;
  struct Part {
    std::vector<Group> groups;
    std::uint64_t not_drawn = 0;
  };
  const std::vector<RowRange> ranges =
      ranges_of(spans.size(), std::max<std::size_t>(65'536, 8 * groups.count()));
  std::vector<Part> parts(ranges.size());
  parallel_for(parts.size(), [&](std::size_t i) {
    Part& part = parts[i];
    part.groups.resize(groups.count());
    Group* const groups_of_part = part.groups.data();
    const SelfTimes& own = self_times_;
    // All is looked up for every row, so that the compiler can keep where the columns are.
    for (std::size_t row = ranges[i].first; row < ranges[i].last; ++row) {
      const Role role = role_of(spans.kind[row]);
      const std::uint32_t group = groups.of(row);
      const Interval interval = interval_of(spans, row);
      part.not_drawn += role == Role::overlay;
      if (role != Role::work && role != Role::wait) continue;
      groups_of_part[group].add(role, interval, own[row]);
    }
  });
  groups_.resize(groups.count());
  for (const Part& part : parts) {
    found_.not_drawn += part.not_drawn;
    for (std::size_t i = 0; i < groups_.size(); ++i) groups_[i].add(part.groups[i]);
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

void RowsBuilder::find_sets_of_units() {
  std::vector<const UnitBusy*> busy(profile_.units.size() + 1, nullptr);
  for (const UnitBusy& unit : analysis_.unit_busy()) {
    busy[std::min<std::size_t>(index_of(unit.unit), profile_.units.size())] = &unit;
  }
  parallel_for(groups_.size(), [&](std::size_t i) {
    const UnitBusy* unit = busy[groups_[i].number];
    if (unit == nullptr) return;
    found_.rows[i].work_set = unit->busy;
    found_.rows[i].wait_set = union_of_many({&unit->syncs, &unit->barriers, &unit->dma_waits});
  });
}

// When waits of ops kept each class of hardware.
std::array<IntervalSet, engine_count> RowsBuilder::waits_of_engines() const {
  const std::vector<UnitBusy>& units = analysis_.unit_busy();
  const auto waits_for_one = [](const UnitBusy& unit) {
    return std::has_single_bit(unit.wait_engines);
  };
  const SpanEngines engines(profile_);
  std::vector<std::array<IntervalSet, engine_count>> of_several(units.size());
  parallel_for(units.size(), [&](std::size_t i) {
    if (units[i].wait_engines == 0 || waits_for_one(units[i])) return;
    for (const SpanOfUnit& span : analysis_.spans_by_unit().spans_of(units[i].unit)) {
      if (role_of(span.kind) != Role::wait) continue;
      append(of_several[i][std::size_t(engines.of(span.op, units[i].unit, span.kind))],
             span.interval());
    }
  });
  std::array<IntervalSet, engine_count> waits;
  parallel_for(engine_count, [&](std::size_t engine) {
    std::vector<const IntervalSet*> sets;
    for (std::size_t i = 0; i < units.size(); ++i) {
      sets.push_back(&of_several[i][engine]);
      if (!waits_for_one(units[i]) || (units[i].wait_engines >> engine & 1) == 0) continue;
      for (const auto* set : {&units[i].syncs, &units[i].barriers, &units[i].dma_waits}) {
        sets.push_back(set);
      }
    }
    waits[engine] = union_of_many(std::move(sets));
  });
  return waits;
}

void RowsBuilder::find_sets_of_engines() {
  const bool any_waits = std::any_of(groups_.begin(), groups_.end(),
                                     [](const Group& group) { return group.waits > 0; });
  std::array<IntervalSet, engine_count> waits;
  if (any_waits) waits = waits_of_engines();
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const std::uint32_t engine = groups_[i].number;
    found_.rows[i].work_set = analysis_.busy_together().engines[engine];
    found_.rows[i].wait_set = std::move(waits[engine]);
  }
}

// An op's own row has all of it, what its unit was held up in, too.
void RowsBuilder::find_sets_of_ops(const SpanGroups& groups) {
  std::vector<std::uint32_t> place(groups.count(), counting_sort_leaves_out);
  for (std::size_t i = 0; i < groups_.size(); ++i) place[groups_[i].number] = std::uint32_t(i);
  const Spans& spans = profile_.spans;
  CountingSort by_row(spans.size(), 2 * groups_.size(), [&](std::size_t row) {
    const Role role = role_of(spans.kind[row]);
    if (role != Role::work && role != Role::wait) return counting_sort_leaves_out;
    const std::uint32_t to = place[groups.of(row)];
    return to == counting_sort_leaves_out ? to : 2 * to + std::uint32_t(role == Role::wait);
  });
  Column<Interval> sorted;
  sorted.resize(by_row.size());
  by_row.place([&](std::size_t row, std::uint32_t to) { sorted[to] = interval_of(spans, row); });
  parallel_for(2 * groups_.size(), [&](std::size_t i) {
    const auto first = sorted.begin() + by_row.first()[i];
    TimelineRow& row = found_.rows[i / 2];
    (i % 2 == 0 ? row.work_set : row.wait_set) =
        union_of({first, sorted.begin() + by_row.first()[i + 1]});
  });
}

void RowsBuilder::find_sets(const SpanGroups& groups) {
  switch (request_.by) {
    case RowsBy::unit: return find_sets_of_units();
    case RowsBy::engine: return find_sets_of_engines();
    default: return find_sets_of_ops(groups);
  }
}

void RowsBuilder::add_rows(const SpanGroups& groups) {
  found_.rows.resize(groups_.size());
  find_sets(groups);
  parallel_for(groups_.size(), [&](std::size_t i) {
    const Group& group = groups_[i];
    TimelineRow& row = found_.rows[i];
    row.label = groups.label(group.number);
    row.group = group.number;
    row.spans = group.spans;
    row.work = group.work;
    row.span = length_of(group.spans > 0 ? group.of_work : group.of_waits);
    row.wait_set = difference_of(row.wait_set, row.work_set);
    row.busy = length_of(row.work_set);
    row.waiting = length_of(row.wait_set);
    row.idle = saturating_subtract(found_.wall, saturating_add(row.busy, row.waiting));
    const SeenUnion seen({&row.work_set, &row.wait_set});
    for_each_gap(seen.all(), found_.window, [&](Interval gap) {
      row.longest_idle = std::max(row.longest_idle, length_of(gap));
    });
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
  if (request_.only_rows) {
    sum_spans(groups);
  } else {
    // These fill different members, so that they can be filled side by side.
    parallel_for(2, [&](std::size_t which) { which == 0 ? sum_spans(groups) : add_units(); });
    found_.inferences = walls_of(analysis_.inference_extents());
    find_neighbours(profile_, found_.gaps);
  }
  keep_top();
  add_rows(groups);
  return std::move(found_);
}

}  // namespace

TimelineRows find_timeline(const Analysis& analysis, const TimelineRequest& request) {
  return RowsBuilder(analysis, request).make();
}

}  // namespace npuscope::analysis
