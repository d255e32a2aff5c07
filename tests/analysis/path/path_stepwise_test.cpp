// Edges between ops that repeat, and passes that try several ways at once, against slow and obvious
// twins.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

#include "analysis/path/path_graph.hpp"
#include "analysis/profile_builder.hpp"
#include "npuscope/analysis/path.hpp"

namespace npuscope::analysis::path_stepwise_test {
namespace {

using Link = std::tuple<std::uint32_t, std::uint32_t, Reason>;  // rows: from, to

// A few ops that run again and again on some units, tiles of one at once, some spans without
// length.
Profile random_profile(std::mt19937_64& random) {
  test_support::ProfileBuilder made;
  std::vector<UnitId> units;
  for (std::uint32_t i = 0; i < 1 + random() % 5; ++i) {
    units.push_back(made.unit("unit", Engine::hvx));
    made.profile.units.back().core = i % 2;
  }
  const std::size_t ops = 2 + random() % 7;
  for (std::size_t op = 0; op < ops; ++op) made.op("op " + std::to_string(op));
  std::vector<std::int64_t> free(units.size(), 0);
  const std::size_t spans = 2 + random() % 60;
  for (std::size_t i = 0; i < spans; ++i) {
    const std::size_t unit = random() % units.size();
    const auto start = free[unit] + std::int64_t(random() % 4);
    free[unit] = start + std::int64_t(random() % 5 == 0 ? 0 : random() % 12);
    // Later spans are of later ops more often, so that some edges lead from run to run.
    const std::size_t op = std::min(random() % ops + (i > spans / 2 ? ops / 2 : 0), ops - 1);
    made.span(units[unit], "op " + std::to_string(op), start, free[unit]);
  }
  for (std::size_t i = random() % (3 * ops); i > 0; --i) {
    made.profile.edges.push_back(
        {OpId(std::uint32_t(random() % ops)), OpId(std::uint32_t(random() % ops)), EdgeKind::data});
  }
  return std::move(made.profile);
}

std::vector<std::uint32_t> rows_of(const Profile& profile, OpId op) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < profile.spans.size(); ++row) {
    if (profile.spans.op[row] == op) rows.push_back(row);
  }
  return rows;
}

// By looking at all pairs.
std::multiset<Link> slow_links(const Profile& profile) {
  const Spans& spans = profile.spans;
  const auto begin = [&](std::uint32_t row) { return spans.start[row]; };
  const auto end = [&](std::uint32_t row) { return spans.start[row] + spans.duration[row]; };
  std::multiset<Link> links;
  for (const Edge& edge : profile.edges) {
    const auto producers = rows_of(profile, edge.from), consumers = rows_of(profile, edge.to);
    if (edge.from == edge.to || producers.empty() || consumers.empty()) continue;
    std::int64_t last_end = end(producers[0]), first_begin = begin(consumers[0]);
    for (const std::uint32_t row : producers) last_end = std::max(last_end, end(row));
    for (const std::uint32_t row : consumers) first_begin = std::min(first_begin, begin(row));
    if (last_end <= first_begin) continue;  // from run to run
    for (const std::uint32_t consumer : consumers) {
      std::uint32_t last = no_row;
      for (const std::uint32_t row : producers) {
        if (end(row) > begin(consumer)) continue;
        const auto rank = [&](std::uint32_t of) { return std::tuple(end(of), begin(of), of); };
        if (last == no_row || rank(row) > rank(last)) last = row;
      }
      if (last != no_row) links.insert({last, consumer, Reason::data});
    }
  }
  return links;
}

std::multiset<Link> links_of(const PathGraph& graph) {
  std::multiset<Link> links;
  for (std::uint32_t node = 0; node < graph.size(); ++node) {
    if (graph.kind[node] == NodeKind::run_begin) continue;
    for (auto i = graph.first_link[node]; i < graph.first_link[node + 1]; ++i) {
      const PathLink& link = graph.links[i];
      if (link.joins) continue;
      links.insert({graph.row[link.from], graph.row[node], link.reason});
    }
  }
  return links;
}

bool is_in_order(const PathGraph& graph) {
  for (std::uint32_t node = 0; node < graph.size(); ++node) {
    const std::uint32_t before = graph.unit_before[node];
    if (before != PathGraph::none && before >= node) return false;
    for (auto i = graph.first_link[node]; i < graph.first_link[node + 1]; ++i) {
      if (graph.links[i].from >= node) return false;
    }
  }
  return true;
}

TEST(PathStepwise, EachExecutionWaitsForTheLastOneThatHadEnded) {
  std::mt19937_64 random(11);
  int compared = 0, with_runs = 0;
  for (int round = 0; round < 4'000; ++round) {
    const Profile profile = random_profile(random);
    const auto analysis = PathAnalysis::create(profile, std::nullopt);
    if (!analysis || analysis->basis().cyclic_constraints > 0) continue;  // one was taken out
    const PathGraph& graph = analysis->graph();
    ASSERT_EQ(links_of(graph), slow_links(profile)) << round;
    ASSERT_TRUE(is_in_order(graph)) << round;
    compared += links_of(graph).empty() ? 0 : 1;
    with_runs += std::count(graph.kind.begin(), graph.kind.end(), NodeKind::run_begin) > 0 ? 1 : 0;
  }
  EXPECT_GT(compared, 1'000);
  EXPECT_GT(with_runs, 200);
}

// A pass for several ways forgets what holds nothing back any more; one for a way alone does not.
TEST(PathStepwise, SeveralWaysAtOnceGiveWhatEachAloneGives) {
  std::mt19937_64 random(13);
  int with_forgotten = 0;
  for (int round = 0; round < 300; ++round) {
    const Profile profile = random_profile(random);
    const auto analysis = PathAnalysis::create(profile, std::nullopt);
    if (!analysis) continue;
    const PathGraph& graph = analysis->graph();
    ASSERT_LE(graph.ring().size, graph.size());
    with_forgotten += graph.ring().size < graph.size() ? 1 : 0;
    std::vector<Scaling> scalings(random() % 12);
    for (Scaling& scaling : scalings) {
      if (random() % 5 == 0) continue;  // changes nothing
      for (std::size_t op = 0; op <= profile.ops.size(); ++op) {
        scaling.of_op.push_back(double(random() % 5) / 3);
      }
      if (random() % 2 == 0) continue;
      for (std::size_t unit = 0; unit <= profile.units.size(); ++unit) {
        scaling.of_unit.push_back(double(random() % 3));
      }
    }
    const std::vector<double> walls = analysis->walls_if(scalings);
    ASSERT_EQ(walls.size(), scalings.size());
    for (std::size_t i = 0; i < walls.size(); ++i) {
      ASSERT_EQ(walls[i], analysis->what_if(scalings[i]).after) << round;
    }
  }
  EXPECT_GT(with_forgotten, 50);
}

}  // namespace
}  // namespace npuscope::analysis::path_stepwise_test
