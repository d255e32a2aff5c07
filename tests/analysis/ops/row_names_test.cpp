#include "analysis/ops/row_names.hpp"

#include <gmock/gmock.h>

#include "analysis/profile_builder.hpp"
#include "npuscope/analysis/analysis.hpp"

namespace npuscope::analysis::row_names_test {
namespace {

using npuscope::test_support::ProfileBuilder;
using ::testing::ElementsAre;

std::vector<std::string> names_of(std::vector<std::string> labels, bool folds_layers = true) {
  const RowNames names({labels.begin(), labels.end()}, folds_layers);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    texts.push_back(std::string(names.of(i)));
    if (names.layers(i) > 1) texts.back() += " x " + std::to_string(names.layers(i));
  }
  return texts;
}

// The first page of a decode was seventeen parts of lm_head, 0.1 % each.
TEST(RowNames, PartsOfANodeWereRowsOfTheirOwn) {
  EXPECT_THAT(
      names_of({"/lm_head/MatMul/__2", "/lm_head/MatMul/__14", "/lm_head/MatMul", "/a/__x"}),
      ElementsAre("/lm_head/MatMul", "/lm_head/MatMul", "/lm_head/MatMul", "/a/__x"));
}

TEST(RowNames, RepeatedLayersAreOneRow) {
  EXPECT_THAT(
      names_of({"/model/layers.0/mlp/up_proj/MatMul/__1", "/model/layers.11/mlp/up_proj/MatMul",
                "/model/layers.0/mlp/down_proj/MatMul"}),
      ElementsAre("/model/layers.*/mlp/up_proj/MatMul x 2",
                  "/model/layers.*/mlp/up_proj/MatMul x 2",
                  "/model/layers.0/mlp/down_proj/MatMul"));
  EXPECT_THAT(names_of({"_model_layers_3_mlp_MatMul", "_model_layers_4_mlp_MatMul"}),
              ElementsAre("_model_layers_*_mlp_MatMul x 2", "_model_layers_*_mlp_MatMul x 2"));
  EXPECT_THAT(names_of({"/layers.0/a/MatMul/__1", "/layers.1/a/MatMul"}, false),
              ElementsAre("/layers.0/a/MatMul", "/layers.1/a/MatMul"));
}

TEST(RowNames, NumbersOfUnlikeThingsStay) {
  const std::vector<std::string> names{"MatMul_0",
                                       "MatMul_1",
                                       "/features/features.0/Conv",
                                       "/features/features.3/Conv",
                                       "/conv1/Conv",
                                       "/conv2/Conv",
                                       ""};
  EXPECT_EQ(names_of(names), names);
}

TEST(RowNames, ARowOfLayersSaysHowUnlikeTheyAre) {
  ProfileBuilder made("ticks", ClockKind::timer);
  const UnitId unit = made.unit("HMX", Engine::hmx);
  for (const auto& [layer, begin, end] :
       {std::tuple{0, 0, 10}, {1, 10, 30}, {2, 30, 60}, {2, 60, 70}}) {
    made.span(unit, "/layers." + std::to_string(layer) + "/up/MatMul", begin, end);
  }
  const OpTable table = Analysis(made.profile).ops({.details = true});
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].name, "/layers.*/up/MatMul");
  EXPECT_EQ(table.rows[0].layers, 3u);
  ASSERT_TRUE(table.rows[0].details.layers);
  EXPECT_EQ(table.rows[0].details.layers->min, 10);
  EXPECT_EQ(table.rows[0].details.layers->median, 20);
  EXPECT_EQ(table.rows[0].details.layers->max, 40);
  EXPECT_EQ(Analysis(made.profile).ops({Grouping::part, 10}).rows.size(), 3u);
}

}  // namespace
}  // namespace npuscope::analysis::row_names_test
