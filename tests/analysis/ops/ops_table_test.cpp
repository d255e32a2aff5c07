// The op table beyond what a page shows: groups, details, medians over inferences; against slow
// twins over random profiles.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "analysis/ops/op_times.hpp"
#include "analysis/profile_builder.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/ops.hpp"
#include "npuscope/analysis/statistics.hpp"
#include "number_meaning.hpp"
#include "profile/self_times.hpp"

namespace npuscope::analysis::ops_table_test {
namespace {

using npuscope::test_support::ProfileBuilder;
using ::testing::ElementsAre;

OpTable table_of(const Profile& profile, OpOptions options) {
  options.details = true;
  return Analysis(profile).ops(options);
}

std::vector<std::string> names_of(const OpTable& table) {
  std::vector<std::string> names;
  for (const OpRow& row : table.rows) names.push_back(row.name);
  return names;
}

// Two cores with two HVX threads each and a DMA engine.
struct TwoCores : ProfileBuilder {
  std::vector<UnitId> units;
  TwoCores() {
    for (const std::uint32_t core : {0, 1}) {
      for (const char* name : {"HVX 0", "HVX 1", "DMA"}) {
        units.push_back(unit(name, name[0] == 'H' ? Engine::hvx : Engine::dma));
        profile.units.back().core = core;
      }
    }
  }
};

// By kind the cycles of QNN's nodes were in the total and in no row.
TEST(OpTable, WhatHasNoNameHasARowWhereItsNumberIsPartOfAColumn) {
  ProfileBuilder made;
  made.span(made.unit("HVX", Engine::hvx), "kernel", 0, 10);
  made.profile.ops[0].kind = made.text("conv");
  made.profile.ops.push_back({});
  const auto add = [&](std::uint32_t op, double value) {
    made.profile.add_measure(Measure::Subject::op, op,
                             NamedNumber{"node cycles", MeasureKind::work}, Origin::measured,
                             made.profile.base_clock, value);
  };
  add(1, 7);
  const OpTable without = table_of(made.profile, {.grouping = Grouping::kind});
  EXPECT_THAT(names_of(without), ElementsAre("conv"));
  EXPECT_EQ(without.column("node cycles"), nullptr);
  add(0, 2);
  const OpTable table = table_of(made.profile, {.grouping = Grouping::kind});
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_FALSE(table.rows[1].has_name);
  EXPECT_EQ(table.rows[1].values[*table.place_of("node cycles")], 7);
}

// As diff has it: not the sum of the medians of its ops.
TEST(OpTable, ANumberOfARowIsTheMedianOfItsSumsOverInferences) {
  ProfileBuilder made;
  for (std::uint32_t op = 0; op < 2; ++op) {
    made.profile.ops.push_back({});
    made.profile.ops[op].kind = made.text("conv");
    constexpr double values[][4] = {{100, 1, 5, 2},
                                    {100, 2, 1, 5}};  // sums after the first: 3, 6, 7
    for (std::uint32_t inference = 0; inference < 4; ++inference) {
      made.profile.add_measure(Measure::Subject::op, op,
                               NamedNumber{"node cycles", MeasureKind::work}, Origin::measured,
                               made.profile.base_clock, values[op][inference]);
      made.profile.measures.back().instance = inference;
    }
  }
  const OpTable table = table_of(made.profile, {.grouping = Grouping::kind});
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].values[*table.place_of("node cycles")], 6);
}

TEST(OpTable, GroupsByTheCoreDeviceAndUnitOfEachSpan) {
  TwoCores made;
  made.span(made.units[0], "a", 0, 10);
  made.span(made.units[1], "a", 0, 20);
  made.span(made.units[3], "a", 0, 5);
  made.span(made.units[3], "b", 5, 6);
  const OpTable cores = table_of(made.profile, {.grouping = Grouping::core});
  EXPECT_THAT(names_of(cores), ElementsAre("core 0", "core 1"));
  EXPECT_EQ(cores.rows[0].values[*cores.place_of("work")], 30);
  EXPECT_EQ(cores.rows[0].runs, 1u);
  EXPECT_EQ(cores.rows[1].runs, 2u);
  EXPECT_EQ(cores.cores, 2u);
  EXPECT_THAT(names_of(table_of(made.profile, {.grouping = Grouping::unit})),
              ElementsAre("HVX 1", "HVX 0", "HVX 0"));
  EXPECT_THAT(names_of(table_of(made.profile, {.grouping = Grouping::device})),
              ElementsAre("device 0"));
}

TEST(OpTable, GroupsByRulesInTheirOrderAndKeepsTheRest) {
  ProfileBuilder made;
  const UnitId unit = made.unit("HVX", Engine::hvx);
  made.span(unit, "/l.0/q_proj/MatMul", 0, 10);
  made.span(unit, "/l.1/q_proj/Norm", 10, 30);
  made.span(unit, "/l.1/other", 30, 35);
  const auto rules = Rules::parse(
      "[[rule]]\nname = 'norm'\nany = 'Norm'\n[[rule]]\nname = 'q'\nnode = 'q_proj'\n", "r");
  ASSERT_TRUE(rules) << rules.error().message;
  const OpTable table = table_of(made.profile, {.grouping = Grouping::rule, .rules = &*rules});
  EXPECT_THAT(names_of(table), ElementsAre("norm", "q", "(no rule)"));
  const OpTable of_rules =
      table_of(made.profile, {.grouping = Grouping::rule, .rules = &*rules, .rest = false});
  ASSERT_THAT(names_of(of_rules), ElementsAre("norm", "q"));
  for (std::size_t i = 0; i < of_rules.rows.size(); ++i) {
    EXPECT_EQ(of_rules.rows[i].values, table.rows[i].values);
    EXPECT_EQ(of_rules.rows[i].runs, 1u);
  }
}

// The HTP's tools give a product to the reshape behind it; what else a reshape does is its own.
TEST(OpTable, ProductsGivenToAReshapeCountForTheOperatorBeforeIt) {
  ProfileBuilder made;
  const UnitId hmx = made.unit("HMX", Engine::hmx), hvx = made.unit("HVX", Engine::hvx);
  const auto run = [&](const char* op, const char* node, Engine engine, std::int64_t from,
                       std::int64_t until) {
    made.span(engine == Engine::hmx ? hmx : hvx, op, from, until);
    made.profile.ops.back().node = made.text(node);
    made.profile.ops.back().engine = engine;
  };
  run("weights", "MatMul_0", Engine::hvx, 0, 10);
  run("product", "MatMul_0_post_reshape", Engine::hmx, 10, 110);
  run("format", "MatMul_0_post_reshape", Engine::hvx, 110, 130);
  run("alone", "Gemm_1_post_reshape", Engine::hmx, 130, 150);
  const OpTable repaired = table_of(made.profile, {.grouping = Grouping::node});
  EXPECT_EQ(repaired.moved_owners, 1u);
  EXPECT_THAT(names_of(repaired),
              ElementsAre("MatMul_0", "MatMul_0_post_reshape", "Gemm_1_post_reshape"));
  EXPECT_EQ(repaired.rows[0].values[*repaired.place_of("work")], 110);
  const OpTable written =
      table_of(made.profile, {.grouping = Grouping::node, .owners_as_written = true});
  EXPECT_EQ(written.moved_owners, 0u);
  EXPECT_THAT(names_of(written),
              ElementsAre("MatMul_0_post_reshape", "Gemm_1_post_reshape", "MatMul_0"));
  EXPECT_EQ(table_of(made.profile, {.grouping = Grouping::name}).moved_owners, 0u);
}

TEST(OpTable, FoldsBookkeepingIntoOneRow) {
  ProfileBuilder made;
  const UnitId unit = made.unit("HVX", Engine::hvx);
  made.span(unit, "x", 0, 10, SpanKind::op, "conv");
  made.op("y", "q::Reshape");
  made.span(unit, "z", 12, 12, SpanKind::sync, "SyncOp");
  const auto rules = Rules::builtin("bookkeeping");
  ASSERT_TRUE(rules) << rules.error().message;
  const OpTable table = table_of(made.profile, {.folded = &*rules});
  EXPECT_THAT(names_of(table), ElementsAre("x", "(bookkeeping)"));
  EXPECT_TRUE(table.rows[1].folded);
  EXPECT_EQ(table.rows[1].ops, 2u);
}

// A reshape that copies and the weights of a constant cost time, whatever they are called.
TEST(OpTable, NeverFoldsAnExecutedReshapeWeightDmaOrAWait) {
  ProfileBuilder made;
  const UnitId unit = made.unit("HVX", Engine::hvx);
  made.span(unit, "x", 0, 10, SpanKind::op, "conv");
  made.span(unit, "y", 10, 19, SpanKind::op, "q::Reshape");
  made.span(unit, "$Const_10", 20, 28, SpanKind::op, "q::ConvLayer.opt.weights_to_vtcm");
  made.span(unit, "step", 28, 35, SpanKind::sync, "SyncOp");
  made.op("never", "q::Reshape");
  const OpId told = made.op("told", "q::Reshape"), fused = made.op("MatMul_0_post_reshape");
  for (const OpId op : {told, fused}) {
    Measure measure;
    measure.subject = Measure::Subject::op;
    measure.subject_id = index_of(op);
    measure.what = made.text("node cycles");
    measure.kind = MeasureKind::work;
    measure.value = op == told ? 6 : 0;
    measure.meaning = test_support::meaning_of(measure.kind, made.profile.text(measure.what));
    made.profile.measures.push_back(measure);
  }
  const auto rules = Rules::builtin("bookkeeping");
  ASSERT_TRUE(rules) << rules.error().message;
  const OpTable table = table_of(made.profile, {.folded = &*rules, .sort = "work"});
  std::vector<std::string> names = names_of(table);
  EXPECT_THAT(
      names, testing::UnorderedElementsAre("x", "y", "$Const_10", "step", "told", "(bookkeeping)"));
  for (const OpRow& row : table.rows) {
    EXPECT_EQ(row.ops, row.folded ? 2u : 1u);
  }
}

TEST(OpTable, SaysHowWorkIsSpreadOverCores) {
  TwoCores made;
  made.span(made.units[0], "a", 0, 10);
  made.span(made.units[1], "a", 0, 20);
  made.span(made.units[3], "a", 0, 6);
  const OpTable table = table_of(made.profile, {});
  const CoreSpread& spread = table.rows[0].details.spread;
  EXPECT_EQ(spread.cores, 2u);
  EXPECT_EQ(spread.min, 6);
  EXPECT_EQ(spread.median, 18);
  EXPECT_EQ(spread.max, 30);
  EXPECT_EQ(spread.most_loaded, made.units[0]);
}

TEST(OpTable, WeighsCyclesPerPacketByPacketsAndLeavesOutDataMovement) {
  TwoCores made;
  made.span(made.units[0], "a", 0, 10);
  made.span(made.units[0], "a", 10, 40);
  made.span(made.units[2], "a", 0, 1'000);
  made.span(made.units[0], "a", 40, 50);
  constexpr auto missing = MeasureColumn::missing;
  made.profile.spans.measures.push_back({made.text("packets"),
                                         MeasureKind::count,
                                         Origin::derived,
                                         test_support::meaning_of(MeasureKind::count, "packets"),
                                         ClockId{},
                                         {5, 5, 5, missing}});
  EXPECT_EQ(table_of(made.profile, {}).rows[0].details.cycles_per_packet, 4);
}

// A layer that the trace draws over the work of its engines was another run of it, on another unit.
TEST(OpTable, TakesAsynchronousSlicesBesideWorkForNoRuns) {
  ProfileBuilder made;
  const UnitId conv = made.unit("conv", Engine::compute),
               layers = made.unit("layers", Engine::core);
  made.span(layers, "a", 0, 100, SpanKind::async);
  made.span(conv, "a", 10, 30);
  made.span(conv, "a", 40, 60);
  made.span(layers, "b", 100, 150, SpanKind::async);
  const OpTable table = table_of(made.profile, {.details = true, .sort = "name"});
  EXPECT_EQ(table.rows.at(0).runs, 2u);
  EXPECT_EQ(table.rows.at(0).instances, 2u);
  EXPECT_EQ(table.rows.at(0).details.p95, 20);
  EXPECT_EQ(table.rows.at(0).engines, std::vector{Engine::compute});
  EXPECT_EQ(table.rows.at(0).details.spread.max, 40);
  EXPECT_EQ(table.rows.at(1).runs, 1u);
  EXPECT_EQ(table.rows.at(1).details.p95, 50);
}

// Runs and loads of cores of all inferences stood beside the work of one; p95 was the cold one's.
TEST(OpTable, CountsRunsAndLoadsOfCoresWithoutTheFirstInferenceEither) {
  ProfileBuilder made;
  const UnitId near = made.unit("HVX 0", Engine::hvx), far = made.unit("HVX 1", Engine::hvx);
  made.profile.units[1].core = 1;
  const std::int64_t lengths[] = {1'000, 10, 30, 20};
  for (std::uint32_t i = 0; i < 4; ++i) {
    made.span(near, "a", i * 1'000, i * 1'000 + lengths[i]);
    made.span(far, "a", i * 1'000, i * 1'000 + (i == 2 ? 5 : 0));
    made.profile.spans.instance.insert(made.profile.spans.instance.end(), 2, i);
  }
  const OpTable table = table_of(made.profile, {.details = true, .per_inference = true});
  const OpRow& row = table.rows.at(0);
  EXPECT_EQ(row.runs, 3u);
  EXPECT_EQ(row.instances, 6u);
  EXPECT_EQ(row.details.p50, 20);
  EXPECT_EQ(row.details.p95, 29);
  EXPECT_EQ(row.details.spread.cores, 2u);
  EXPECT_EQ(row.details.spread.max, 20);
  EXPECT_EQ(row.details.spread.min, 0);
  for (const Grouping by : {Grouping::kind, Grouping::unit}) {
    const OpTable other =
        table_of(made.profile, {.grouping = by, .details = true, .per_inference = true});
    EXPECT_EQ(other.rows.at(0).runs, 3u);
    EXPECT_EQ(other.rows.at(0).details.p95, 29);
  }
}

TEST(OpTable, OfSeveralInferencesHoldsMediansOfAllButTheFirst) {
  ProfileBuilder made;
  const UnitId unit = made.unit("HVX", Engine::hvx);
  const std::int64_t lengths[] = {100, 10, 30, 20};
  for (std::uint32_t i = 0; i < 4; ++i) {
    made.span(unit, "a", i * 1'000, i * 1'000 + lengths[i]);
    made.profile.spans.instance.push_back(i);
  }
  made.span(unit, "once", 500, 600);
  made.profile.spans.instance.push_back(0);
  const OpTable table = table_of(made.profile, {.details = true, .per_inference = true});
  EXPECT_EQ(table.inferences, 4u);
  EXPECT_EQ(table.wall, 20);
  const std::size_t work = *table.place_of("work");
  EXPECT_THAT(names_of(table), ElementsAre("a", "once"));
  EXPECT_EQ(table.rows[0].values[work], 20);
  EXPECT_EQ(table.rows[0].spreads[work].first, 100);
  EXPECT_EQ(table.rows[0].spreads[work].low, 15);
  EXPECT_EQ(table.rows[0].spreads[work].high, 25);
  EXPECT_EQ(table.rows[1].values[work], 0);  // it does not run when warm
  EXPECT_EQ(table.rows[1].spreads[work].first, 100);
}

TEST(OpTable, SortsByAnyColumnAndKeepsTheShareAskedFor) {
  ProfileBuilder made;
  const UnitId unit = made.unit("HVX", Engine::hvx);
  made.span(unit, "long", 0, 90);
  made.span(unit, "short", 90, 95);
  made.span(unit, "short", 95, 100);
  EXPECT_THAT(names_of(table_of(made.profile, {.sort = "runs"})), ElementsAre("short", "long"));
  EXPECT_THAT(names_of(table_of(made.profile, {.sort = "name"})), ElementsAre("long", "short"));
  EXPECT_THAT(names_of(table_of(made.profile, {.sort = "p95"})), ElementsAre("long", "short"));
  EXPECT_THAT(names_of(table_of(made.profile, {.min_share = 0.2})), ElementsAre("long"));
  EXPECT_FALSE(table_of(made.profile, {.sort = "luck"}).sort_is_known);
}

// One op, one to three runs an inference, each on some of the threads, perhaps with a transfer.
TEST(RunLengths, AreFromTheFirstStartToTheLastEndOfWhatWasRunTogether) {
  std::mt19937 random(5);
  for (int round = 0; round < 2'000; ++round) {
    TwoCores made;
    std::vector<std::int64_t> expected;
    std::int64_t now = 0;
    for (std::uint32_t inference = 0; inference < 1 + random() % 3; ++inference) {
      for (std::size_t run = 0; run < 1 + random() % 3; ++run) {
        std::int64_t begin = now + 1'000, end = now;
        for (const std::size_t unit : {0, 1, 3}) {
          const std::int64_t start = now + std::int64_t(random() % 10);
          const std::int64_t stop = start + 1 + std::int64_t(random() % 20);
          made.span(made.units[unit], "a", start, stop);
          made.profile.spans.instance.push_back(inference);
          begin = std::min(begin, start);
          end = std::max(end, stop);
        }
        if (random() % 2 == 0) {
          const std::int64_t start = begin + std::int64_t(random() % 10);
          const std::int64_t stop = start + std::int64_t(random() % 30);
          made.span(made.units[2], "a", start, stop, SpanKind::transfer);
          made.profile.spans.instance.push_back(inference);
          end = std::max(end, stop);
        }
        expected.push_back(end - begin);
        now += 100;
      }
    }
    const Spans& spans = made.profile.spans;
    OpRuns::Units units;
    OpRuns runs(made.profile, units);
    runs.begin(OpId{0});
    for (std::size_t row = 0; row < spans.size(); ++row) {
      runs.add(spans.kind[row], spans.instance[row], spans.unit[row], interval_of(spans, row));
    }
    std::vector<std::int64_t> lengths;
    ASSERT_EQ(runs.finish(lengths), expected.size());
    ASSERT_EQ(lengths, expected) << "in round " << round;
  }
}

// Rows of several ops, whose spans come op after op: extents, and loads of cores, inference by
// inference.
TEST(OpTable, OfSeveralOpsARowIsThatOfTheObviousWay) {
  std::mt19937 random(8);
  for (int round = 0; round < 500; ++round) {
    TwoCores made;
    const std::uint32_t inferences = 2 + random() % 3;
    for (std::size_t i = 0; i < 5 + random() % 40; ++i) {
      const std::int64_t begin = random() % 60;
      const std::uint32_t op = random() % 6;
      made.span(made.units[random() % made.units.size()], "op" + std::to_string(op), begin,
                begin + random() % 15, SpanKind::op, op % 2 == 0 ? "even" : "odd");
      made.profile.spans.instance.push_back(random() % inferences);
    }
    const Profile& profile = made.profile;
    const Spans& spans = profile.spans;
    const auto own = Analysis(profile).self_times();
    const OpTable sums = table_of(profile, {.grouping = Grouping::kind});
    const OpTable medians =
        table_of(profile, {.grouping = Grouping::kind, .details = true, .per_inference = true});
    const std::set<std::uint32_t> all(spans.instance.begin(), spans.instance.end());
    if (all.size() < 2) continue;
    const auto rows_of = [&](const OpRow& row) {
      std::vector<std::size_t> rows;
      for (std::size_t i = 0; i < spans.size(); ++i) {
        if (profile.ops[index_of(spans.op[i])].kind == row.label) rows.push_back(i);
      }
      return rows;
    };
    for (const OpRow& row : sums.rows) {
      std::map<std::uint32_t, std::pair<std::int64_t, std::int64_t>> extents;
      for (const std::size_t i : rows_of(row)) {
        const std::int64_t begin = spans.start[i], end = begin + spans.duration[i];
        auto& extent = extents.try_emplace(spans.instance[i], begin, end).first->second;
        extent = {std::min(extent.first, begin), std::max(extent.second, end)};
      }
      double sum = 0;
      for (const auto& [inference, extent] : extents) sum += double(extent.second - extent.first);
      ASSERT_EQ(row.values[*sums.place_of("span")], sum) << "in round " << round;
    }
    for (const OpRow& row : medians.rows) {
      std::map<std::uint32_t, std::map<std::uint32_t, double>> work;  // by core, by inference
      for (const std::size_t i : rows_of(row)) {
        if (spans.instance[i] == *all.begin()) continue;
        work[profile.units[index_of(spans.unit[i])].core][spans.instance[i]] += double(own[i]);
      }
      double max = 0;
      for (const auto& [core, of_core] : work) {
        std::vector<double> samples;
        for (const std::uint32_t inference : all) {
          if (inference == *all.begin()) continue;
          samples.push_back(of_core.contains(inference) ? of_core.at(inference) : 0);
        }
        max = std::max(max, median_of(samples));
      }
      ASSERT_EQ(row.details.spread.cores, work.size()) << "in round " << round;
      ASSERT_EQ(row.details.spread.max, max) << "in round " << round;
    }
  }
}

TEST(OpTable, WithoutActiveAndSpanHasTheOtherColumns) {
  TwoCores made;
  made.span(made.units[0], "a", 0, 10, SpanKind::op, "Conv");
  made.span(made.units[1], "a", 5, 20, SpanKind::op, "Conv");
  made.span(made.units[0], "b", 10, 14, SpanKind::op, "Add");
  const OpTable all = table_of(made.profile, {});
  const OpTable some = table_of(made.profile, {.active_and_span = false});
  const auto columns_of = [](const OpTable& table) {
    std::vector<std::string> names;
    for (const OpColumn& column : table.columns) names.push_back(column.name);
    return names;
  };
  EXPECT_EQ(columns_of(all), (std::vector<std::string>{"work", "active", "span"}));
  ASSERT_EQ(columns_of(some), (std::vector<std::string>{"work"}));
  ASSERT_EQ(some.rows.size(), all.rows.size());
  for (std::size_t row = 0; row < all.rows.size(); ++row) {
    EXPECT_EQ(some.rows[row].name, all.rows[row].name);
    EXPECT_EQ(some.rows[row].values[0], all.rows[row].values[0]);
  }
}

// Everything that an op table says of spans, counted moment by moment and span by span.
TEST(OpTable, IsThatOfTheObviousWay) {
  std::mt19937 random(6);
  for (int round = 0; round < 1'000; ++round) {
    TwoCores made;
    const std::uint32_t inferences = 1 + random() % 4;
    for (std::size_t i = 0; i < 1 + random() % 30; ++i) {
      const std::int64_t begin = random() % 60;
      const std::string op = "op" + std::to_string(random() % 4);
      made.span(made.units[random() % made.units.size()], op, begin, begin + random() % 15,
                random() % 4 == 0 ? SpanKind::sync : SpanKind::op);
      made.profile.spans.instance.push_back(random() % inferences);
    }
    const Spans& spans = made.profile.spans;
    const auto own = Analysis(made.profile).self_times();
    const OpTable table = table_of(made.profile, {.details = true, .per_inference = true});
    const std::set<std::uint32_t> all(spans.instance.begin(), spans.instance.end());
    for (const OpRow& row : table.rows) {
      std::map<std::uint32_t, double> work, active;
      std::map<std::uint32_t, std::set<std::int64_t>> moments;
      for (std::size_t i = 0; i < spans.size(); ++i) {
        const Op& op = made.profile.ops[index_of(spans.op[i])];
        if (op.name != row.label || spans.kind[i] != SpanKind::op) continue;
        work[spans.instance[i]] += double(own[i]);
        for (std::int64_t t = spans.start[i]; t < spans.start[i] + spans.duration[i]; ++t) {
          moments[spans.instance[i]].insert(t);
        }
      }
      for (const auto& [instance, each] : moments) active[instance] = double(each.size());
      const auto expect = [&](const char* name, const std::map<std::uint32_t, double>& sums) {
        std::vector<double> samples;
        for (const std::uint32_t instance : all) {
          if (all.size() > 1 && instance == *all.begin()) continue;
          samples.push_back(sums.contains(instance) ? sums.at(instance) : 0);
        }
        const auto place = table.place_of(name);
        if (!place) return;
        ASSERT_EQ(row.values[*place].value_or(0), median_of(samples))
            << name << ", round " << round;
        if (all.size() == 1) return;
        ASSERT_EQ(row.spreads[*place].low, percentile_of(samples, 25));
        ASSERT_EQ(row.spreads[*place].high, percentile_of(samples, 75));
      };
      expect("work", work);
      expect("active", active);
    }
  }
}

}  // namespace
}  // namespace npuscope::analysis::ops_table_test
