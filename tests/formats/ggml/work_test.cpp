#include "formats/ggml/operation.hpp"

#include <gmock/gmock.h>

namespace npuscope::ggml::work_test {
namespace {

// Depth 64, 5 rows, 16 heads; a cache of 256 rows that 4 heads share, K in q8_0.
TEST(Work, OfAttentionIsAtMost) {
  const auto attention = parse_operation(
      "FLASH_ATTN_EXT|Qcur-0 (permuted) x cache_k_l0 (view) x cache_v_l0 (view) x KQ_mask -> "
      "__fattn__-0|64:5:16:1 x 64:256:4:1 x 32:256:4:1 x 256:5 -> 32:16:5:1|f32 x q8_0 x f16 x f16 "
      "-> f32|1|hmx-pipe vtcm 4194304");
  ASSERT_TRUE(attention);
  EXPECT_EQ(attention->macs, 5 * 16 * 256 * (64 + 32));
  EXPECT_EQ(attention->cache_bytes, 256 * 4 * (64 * 8.5 + 32 * 16) / 8);
  EXPECT_EQ(attention->weight_bytes, 0);
  EXPECT_TRUE(attention->is_at_most);
  EXPECT_EQ(attention->vtcm_bytes, 4'194'304u);
}

TEST(Work, OfProductsWithTheCacheIsAtMost) {
  const auto scores = parse_operation(
      "MUL_MAT|cache_k_l0 (view) (permuted) x Qcur-0 (permuted) -> kq-0|64:256:4:1 x 64:5:16:1 -> "
      "256:5:16:1|f16 x f32 -> f32|1|hvx-flat vtcm 8");
  ASSERT_TRUE(scores);
  EXPECT_EQ(scores->macs, 64 * 256 * 5 * 16);
  EXPECT_EQ(scores->cache_bytes, 64 * 256 * 4 * 2);
  EXPECT_TRUE(scores->is_at_most);
  EXPECT_FALSE(scores->tokens);
}

TEST(Work, OfRecurrentOps) {
  const auto net = parse_operation(
      "GATED_DELTA_NET|q-1 x k-1 x v-1 x g-1 x beta-1 x state-1 -> attn-1|128:4:7:1 x 128:4:7:1 x "
      "96:8:7:1 x 1:8:7:1 x 1:8:7:1 x 96:128:8:1 -> 768:135|f32 x f32 x f32 x f32 x f32 x f32 -> "
      "f32|1|hvx-recurrent");
  ASSERT_TRUE(net);
  EXPECT_EQ(net->macs, 7 * 8 * 3 * 128 * 96);
  const auto convolution = parse_operation(
      "SSM_CONV|conv_input-1 x blk.1.ssm_conv1d.weight -> conv_output-1|10:512 x 4:512 -> "
      "512:7|f32 x f32 -> f32|1|prefill");
  ASSERT_TRUE(convolution);
  EXPECT_EQ(convolution->macs, 512 * 7 * 4);
  EXPECT_FALSE(convolution->is_at_most);
}

TEST(Work, BeyondReasonIsNone) {
  const auto forged = parse_operation(
      "FLASH_ATTN_EXT|q x k x v -> o|1099511627776:1099511627776 x 1099511627776:1099511627776 x "
      "1099511627776:1099511627776 -> 1:1|f32 x f16 x f16 -> f32|1|----");
  ASSERT_TRUE(forged);
  EXPECT_EQ(forged->macs, 0);
  EXPECT_EQ(forged->cache_bytes, 0);
}

TEST(Work, CoresOfAGroup) {
  const auto group = parse_operation("MDEV_GROUP|----|----|----|----|idx 1 count 2");
  ASSERT_TRUE(group);
  EXPECT_EQ(group->cores, 2u);
  EXPECT_TRUE(group->synchronises);
}

}  // namespace
}  // namespace npuscope::ggml::work_test
