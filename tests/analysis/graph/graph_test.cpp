// Walking graphs, against slow and obvious twins on random ones, and forms that try to break it.
#include "npuscope/analysis/graph.hpp"
#include "npuscope/analysis/analysis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "analysis/graph/graph_facts.hpp"
#include "analysis/graph/graph_paths.hpp"
#include "analysis/ops/op_times.hpp"
#include "analysis/profile_builder.hpp"

namespace npuscope::analysis::graph_test {
namespace {

using test_support::ProfileBuilder;

std::vector<Edge> random_edges(std::mt19937& random, std::uint32_t ops, bool acyclic) {
  std::vector<Edge> edges;
  const std::size_t count = random() % (2 * ops + 1);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t from = random() % ops, to = random() % ops;
    if (acyclic && from > to) std::swap(from, to);
    if (random() % 20 == 0) to = ops + random() % 5;
    edges.push_back({OpId(from), OpId(to), random() % 4 == 0 ? EdgeKind::reuse : EdgeKind::data});
  }
  return edges;
}

// reached[a][b]: in any number of steps, none included.
std::vector<std::vector<bool>> closure(std::uint32_t ops, const std::vector<Edge>& edges,
                                       EdgeKinds kinds) {
  std::vector<std::vector<bool>> reached(ops, std::vector<bool>(ops));
  for (std::uint32_t op = 0; op < ops; ++op) reached[op][op] = true;
  for (const Edge& edge : edges) {
    if (index_of(edge.to) < ops && kinds.has(edge.kind)) {
      reached[index_of(edge.from)][index_of(edge.to)] = true;
    }
  }
  for (std::uint32_t via = 0; via < ops; ++via) {
    for (std::uint32_t a = 0; a < ops; ++a) {
      for (std::uint32_t b = 0; b < ops; ++b) {
        if (reached[a][via] && reached[via][b]) reached[a][b] = true;
      }
    }
  }
  return reached;
}

TEST(OpGraph, HoldsEachEdgeOnceBothWaysAndCountsTheRest) {
  const std::vector<Edge> edges{
      {OpId(0), OpId(1), EdgeKind::data},  {OpId(0), OpId(1), EdgeKind::data},
      {OpId(0), OpId(1), EdgeKind::reuse}, {OpId(2), OpId(2), EdgeKind::data},
      {OpId(1), OpId(9), EdgeKind::data},  {OpId::none, OpId(1), EdgeKind::data}};
  const OpGraph graph(3, edges);
  EXPECT_EQ(graph.edges().size(), 2u);
  EXPECT_EQ(graph.from(OpId(0)).size(), 2u);
  EXPECT_EQ(graph.to(OpId(1)).size(), 2u);
  EXPECT_EQ(graph.repeats(), 1u);
  EXPECT_EQ(graph.loops(), 1u);
  EXPECT_EQ(graph.dangling(), 2u);
}

TEST(OpGraph, OrderReachAndShortestPathAgreeWithTheTwin) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    const std::uint32_t ops = 1 + random() % 14;
    const auto edges = random_edges(random, ops, round % 2 == 0);
    const EdgeKinds kinds = round % 3 == 0 ? EdgeKinds::without(EdgeKind::reuse) : EdgeKinds::all();
    const OpGraph graph(ops, edges);
    const auto reached = closure(ops, edges, kinds);
    const GraphOrder order = order_of(graph, kinds);
    Reach reach(graph, order, kinds);
    reach.start();
    for (std::uint32_t op = 0; op < ops; ++op) reach.add(op, OpId(op));
    reach.spread();
    for (std::uint32_t a = 0; a < ops; ++a) {
      for (std::uint32_t b = 0; b < ops; ++b) {
        ASSERT_EQ(order.rank[a] == order.rank[b], reached[a][b] && reached[b][a]);
        ASSERT_TRUE(!reached[a][b] || order.rank[a] <= order.rank[b]);
        ASSERT_EQ((reach.at(OpId(b)) >> a & 1) != 0, reached[a][b]);
        const OpPath path = shortest_path(graph, {OpId(a)}, {OpId(b)}, kinds);
        ASSERT_EQ(path.exists(), bool(reached[a][b]));
        if (!path.exists()) continue;
        EXPECT_EQ(path.ops.front(), OpId(a));
        EXPECT_EQ(path.ops.back(), OpId(b));
        EXPECT_EQ(path.edges.size() + 1, path.ops.size());
      }
    }
  }
}

// Every path, tried.
std::int64_t max_work(const OpGraph& graph, const OpTimes& times, std::uint32_t from,
                      std::uint32_t to) {
  const std::int64_t own = times.work[from];
  std::int64_t best = from == to ? own : -1;
  for (const Edge& edge : graph.from(OpId(from))) {
    const std::int64_t rest = max_work(graph, times, index_of(edge.to), to);
    if (rest >= 0) best = std::max(best, own + rest);
  }
  return best;
}

TEST(OpGraph, HeaviestPathAndLongestChainAgreeWithTryingEveryPath) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    const std::uint32_t ops = 1 + random() % 9;
    ProfileBuilder made;
    const UnitId unit = made.unit("HVX", Engine::hvx);
    OpTimes ones;
    for (std::uint32_t op = 0; op < ops; ++op) {
      const std::int64_t begin = 100 * op;
      made.span(unit, "op" + std::to_string(op), begin, begin + 1 + random() % 50, SpanKind::op,
                "kernel");
      ones.work.push_back(1);
    }
    made.profile.edges = random_edges(random, ops, true);
    const OpGraph graph = op_graph(made.profile);
    const OpTimes times = Analysis(made.profile).op_times();
    const GraphOrder order = order_of(graph, EdgeKinds::all());
    std::int64_t longest = 0;
    for (std::uint32_t a = 0; a < ops; ++a) {
      for (std::uint32_t b = 0; b < ops; ++b) {
        const OpPath path =
            heaviest_path(graph, order, times, {OpId(a)}, {OpId(b)}, EdgeKinds::all());
        const std::int64_t twin = max_work(graph, times, a, b);
        ASSERT_EQ(path.exists() ? path.work : -1, twin);
        longest = std::max(longest, max_work(graph, ones, a, b));
      }
    }
    EXPECT_EQ(graph_facts(made.profile, graph, times).levels, std::uint64_t(longest));
  }
}

TEST(OpGraph, FactsCountOpsTensorsFormAndCycles) {
  ProfileBuilder made;
  const UnitId hmx = made.unit("HMX", Engine::hmx);
  made.span(hmx, "a", 0, 10, SpanKind::op, "Load");
  made.span(hmx, "b", 10, 30, SpanKind::op, "Conv");
  made.op("c", "Conv");
  made.op("only a name");
  Profile& profile = made.profile;
  profile.edges = {{OpId(0), OpId(1)}, {OpId(1), OpId(2)}, {OpId(2), OpId(1)}};
  const auto tensor = [&](const char* name, std::int64_t bytes, OpId producer, bool constant) {
    Tensor made_tensor;
    made_tensor.name = made.text(name);
    made_tensor.size = Bytes{bytes};
    made_tensor.producer = producer;
    made_tensor.is_constant = constant;
    profile.tensors.push_back(made_tensor);
  };
  tensor("in", 100, OpId::none, false);
  tensor("weights", 4000, OpId::none, true);
  tensor("mid", 50, OpId(0), false);
  tensor("out", 70, OpId(2), false);
  profile.tensor_uses = {{0, OpId(0)}, {1, OpId(1)}, {2, OpId(1)}, {77, OpId(1)}, {0, OpId(99)}};
  const OpGraph graph = op_graph(profile);
  const GraphFacts facts = graph_facts(profile, graph, Analysis(profile).op_times());
  EXPECT_EQ(facts.ops, 3u);
  EXPECT_EQ(facts.ran, 2u);
  EXPECT_EQ(facts.only_named, 1u);
  EXPECT_EQ(facts.inputs.bytes, 100u);
  EXPECT_EQ(facts.outputs.bytes, 70u);
  EXPECT_EQ(facts.constants.bytes, 4000u);
  EXPECT_EQ(facts.inner.bytes, 50u);
  EXPECT_EQ(facts.largest.front(), 1u);
  EXPECT_EQ(facts.kinds.front().ops, 2u);  // Conv
  EXPECT_EQ(facts.kinds.front().work, 20);
  EXPECT_EQ(facts.cycle_count, 1u);
  EXPECT_THAT(facts.cycles.at(0), ::testing::UnorderedElementsAre(OpId(1), OpId(2)));
  EXPECT_EQ(facts.levels, 2u);  // a, then the cycle
  EXPECT_EQ(facts.components, 1u);
}

TEST(OpGraph, SessionsOfARuntimeWereOpsOfIt) {
  ProfileBuilder made;
  const UnitId thread = made.unit("thread", Engine::thread);
  made.span(thread, "model_run", 0, 100, SpanKind::inference, "Session");
  made.span(thread, "session_initialization", 0, 10, SpanKind::activation, "Session");
  made.span(thread, "conv", 10, 90, SpanKind::host, "Conv");
  const GraphFacts facts =
      graph_facts(made.profile, op_graph(made.profile), Analysis(made.profile).op_times());
  EXPECT_EQ(facts.ops, 1u);
  ASSERT_EQ(facts.kinds.size(), 1u);
  EXPECT_EQ(made.profile.text(facts.kinds.front().kind), "Conv");
}

TEST(OpGraph, AMillionOpsInARowAreNoObstacle) {
  constexpr std::uint32_t ops = 1'000'000;
  Profile profile;
  profile.clocks.push_back({});
  profile.ops.resize(ops);
  for (std::uint32_t i = 0; i + 1 < ops; ++i) profile.edges.push_back({OpId(i), OpId(i + 1)});
  {
    const OpGraph graph = op_graph(profile);
    EXPECT_EQ(graph_facts(profile, graph, Analysis(profile).op_times()).levels, ops);
    EXPECT_EQ(shortest_path(graph, {OpId(0)}, {OpId(ops - 1)}, EdgeKinds::all()).ops.size(), ops);
  }
  profile.edges.push_back({OpId(ops - 1), OpId(0)});
  const GraphFacts facts = graph_facts(profile, op_graph(profile), Analysis(profile).op_times());
  EXPECT_EQ(facts.cycle_count, 1u);
  EXPECT_EQ(facts.cycles[0].size(), ops);
}

TEST(OpGraph, TakesTheArrowsOfATraceWithoutEdges) {
  ProfileBuilder made;
  const UnitId unit = made.unit("thread", Engine::thread);
  const SpanId a = made.span(unit, "a", 0, 10), b = made.span(unit, "b", 10, 20);
  made.profile.flows.push_back({a, b, EdgeKind::flow, {}, {}});
  made.profile.flows.push_back({a, SpanId(99), EdgeKind::flow, {}, {}});
  const OpGraph graph = op_graph(made.profile);
  ASSERT_EQ(graph.edges().size(), 1u);
  EXPECT_EQ(graph.edges()[0].to, OpId(1));
}

TEST(FindOps, ExactNamesComeFirstThenPatternsThenNearNames) {
  ProfileBuilder made;
  made.op("MatMul_1", "Conv");
  made.op("MatMul_10", "Conv");
  EXPECT_EQ(find_ops(made.profile, "--path", "MatMul_1")->size(), 1u);
  EXPECT_EQ(find_ops(made.profile, "--path", "MatMul_.*")->size(), 2u);
  EXPECT_EQ(find_ops(made.profile, "--path", "Conv")->size(), 2u);
  const auto none = find_ops(made.profile, "--path", "MatMull_1");
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().kind, ErrorKind::usage);
  EXPECT_EQ(none.error().message,
            "--path: no op's name, kind or node is or matches 'MatMull_1'; the nearest names: "
            "'MatMul_1', 'MatMul_10'");
  EXPECT_FALSE(find_ops(made.profile, "--path", "(").has_value());
}

TEST(OpsAround, SayHowFarAndOnWhichSide) {
  const std::vector<Edge> edges{{OpId(0), OpId(1)}, {OpId(1), OpId(2)}, {OpId(2), OpId(3)}};
  const auto near = ops_around(OpGraph(4, edges), {OpId(1)}, 1, EdgeKinds::all());
  ASSERT_EQ(near.size(), 3u);
  EXPECT_EQ(near[0].op, OpId(0));
  EXPECT_EQ(near[0].hops, -1);
  EXPECT_EQ(near[2].op, OpId(2));
  EXPECT_EQ(near[2].hops, 1);
}

TEST(OpTimes, AreOfTheMedianInferenceAfterTheFirst) {
  ProfileBuilder made;
  const UnitId unit = made.unit("HVX", Engine::hvx);
  const std::int64_t lengths[] = {500, 30, 10, 20};
  for (std::uint32_t inference = 0; inference < 4; ++inference) {
    const std::int64_t begin = 1000 * inference;
    made.span(unit, "op", begin, begin + lengths[inference]);
    made.profile.spans.instance.push_back(inference);
  }
  const OpTimes times = Analysis(made.profile).op_times();
  EXPECT_EQ(times.inferences, 4u);
  EXPECT_EQ(times.inference, 3u);  // 10, 20, 30: the middle
  EXPECT_EQ(times.work[0], 20);
}

}  // namespace
}  // namespace npuscope::analysis::graph_test
