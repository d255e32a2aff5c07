#include "analysis/ops/row_names.hpp"

#include <gtest/gtest.h>

namespace npuscope::analysis::stages_test {
namespace {

TEST(Stages, OfAPathIsItsLayer) {
  EXPECT_EQ(stage_of("/model/layers.12/self_attn/q_proj/MatMul"), "/model/layers.12");
  EXPECT_EQ(stage_of("/layer.0/attn/MatMul_3"), "/layer.0");
  EXPECT_EQ(stage_of("encoder/layer_3/attention/Softmax"), "encoder/layer_3");
  EXPECT_EQ(stage_of("/model/layers/7/mlp/Add"), "/model/layers/7");
  EXPECT_EQ(stage_of("/model/layers.4.mlp/Add"), "/model/layers.4");
}

TEST(Stages, OfADottedNameIsItsLayer) {
  EXPECT_EQ(stage_of("model.layers.12.mlp.up_proj"), "model.layers.12");
}

TEST(Stages, BetweenUnderscoresOnlyAWordForLayersCounts) {
  EXPECT_EQ(stage_of("_model_layers_12_mlp_MatMul"), "_model_layers_12");
  EXPECT_EQ(stage_of("MatMul_0_post_reshape"), "");
  EXPECT_EQ(stage_of("h_3_attn"), "h_3");
}

TEST(Stages, WithoutALayerIsTheOutermostFolder) {
  EXPECT_EQ(stage_of("/embeddings/word/Gather_3"), "/embeddings");
  EXPECT_EQ(stage_of("head/MatMul"), "head");
}

TEST(Stages, AnOperatorAloneHasNone) {
  EXPECT_EQ(stage_of("MatMul_0"), "");
  EXPECT_EQ(stage_of("/Gather_12"), "");
  EXPECT_EQ(stage_of(""), "");
  EXPECT_EQ(stage_of("/"), "");
  EXPECT_EQ(stage_of("layers.3"), "");
}

}  // namespace
}  // namespace npuscope::analysis::stages_test
