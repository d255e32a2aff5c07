#include "analysis/compare/across.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "analysis/profile_builder.hpp"

namespace npuscope::analysis::across_test {
namespace {

using test_support::ProfileBuilder;
using testing::ElementsAre;
using testing::HasSubstr;

struct Row {
  const char* name;
  const char* kind;
  std::int64_t ticks;
  const char* shape = "";
};

// Rows one after the other on one unit, of a clock of so many ticks a second (0: cycles).
Profile side_of(const std::vector<Row>& rows, double rate = 0) {
  ProfileBuilder made(rate > 0 ? "ns" : "cycles",
                      rate > 0 ? ClockKind::wall : ClockKind::unit_cycles, rate);
  const UnitId unit = made.unit("NPU", Engine::compute);
  std::int64_t now = 0;
  for (const Row& row : rows) {
    made.span(unit, row.name, now, now + row.ticks, SpanKind::op, row.kind);
    Op& op = made.profile.ops.back();
    op.node_kind = op.kind;
    if (*row.shape != '\0') made.shape(op, row.shape);
    now += row.ticks;
  }
  return std::move(made.profile);
}

// "conv1 (Conv 40) = conv1+relu1 (Conv 9): name", a line each; of a model "conv1,relu1: " first.
std::vector<std::string> lines_of(const Across& across) {
  std::vector<std::string> lines;
  for (const AcrossRow& row : across.rows) {
    std::string sides[2];
    for (int side = 0; side < 2; ++side) {
      if (row.names[side].empty()) continue;
      const std::string value = row.values[side] ? fmt::format("{:g}", *row.values[side]) : "-";
      sides[side] =
          fmt::format("{} ({} {})", fmt::join(row.names[side], " "), row.kinds[side], value);
    }
    const std::string nodes = fmt::format("{}", fmt::join(row.nodes, ","));
    lines.push_back(fmt::format("{}{}{} = {}: {}", nodes, nodes.empty() ? "" : ": ", sides[0],
                                sides[1], name_of(row.by)));
  }
  return lines;
}

Across across_of(const Profile& a, const Profile& b, const ExpectedGraph* model = nullptr) {
  const auto across = compare_across(Analysis(a), Analysis(b), model);
  EXPECT_TRUE(across) << across.error().message;
  return across ? *across : Across{};
}

TEST(Across, NamesJoinAndFusedRowsStandAgainstAllThatTheyHold) {
  const Profile a =
      side_of({{"/conv1", "Conv", 40}, {"relu1", "Relu", 10}, {"pool", "MaxPool", 5}});
  const Profile b = side_of({{"conv1+relu1", "Conv", 9}, {"pool_output_0", "MaxPool", 1}});
  const Across across = across_of(a, b);
  EXPECT_THAT(lines_of(across),
              ElementsAre("/conv1 relu1 (several 50) = conv1+relu1 (Conv 9): name",
                          "pool (MaxPool 5) = pool_output_0 (MaxPool 1): name"));
  EXPECT_EQ(across.sides[0].joined_nodes, 3u);
  EXPECT_EQ(across.sides[0].joined, 55);
  EXPECT_EQ(across.sides[1].total, 10);
}

TEST(Across, OperatorsAndShapesJoinWhatHasOtherNames) {
  // NHWC and NCHW have the same extents.
  const Profile a = side_of({{"a1", "Conv", 1, "[1,64,32,32]"},
                             {"a2", "Conv", 2, "[1,64,16,16]"},
                             {"a3", "Softmax", 3, "[1,10]"}});
  const Profile b = side_of({{"b1", "Conv2D", 5, "[1,16,16,64]"},
                             {"b2", "Conv2D", 6, "[1,8,8,64]"},
                             {"b3", "Softmax", 7, "[1,12]"}});
  EXPECT_THAT(lines_of(across_of(a, b)),
              ElementsAre("a1 (Conv 1) = b2 (Conv2D 6): operator and order",
                          "a2 (Conv 2) = b1 (Conv2D 5): operator and shape",
                          "a3 (Softmax 3) = b3 (Softmax 7): operator and order"));
}

// Between rows that are joined by name as many of a sort are the same; others stay alone.
TEST(Across, OrderJoinsOnlyAsMany) {
  const Profile a =
      side_of({{"x", "Conv", 1}, {"in", "MaxPool", 9}, {"y", "Conv", 2}, {"z", "Conv", 3}});
  const Profile b = side_of({{"p", "Conv", 4},
                             {"in", "MaxPool", 8},
                             {"q", "Conv", 5},
                             {"r", "Conv", 6},
                             {"s", "Conv", 7}});
  EXPECT_THAT(
      lines_of(across_of(a, b)),
      ElementsAre("x (Conv 1) = p (Conv 4): operator and order",
                  "in (MaxPool 9) = in (MaxPool 8): name", "y (Conv 2) = : ", "z (Conv 3) = : ",
                  " = q (Conv 5): ", " = r (Conv 6): ", " = s (Conv 7): "));
}

// One operator that a compiler made many rows of.
TEST(Across, ARunOfRowsStandsAgainstOne) {
  const Profile a = side_of({{"fc", "Gemm", 1}, {"prob", "Softmax", 2}});
  const Profile b = side_of({{"fc", "FullyConnected", 4},
                             {"s_0", "Softmax", 1},
                             {"s_1", "Softmax", 2},
                             {"s_2", "Softmax", 3}});
  EXPECT_THAT(lines_of(across_of(a, b)),
              ElementsAre("fc (Gemm 1) = fc (FullyConnected 4): name",
                          "prob (Softmax 2) = s_0 s_1 s_2 (Softmax 6): operator and order"));
}

// Two models without anything in common.
TEST(Across, ARunStandsAgainstOneOnlyNextToWhatIsJoined) {
  const Profile a = side_of({{"fc", "Gemm", 1}});
  const Profile b = side_of({{"m_0", "MatMul", 4}, {"m_1", "MatMul", 1}});
  EXPECT_THAT(lines_of(across_of(a, b)),
              ElementsAre("fc (Gemm 1) = : ", " = m_0 (MatMul 4): ", " = m_1 (MatMul 1): "));
}

// Loads of constants that bear the name of their convolution.
TEST(Across, KernelsTellTheSortNotNames) {
  const Profile a = side_of({{"load_conv1_b", "Load", 1}, {"x_Relu", "Conv2D", 2}});
  const Profile b = side_of({{"conv1", "Conv", 4}});
  EXPECT_THAT(lines_of(across_of(a, b)),
              ElementsAre("load_conv1_b (Load 1) = : ",
                          "x_Relu (Conv2D 2) = conv1 (Conv 4): operator and order"));
}

ExpectedGraph chain_model() {
  ExpectedGraph model;
  model.name = "chain";
  const auto add = [&](const char* name, const char* op) {
    const auto number = std::uint32_t(model.nodes.size());
    if (number == 0) model.tensors.push_back({"input", {1, 8}, false, no_node});
    model.tensors.push_back({std::string(name) + "_out", {1, 8}, false, number});
    model.nodes.push_back({name, op, ExpectedRole::executes, {number}, {number + 1}});
  };
  add("c1", "Conv");
  add("r1", "Relu");
  add("c2", "Conv");
  add("r2", "Relu");
  model.outputs = {4};
  return model;
}

// ONNX Runtime names what it fused after the last node, others after the first.
TEST(Across, TheModelTellsWhatRowsHold) {
  const Profile a = side_of({{"r1", "Conv", 10}, {"r2", "Conv", 20}});
  const Profile b = side_of({{"c1", "Conv", 3}, {"c2", "Conv", 4}, {"r2", "Relu", 5}});
  const ExpectedGraph model = chain_model();
  EXPECT_THAT(lines_of(across_of(a, b, &model)),
              ElementsAre("c1,r1: r1 (Conv 10) = c1 (Conv 3): model",
                          "c2,r2: r2 (Conv 20) = c2 r2 (several 9): model"));
}

TEST(Across, UnitsStayApart) {
  const Profile time = side_of({{"c", "Conv", 1'000}}, 1e9), cycles = side_of({{"c", "Conv", 500}});
  const Across mixed = across_of(time, cycles);
  EXPECT_FALSE(mixed.has_ratio());
  EXPECT_EQ(mixed.sides[0].unit, MeasuredIn::seconds);
  EXPECT_EQ(mixed.sides[1].unit, MeasuredIn::cycles);
  EXPECT_DOUBLE_EQ(*mixed.rows[0].values[0], 1e-6);
  EXPECT_EQ(*mixed.rows[0].values[1], 500);
  EXPECT_TRUE(across_of(time, time).has_ratio());
  Profile estimate = cycles;
  estimate.provenance.times = Origin::estimated;
  EXPECT_EQ(across_of(time, estimate).sides[1].origin, Origin::estimated);
}

TEST(Across, WithoutTimesThereIsNothingToCompare) {
  const Profile whole = side_of({{"c", "Conv", 1}});
  ProfileBuilder names;
  names.op("c", "Conv");
  const auto refused = compare_across(Analysis(whole), Analysis(names.profile));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("has no time of any node"));
}

// Swapping the sides swaps the rows, and each row of a side is in one row of the result.
TEST(Across, IsTheSameBothWays) {
  const std::vector<Row> rows{{"a", "Conv", 3},   {"b", "Relu", 2},    {"c", "Conv", 4},
                              {"d+e", "Gemm", 5}, {"f", "Softmax", 6}, {"g", "Conv", 7}};
  for (std::uint32_t keep = 1; keep < 64; ++keep) {
    std::vector<Row> some;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if ((keep >> i & 1) != 0) some.push_back(rows[i]);
    }
    const Profile a = side_of(rows), b = side_of(some);
    const Across there = across_of(a, b), back = across_of(b, a);
    EXPECT_EQ(there.sides[0].joined_nodes, back.sides[1].joined_nodes) << keep;
    EXPECT_EQ(there.sides[1].joined_nodes, back.sides[0].joined_nodes) << keep;
    for (int side = 0; side < 2; ++side) {
      std::size_t found = 0;
      double sum = 0;
      for (const AcrossRow& row : there.rows) {
        found += row.names[side].size();
        sum += row.values[side].value_or(0);
      }
      EXPECT_EQ(found, there.sides[side].nodes) << keep;
      EXPECT_EQ(sum, there.sides[side].total) << keep;
    }
  }
}

}  // namespace
}  // namespace npuscope::analysis::across_test
