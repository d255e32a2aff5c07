#include "formats/sigmastar/op_cost.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <numeric>

#include "formats/sigmastar/samples.hpp"

namespace npuscope::sigmastar::op_cost_test {
namespace {

using test_support::make_model;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

LayerRun run(std::uint32_t core, std::int64_t start, double cycles, std::uint64_t index) {
  return {core, start, std::int64_t(cycles), cycles, index, std::to_string(index)};
}

// As read_model() marks it.
Model model_of(const std::vector<std::pair<std::string, std::uint32_t>>& operators) {
  Model model = make_model(operators);
  bool in_group = false;
  for (ModelOperator& each : model.operators) {
    each.fusion = each.mark == 2 ? Fusion::first : in_group ? Fusion::member : Fusion::alone;
    in_group = each.mark == 2 || (in_group && each.mark != 3);
  }
  return model;
}

std::vector<double> times(const OperatorCosts& costs) {
  std::vector<double> all;
  for (const OperatorCost& cost : costs.operators) all.push_back(cost.time);
  return all;
}

const Model grouped = model_of({{"CONV_2D", 2},
                                {"CONV_2D", 5},
                                {"ADD", 3},
                                {"Reshape_Alias", 1},
                                {"CONV_2D", 1},
                                {"SOFTMAX", 1}});

TEST(OperatorCost, GroupsAreChargedToTheirFirst) {
  const std::vector<LayerRun> runs{run(0, 50, 60, 9), run(0, 0, 30, 4), run(0, 200, 10, 5)};
  const auto costs = charge_operators(grouped, runs, "log.json");
  ASSERT_TRUE(costs) << costs.error().message;
  EXPECT_FALSE(costs->is_partial());
  EXPECT_THAT(times(*costs), ElementsAre(30, 0, 0, 0, 60, 10));
  EXPECT_EQ(costs->operators[0].share, 0.3);
  ASSERT_EQ(costs->types.size(), 4u);
  EXPECT_EQ(costs->types[0].type, "CONV_2D");
  EXPECT_EQ(costs->types[0].share, 0.9);
  EXPECT_EQ(costs->types[1].type, "SOFTMAX");
  EXPECT_THAT(costs->operator_of, ElementsAre(4u, 0u, 5u));
  EXPECT_FALSE(costs->by_own_indices);
  EXPECT_THAT(costs->remarks, IsEmpty());
}

TEST(OperatorCost, TwoCoresAddUpAndTheOrderIsCoreZeros) {
  // Layer 2 begins first on core 1, but after layer 1 on core 0.
  const std::vector<LayerRun> runs{run(1, 5, 6, 2), run(0, 10, 20, 1), run(1, 12, 24, 1),
                                   run(0, 40, 4, 2), run(1, 70, 3, 3)};
  const auto costs = charge_operators(grouped, runs, "log.json");
  ASSERT_TRUE(costs) << costs.error().message;
  EXPECT_THAT(times(*costs), ElementsAre(44, 0, 0, 0, 10, 3));
  EXPECT_EQ(costs->cores, 2u);
  EXPECT_THAT(costs->remarks, ElementsAre(HasSubstr("sum over the cores")));
}

TEST(OperatorCost, OwnIndicesWhereTheNumbersDiffer) {
  const std::vector<LayerRun> runs{run(0, 0, 30, 0), run(0, 50, 50, 4), run(0, 60, 10, 4),
                                   run(0, 90, 10, 77)};
  const auto costs = charge_operators(grouped, std::span(runs).first(3), "log.json");
  ASSERT_TRUE(costs);
  EXPECT_TRUE(costs->by_own_indices);
  EXPECT_THAT(times(*costs), ElementsAre(30, 0, 0, 0, 60, 0));
  EXPECT_THAT(costs->remarks,
              ElementsAre(HasSubstr("has 2 layers and 3 operators"), HasSubstr("more than once")));
  EXPECT_TRUE(costs->is_partial());
  EXPECT_EQ(costs->seen_takers, 2u);
  EXPECT_TRUE(costs->operators[2].seen);  // of the group of operator 0
  EXPECT_FALSE(costs->operators[5].seen);
}

std::string error_of(const Model& model, const std::vector<LayerRun>& runs,
                     const ChargeOptions& options = {}) {
  const auto costs = charge_operators(model, runs, "log.json", options);
  return costs ? "" : costs.error().message;
}

Model plain_model(std::size_t operators) {
  return model_of(std::vector<std::pair<std::string, std::uint32_t>>(operators, {"CONV_2D", 1}));
}

std::vector<LayerRun> plain_runs(std::uint64_t layers) {
  std::vector<LayerRun> runs;
  for (std::uint64_t i = 0; i < layers; ++i) runs.push_back(run(0, std::int64_t(i) * 10, 10, i));
  return runs;
}

TEST(OperatorCost, AForeignTimelineGaveAConfidentAnswer) {
  EXPECT_THAT(error_of(plain_model(40), plain_runs(12)),
              HasSubstr("log.json: has the layers of 12 of the 40 operators"));
  EXPECT_THAT(error_of(plain_model(12), plain_runs(40)),
              HasSubstr("40 layers with indices up to 39, but 12 of the model's 12 operators"));
  const std::vector<LayerRun> strange{run(0, 0, 30, 0), run(0, 90, 10, 77)};
  EXPECT_THAT(error_of(plain_model(3), strange), HasSubstr("give the model that was running"));
  EXPECT_THAT(error_of(plain_model(3), strange, {.is_incomplete = true}),
              HasSubstr("indices up to 77"));
}

TEST(OperatorCost, AnOverflowedLogShowedUnseenOperatorsAsFused) {
  const std::vector<Interval> inferences{{0, 400}};
  const auto costs = charge_operators(plain_model(40), plain_runs(12), "log.json",
                                      {.inferences = inferences, .is_incomplete = true});
  ASSERT_TRUE(costs) << costs.error().message;
  EXPECT_TRUE(costs->is_partial());
  EXPECT_EQ(costs->seen_takers, 12u);
  EXPECT_DOUBLE_EQ(*costs->share_of_wall, 120.0 / 400);
  EXPECT_DOUBLE_EQ(costs->operators[11].share, 1.0 / 12);  // of what was seen
  EXPECT_TRUE(costs->operators[11].seen);
  EXPECT_FALSE(costs->operators[12].seen);
  EXPECT_EQ(coverage_text(*costs),
            "covers 12 of the 40 operators that take a layer and 30.0 % of the wall");
}

// The hardware's n-th layer is not the model's n-th operator where groups come before it.
TEST(OperatorCost, AnOverflowedLogChargedLayersToMembersOfGroups) {
  const std::vector<LayerRun> runs{run(0, 0, 30, 0), run(0, 30, 50, 1)};
  EXPECT_THAT(error_of(grouped, runs), HasSubstr("2 of the 3 operators"));
  const auto costs = charge_operators(grouped, runs, "log.json", {.allow_partial = true});
  ASSERT_TRUE(costs) << costs.error().message;
  EXPECT_THAT(times(*costs), ElementsAre(30, 0, 0, 0, 50, 0));
}

TEST(OperatorCost, IndicesThatFitLayersAndOperatorsAreNotGuessed) {
  const Model model = model_of({{"A", 2}, {"B", 3}, {"C", 1}, {"D", 1}, {"E", 1}});
  const std::vector<LayerRun> runs{run(0, 0, 30, 2), run(0, 30, 50, 3)};  // 0 is missing
  EXPECT_THAT(error_of(model, runs, {.is_incomplete = true}), HasSubstr("take the log again"));
}

TEST(OperatorCost, NamesOfOtherTypesAreAnotherModel) {
  std::vector<LayerRun> runs = plain_runs(3);
  const Model model = model_of({{"CONV_2D", 1}, {"SOFTMAX", 1}, {"ADD", 1}});
  runs[0].name = "0 CONV_2D", runs[1].name = "SOFTMAX_1", runs[2].name = "layer 2";
  EXPECT_EQ(error_of(model, runs), "");
  runs[0].name = "0 ADD", runs[1].name = "CONV_2D_1";
  EXPECT_THAT(error_of(model, runs), HasSubstr("2 of the 2 layers that say a type are of another"));
}

TEST(OperatorCost, LogsOfTwoModelsWereTakenAsTwoCores) {
  std::vector<LayerRun> runs = plain_runs(12);
  for (std::uint64_t i = 0; i < 5; ++i) runs.push_back(run(1, std::int64_t(i) * 40, 40, i));
  EXPECT_THAT(error_of(plain_model(12), runs), HasSubstr("4 of the 5 layers that its cores share"));
}

TEST(OperatorCost, WithoutIndicesNamesTellLayersApartElseTheirOrder) {
  std::vector<LayerRun> runs{run(0, 0, 1, 0), run(0, 5, 2, 0), run(0, 9, 4, 0), run(1, 1, 8, 0)};
  for (LayerRun& each : runs) each.index.reset();
  runs[0].name = "a", runs[1].name = "b", runs[2].name = "c", runs[3].name = "b";
  EXPECT_THAT(times(*charge_operators(grouped, runs, "")), ElementsAre(1, 0, 0, 0, 10, 4));
  for (LayerRun& each : runs) each.name = "layer";
  EXPECT_THAT(times(*charge_operators(grouped, runs, "")), ElementsAre(9, 0, 0, 0, 2, 4));
  runs.resize(2);
  const auto costs = charge_operators(grouped, runs, "log.json");
  ASSERT_FALSE(costs);
  EXPECT_THAT(costs.error().message, HasSubstr("log.json: has 2 layers without indices, but 3"));
}

TEST(OperatorCost, DurationsWhereCyclesAreNotToldOfAll) {
  std::vector<LayerRun> runs{run(0, 0, 10, 0), run(0, 50, 10, 1), run(0, 90, 10, 2)};
  runs[1].cycles = -1;
  runs[2].duration = 20;
  const auto costs = charge_operators(grouped, runs, "");
  ASSERT_TRUE(costs);
  EXPECT_FALSE(costs->in_cycles);
  EXPECT_THAT(times(*costs), ElementsAre(10, 0, 0, 0, 10, 20));
}

TEST(OperatorCost, LayersWithoutTimeAreAnError) {
  const std::vector<LayerRun> runs{run(0, 0, 0, 0)};
  EXPECT_THAT(charge_operators(grouped, runs, "log.json").error().message,
              HasSubstr("its 1 layer took no time"));
}

// The vendor's documented example, 96 operators of yolov8s: layers as long as its shares give its
// shares again, and the totals by type, which it prints too.
TEST(OperatorCost, TheDocumentsExample) {
  const std::string folder = NPUSCOPE_SHARED_DIR "/data/sigmastar/";
  std::ifstream each(folder + "get_op_time_cost_each_onnx_yolov8s.txt");
  if (!each) GTEST_SKIP() << "needs the vendor's sample";
  std::vector<std::pair<std::string, std::uint32_t>> operators;
  std::vector<double> percent;
  std::vector<LayerRun> runs;
  std::size_t index = 0;
  for (std::string type, share; each >> index >> type >> share;) {
    ASSERT_EQ(index, operators.size());
    percent.push_back(std::stod(share));
    operators.emplace_back(type, 1);
    if (percent.back() == 0) {  // a member of the group before
      operators.back().second = 3;
      auto& before = operators[operators.size() - 2].second;
      before = before == 3 ? 7 : 2;
      continue;
    }
    const auto at = std::int64_t(runs.size());
    runs.push_back(run(0, at * 1'000'000, std::llround(percent.back() * 1000), std::uint64_t(at)));
  }
  ASSERT_EQ(operators.size(), 96u);
  const auto costs = charge_operators(model_of(operators), runs, "log.json");
  ASSERT_TRUE(costs) << costs.error().message;
  EXPECT_FALSE(costs->by_own_indices);
  for (std::size_t i = 0; i < percent.size(); ++i) {
    EXPECT_NEAR(costs->operators[i].share * 100, percent[i], 0.0005) << i;
  }
  std::ifstream total(folder + "get_op_time_cost_total_onnx_yolov8s.txt");
  const double sum = std::accumulate(percent.begin(), percent.end(), 0.0);  // 99.998
  std::size_t row = 0;
  for (std::string type, share; total >> type >> share; ++row) {
    ASSERT_LT(row, costs->types.size());
    EXPECT_EQ(costs->types[row].type, type);
    EXPECT_NEAR(costs->types[row].share * sum, std::stod(share), 0.0010001) << type;
  }
  EXPECT_EQ(row, 12u);
}

}  // namespace
}  // namespace npuscope::sigmastar::op_cost_test
