// The published figures of published models, and closed forms at sizes one can check by hand.
#include "npu/models/summary.hpp"

#include <gtest/gtest.h>

namespace npuscope::npu::summary_test {
namespace {

ModelSummary summary_of(std::string_view preset, const InputSizes& sizes) {
  return *summarize(*make_architecture(preset, {}), sizes);
}

TEST(Summary, Amber7BPrefillAsTheVendorsCompilerReports) {
  const auto summary = summary_of("amber-7b", {.batch = 1, .sequence = 32, .context = 128});
  EXPECT_EQ(summary.multiply_accumulates, 208'436'985'856u);
  EXPECT_EQ(summary.padded_multiply_accumulates, 212'500'217'856u);
  EXPECT_EQ(summary.parameters, 6'738'415'616u);
  EXPECT_EQ(std::uint64_t(summary.weight_mebibytes_float16()), 12'852u);
  EXPECT_EQ(summary.retained_bytes_float16, 64u << 20);
}

TEST(Summary, Amber7BDecodeAsTheVendorsCompilerReports) {
  const auto summary = summary_of("amber-7b", {.batch = 1, .sequence = 1, .context = 128});
  EXPECT_EQ(summary.multiply_accumulates, 6'640'631'808u);
  EXPECT_EQ(summary.padded_multiply_accumulates, 212'500'217'856u);
}

TEST(Summary, Qwen3CountsItsTiedTableOnce) {
  const auto tied = summary_of("qwen3-0.6b", {.batch = 1, .sequence = 1, .context = 1});
  EXPECT_EQ(tied.parameters, 596'049'920u);  // 0.6 billion on the model's page
  ArchitectureChanges untied;
  untied.tied_embeddings = false;
  const auto twice = summarize(*make_architecture("qwen3-0.6b", untied),
                               {.batch = 1, .sequence = 1, .context = 1});
  EXPECT_EQ(twice->parameters, tied.parameters + 151'936u * 1024u);
  EXPECT_EQ(twice->multiply_accumulates, tied.multiply_accumulates);
}

TEST(Summary, BertBaseCasedWithoutItsPooler) {
  const auto summary = summary_of("bert-base", {.batch = 1, .sequence = 128, .context = 0});
  EXPECT_EQ(summary.parameters, 108'310'272u - (768u * 768u + 768u));
  EXPECT_EQ(summary.multiply_accumulates,
            std::uint64_t{12} *
                (128u * (4u * 768u * 768u + 2u * 768u * 3072u) + 2u * 128u * 128u * 768u));
  EXPECT_EQ(summary.retained_bytes_float16, 0u);
}

TEST(Summary, GrowsWithTheBatchButPadsTheRowsOfAllSequencesTogether) {
  const auto one = summary_of("bert-base", {.batch = 1, .sequence = 16, .context = 0});
  const auto two = summary_of("bert-base", {.batch = 2, .sequence = 16, .context = 0});
  EXPECT_EQ(two.multiply_accumulates, 2 * one.multiply_accumulates);
  // 2 x 16 rows fill what 16 rows were padded to; only attention, a product per sequence, doubles.
  const std::uint64_t attention = 12u * 2u * 12u * 32u * 16u * 64u;
  EXPECT_EQ(two.padded_multiply_accumulates, one.padded_multiply_accumulates + attention);
}

TEST(Summary, RefusesSizesWhoseProductsOverflow) {
  ArchitectureChanges changes;
  changes.hidden_size = 1 << 20;
  changes.feed_forward_size = 1 << 20;
  changes.layers = 4096;
  const auto summary = summarize(*make_architecture("amber-7b", changes),
                                 {.batch = 1 << 20, .sequence = 1 << 24, .context = 1 << 24});
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().kind, ErrorKind::usage);
  EXPECT_EQ(summary.error().message,
            "amber-7b: its sizes multiply to more than 63 bits hold; take smaller ones");
}

}  // namespace
}  // namespace npuscope::npu::summary_test
