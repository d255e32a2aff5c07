#include "analysis/units/unit_busy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "analysis/profile_builder.hpp"
#include "npuscope/analysis/analysis.hpp"

namespace npuscope::analysis::unit_busy_test {
namespace {

using npuscope::test_support::ProfileBuilder;

constexpr SpanKind kinds[] = {SpanKind::op,   SpanKind::op,      SpanKind::transfer,
                              SpanKind::sync, SpanKind::barrier, SpanKind::dma_wait,
                              SpanKind::host, SpanKind::instant, SpanKind::inference};

// Rows of three units and of none in the order of time, with ops of three sorts.
Profile run_in_order(std::uint32_t seed, std::size_t rows) {
  std::mt19937 random(seed);
  ProfileBuilder made;
  const UnitId units[] = {made.unit("HVX", Engine::hvx), made.unit("DMA", Engine::dma),
                          made.unit("t", Engine::thread), UnitId::none};
  const OpId ops[] = {made.op("a"), made.op("b"), made.op("c")};
  made.profile.ops[1].engine = Engine::hmx;
  made.profile.ops[2].engine = Engine::dma;
  Spans& spans = made.profile.spans;
  std::int64_t now[std::size(units)] = {};
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t unit = random() % std::size(units);
    now[unit] += std::int64_t(random() % 9);
    spans.unit.push_back(units[unit]);
    spans.op.push_back(ops[random() % std::size(ops)]);
    spans.kind.push_back(kinds[random() % std::size(kinds)]);
    spans.start.push_back(now[unit]);
    spans.duration.push_back(std::int64_t(random() % 12) - 1);
  }
  return std::move(made.profile);
}

// The same rows, the last first, so that all of them have to be sorted.
Profile turned(Profile profile) {
  Spans& spans = profile.spans;
  std::reverse(spans.unit.begin(), spans.unit.end());
  std::reverse(spans.op.begin(), spans.op.end());
  std::reverse(spans.kind.begin(), spans.kind.end());
  std::reverse(spans.start.begin(), spans.start.end());
  std::reverse(spans.duration.begin(), spans.duration.end());
  return profile;
}

void expect_same(const std::vector<UnitBusy>& a, const std::vector<UnitBusy>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].unit, b[i].unit);
    EXPECT_EQ(a[i].spans, b[i].spans);
    EXPECT_EQ(a[i].busy, b[i].busy);
    EXPECT_EQ(a[i].syncs, b[i].syncs);
    EXPECT_EQ(a[i].barriers, b[i].barriers);
    EXPECT_EQ(a[i].dma_waits, b[i].dma_waits);
    EXPECT_EQ(a[i].wait_engines, b[i].wait_engines);
    ASSERT_EQ(a[i].engines.size(), b[i].engines.size());
    for (std::size_t k = 0; k < a[i].engines.size(); ++k) {
      EXPECT_EQ(a[i].engines[k].engine, b[i].engines[k].engine);
      EXPECT_EQ(a[i].busy_of(a[i].engines[k]), b[i].busy_of(b[i].engines[k]));
    }
    ASSERT_EQ(a[i].domains.size(), b[i].domains.size());
    for (std::size_t k = 0; k < a[i].domains.size(); ++k) {
      EXPECT_EQ(a[i].domains[k].domain, b[i].domains[k].domain);
      EXPECT_EQ(a[i].busy_of(a[i].domains[k]), b[i].busy_of(b[i].domains[k]));
    }
  }
}

TEST(UnitBusy, OfManyRowsInOrderIsThatOfTheSameRowsInDisorder) {
  constexpr std::size_t rows = 200'000;
  const Profile in_order = run_in_order(3, rows), disorder = turned(in_order);
  expect_same(Analysis(in_order).unit_busy(), Analysis(disorder).unit_busy());
  Profile nearly = in_order;  // one row in another part of them begins too early
  nearly.spans.start[rows / 3 * 2] = 0;
  expect_same(Analysis(nearly).unit_busy(), Analysis(turned(nearly)).unit_busy());
}

TEST(UnitBusy, OfManyRowsWithAWaitInsideWorkKnowsThatItsUnitWasHeldUp) {
  Profile profile = run_in_order(4, 100'000);
  profile.spans.unit[50'000] = UnitId{2};
  profile.spans.kind[50'000] = SpanKind::wait;
  profile.spans.duration[50'000] = 400;
  expect_same(Analysis(profile).unit_busy(), Analysis(turned(profile)).unit_busy());
}

// Each moment looked at by itself.
TEST(BusyTogether, IsThatOfEachMoment) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const Profile profile = run_in_order(seed, 24);
    const Spans& spans = profile.spans;
    const Analysis analysis(profile);
    const BusyTogether& busy = analysis.busy_together();
    const auto is_in = [](const IntervalSet& set, std::int64_t t) {
      return std::any_of(set.begin(), set.end(),
                         [t](const Interval& each) { return each.begin <= t && t < each.end; });
    };
    for (std::int64_t t = 0; t < 100; ++t) {
      bool engines[engine_count] = {}, domains[domain_count] = {}, dma_waits = false, waits = false;
      for (std::size_t row = 0; row < spans.size(); ++row) {
        const Interval interval = interval_of(spans, row);
        if (t < interval.begin || t >= interval.end) continue;
        const SpanKind kind = spans.kind[row];
        if (role_of(kind) == Role::work) {
          engines[std::size_t(engine_of(profile, row))] = true;
          domains[std::size_t(domain_of(profile, row))] = true;
        } else if (role_of(kind) == Role::wait) {
          (kind == SpanKind::dma_wait ? dma_waits : waits) = true;
        }
      }
      for (std::size_t i = 0; i < engine_count; ++i) {
        ASSERT_EQ(is_in(busy.engines[i], t), engines[i]) << seed << " " << t;
      }
      for (std::size_t i = 0; i < domain_count; ++i) {
        ASSERT_EQ(is_in(busy.domains[i], t), domains[i]) << seed << " " << t;
      }
      ASSERT_EQ(is_in(busy.dma_waits, t), dma_waits);
      ASSERT_EQ(is_in(busy.other_waits, t), waits);
    }
  }
}

}  // namespace
}  // namespace npuscope::analysis::unit_busy_test
