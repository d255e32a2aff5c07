#include "analysis/ops/model_parts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/profile_builder.hpp"
#include "npuscope/analysis/analysis.hpp"

namespace npuscope::analysis::model_parts_test {
namespace {

using test_support::ProfileBuilder;
using testing::ElementsAre;
using testing::Pair;

std::vector<std::pair<std::string, double>> named(const ModelParts& parts) {
  std::vector<std::pair<std::string, double>> all;
  for (const ModelPart& part : parts.parts) all.emplace_back(part.name, part.value);
  return all;
}

std::optional<ModelParts> parts_of(const Profile& profile) {
  return model_parts(profile, Analysis(profile).ops(options_of_parts()));
}

TEST(ModelParts, OfATransformerAreThoseOfItsLayersTogether) {
  ProfileBuilder made;
  const UnitId unit = made.unit("hmx", Engine::hmx);
  std::int64_t at = 0;
  const auto run = [&](const char* node, std::int64_t ticks) {
    made.span(unit, node, at, at + ticks);
    at += ticks;
  };
  run("/model/layers.0/self_attn/q_proj/MatMul", 10);
  run("/model/layers.1/self_attn/q_proj/MatMul", 12);
  run("/model/layers.0/mlp/up_proj/MatMul", 40);
  run("/model/layers.0/mlp/down_proj/MatMul", 41);
  run("/model/layers.0/self_attn/Softmax", 5);
  run("/lm_head/MatMul", 30);
  run("unknown", 8);
  const auto parts = parts_of(made.profile);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->rules, "transformer");
  EXPECT_THAT(named(*parts), ElementsAre(Pair("MLP projections", 81), Pair("lm head", 30),
                                         Pair("attention projections", 22), Pair("attention", 5)));
  EXPECT_DOUBLE_EQ(parts->explained, 138.0 / 146);
}

TEST(ModelParts, OfANetWithoutTellingNamesAreItsSortsOfOperators) {
  ProfileBuilder made;
  const UnitId unit = made.unit("hvx", Engine::hvx);
  auto run = [&, at = std::int64_t{0}](const char* node, const char* kind,
                                       std::int64_t ticks) mutable {
    made.span(unit, node, at, at + ticks, SpanKind::op, kind);
    at += ticks;
  };
  run("n0", "CONV_2D", 50);
  run("n1", "q::Conv2d", 30);
  run("main_dispatch_2_maxpool2d", "NSS program", 9);
  run("n3", "aicconvertfromd32", 4);
  run("/layer1/Relu", "elementmax", 3);
  const auto parts = parts_of(made.profile);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->rules, "operators");
  EXPECT_THAT(named(*parts), ElementsAre(Pair("convolution", 80), Pair("pooling", 9),
                                         Pair("layout and types", 4), Pair("activations", 3)));
}

// A matrix product runs the kernel that is called convolution there.
TEST(ModelParts, OfCloudAi100CallNoMatrixProductAConvolution) {
  ProfileBuilder made;
  const UnitId unit = made.unit("hmx", Engine::hmx);
  auto run = [&, at = std::int64_t{0}](const char* node, std::int64_t ticks) mutable {
    made.span(unit, node, at, at + ticks, SpanKind::op, "aicconvolutiond32");
    at += ticks;
  };
  run("/block/fc/MatMul", 50);
  run("/block/conv1/Conv", 20);
  run("n17", 10);
  const auto parts = parts_of(made.profile);
  ASSERT_TRUE(parts);
  EXPECT_THAT(named(*parts),
              ElementsAre(Pair("matmul", 50), Pair("convolution", 20), Pair("conv or matmul", 10)));
}

TEST(ModelParts, AreNotGuessedWhereMostOfTheWorkIsUnknown) {
  ProfileBuilder made;
  const UnitId unit = made.unit("host", Engine::host);
  made.span(unit, "hipLaunchKernel", 0, 90);
  made.span(unit, "aten::conv2d", 90, 100);
  EXPECT_FALSE(parts_of(made.profile));
  EXPECT_FALSE(parts_of(Profile{}));
}

}  // namespace
}  // namespace npuscope::analysis::model_parts_test
