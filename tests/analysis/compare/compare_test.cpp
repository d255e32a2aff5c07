#include "npuscope/analysis/compare.hpp"
#include "npuscope/analysis/analysis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "analysis/profile_builder.hpp"
#include "analysis/run_identity.hpp"
#include "npuscope/analysis/coarse.hpp"
#include "npuscope/analysis/gate.hpp"
#include "npuscope/analysis/ops.hpp"
#include "npuscope/analysis/run_sets.hpp"
#include "npuscope/analysis/units.hpp"
#include "number_meaning.hpp"

namespace npuscope::analysis::compare_test {
namespace {

using test_support::ProfileBuilder;
using ::testing::HasSubstr;

// A profile of several inferences, one after another, whose ops take what `cycles` says.
Profile run_of(const std::vector<std::vector<std::int64_t>>& cycles) {
  ProfileBuilder made;
  const UnitId hmx = made.unit("HMX", Engine::hmx);
  std::int64_t now = 0;
  for (std::uint32_t inference = 0; inference < cycles.size(); ++inference) {
    for (std::size_t op = 0; op < cycles[inference].size(); ++op) {
      const std::int64_t end = now + cycles[inference][op];
      made.span(hmx, "op" + std::to_string(op), now, end, SpanKind::op, "kernel");
      made.profile.spans.instance.push_back(inference);
      now = end;
    }
    now += 10;
  }
  return std::move(made.profile);
}

struct Pair {
  Pair(Profile of_a, Profile of_b) : a(std::move(of_a)), b(std::move(of_b)) {
    runs_a.emplace_back(a);
    runs_b.emplace_back(b);
  }
  Result<Comparer> comparer() const { return Comparer::make(runs_a, runs_b); }
  Comparison compare(std::size_t top = 100) const { return comparer()->compare({.top = top}); }

  Profile a, b;
  std::vector<RunSamples> runs_a, runs_b;
};

const MetricChange& metric(const Comparison& comparison, std::string_view name) {
  for (const MetricChange& each : comparison.metrics) {
    if (each.name == name) return each;
  }
  static const MetricChange none;
  ADD_FAILURE() << "no metric " << name;
  return none;
}

TEST(Compare, AProfileWithItself) {
  const Pair pair(run_of({{5, 7}, {4, 6}, {4, 5}}), run_of({{5, 7}, {4, 6}, {4, 5}}));
  const Comparison comparison = pair.compare();
  EXPECT_FALSE(comparison.metrics.empty());
  for (const MetricChange& each : comparison.metrics) {
    EXPECT_EQ(each.estimate.delta(), 0) << each.name;
    EXPECT_EQ(each.estimate.relative(), 0) << each.name;
    EXPECT_EQ(each.estimate.verdict, ChangeVerdict::same) << each.name;
  }
  EXPECT_TRUE(comparison.refused.empty());
  EXPECT_TRUE(comparison.differences.empty());
  EXPECT_TRUE(comparison.ops.same_structure);
  EXPECT_EQ(comparison.ops.counts[std::size_t(OpChange::same)], 2u);
  EXPECT_EQ(comparison.ops.row_count(), 2u);
  EXPECT_EQ(comparison.ops.matched_share_a, 1.0);
}

// Two kernels of one node in each of three layers, and a head; `more` is added in layer 2.
Profile layers_of(std::int64_t more, bool with_new_part = false) {
  ProfileBuilder made;
  const UnitId hmx = made.unit("HMX", Engine::hmx);
  std::int64_t now = 0;
  const auto add = [&](const std::string& name, const char* kind, std::int64_t cycles) {
    made.span(hmx, name, now, now + cycles, SpanKind::op, kind);
    now += cycles;
  };
  for (int layer = 0; layer < 3; ++layer) {
    const std::string node = "/model/layers." + std::to_string(layer) + "/up_proj/MatMul";
    add(node + "/__0", "copy", 10);
    add(node + "/__1", "conv", 100 + (layer == 2 ? more : 0));
    if (with_new_part) add(node + "/__2", "convert", 1);
  }
  add("/lm_head/MatMul", "conv", 50);
  return std::move(made.profile);
}

TEST(Compare, ThePartsOfANodeInEveryLayerWereARowEach) {
  const Pair pair(layers_of(0), layers_of(7));
  const OpComparison folded = pair.compare().ops;
  EXPECT_EQ(folded.grouping, Grouping::op);
  EXPECT_EQ(folded.parts, 7u);
  EXPECT_EQ(folded.row_count(), 2u);
  const OpDifference& row = folded.rows[0];
  EXPECT_EQ(row.name_a, "/model/layers.*/up_proj/MatMul");
  EXPECT_EQ(row.name_b, row.name_a);
  EXPECT_EQ(row.kind_a, "2 kinds");
  EXPECT_EQ(row.layers, 3u);
  EXPECT_EQ(row.parts, 6u);
  EXPECT_EQ(row.ops_a, 6u);
  EXPECT_EQ(row.estimate.a, 330);
  EXPECT_EQ(row.estimate.b, 337);
  EXPECT_EQ(row.change, OpChange::slower);
  ASSERT_TRUE(row.layer_deltas.has_value());
  EXPECT_EQ(row.layer_deltas->min, 0);
  EXPECT_EQ(row.layer_deltas->max, 7);
  EXPECT_FALSE(folded.rows[1].layer_deltas.has_value());
}

TEST(Compare, FoldedRowsAddUpToTheirParts) {
  const Pair pair(layers_of(0), layers_of(7, true));
  const auto rows = [&](Grouping grouping) {
    return pair.comparer()->compare({.top = 100, .grouping = grouping}).ops.rows;
  };
  const auto sum = [](const std::vector<OpDifference>& of, bool is_b) {
    double total = 0;
    for (const OpDifference& row : of) total += is_b ? row.estimate.b : row.estimate.a;
    return total;
  };
  const std::vector<OpDifference> parts = rows(Grouping::part);
  EXPECT_EQ(parts.size(), 10u);
  for (const Grouping grouping :
       {Grouping::op, Grouping::node, Grouping::layer, Grouping::kind, Grouping::rule}) {
    EXPECT_EQ(sum(rows(grouping), false), sum(parts, false)) << name_of(grouping);
    EXPECT_EQ(sum(rows(grouping), true), sum(parts, true)) << name_of(grouping);
  }
  EXPECT_EQ(rows(Grouping::node).size(), 4u);
  EXPECT_EQ(rows(Grouping::layer).size(), 4u);
  EXPECT_EQ(rows(Grouping::kind).size(), 3u);
}

TEST(Compare, ANewPartOfANodeIsAPartOfItsRow) {
  const Pair pair(layers_of(0), layers_of(0, true));
  const OpDifference row = pair.compare().ops.rows[0];
  EXPECT_EQ(row.name_a, "/model/layers.*/up_proj/MatMul");
  EXPECT_EQ(row.change, OpChange::slower);
  EXPECT_EQ(row.parts_only_a, 0u);
  EXPECT_EQ(row.parts_only_b, 3u);
  EXPECT_EQ(row.estimate.delta(), 3);
}

// By kernel, work that moved to another is less of one and more of the other.
TEST(Compare, WorkThatMovedToAnotherKernelIsOfBothKernels) {
  Profile after = run_of({{5, 7}});
  after.ops[1].kind = after.strings.intern("other");
  const Pair pair(run_of({{5, 7}}), std::move(after));
  const auto rows = pair.comparer()->compare({.top = 100, .grouping = Grouping::kind}).ops.rows;
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name_a, "kernel");
  EXPECT_EQ(rows[0].estimate.a, 12);
  EXPECT_EQ(rows[0].estimate.b, 5);
  EXPECT_EQ(rows[1].name_b, "other");
  EXPECT_EQ(rows[1].change, OpChange::added);
  EXPECT_EQ(rows[1].estimate.b, 7);
}

TEST(Compare, TheFirstInferenceIsApart) {
  const Pair pair(run_of({{500}, {10}, {12}}), run_of({{900}, {20}, {22}, {24}}));
  const Comparison comparison = pair.compare();
  const Estimate& wall = metric(comparison, "wall").estimate;
  EXPECT_EQ(wall.samples_a, (std::vector<double>{10, 12}));
  EXPECT_EQ(wall.samples_b, (std::vector<double>{20, 22, 24}));
  EXPECT_EQ(wall.a, 11);
  EXPECT_EQ(wall.b, 22);
  EXPECT_EQ(wall.relative(), 1.0);
  EXPECT_EQ(wall.verdict, ChangeVerdict::more);
  EXPECT_EQ(comparison.apart[0], 1u);
  EXPECT_EQ(comparison.samples[1], 3u);
  EXPECT_EQ(comparison.ops.rows[0].change, OpChange::slower);
  EXPECT_EQ(comparison.ops.rows[0].estimate.a, 11);
}

TEST(Compare, AWarmRunHasNoFirstInference) {
  Profile warm = run_of({{10}, {12}});
  warm.provenance.temperature = Provenance::Temperature::warm;
  const Pair pair(warm, warm);
  EXPECT_EQ(metric(pair.compare(), "wall").estimate.samples_a.size(), 2u);
}

TEST(Compare, FilesOfOneInferenceEach) {
  std::vector<Profile> files;
  for (int i = 0; i < 3; ++i) {
    ProfileBuilder made;
    made.span(made.unit("HMX", Engine::hmx), "op", 0, 100 - 10 * i);
    made.profile.measures.push_back({Measure::Subject::profile,
                                     0,
                                     made.text("inference"),
                                     MeasureKind::count,
                                     Origin::measured,
                                     test_support::meaning_of(MeasureKind::count, "inference"),
                                     {},
                                     double(i)});
    files.push_back(std::move(made.profile));
  }
  std::vector<RunSamples> runs;
  for (const Profile& file : files) runs.emplace_back(file);
  const Comparison comparison = Comparer::make(runs, runs)->compare({});
  EXPECT_EQ(metric(comparison, "wall").estimate.samples_a, (std::vector<double>{80, 90}));
  EXPECT_EQ(comparison.apart[0], 1u);
}

TEST(Compare, NoiseIsNoChange) {
  const Pair pair(run_of({{0}, {10}, {20}, {30}}), run_of({{0}, {11}, {19}, {31}}));
  const Comparison comparison = pair.compare();
  EXPECT_EQ(metric(comparison, "wall").estimate.verdict, ChangeVerdict::unclear);
  EXPECT_EQ(comparison.ops.rows[0].change, OpChange::unclear);
}

TEST(Compare, AddedAndRemovedOps) {
  Profile a = run_of({{5, 7}}), b = run_of({{5}});
  const Pair pair(std::move(a), std::move(b));
  const Comparison comparison = pair.compare();
  ASSERT_EQ(comparison.ops.rows.size(), 2u);
  EXPECT_EQ(comparison.ops.rows[0].change, OpChange::removed);
  EXPECT_EQ(comparison.ops.rows[0].name_a, "op1");
  EXPECT_EQ(comparison.ops.rows[0].estimate.delta(), -7);
  EXPECT_DOUBLE_EQ(*comparison.ops.matched_share_a, 5.0 / 12);
  EXPECT_EQ(comparison.ops.matched_share_b, 1.0);
  EXPECT_EQ(comparison.differences[0].what, Difference::What::compile);
}

// Of one inference the samples are what the coarse and the unit view say.
TEST(Samples, OfOneInferenceAreTheOtherViews) {
  std::mt19937_64 random(21);
  for (int i = 0; i < 1'000; ++i) {
    ProfileBuilder made;
    const UnitId units[] = {made.unit("HMX", Engine::hmx), made.unit("HVX 0", Engine::hvx),
                            made.unit("HVX 1", Engine::hvx), made.unit("DMA", Engine::dma)};
    const SpanKind kinds[] = {SpanKind::op,       SpanKind::op,      SpanKind::sync,
                              SpanKind::transfer, SpanKind::instant, SpanKind::inference};
    for (std::size_t span = 0; span < random() % 20; ++span) {
      const auto start = std::int64_t(random() % 50);
      made.span(units[random() % 4], "op" + std::to_string(random() % 4), start,
                start + std::int64_t(random() % 20), kinds[random() % 6]);
    }
    const Profile& profile = made.profile;
    const Coarse coarse = Analysis(profile).coarse();
    const UnitTable table = Analysis(profile).units();
    const auto part = [&](Part which) { return double(coarse.parts[std::size_t(which)]); };
    const double waiting = part(Part::waiting_for_dma) + part(Part::other_waiting);
    std::map<std::string, double> expected{{"wall", coarse.wall},
                                           {"active", coarse.active},
                                           {"waiting", waiting},
                                           {"idle", part(Part::idle)},
                                           {"work", coarse.work}};
    for (const EngineRow& row : table.engines) {
      if (row.active == 0) continue;
      expected["busy(" + std::string(name_of(row.engine)) + ")"] = double(row.domain);
      expected["active(" + std::string(name_of(row.engine)) + ")"] = double(row.active);
    }
    std::map<std::string, double> found;
    const RunSamples run(profile);
    for (const Metric& each : run.metrics()) {
      if (each.quantity == SampleQuantity::time) found[each.name] = each.samples.at(0).value;
    }
    if (coarse.active == 0 && waiting == 0) expected = {{"wall", coarse.wall}};
    if (coarse.wall == 0) expected.clear();
    ASSERT_EQ(found, expected);
    const auto work = run.op_samples("work");
    if (!work) continue;
    const OpTable ops = Analysis(profile).ops({Grouping::part, 100});
    EXPECT_EQ(work->total(), ops.column("work")->total);
  }
}

// Each inference alone says what it says among the others.
TEST(Samples, OfSeveralInferencesAreThoseOfEachAlone) {
  std::mt19937_64 random(22);
  for (int i = 0; i < 500; ++i) {
    ProfileBuilder all, alone[3];
    for (ProfileBuilder* made : {&all, &alone[0], &alone[1], &alone[2]}) {
      made->unit("HMX", Engine::hmx);
      made->unit("HVX", Engine::hvx);
    }
    for (std::size_t span = 0; span < 20; ++span) {
      const std::uint32_t inference = span < 3 ? std::uint32_t(span) : random() % 3;
      const auto start = std::int64_t(1'000 * inference + random() % 50);
      const auto end = start + 1 + std::int64_t(random() % 20);
      const SpanKind kind = random() % 4 == 0 ? SpanKind::sync : SpanKind::op;
      const UnitId unit{std::uint32_t(random() % 2)};
      all.span(unit, "op", start, end, kind);
      all.profile.spans.instance.push_back(inference);
      alone[inference].span(unit, "op", start, end, kind);
    }
    const RunSamples together(all.profile);
    for (std::uint32_t inference = 0; inference < 3; ++inference) {
      const RunSamples one(alone[inference].profile);
      for (const Metric& metric : one.metrics()) {
        if (metric.quantity != SampleQuantity::time) continue;
        for (const Metric& of_all : together.metrics()) {
          if (of_all.name != metric.name) continue;
          ASSERT_EQ(of_all.samples.at(inference).value, metric.samples.at(0).value) << metric.name;
        }
      }
    }
  }
}

TEST(Samples, TooManyInferencesAreOneSample) {
  ProfileBuilder made;
  const UnitId unit = made.unit("HMX", Engine::hmx);
  for (std::uint32_t i = 0; i < max_inferences + 1; ++i) {
    made.span(unit, "op", i, i + 1);
    made.profile.spans.instance.push_back(~std::uint32_t{1} - 3 * i);
  }
  const RunSamples run(made.profile);
  EXPECT_EQ(run.metrics()[0].samples.size(), 1u);
  EXPECT_EQ(run.metrics()[0].samples[0].value, max_inferences + 1);
}

TEST(Compare, UnrelatedClocksAreRefused) {
  ProfileBuilder nanoseconds("ns", ClockKind::wall, 1e9), cycles("cycles");
  for (ProfileBuilder* made : {&nanoseconds, &cycles}) {
    made->span(made->unit("u", Engine::hmx), "op", 0, 10);
  }
  const Pair pair(nanoseconds.profile, cycles.profile);
  const auto comparer = pair.comparer();
  ASSERT_FALSE(comparer);
  EXPECT_EQ(comparer.error().kind, ErrorKind::usage);
  EXPECT_THAT(comparer.error().message, HasSubstr("'ns' and 'cycles'"));
}

TEST(Compare, CyclesOfKnownRateCompareWithTime) {
  ProfileBuilder nanoseconds("ns", ClockKind::wall, 1e9),
      cycles("cycles", ClockKind::unit_cycles, 5e8);
  nanoseconds.span(nanoseconds.unit("u", Engine::hmx), "op", 0, 100);
  cycles.span(cycles.unit("u", Engine::hmx), "op", 0, 100);
  const Pair pair(nanoseconds.profile, cycles.profile);
  const MetricChange wall = *pair.comparer()->metric("wall");
  EXPECT_EQ(wall.unit, MeasuredIn::seconds);
  EXPECT_DOUBLE_EQ(wall.estimate.a, 100e-9);
  EXPECT_DOUBLE_EQ(wall.estimate.b, 200e-9);
}

TEST(Compare, NothingInCommonIsRefused) {
  const Pair pair(ProfileBuilder().profile, run_of({{1}}));
  EXPECT_FALSE(pair.comparer());
}

void add_number(Profile& profile, const char* name, MeasureKind kind, double value) {
  profile.measures.push_back({Measure::Subject::profile, 0, profile.strings.intern(name), kind,
                              Origin::measured, test_support::meaning_of(kind, name), ClockId{},
                              value});
}

TEST(Compare, AnotherKindOfNumberIsRefused) {
  Profile a = run_of({{5}}), b = run_of({{5}});
  add_number(a, "time", MeasureKind::work, 5);
  add_number(b, "time", MeasureKind::span, 5);
  const Pair pair(std::move(a), std::move(b));
  const Comparison comparison = pair.compare();
  ASSERT_EQ(comparison.refused.size(), 1u);
  EXPECT_EQ(comparison.refused[0].why, RefusedMetric::Why::kinds);
  EXPECT_THAT(pair.comparer()->metric("time").error().message, HasSubstr("not the same kind"));
}

TEST(Compare, NumbersOfAColdFileAreApartLikeItsTimes) {
  std::vector<Profile> files;
  for (const int i : {0, 1, 2}) {
    files.push_back(run_of({{10}}));
    add_number(files.back(), "inference", MeasureKind::count, i);
    add_number(files.back(), "ddr read bytes", MeasureKind::count, i == 0 ? 9000 : 100 + i);
  }
  for (Profile& file : files) file.spans.instance.clear();
  std::vector<RunSamples> runs;
  for (const Profile& file : files) runs.emplace_back(file);
  const Comparison comparison = Comparer::make(runs, runs)->compare({});
  EXPECT_EQ(metric(comparison, "ddr_read_bytes").estimate.samples_a,
            (std::vector<double>{101, 102}));
}

TEST(RunSets, OneInferenceStandsForTheOthersAndTheColdOneIsApart) {
  std::vector<Profile> files;
  const std::int64_t walls[] = {500, 10, 30, 22, 20};
  for (int i = 0; i < 5; ++i) {
    files.push_back(run_of({{walls[i]}}));
    add_number(files.back(), "inference", MeasureKind::count, i);
  }
  files.push_back(run_of({{7}, {9}}));  // no sample: it holds several
  files.push_back(run_of({{11, 2}}));   // of another program
  add_number(files.back(), "inference", MeasureKind::count, 0);
  std::vector<const Profile*> pointers;
  for (const Profile& file : files) pointers.push_back(&file);
  const std::vector<RunSet> sets = run_sets(pointers);
  ASSERT_EQ(sets.size(), 3u);
  EXPECT_EQ(sets[0].profiles, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(sets[0].nearest_median, 3u);
  EXPECT_EQ(sets[0].cold, 1u);
  EXPECT_EQ(sets[0].walls.min, 10);
  EXPECT_EQ(sets[0].walls.max, 30);
  EXPECT_EQ(sets[1].profiles, (std::vector<std::size_t>{5}));
  EXPECT_EQ(sets[2].profiles, (std::vector<std::size_t>{6}));
  EXPECT_EQ(sets[2].cold, 0u);  // there is no other
}

TEST(Compare, WhichInferenceABufferIsOfIsNoNumberOfIt) {
  Profile a = run_of({{5}}), b = run_of({{5}});
  for (const char* name : {"program", "activation", "inference"}) {
    add_number(a, name, MeasureKind::count, 2);
    add_number(b, name, MeasureKind::count, 3);
  }
  const Pair pair(std::move(a), std::move(b));
  for (const MetricChange& each : pair.compare().metrics) {
    EXPECT_NE(each.name, "program");
    EXPECT_NE(each.name, "activation");
    EXPECT_NE(each.name, "inference");
  }
  EXPECT_FALSE(pair.comparer()->metric("inference").has_value());
}

TEST(Compare, NumbersOfRunsOfDifferentLengthAreRefused) {
  Profile a = run_of({{5}, {5}}), b = run_of({{5}, {5}, {5}});
  add_number(a, "ddr read bytes", MeasureKind::count, 100);
  add_number(b, "ddr read bytes", MeasureKind::count, 150);
  const Pair pair(std::move(a), std::move(b));
  EXPECT_THAT(pair.comparer()->metric("ddr_read_bytes").error().message,
              HasSubstr("of whole runs"));
}

TEST(Compare, SaysWhatTheTwoAre) {
  Profile a = run_of({{5}}), b = run_of({{5}});
  a.provenance.device = "HTP v75";
  b.provenance.device = "HTP v79";
  b.provenance.instrumentation = "optrace";
  b.provenance.temperature = Provenance::Temperature::cold;
  const Comparison comparison = Pair(std::move(a), std::move(b)).compare();
  std::vector<Difference::What> what;
  for (const Difference& each : comparison.differences) what.push_back(each.what);
  using What = Difference::What;
  EXPECT_THAT(what, ::testing::ElementsAre(What::device, What::instrumentation, What::temperature));
}

Profile random_run(std::mt19937_64& random, std::size_t ops) {
  std::vector<std::vector<std::int64_t>> cycles(2 + random() % 5);
  for (auto& inference : cycles) {
    for (std::size_t op = 0; op < ops; ++op) inference.push_back(1 + std::int64_t(random() % 30));
  }
  return run_of(cycles);
}

TEST(Compare, SwappingMirrors) {
  std::mt19937_64 random(23);
  for (int i = 0; i < 200; ++i) {
    const Profile x = random_run(random, 3 + random() % 3), y = random_run(random, 4);
    const Comparison there = Pair(x, y).compare(), back = Pair(y, x).compare();
    ASSERT_EQ(there.metrics.size(), back.metrics.size());
    for (const MetricChange& each : there.metrics) {
      const Estimate& mirrored = metric(back, each.name).estimate;
      ASSERT_EQ(each.estimate.delta(), -mirrored.delta());
      ASSERT_EQ(each.estimate.p, mirrored.p);
      const ChangeVerdict verdict = mirrored.verdict == ChangeVerdict::more   ? ChangeVerdict::less
                                    : mirrored.verdict == ChangeVerdict::less ? ChangeVerdict::more
                                                                              : mirrored.verdict;
      ASSERT_EQ(each.estimate.verdict, verdict);
    }
    const auto count = [](const Comparison& of, OpChange change) {
      return of.ops.counts[std::size_t(change)];
    };
    ASSERT_EQ(count(there, OpChange::slower), count(back, OpChange::faster));
    ASSERT_EQ(count(there, OpChange::added), count(back, OpChange::removed));
    ASSERT_EQ(there.ops.matched_share_a, back.ops.matched_share_b);
  }
}

TEST(Compare, TheOrderOfRunsDoesNotMatter) {
  std::mt19937_64 random(24);
  for (int i = 0; i < 100; ++i) {
    std::vector<Profile> profiles;
    for (int k = 0; k < 4; ++k) profiles.push_back(random_run(random, 3));
    const Profile other = random_run(random, 3);
    const auto compared = [&] {
      std::vector<RunSamples> a, b;
      for (const Profile& profile : profiles) a.emplace_back(profile);
      b.emplace_back(other);
      return Comparer::make(a, b)->compare({100});
    };
    const Comparison first = compared();
    std::reverse(profiles.begin(), profiles.end());
    const Comparison second = compared();
    for (const MetricChange& each : first.metrics) {
      const Estimate& again = metric(second, each.name).estimate;
      ASSERT_EQ(each.estimate.samples_a, again.samples_a);
      ASSERT_EQ(each.estimate.contrast.absolute, again.contrast.absolute);
    }
    for (std::size_t row = 0; row < first.ops.rows.size(); ++row) {
      ASSERT_EQ(first.ops.rows[row].estimate.a, second.ops.rows[row].estimate.a);
    }
  }
}

Gate gate_on(const char* name, Gate::Limit limit, double threshold) {
  Gate gate;
  gate.text = name;
  gate.metric = name;
  gate.limit = limit;
  gate.threshold = threshold;
  if (limit != Gate::Limit::share) gate.unit = MeasuredIn::cycles;
  return gate;
}

GateOutcome outcome(const Pair& pair, const Gate& gate) {
  const auto comparer = pair.comparer();
  return judge(gate, *comparer)->outcome;
}

TEST(CompareGate, OneSampleASideIsInconclusive) {
  const Pair pair(run_of({{100}}), run_of({{104}}));
  for (const auto& [limit, threshold] :
       {std::pair(Gate::Limit::share, 0.03), std::pair(Gate::Limit::change, 3.0),
        std::pair(Gate::Limit::value, 104.0)}) {
    EXPECT_EQ(outcome(pair, gate_on("wall", limit, threshold)), GateOutcome::inconclusive);
  }
}

TEST(CompareGate, ALimitIsInBOrPartOfWhatMayNotBe) {
  const Pair pair(run_of({{0}, {100}, {100}, {100}, {100}, {100}}),
                  run_of({{0}, {104}, {104}, {104}, {104}, {104}}));
  EXPECT_EQ(outcome(pair, gate_on("wall", Gate::Limit::value, 103)), GateOutcome::failed);
  EXPECT_EQ(outcome(pair, gate_on("wall", Gate::Limit::value, 104)), GateOutcome::passed);
  Gate gate = gate_on("wall", Gate::Limit::value, 104);
  gate.comparator = Gate::Comparator::at_least;
  EXPECT_EQ(outcome(pair, gate), GateOutcome::failed);
}

TEST(CompareGate, NoiseDoesNotFail) {
  const Pair noisy(run_of({{0}, {100}, {120}, {90}, {110}}),
                   run_of({{0}, {104}, {125}, {95}, {114}}));
  EXPECT_EQ(outcome(noisy, gate_on("wall", Gate::Limit::share, 0.03)), GateOutcome::inconclusive);
  const Pair clear(run_of({{0}, {100}, {101}, {99}, {100}}),
                   run_of({{0}, {110}, {111}, {109}, {110}}));
  EXPECT_EQ(outcome(clear, gate_on("wall", Gate::Limit::share, 0.03)), GateOutcome::failed);
}

// Three samples a side can never reach p < 0.05: that they do not mix decides.
TEST(CompareGate, FewSamplesThatDoNotMixFail) {
  const Pair pair(run_of({{0}, {100}, {101}, {102}}), run_of({{0}, {110}, {111}, {112}}));
  EXPECT_EQ(outcome(pair, gate_on("wall", Gate::Limit::share, 0.03)), GateOutcome::failed);
}

TEST(CompareGate, WhatIsNotThereNeverPasses) {
  const Pair pair(run_of({{100}}), run_of({{104}}));
  const auto comparer = pair.comparer();
  const auto judged = judge(gate_on("walk", Gate::Limit::share, 0.03), *comparer);
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().kind, ErrorKind::usage);
  EXPECT_THAT(judged.error().message,
              HasSubstr("neither side has a number 'walk'; the nearest names: 'wall'"));
  Gate no_op = gate_on("", Gate::Limit::share, 0);
  no_op.op = *Pattern::compile("test", "nothing");
  EXPECT_THAT(judge(no_op, *comparer).error().message, HasSubstr("no op of either side matches"));
  Gate wrong_unit = gate_on("wall", Gate::Limit::change, 5e-6);
  wrong_unit.unit = MeasuredIn::seconds;
  EXPECT_THAT(judge(wrong_unit, *comparer).error().message, HasSubstr("counts in cycles"));
}

TEST(CompareGate, SumsOps) {
  const Pair pair(run_of({{0, 0, 0}, {100, 10, 1}, {100, 10, 1}, {100, 10, 1}}),
                  run_of({{0, 0, 0}, {100, 20, 2}, {100, 20, 2}, {100, 20, 2}}));
  Gate gate = gate_on("work", Gate::Limit::change, 0);
  gate.op = *Pattern::compile("test", "op[12]");
  const auto comparer = pair.comparer();
  const GateResult result = *judge(gate, *comparer);
  EXPECT_EQ(result.metric.estimate.a, 11);
  EXPECT_EQ(result.metric.estimate.b, 22);
  EXPECT_EQ(result.outcome, GateOutcome::failed);
}

TEST(CompareGate, FromZeroIsMoreThanAnyShare) {
  Profile a = run_of({{5}}), b = run_of({{5}});
  add_number(a, "spills", MeasureKind::count, 0);
  add_number(b, "spills", MeasureKind::count, 1);
  const Pair pair(std::move(a), std::move(b));
  EXPECT_EQ(outcome(pair, gate_on("spills", Gate::Limit::share, 100)), GateOutcome::failed);
}

Profile of_format(const char* format, const char* graph, bool has_spans) {
  Profile profile = has_spans ? run_of({{5}}) : ProfileBuilder().profile;
  profile.provenance.format = format;
  profile.provenance.graph = graph;
  return profile;
}

TEST(ChooseRuns, OneFormatAndOneGraph) {
  std::vector<Profile> a, b;
  a.push_back(of_format("latency", "", false));
  a.push_back(of_format("raw", "g", true));
  a.push_back(of_format("raw", "g", true));
  b.push_back(of_format("raw", "g", true));
  b.push_back(of_format("latency", "", false));
  const auto chosen = choose_runs(a, b);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->a, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(chosen->b, (std::vector<std::size_t>{0}));
  EXPECT_EQ(chosen->left_out[0], 1u);
}

// A folder with a log and a table, against one with an estimate: the log was taken, whose clock
// compares with nothing of the other side.
TEST(ChooseRuns, OfDifferentFormatsThoseWhoseTimesCompare) {
  const auto with_clock = [](const char* format, int ops, ClockKind kind, double hertz) {
    Profile profile = of_format(format, "g", true);
    profile.ops.resize(std::size_t(ops));
    profile.clocks = {{profile.strings.intern("clock"), kind, Hertz(hertz)}};
    profile.base_clock = ClockId(0);
    return profile;
  };
  std::vector<Profile> a, b;
  a.push_back(with_clock("log", 9, ClockKind::wall, 1e9));
  a.push_back(with_clock("timeline", 3, ClockKind::unit_cycles, 0));
  b.push_back(with_clock("estimate", 5, ClockKind::unit_cycles, 0));
  const auto chosen = choose_runs(a, b);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->a, (std::vector<std::size_t>{1}));
  const auto other_way = choose_runs(b, a);
  ASSERT_TRUE(other_way);
  EXPECT_EQ(other_way->b, (std::vector<std::size_t>{1}));
  a.pop_back();  // nothing compares: the best of each, and the comparison says why not
  EXPECT_EQ(choose_runs(a, b)->a, (std::vector<std::size_t>{0}));
}

TEST(Compare, AClockThatChangedIsNamedBeforeAnOp) {
  const auto at = [](double megahertz) {
    Profile profile = run_of({{5}, {6}});
    profile.add_clock("core cycles", ClockKind::unit_cycles, Hertz(megahertz * 1e6));
    return profile;
  };
  const auto clocks_of = [](const Pair& pair) {
    std::vector<std::string> texts;
    for (const Difference& each : pair.compare().differences) {
      if (each.what == Difference::What::clock) texts.push_back(each.a + " -> " + each.b);
    }
    return texts;
  };
  EXPECT_THAT(clocks_of(Pair(at(1450), at(1100))),
              ::testing::ElementsAre("1450 MHz -> 1100 MHz, -24.1 %"));
  EXPECT_THAT(clocks_of(Pair(at(1450), at(1430))), ::testing::IsEmpty());
  EXPECT_THAT(clocks_of(Pair(at(1450), run_of({{5}, {6}}))), ::testing::IsEmpty());
  const auto estimated = [](double megahertz) {  // Vela's cycles of two devices were compared
    Profile profile = run_of({{5}, {6}});
    profile.provenance.times = Origin::estimated;
    profile.clocks[index_of(profile.base_clock)].kind = ClockKind::unit_cycles;
    profile.clocks[index_of(profile.base_clock)].rate = Hertz(megahertz * 1e6);
    return profile;
  };
  EXPECT_THAT(clocks_of(Pair(estimated(500), estimated(1000))),
              ::testing::ElementsAre("500 MHz -> 1000 MHz, +100.0 %"));
}

TEST(ChooseRuns, SeveralGraphsAreAQuestion) {
  std::vector<Profile> both;
  both.push_back(of_format("raw", "decode", true));
  both.push_back(of_format("raw", "prefill", true));
  EXPECT_THAT(choose_runs(both, both).error().message, HasSubstr("'decode', 'prefill'"));
  EXPECT_TRUE(choose_runs({both.data(), 1}, both));
  EXPECT_FALSE(choose_runs({}, both));
}

TEST(ChooseRuns, TheGraphThatIsAskedFor) {
  std::vector<Profile> both, one;
  both.push_back(of_format("raw", "decode", true));
  both.push_back(of_format("raw", "prefill", true));
  one.push_back(of_format("raw", "decode", true));
  one.push_back(of_format("latency", "", false));
  const auto chosen = choose_runs(both, both, "prefill");
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->a, (std::vector<std::size_t>{1}));
  EXPECT_EQ(chosen->left_out[1], 1u);
  EXPECT_EQ(choose_runs(both, one, "prefill").error().message,
            "--graph prefill: B has no run of it, but of 'decode'");
  one.erase(one.begin());
  EXPECT_THAT(choose_runs(one, both, "decode").error().message,
              HasSubstr("the files of A do not say which graph they are of"));
}

TEST(Samples, OfSeveralProfilesAreThoseOfEach) {
  const Profile first = run_of({{5, 7}}), second = run_of({{1, 2, 3}});
  const Profile* profiles[] = {&first, &second, &first};
  const auto samples = samples_of(profiles);
  ASSERT_EQ(samples.size(), 3u);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const RunSamples alone(*profiles[i]);
    EXPECT_EQ(&samples[i].profile(), profiles[i]);
    EXPECT_EQ(samples[i].metric("wall")->samples, alone.metric("wall")->samples);
    EXPECT_EQ(samples[i].op_samples("work")->entries, alone.op_samples("work")->entries);
  }
}

}  // namespace
}  // namespace npuscope::analysis::compare_test
