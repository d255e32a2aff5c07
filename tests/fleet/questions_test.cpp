#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "fleet/questions/changes.hpp"
#include "fleet/questions/findings.hpp"
#include "fleet/questions/latency.hpp"
#include "fleet/questions/listing.hpp"
#include "fleet/questions/ops.hpp"
#include "fleet/small_fleet.hpp"
#include "npuscope/analysis/statistics.hpp"

namespace npuscope::fleet::questions_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Runs of 3 devices and 4 builds, of a seeded length.
std::vector<SmallRun> some_runs() {
  std::vector<SmallRun> runs;
  for (std::uint64_t i = 1; i <= 36; ++i) {
    SmallRun run{.number = i};
    run.labels = {fmt::format("device=d{}", i % 3), fmt::format("build={}", 8 + i % 4)};
    run.work.clear();
    for (std::uint64_t k = 0; k < 3 + i % 3; ++k) {
      run.work.push_back(std::int64_t(20 + (i * 7 + k * 13) % 31 + 40 * (i % 3)));
    }
    runs.push_back(run);
  }
  return runs;
}

std::string text(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  const auto* known = std::get_if<std::string>(&value);
  return known != nullptr ? *known : "?";
}

TEST(FleetLatency, IsThatOfASlowTwin) {
  TemporaryStore made;
  const auto runs = some_runs();
  made.add(runs);
  const auto latency = latency_of(*made, {.by = {"device"}}, {});
  ASSERT_TRUE(latency) << latency.error().message;
  EXPECT_EQ(latency->measure, "device_latency_seconds");
  std::map<std::string, std::vector<double>> warm, cold;
  for (const SmallRun& run : runs) {
    for (std::size_t k = 0; k < run.work.size(); ++k) {
      const std::string device = run.labels[0].substr(7);
      (k == 0 ? cold : warm)[device].push_back(double(run.work[k] + 3) / 1e6);
    }
  }
  ASSERT_EQ(latency->groups.size(), 3u);
  for (const LatencyGroup& group : latency->groups) {
    const std::string device = text(group.by[0]);
    EXPECT_EQ(group.runs, 12u);
    EXPECT_EQ(group.inferences, warm[device].size());
    EXPECT_DOUBLE_EQ(group.p50, analysis::percentile_of(warm[device], 50));
    EXPECT_DOUBLE_EQ(group.p90, analysis::percentile_of(warm[device], 90));
    EXPECT_DOUBLE_EQ(group.p99, analysis::percentile_of(warm[device], 99));
    EXPECT_DOUBLE_EQ(group.min, *std::min_element(warm[device].begin(), warm[device].end()));
    EXPECT_DOUBLE_EQ(group.max, *std::max_element(warm[device].begin(), warm[device].end()));
    EXPECT_EQ(group.cold_inferences, cold[device].size());
    EXPECT_DOUBLE_EQ(group.cold_p50.value_or(0), analysis::percentile_of(cold[device], 50));
  }
  EXPECT_GE(latency->groups[0].p50, latency->groups[1].p50);
}

TEST(FleetLatency, NamesTheRunNearestTheMedian) {
  TemporaryStore made;
  made.add({{.number = 1, .work = {9, 10, 10}},
            {.number = 2, .work = {9, 20, 20}},
            {.number = 3, .work = {9, 90, 90}}});
  const auto latency = latency_of(*made, {}, {});
  ASSERT_TRUE(latency) << latency.error().message;
  ASSERT_EQ(latency->groups.size(), 1u);
  ASSERT_TRUE(latency->groups[0].median_run);
  EXPECT_EQ(latency->groups[0].median_run->run, 2);
  EXPECT_EQ(latency->groups[0].median_run->files, "run2.json");
}

TEST(FleetLatency, IsOfColdInferencesWhereThereAreNoOthersAndSaysSo) {
  TemporaryStore made;
  Profile profile = profile_of({.number = 1, .work = {10}});
  profile.provenance.temperature = Provenance::Temperature::cold;
  Batch batch;
  add_facts(profile, {content(1), 0, {}, false}, batch);
  ASSERT_TRUE((*made).add(batch));
  const auto latency = latency_of(*made, {}, {});
  ASSERT_TRUE(latency) << latency.error().message;
  EXPECT_TRUE(latency->cold_only);
  EXPECT_THAT(latency->remarks, ElementsAre("all inferences are cold"));
}

TEST(FleetOps, AreThoseOfASlowTwin) {
  TemporaryStore made;
  const auto runs = some_runs();
  made.add(runs);
  const auto ops = ops_of(*made, {.where = "device = 'd1'"}, {});
  ASSERT_TRUE(ops) << ops.error().message;
  std::vector<double> a, b;
  for (const SmallRun& run : runs) {
    if (run.labels[0] != "device=d1") continue;
    for (std::size_t k = 1; k < run.work.size(); ++k) {
      a.push_back(double(run.work[k]) / 1e6);
      b.push_back(4 / 1e6);
    }
  }
  ASSERT_EQ(ops->rows.size(), 2u);
  double total_a = 0, total_b = 0;
  for (const double value : a) total_a += value;
  for (const double value : b) total_b += value;
  EXPECT_EQ(ops->rows[0].name, "a");
  EXPECT_EQ(ops->rows[0].runs, 12u);
  EXPECT_EQ(ops->rows[0].inferences, a.size());
  EXPECT_DOUBLE_EQ(ops->rows[0].p50, analysis::percentile_of(a, 50));
  EXPECT_DOUBLE_EQ(ops->rows[0].p95, analysis::percentile_of(a, 95));
  EXPECT_NEAR(ops->rows[0].share, total_a / (total_a + total_b), 1e-12);
  EXPECT_EQ(ops->rows[1].name, "b");
  EXPECT_EQ(name_of(ops->clock.unit), std::string("seconds"));
}

// Numbers on clocks without a known relation are not compared.
TEST(FleetOps, OfUnrelatedClocksAreRefused) {
  TemporaryStore made;
  made.add({{.number = 1, .hertz = 0}, {.number = 2, .hertz = 1e6}});
  const auto ops = ops_of(*made, {}, {});
  ASSERT_FALSE(ops);
  EXPECT_THAT(ops.error().message, HasSubstr("cannot be compared"));
  EXPECT_TRUE(ops_of(*made, {.where = "hertz IS NULL"}, {}));
}

TEST(FleetChoice, ComparesNumbersAsNumbersAndOthersAsText) {
  TemporaryStore made;
  made.add({{.number = 1, .labels = {"build=9", "rc=1"}},
            {.number = 2, .labels = {"build=120", "rc=2-beta"}},
            {.number = 3, .labels = {"build=17"}}});
  const auto count = [&](const char* where) {
    const auto runs = ChosenRuns::of(*made, {.where = where});
    return runs ? fmt::format("{}", runs->runs()) : runs.error().message;
  };
  EXPECT_EQ(count("build >= 17"), "2");
  EXPECT_EQ(count("build >= 17 -- a comment"), "2");
  EXPECT_EQ(count("build = 9 OR rc = '2-beta'"), "2");
  EXPECT_EQ(count("rc IS NULL"), "1");
  EXPECT_EQ(count("model = 'build'"), "0");
  EXPECT_THAT(count("bild = 9"),
              testing::AllOf(HasSubstr("--where bild = 9: "), HasSubstr("no such column: bild"),
                             HasSubstr("build, rc")));
  EXPECT_THAT(count("1); DELETE FROM runs; --"), HasSubstr("--where"));
  EXPECT_THAT(ChosenRuns::of(*made, {.where = "rc > 1"})->remarks(),
              ElementsAre("tag rc: some values are not numbers, so all are compared as text"));
  const auto unknown = ChosenRuns::of(*made, {.by = {"biuld"}});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("did you mean 'build'?"));
}

TEST(FleetChoice, TakesTagsCalledLikeWordsOfSql) {
  TemporaryStore made;
  made.add({{.number = 1, .labels = {"order=1", "group=a"}}});
  const auto latency = latency_of(*made, {.where = "\"order\" = 1", .by = {"order", "group"}}, {});
  ASSERT_TRUE(latency) << latency.error().message;
  EXPECT_EQ(latency->groups.size(), 1u);
}

TEST(FleetChoice, LeavesDamagedRunsOutAndCountsThem) {
  TemporaryStore made;
  made.add({{.number = 1}, {.number = 2, .work = {1, 900, 900}, .damaged = true}});
  const auto latency = latency_of(*made, {}, {});
  ASSERT_TRUE(latency);
  EXPECT_DOUBLE_EQ(latency->groups[0].max, 33e-6);
  EXPECT_THAT(latency->remarks,
              ElementsAre("damaged runs left out: 1; fleet findings counts them"));
  const auto findings = findings_of(*made, {});
  ASSERT_TRUE(findings);
  ASSERT_EQ(findings->losses.size(), 1u);
  EXPECT_EQ(findings->losses[0].runs, 2u);
  EXPECT_EQ(findings->losses[0].damaged, 1u);
  ASSERT_EQ(findings->messages.size(), 1u);
  EXPECT_EQ(findings->messages[0].message, "the file ends here");
  EXPECT_EQ(findings->messages[0].count, 3u);
}

TEST(FleetFindings, AreSharesOfTheRunsThatCouldBeJudged) {
  TemporaryStore made;
  Batch batch;
  const auto add = [&](std::uint64_t number, const char* outcome, std::optional<double> gain) {
    add_run({.number = number, .labels = {fmt::format("build={}", number % 2)}}, batch);
    std::erase_if(batch.findings, [&](const FindingRow& row) { return row.run == Id(number); });
    batch.findings.push_back({Id(number), "spill", outcome, {}, {}, {}, gain});
  };
  add(1, "found", 0.1), add(2, "found", 0.3), add(3, "quiet", {}), add(4, "untried", {});
  ASSERT_TRUE((*made).add(batch));
  const auto all = findings_of(*made, {});
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->rows.size(), 1u);
  EXPECT_EQ(all->rows[0].found, 2u);
  EXPECT_EQ(all->rows[0].tried, 3u);
  EXPECT_EQ(all->rows[0].untried, 1u);
  EXPECT_DOUBLE_EQ(all->rows[0].gain_p50.value_or(0), 0.2);
  const auto by_build = findings_of(*made, {.by = {"build"}});
  ASSERT_TRUE(by_build);
  ASSERT_EQ(by_build->rows.size(), 2u);
  EXPECT_EQ(text(by_build->rows[0].by[0]), "0");
  EXPECT_DOUBLE_EQ(by_build->rows[0].share(), 1);
  EXPECT_DOUBLE_EQ(by_build->rows[1].share(), 0.5);
}

// A node whose kernel changed was an op that went and one that came: nothing had become slower.
TEST(FleetChanges, CompareANodeThatHasAnotherKernel) {
  TemporaryStore made;
  std::vector<SmallRun> runs;
  for (std::uint64_t number = 1; number <= 12; ++number) {
    const bool is_new = number > 6;
    const auto noise = std::int64_t(number);
    runs.push_back({.number = number,
                    .labels = {is_new ? "build=2" : "build=1"},
                    .work = {50, (is_new ? 240 : 120) + noise, (is_new ? 240 : 120) + noise},
                    .kernel = is_new ? "conv_slow" : "conv_fast"});
  }
  made.add(runs);
  const auto changes = compare_ops(*made, {}, "build = 1", "build = 2", {});
  ASSERT_TRUE(changes) << changes.error().message;
  EXPECT_EQ(changes->only_a + changes->only_b, 0u);
  EXPECT_EQ(changes->slower, 1u);
  const auto row = std::find_if(changes->rows.begin(), changes->rows.end(),
                                [](const ComparedOp& op) { return op.name == "a"; });
  ASSERT_NE(row, changes->rows.end());
  EXPECT_EQ(row->kind, "conv_slow");
  EXPECT_EQ(row->former_kind, "conv_fast");
  EXPECT_NE(row->former_op, row->op);
  EXPECT_TRUE(row->is_change);
  EXPECT_EQ(row->runs_a, 6u);
  EXPECT_EQ(row->runs_b, 6u);
  EXPECT_NEAR(row->relative(), 126.0 / 123.5, 0.05);
}

// Which of two kernels became which of two others is not known.
TEST(FleetChanges, LeaveANodeOfSeveralKernelsApart) {
  TemporaryStore made;
  made.add({{.number = 1, .labels = {"build=1"}, .kernel = "one"},
            {.number = 2, .labels = {"build=1"}, .kernel = "two"},
            {.number = 3, .labels = {"build=2"}, .kernel = "three"}});
  const auto changes = compare_ops(*made, {}, "build = 1", "build = 2", {});
  ASSERT_TRUE(changes) << changes.error().message;
  EXPECT_EQ(changes->only_a, 2u);
  EXPECT_EQ(changes->only_b, 1u);
}

TEST(FleetListing, CountsRunsAndGroups) {
  TemporaryStore made;
  made.add(some_runs());
  const auto all = list_of(*made, {}, 5);
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->runs, 36u);
  EXPECT_EQ(all->all.devices, 3u);
  EXPECT_EQ(all->newest.size(), 5u);
  EXPECT_EQ(all->newest[0].tags, "build=9");
  EXPECT_EQ(all->ops, 2u);
  ASSERT_EQ(all->tags.size(), 1u);
  EXPECT_EQ(all->tags[0].values, 4u);
  EXPECT_TRUE(all->tags[0].is_number);
  const auto by = list_of(*made, {.where = "build > 8", .by = {"build"}}, 5);
  ASSERT_TRUE(by) << by.error().message;
  ASSERT_EQ(by->groups.size(), 3u);
  EXPECT_EQ(text(by->groups[0].by[0]), "9");
  EXPECT_EQ(by->groups[0].runs, 9u);
}

TEST(FleetListing, RunsBeforeATimeAreThoseThatRetainRemoves) {
  TemporaryStore made;
  made.add({{.number = 1, .labels = {"time=2026-01-01"}},
            {.number = 2, .labels = {"time=2026-01-02"}},
            {.number = 3, .labels = {"time=2026-01-01", "keep=1"}}});
  const auto old = runs_before(*made, {.where = "keep IS NULL"}, *time_of("2026-01-02"));
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_THAT(*old, ElementsAre(1));
}

}  // namespace
}  // namespace npuscope::fleet::questions_test
