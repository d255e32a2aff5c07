#include "fleet/facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "fleet/identity.hpp"
#include "fleet/small_fleet.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "query/random_profile.hpp"
#include "report/forged_profile.hpp"

namespace npuscope::fleet::facts_test {
namespace {

using testing::ElementsAre;

TEST(FleetFacts, OfAHandMadeRunAreItsNumbers) {
  TemporaryStore made;
  made.add({{.number = 1, .labels = {"device=d7", "build=17"}}});
  EXPECT_THAT(
      made.rows("SELECT id, time, time_from, device, model, format, clock, clock_kind, "
                "hertz, inferences, damaged, origin, files FROM runs"),
      ElementsAre("1|1000000|file|d7|net|hand-made|timer|timer|1000000|3|0|measured|run1.json"));
  EXPECT_THAT(made.rows("SELECT key, value, number FROM tags"), ElementsAre("build|17|17"));
  EXPECT_THAT(made.rows("SELECT inference, cold, wall, active, waiting, idle, work, wall_seconds "
                        "FROM inferences ORDER BY inference"),
              ElementsAre("0|1|13|10|3|0|14|1.3e-05", "1|0|23|20|3|0|24|2.3e-05",
                          "2|0|33|30|3|0|34|3.3e-05"));
  EXPECT_THAT(made.rows("SELECT name, kind, inference, cold, ops, work, active, waiting, "
                        "dominant_path FROM op_runs JOIN ops ON ops.id = op ORDER BY name, 3"),
              ElementsAre("a|conv|0|1|1|10|10|3|NULL", "a|conv|1|0|1|20|20|3|NULL",
                          "a|conv|2|0|1|30|30|3|NULL", "b|copy|0|1|1|4|4|NULL|NULL",
                          "b|copy|1|0|1|4|4|NULL|NULL", "b|copy|2|0|1|4|4|NULL|NULL"));
  EXPECT_THAT(made.rows("SELECT path, inference, busy, waiting, work, spans FROM unit_runs JOIN "
                        "units ON units.id = unit ORDER BY path, 2"),
              ElementsAre("DMA|0|4|0|4|1", "DMA|1|4|0|4|1", "DMA|2|4|0|4|1", "HMX|0|10|3|10|1",
                          "HMX|1|20|3|20|1", "HMX|2|30|3|30|1"));
}

// What an op's spans cover, tick by tick.
std::map<std::pair<std::int64_t, std::string>, std::int64_t> active_by_ticks(
    const Profile& profile) {
  std::map<std::pair<std::int64_t, std::string>, std::int64_t> active;
  const Spans& spans = profile.spans;
  for (std::int64_t tick = 0; tick < 4'000; ++tick) {
    std::map<std::pair<std::int64_t, std::string>, bool> covered;
    for (std::size_t row = 0; row < spans.size(); ++row) {
      const bool is_work = spans.kind[row] == SpanKind::op || spans.kind[row] == SpanKind::transfer;
      if (!is_work || tick < spans.start[row] || tick >= spans.start[row] + spans.duration[row]) {
        continue;
      }
      covered[{spans.instance[row],
               std::string(profile.text(profile.ops[index_of(spans.op[row])].name))}] = true;
    }
    for (const auto& [key, is] : covered) active[key] += is;
  }
  return active;
}

TEST(FleetFacts, ActiveTimesAreThoseOfASlowTwin) {
  test_support::ProfileBuilder made;
  std::vector<UnitId> units;
  for (int i = 0; i < 4; ++i) units.push_back(made.unit(fmt::format("HVX {}", i), Engine::hvx));
  std::uint64_t state = 5;
  const auto random = [&](std::uint64_t below) {
    state = state * 6'364'136'223'846'793'005u + 1'442'695'040'888'963'407u;
    return std::int64_t((state >> 33) % below);
  };
  for (int i = 0; i < 200; ++i) {
    const std::int64_t inference = random(3), start = 1'000 * inference + random(900);
    made.span(units[std::size_t(random(4))], fmt::format("op{}", random(6)), start,
              start + 1 + random(90));
    made.profile.spans.instance.push_back(std::uint32_t(inference));
  }
  Batch batch;
  add_facts(made.profile, {content(1), 0, {}, false}, batch);
  std::map<Id, std::string> names;
  for (const OpKey& op : batch.ops) names[op.id] = op.name;
  std::map<std::pair<std::int64_t, std::string>, std::int64_t> found;
  for (const OpRun& row : batch.op_runs) {
    if (row.active) found[{row.inference, names[row.op]}] = std::int64_t(*row.active);
  }
  EXPECT_EQ(found, active_by_ticks(made.profile));
}

TEST(FleetFacts, TilesOfOneNodeAreOneOp) {
  test_support::ProfileBuilder made;
  const UnitId a = made.unit("HVX 0", Engine::hvx), b = made.unit("HVX 1", Engine::hvx);
  made.span(a, "MatMul/__0", 0, 10, SpanKind::op, "matmul");
  made.span(b, "MatMul/__1", 5, 12, SpanKind::op, "matmul");
  Batch batch;
  add_facts(made.profile, {content(1), 0, {}, false}, batch);
  ASSERT_EQ(batch.op_runs.size(), 1u);
  EXPECT_EQ(batch.op_runs[0].ops, 2);
  EXPECT_EQ(batch.op_runs[0].work, 17);
  EXPECT_EQ(batch.op_runs[0].active, 12);
  EXPECT_EQ(batch.ops[0].name, "MatMul");
}

// Whatever a profile holds, its rows are rows of the store.
TEST(FleetFacts, OfForgedAndRandomProfilesAreStored) {
  TemporaryStore made;
  std::uint64_t number = 0;
  const auto add = [&](const Profile& profile) {
    Batch batch;
    add_facts(profile, {content(++number), 0, {}, true}, batch);
    const auto added = (*made).add(batch);
    EXPECT_TRUE(added) << added.error().message;
  };
  add(test_support::forged_profile());
  for (std::uint64_t seed = 1; seed <= 20; ++seed) add(test_support::random_profile(seed, 60));
  EXPECT_THAT(made.rows("SELECT count(*) FROM runs"), ElementsAre("21"));
}

TEST(FleetFacts, WorkOfOpsAddsUpToThatOfTheInference) {
  Batch batch;
  add_run({.number = 1, .work = {7, 19, 23}}, batch);
  std::map<std::int64_t, double> sums;
  for (const OpRun& row : batch.op_runs) sums[row.inference] += row.work.value_or(0);
  for (const Inference& row : batch.inferences) EXPECT_EQ(sums[row.inference], row.work);
}

TEST(FleetIdentity, IsOfContentAndNotOfNames) {
  const TemporaryFolder folder;
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name, std::ios::binary) << text;
    return (folder / name).string();
  };
  ContentHashes hashes;
  const std::string a = write("a.json", "[1, 2]"), b = write("b.txt", "[1, 2]"),
                    c = write("c.json", "[1, 3]");
  const auto of = [&](std::vector<std::string> files, std::size_t place = 0) {
    const auto hash = hashes.of_profile(files, place);
    return hash ? *hash : hash.error().message;
  };
  EXPECT_EQ(of({a}), of({b}));
  EXPECT_EQ(of({a, c}), of({c, b}));
  EXPECT_NE(of({a}), of({c}));
  EXPECT_NE(of({a}), of({a}, 1));
  EXPECT_NE(of({a}), of({a, b}));
  EXPECT_NE(id_of("ab", "c"), id_of("a", "bc"));
  EXPECT_GE(id_of_content(std::string(32, 'f')), 0);
}

}  // namespace
}  // namespace npuscope::fleet::facts_test
