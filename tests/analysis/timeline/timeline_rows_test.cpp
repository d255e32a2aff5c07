#include "npuscope/analysis/timeline_rows.hpp"
#include "npuscope/analysis/analysis.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <limits>
#include <map>
#include <random>

#include "analysis/profile_builder.hpp"
#include "npuscope/analysis/timeline_cells.hpp"
#include "sanitized.hpp"

namespace npuscope::analysis::timeline_rows_test {
namespace {

using npuscope::test_support::ProfileBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TimelineRows rows_of(const Profile& profile, const TimelineRequest& request = {}) {
  return Analysis(profile).timeline(request);
}

TimelineCells cells_of(const Profile& profile, const TimelineRows& rows,
                       const CellsRequest& request) {
  return Analysis(profile).cells(rows, request);
}

std::vector<std::string> labels_of(const TimelineRows& rows) {
  std::vector<std::string> labels;
  for (const TimelineRow& row : rows.rows) labels.push_back(row.label);
  return labels;
}

// HMX works 0-40 and 60-80, waits 40-50; HVX works 30-70; nothing 80-90; HMX 90-100.
Profile two_units() {
  ProfileBuilder made;
  const UnitId hmx = made.unit("HMX", Engine::hmx), hvx = made.unit("HVX", Engine::hvx);
  made.span(hmx, "MatMul_0", 0, 40, SpanKind::op, "conv");
  made.span(hmx, "MatMul_0", 40, 50, SpanKind::dma_wait, "conv");
  made.span(hvx, "Softmax_1", 30, 70, SpanKind::op, "softmax");
  made.span(hmx, "MatMul_2", 60, 80, SpanKind::op, "conv");
  made.span(hmx, "MatMul_2", 90, 100, SpanKind::op, "conv");
  return std::move(made.profile);
}

TEST(TimelineRows, BusyWaitingAndIdleAddUpToTheWall) {
  const TimelineRows found = rows_of(two_units());
  EXPECT_EQ(found.wall, 100);
  ASSERT_THAT(labels_of(found), ElementsAre("HMX", "HVX"));
  const TimelineRow& hmx = found.rows[0];
  EXPECT_EQ(hmx.work, 70);
  EXPECT_EQ(hmx.busy, 70);
  EXPECT_EQ(hmx.waiting, 10);
  EXPECT_EQ(hmx.idle, 20);
  EXPECT_EQ(hmx.span, 100);
  EXPECT_EQ(hmx.longest_idle, 10);
  const TimelineRow& hvx = found.rows[1];
  EXPECT_EQ(hvx.busy, 40);
  EXPECT_EQ(hvx.span, 40);
  EXPECT_EQ(hvx.longest_idle, 30);
}

TEST(TimelineRows, TheWallIsWorkWaitsAndIdle) {
  const TimelineRows found = rows_of(two_units());
  EXPECT_EQ(found.busy.length, 90);
  EXPECT_EQ(found.busy.sum, 110);
  EXPECT_EQ(found.waits.sum, 10);
  EXPECT_EQ(found.waits.length, 0) << "the HVX works meanwhile";
  EXPECT_EQ(found.occupied.length, 90);
  EXPECT_EQ(found.occupied.sum, 120);
  EXPECT_EQ(found.idle, 10);
  EXPECT_THAT(found.concurrency.time_at, ElementsAre(10, 70, 20));
  EXPECT_DOUBLE_EQ(found.mean_concurrency, 110.0 / 90);
  EXPECT_EQ(found.compute, 90);
  EXPECT_EQ(found.movement, 0);
}

TEST(TimelineRows, AGapSaysWhatRanBeforeAndAfter) {
  const Profile profile = two_units();
  const TimelineRows found = rows_of(profile);
  EXPECT_EQ(found.gap_count, 1u);
  ASSERT_EQ(found.gaps.size(), 1u);
  EXPECT_EQ(found.gaps[0].interval, (Interval{80, 90}));
  EXPECT_EQ(found.gaps[0].before, 3u);
  EXPECT_EQ(found.gaps[0].after, 4u);
}

// So many spans that several threads look for them: the first of the profile counts, and what runs
// before the gap comes last.
TEST(TimelineRows, AGapBetweenManySpansSaysWhatRanBeforeAndAfter) {
  ProfileBuilder made;
  const UnitId first = made.unit("HMX", Engine::hmx), second = made.unit("HVX", Engine::hvx);
  for (std::int64_t i = 0; i < 300'000; ++i) {
    made.span(i % 2 ? first : second, "", 2'000'000 + i, 2'000'001 + i);
  }
  made.span(second, "", 2'000'000, 2'000'002);
  for (std::int64_t i = 0; i < 300'000; ++i) made.span(first, "", i, i + 1);
  made.span(second, "", 299'990, 300'000);
  const TimelineRows found = rows_of(made.profile);
  ASSERT_EQ(found.gaps.size(), 1u);
  EXPECT_EQ(found.gaps[0].interval, (Interval{300'000, 2'000'000}));
  EXPECT_EQ(found.gaps[0].before, 600'000u);
  EXPECT_EQ(found.gaps[0].after, 0u);
}

TEST(TimelineRows, AWindowIsDrawnWhereNothingRanToo) {
  const TimelineRows found = rows_of(two_units(), {.window = Interval{-20, 130}});
  EXPECT_EQ(found.wall, 150);
  EXPECT_EQ(found.idle, 60);
  ASSERT_EQ(found.gaps.size(), 3u);
  EXPECT_EQ(found.gaps[0].interval, (Interval{100, 130}));
  EXPECT_EQ(found.gaps[0].before, 4u);
  EXPECT_EQ(found.gaps[0].after, TimelineGap::none);
}

TEST(TimelineRows, RowsOfOpsHaveWhatRanOnAllUnits) {
  const Profile profile = two_units();
  EXPECT_THAT(labels_of(rows_of(profile, {.by = RowsBy::kind})), ElementsAre("conv", "softmax"));
  EXPECT_THAT(labels_of(rows_of(profile, {.by = RowsBy::engine})), ElementsAre("HVX", "HMX"));
  EXPECT_THAT(labels_of(rows_of(profile, {.by = RowsBy::op, .order = RowOrder::work})),
              ElementsAre("MatMul_0", "Softmax_1", "MatMul_2"));
  EXPECT_THAT(labels_of(rows_of(profile, {.by = RowsBy::stage})), ElementsAre("(no stage)"));
}

TEST(TimelineRows, TheTopAreThoseWithMostWorkInTheOrderAskedFor) {
  const TimelineRows found =
      rows_of(two_units(), {.by = RowsBy::op, .order = RowOrder::start, .top = 2});
  EXPECT_THAT(labels_of(found), ElementsAre("MatMul_0", "Softmax_1"));
  EXPECT_EQ(found.row_count, 3u);
  EXPECT_EQ(found.work_left_out, 30);
}

// A trace shows each op twice, under all and under its operator, and adding durations up would say
// 33.33 M cycles of work where there are 16.67 M. Four threads of an op whose slices hold nested
// ones: the same trap in one unit.
TEST(TimelineRows, WhatIsRecordedTwiceCountsOnce) {
  ProfileBuilder made;
  for (const char* thread : {"HVX 0", "HVX 1", "HVX 2", "HVX 3"}) {
    const UnitId unit = made.unit(thread, Engine::hvx);
    made.span(unit, "GdnSolve_0", 0, 100, SpanKind::slice, "operator");
    made.span(unit, "GdnSolvePackage::GdnSolve", 0, 100, SpanKind::slice, "kernel");
  }
  const TimelineRows found = rows_of(made.profile);
  EXPECT_EQ(found.busy.sum, 400);
  for (const TimelineRow& row : found.rows) {
    EXPECT_EQ(row.work, 100);
    EXPECT_EQ(row.busy, 100);
  }
  const TimelineCells cells = cells_of(made.profile, found, {.columns = 7});
  for (const auto& row : cells.rows) {
    std::int64_t busy = 0;
    for (const TimelineCell& cell : row) busy += cell.busy;
    EXPECT_EQ(busy, 100);
  }
}

TEST(TimelineRows, AnEmptyProfileHasNoRows) {
  ProfileBuilder made;
  const TimelineRows found = rows_of(made.profile);
  EXPECT_EQ(found.wall, 0);
  EXPECT_THAT(found.rows, IsEmpty());
  EXPECT_THAT(found.gaps, IsEmpty());
  EXPECT_EQ(cells_of(made.profile, found, {}).columns.count(), 0u);
}

TEST(TimelineRows, AForgedProfileIsAnsweredWithoutOverflow) {
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  constexpr auto smallest = std::numeric_limits<std::int64_t>::min();
  ProfileBuilder made;
  const UnitId unit = made.unit("HMX", Engine::hmx);
  made.span(unit, "a", 0, 1);
  Spans& spans = made.profile.spans;
  for (const auto& [start, duration] : {std::pair{smallest, largest}, std::pair{largest, largest},
                                        std::pair{smallest, smallest}, std::pair{smallest, 1L}}) {
    spans.unit.push_back(UnitId{77});
    spans.op.push_back(OpId{99});
    spans.kind.push_back(SpanKind::op);
    spans.start.push_back(start);
    spans.duration.push_back(duration);
  }
  made.profile.units[0].parent = unit;
  for (const RowsBy by :
       {RowsBy::unit, RowsBy::engine, RowsBy::stage, RowsBy::node, RowsBy::kind, RowsBy::op}) {
    const TimelineRows found = rows_of(made.profile, {.by = by});
    EXPECT_EQ(found.wall, largest);
    const TimelineCells cells = cells_of(made.profile, found, {.columns = 60, .fill = RowsBy::op});
    EXPECT_EQ(cells.columns.begin_of(0), smallest);
    EXPECT_EQ(cells.columns.begin_of(60), largest);
    EXPECT_EQ(cells.columns.column_of(largest), 59u);
  }
}

TEST(TimelineColumns, AreNeverMoreThanTicks) {
  const TimelineColumns columns({10, 13}, 100);
  ASSERT_EQ(columns.count(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(columns.length_of(i), 1);
  EXPECT_EQ(columns.column_of(12), 2u);
}

TEST(TimelineColumns, EveryTickIsInTheColumnThatBeginsBeforeIt) {
  for (std::int64_t length = 1; length < 70; ++length) {
    for (std::size_t max = 1; max < 80; max += 3) {
      const TimelineColumns columns({-5, -5 + length}, max);
      for (std::int64_t time = -5; time < -5 + length; ++time) {
        const std::size_t column = columns.column_of(time);
        ASSERT_LE(columns.begin_of(column), time);
        ASSERT_GT(columns.begin_of(column + 1), time);
      }
    }
  }
}

// ---- the slow twin: everything tick by tick

constexpr std::int64_t last_tick = 60;

Profile random_profile(std::mt19937& random) {
  const auto below = [&](std::uint32_t bound) { return std::uint32_t(random() % bound); };
  ProfileBuilder made;
  const Engine engines[] = {Engine::hmx, Engine::hvx, Engine::dma, Engine::thread};
  const std::uint32_t units = 1 + below(4);
  for (std::uint32_t i = 0; i < units; ++i) made.unit("unit", engines[below(4)]);
  const char* names[] = {"/layers.0/a/MatMul", "/layers.0/b/Add", "/layers.1/a/MatMul", "Cast_3",
                         ""};
  const char* kinds[] = {"conv", "add", ""};
  const SpanKind span_kinds[] = {SpanKind::op,   SpanKind::op,       SpanKind::slice,
                                 SpanKind::sync, SpanKind::transfer, SpanKind::dma_wait,
                                 SpanKind::async};
  const std::uint32_t spans = below(14);
  for (std::uint32_t i = 0; i < spans; ++i) {
    const UnitId unit = below(12) == 0 ? UnitId::none : UnitId(below(units));
    const auto start = std::int64_t(below(last_tick));
    const auto length = std::int64_t(below(4) == 0 ? below(25) : below(8));
    made.span(unit, names[below(5)], start, start + length, span_kinds[below(7)], kinds[below(3)]);
  }
  for (Op& op : made.profile.ops) {
    if (below(3) == 0) op.engine = Engine::dma;
    if (below(3) == 0) op.node = made.text("/layers.1/c/Node");
  }
  return std::move(made.profile);
}

class Twin {
 public:
  Twin(const Profile& profile, Interval window) : profile_(profile), window_(window) {}

  bool runs(std::size_t row, std::int64_t tick, Role role) const {
    const Spans& spans = profile_.spans;
    return role_of(spans.kind[row]) == role && spans.start[row] <= tick &&
           tick < spans.start[row] + spans.duration[row];
  }
  bool any(std::int64_t tick, Role role, const std::function<bool(std::size_t)>& belongs) const {
    for (std::size_t row = 0; row < profile_.spans.size(); ++row) {
      if (belongs(row) && runs(row, tick, role)) return true;
    }
    return false;
  }

  std::string label(std::size_t row, RowsBy by) const {
    const Spans& spans = profile_.spans;
    const auto unit = index_of(spans.unit[row]);
    if (by == RowsBy::unit) return unit == index_of(UnitId::none) ? "none" : std::to_string(unit);
    const std::size_t op_id = index_of(spans.op[row]);
    const Op* op = op_id < profile_.ops.size() ? &profile_.ops[op_id] : nullptr;
    if (by == RowsBy::engine) return name_of(engine_of(profile_, row));
    if (op == nullptr) return "(no op)";
    const std::string name(profile_.text(op->name));
    const std::string node =
        profile_.text(op->node).empty() ? name : std::string(profile_.text(op->node));
    if (by == RowsBy::op) return name.empty() ? "(no name)" : name;
    if (by == RowsBy::node) return node.empty() ? "(no name)" : node;
    if (by == RowsBy::stage) return node.starts_with("/layers") ? node.substr(0, 9) : "(no stage)";
    const std::string kind(profile_.text(op->kind));
    return kind.empty() ? "(no kind)" : kind;
  }

  // The innermost work span of a unit, if any.
  std::optional<std::size_t> innermost(std::int64_t tick, std::uint32_t unit) const {
    const Spans& spans = profile_.spans;
    std::optional<std::size_t> best;
    const auto is_inside = [&](std::size_t a, std::size_t b) {  // a comes after b
      if (spans.start[a] != spans.start[b]) return spans.start[a] > spans.start[b];
      if (spans.duration[a] != spans.duration[b]) return spans.duration[a] < spans.duration[b];
      return a > b;
    };
    for (std::size_t row = 0; row < spans.size(); ++row) {
      if (index_of(spans.unit[row]) != unit || !runs(row, tick, Role::work)) continue;
      if (!best || is_inside(row, *best)) best = row;
    }
    return best;
  }

  std::size_t column_of(std::int64_t tick, std::size_t columns) const {
    const std::int64_t length = window_.end - window_.begin;
    std::size_t column = 0;
    while (column + 1 < columns &&
           window_.begin + length * std::int64_t(column + 1) / std::int64_t(columns) <= tick) {
      ++column;
    }
    return column;
  }

 private:
  const Profile& profile_;
  Interval window_;
};

void expect_same_rows(const Profile& profile, const TimelineRows& found, const Twin& twin) {
  std::int64_t work = 0;
  for (const TimelineRow& row : found.rows) {
    const auto belongs = [&](std::size_t span) {
      const std::string label = twin.label(span, found.by);
      if (found.by != RowsBy::unit) return label == row.label;
      return label == (row.group < profile.units.size() ? std::to_string(row.group) : "none");
    };
    std::int64_t busy = 0, waiting = 0, idle = 0, longest_idle = 0, idle_since = found.window.begin;
    for (std::int64_t tick = found.window.begin; tick < found.window.end; ++tick) {
      const bool works = twin.any(tick, Role::work, belongs);
      const bool waits = !works && twin.any(tick, Role::wait, belongs);
      busy += works;
      waiting += waits;
      idle += !works && !waits;
      if (works || waits) idle_since = tick + 1;
      longest_idle = std::max(longest_idle, tick + 1 - idle_since);
    }
    ASSERT_EQ(row.busy, busy) << row.label << " by " << int(found.by);
    ASSERT_EQ(row.waiting, waiting);
    ASSERT_EQ(row.idle, idle);
    ASSERT_EQ(row.longest_idle, longest_idle);
    // What is nested inside is active for both, work of the inner one only.
    if (found.by == RowsBy::unit) {
      ASSERT_GE(row.work, row.busy);
    }
    work += row.work;
  }
  ASSERT_EQ(work, found.busy.sum);
}

void expect_same_wall(const Profile& profile, const TimelineRows& found, const Twin& twin) {
  std::int64_t busy = 0, waits = 0, both = 0;
  std::map<std::size_t, std::int64_t> at_once;
  std::vector<Interval> gaps;
  const auto any_row = [](std::size_t) { return true; };
  const auto of_domain = [&](Domain domain) {
    return [&profile, domain](std::size_t row) { return domain_of(profile, row) == domain; };
  };
  for (std::int64_t tick = found.window.begin; tick < found.window.end; ++tick) {
    const bool works = twin.any(tick, Role::work, any_row);
    const bool idle = !works && !twin.any(tick, Role::wait, any_row);
    busy += works;
    waits += !works && !idle;
    both += twin.any(tick, Role::work, of_domain(Domain::compute)) &&
            twin.any(tick, Role::work, of_domain(Domain::movement));
    std::size_t units = 0;
    for (std::uint32_t unit = 0; unit < profile.units.size(); ++unit) {
      units += twin.innermost(tick, unit).has_value();
    }
    units += twin.innermost(tick, index_of(UnitId::none)).has_value();
    at_once[units] += 1;
    if (idle && !gaps.empty() && gaps.back().end == tick) {
      gaps.back().end = tick + 1;
    } else if (idle) {
      gaps.push_back({tick, tick + 1});
    }
  }
  ASSERT_EQ(found.busy.length, busy);
  ASSERT_EQ(found.waits.length, waits);
  ASSERT_EQ(found.compute_and_movement, both);
  for (std::size_t k = 0; k < found.concurrency.time_at.size(); ++k) {
    ASSERT_EQ(found.concurrency.time_at[k], at_once[k]) << k;
  }
  std::stable_sort(gaps.begin(), gaps.end(), [](const Interval& a, const Interval& b) {
    return a.end - a.begin > b.end - b.begin;
  });
  ASSERT_EQ(found.gap_count, gaps.size());
  for (std::size_t i = 0; i < found.gaps.size(); ++i) {
    ASSERT_EQ(found.gaps[i].interval, gaps[i]);
    const Spans& spans = profile.spans;
    if (const auto row = found.gaps[i].before; row != TimelineGap::none) {
      ASSERT_EQ(spans.start[row] + spans.duration[row], gaps[i].begin);
    } else {
      ASSERT_EQ(gaps[i].begin, found.window.begin);
    }
    if (const auto row = found.gaps[i].after; row != TimelineGap::none) {
      ASSERT_EQ(spans.start[row], gaps[i].end);
    } else {
      ASSERT_EQ(gaps[i].end, found.window.end);
    }
  }
}

void expect_same_cells(const Profile& profile, const TimelineRows& rows, const TimelineCells& cells,
                       const Twin& twin, RowsBy fill) {
  const std::size_t columns = cells.columns.count();
  using Place = std::pair<std::string, std::size_t>;  // row and column
  std::map<Place, std::map<std::string, std::int64_t>> innermost;
  std::vector<std::uint32_t> units{index_of(UnitId::none)};
  for (std::uint32_t unit = 0; unit < profile.units.size(); ++unit) units.push_back(unit);
  for (std::int64_t tick = rows.window.begin; tick < rows.window.end; ++tick) {
    for (const std::uint32_t unit : units) {
      const auto span = twin.innermost(tick, unit);
      if (!span) continue;
      const Place place{twin.label(*span, rows.by), twin.column_of(tick, columns)};
      innermost[place][twin.label(*span, fill)] += 1;
    }
  }
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const TimelineRow& row = rows.rows[i];
    const std::string label = rows.by != RowsBy::unit            ? row.label
                              : row.group < profile.units.size() ? std::to_string(row.group)
                                                                 : "none";
    std::vector<std::int64_t> busy(columns, 0), waiting(columns, 0);
    const auto belongs = [&](std::size_t span) { return twin.label(span, rows.by) == label; };
    for (std::int64_t tick = rows.window.begin; tick < rows.window.end; ++tick) {
      const std::size_t column = twin.column_of(tick, columns);
      const bool works = twin.any(tick, Role::work, belongs);
      busy[column] += works;
      waiting[column] += !works && twin.any(tick, Role::wait, belongs);
    }
    for (std::size_t column = 0; column < columns; ++column) {
      const TimelineCell& cell = cells.rows[i][column];
      ASSERT_EQ(cell.busy, busy[column]);
      ASSERT_EQ(cell.waiting, waiting[column]);
      const auto& groups = innermost[{label, column}];
      ASSERT_EQ(cell.max == TimelineCell::no_fill, groups.empty());
      if (groups.empty() || fill == RowsBy::unit) continue;  // units share a name here
      std::int64_t max = 0;
      for (const auto& [name, ticks] : groups) max = std::max(max, ticks);
      const std::string& chosen = cells.fills[cell.max].label;
      ASSERT_EQ(groups.contains(chosen) ? groups.at(chosen) : 0, max) << chosen;
    }
  }
}

TEST(TimelineRows, EqualTheSlowTwin) {
  std::mt19937 random(7);
  constexpr RowsBy groupings[] = {RowsBy::unit, RowsBy::engine, RowsBy::stage,
                                  RowsBy::node, RowsBy::kind,   RowsBy::op};
  for (std::uint64_t round = 0; round < test_support::rounds(4000); ++round) {
    const Profile profile = random_profile(random);
    TimelineRequest request{.by = groupings[random() % 6], .order = RowOrder(random() % 3)};
    request.gaps = random() % 6;
    if (random() % 3 == 0) request.window = Interval{-3, last_tick + 30};
    const TimelineRows rows = rows_of(profile, request);
    const Twin twin(profile, rows.window);
    ASSERT_NO_FATAL_FAILURE(expect_same_rows(profile, rows, twin)) << "round " << round;
    ASSERT_NO_FATAL_FAILURE(expect_same_wall(profile, rows, twin)) << "round " << round;
    const RowsBy fill = groupings[random() % 6];
    const TimelineCells cells =
        cells_of(profile, rows, {.columns = 1 + random() % 70, .fill = fill});
    ASSERT_NO_FATAL_FAILURE(expect_same_cells(profile, rows, cells, twin, fill))
        << "round " << round;
  }
}

}  // namespace
}  // namespace npuscope::analysis::timeline_rows_test
