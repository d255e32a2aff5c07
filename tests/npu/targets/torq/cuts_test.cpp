// How operations are cut: the tiles that torq-compiler 2.3.0 makes of single convolutions.
#include "npu/targets/torq/stages.hpp"

#include <gmock/gmock.h>

#include <random>

#include "npu/targets/torq/fixture.hpp"

namespace npuscope::npu::torq::cuts_test {
namespace {

using testing::ElementsAre;

ImageShape convolution(std::uint64_t channels, std::uint64_t window, std::uint64_t stride,
                       std::uint64_t rows, std::uint64_t element_bytes) {
  ImageShape shape;
  shape.element_bytes = element_bytes;
  shape.in_channels = shape.out_channels = channels;
  shape.in_rows = shape.in_columns = rows;
  shape.out_rows = shape.out_columns = rows / stride;
  shape.window = window;
  shape.window_area = window * window;
  shape.stride = stride;
  shape.segmented = stride > 1;
  shape.bias_bytes = element_bytes == 1 ? 8 : 4;
  shape.ways = element_bytes;  // bf16 is shared by both slices
  return shape;
}

TileCut cut(const ImageShape& shape) {
  const auto found = cut_of(shape, sl2610());
  EXPECT_TRUE(found);
  return found.value_or(TileCut{});
}

TEST(CutOf, LeavesWholeWhatFitsLram) {
  EXPECT_EQ(cut(convolution(64, 3, 1, 56, 1)), (TileCut{1, 1}));
  EXPECT_EQ(cut(convolution(64, 5, 1, 28, 2)), (TileCut{1, 1}));
}

TEST(CutOf, CutsChannelsWhereWeightsAreLarge) {
  const ImageShape shape = convolution(256, 3, 1, 28, 1);
  EXPECT_EQ(cut(shape), (TileCut{1, 3}));
  EXPECT_EQ(shape.channels({1, 3}), 86u);
  EXPECT_EQ(cut(convolution(512, 3, 1, 28, 1)), (TileCut{1, 26}));
  EXPECT_EQ(cut(convolution(128, 5, 1, 28, 1)), (TileCut{1, 2}));
}

// Slices that share a tile have groups of four channels each.
TEST(CutOf, GivesEverySliceWholeGroupsInBf16) {
  const ImageShape wide = convolution(256, 3, 1, 28, 2);
  EXPECT_EQ(wide.channels(cut(wide)), 16u);
  const ImageShape strided = convolution(128, 5, 2, 28, 2);
  EXPECT_EQ(strided.channels(cut(strided)), 40u);
}

TEST(CutOf, CutsRowsWhereDataAreLarge) {
  EXPECT_EQ(cut(convolution(128, 3, 1, 56, 2)), (TileCut{12, 1}));
  const ImageShape shape = convolution(64, 3, 1, 56, 2);
  EXPECT_EQ(cut(shape), (TileCut{4, 1}));
  EXPECT_EQ(shape.rows({4, 1}), 14u);
  EXPECT_EQ(shape.rows_read({4, 1}), 16u);
}

TEST(CutOf, CutsBothWhereNeitherWillDo) {
  const ImageShape deep = convolution(512, 3, 1, 28, 2), wide = convolution(256, 5, 1, 28, 2);
  EXPECT_EQ(cut(deep).row_parts, 2u);
  EXPECT_EQ(deep.channels(cut(deep)), 8u);
  EXPECT_EQ(cut(wide).row_parts, 2u);
  EXPECT_EQ(wide.channels(cut(wide)), 16u);
}

TEST(CutOf, HasNoCutForARowThatIsTooLong) {
  ImageShape shape = convolution(4, 1, 1, 4, 1);
  shape.in_columns = shape.out_columns = 1 << 20;
  EXPECT_FALSE(cut_of(shape, sl2610()));
  shape.in_columns = ~std::uint64_t{0};
  shape.window_area = ~std::uint64_t{0};
  EXPECT_FALSE(cut_of(shape, sl2610()));
}

TEST(CutOf, NeverNeedsMoreThanLram) {
  std::mt19937 random(5);
  const auto pick = [&](std::initializer_list<std::uint64_t> choices) {
    return choices.begin()[random() % choices.size()];
  };
  int found = 0;
  for (int round = 0; round < 500; ++round) {
    ImageShape shape = convolution(pick({3, 16, 100, 512}), pick({1, 3, 5}), pick({1, 2}),
                                   pick({2, 8, 28, 112}), pick({1, 2}));
    shape.channelwise = random() % 4 == 0;
    const auto each = cut_of(shape, sl2610());
    if (!each) continue;
    ++found;
    const std::uint64_t channels = shape.channels(*each);
    ASSERT_GT(channels * shape.rows(*each), 0u);
    ASSERT_LE(shape.data_bytes(*each) + shape.weight_bytes(channels) +
                  channels * shape.rows(*each) * shape.out_columns * shape.element_bytes,
              sl2610().lram_for_data());
  }
  EXPECT_GT(found, 400);
}

TEST(PartsOf, AreWholeGroupsAndWhatIsLeft) {
  EXPECT_THAT(parts_of(64, 2, 4), ElementsAre(32, 32));
  EXPECT_THAT(parts_of(171, 2, 4), ElementsAre(84, 84, 3));
  EXPECT_THAT(parts_of(7, 2, 4), ElementsAre(7));
  EXPECT_THAT(parts_of(64, 1, 4), ElementsAre(64));
}

}  // namespace
}  // namespace npuscope::npu::torq::cuts_test
