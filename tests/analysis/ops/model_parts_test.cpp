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
                                         Pair("attention projections", 22), Pair("attention", 5),
                                         Pair("other", 8)));
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

// "Slice 0" is where it ran; a SqueezeNet was "layout and types 51 %".
TEST(ModelParts, AUnitsNameIsNoSortOfOperator) {
  ProfileBuilder made;
  const UnitId slice = made.unit("Slice 0", Engine::compute);
  const UnitId dma = made.unit("DMA In", Engine::dma);
  made.span(slice, "@L1", 0, 60, SpanKind::op, "Slice 0");
  made.profile.ops.back().node_kind = made.text("Conv");
  made.span(slice, "@L2", 60, 70, SpanKind::op, "Slice 0");
  made.span(dma, "@L3", 0, 30, SpanKind::op, "DMA In");
  const auto parts = parts_of(made.profile);
  ASSERT_TRUE(parts);
  EXPECT_THAT(named(*parts),
              ElementsAre(Pair("convolution", 60), Pair("copies", 30), Pair("other", 10)));
}

TEST(ModelParts, CollectivesWereReductions) {
  ProfileBuilder made;
  const UnitId group = made.unit("group", Engine::thread), stream = made.unit("s", Engine::thread);
  made.span(group, "hcom_allReduce__586_0_1", 0, 50, SpanKind::communication);
  made.span(stream, "ncclDevKernel_AllGather_RING", 50, 70, SpanKind::kernel, "kernel");
  made.span(stream, "aten::sum", 70, 80, SpanKind::kernel, "kernel");
  const auto parts = parts_of(made.profile);
  ASSERT_TRUE(parts);
  EXPECT_THAT(named(*parts), ElementsAre(Pair("collectives", 70), Pair("reductions", 10)));
}

// Of words within words: "prefill" fills nothing, "async" does not synchronise, a SqueezeNet does
// not squeeze.
TEST(ModelParts, ShortWordsCountWhole) {
  const struct {
    const char* kind;
    const char* part;
  } cases[] = {{"prefill", ""},         {"ConstantFill", "copies"},
               {"asyncWork", ""},       {"SyncOp", "bookkeeping"},
               {"squeezenet_main", ""}, {"aten::unsqueeze", "layout and types"},
               {"broadcast", ""},       {"Cast", "layout and types"},
               {"aten::normal_", ""},   {"LayerNormalization", "norms"},
               {"threadpool", ""},      {"max_pool2d", "pooling"},
               {"resolution", ""},      {"STRIDED_SLICE", "layout and types"},
               {"restore", ""},         {"aten::constant_pad_nd", "layout and types"}};
  const auto rules = Rules::builtin("operators");
  ASSERT_TRUE(rules) << rules.error().message;
  for (const auto& each : cases) {
    const RuledOp op{"", "", each.kind, ""};
    const std::uint32_t rule = rules->of(std::span(&op, 1)).front();
    EXPECT_EQ(rule < rules->size() ? rules->name(rule) : "", each.part) << each.kind;
  }
}

TEST(ModelParts, AddUpToAll) {
  ProfileBuilder made;
  const UnitId unit = made.unit("hmx", Engine::hmx);
  made.span(unit, "Conv_0", 0, 70);
  made.span(unit, "unknown", 70, 100);
  const auto parts = parts_of(made.profile);
  ASSERT_TRUE(parts);
  double sum = 0;
  for (const ModelPart& part : parts->parts) sum += part.share;
  EXPECT_DOUBLE_EQ(sum, 1);
  EXPECT_EQ(parts->parts.back().name, "other");
}

}  // namespace
}  // namespace npuscope::analysis::model_parts_test
