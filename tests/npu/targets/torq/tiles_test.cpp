#include "npu/targets/torq/tiles.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

#include "npu/targets/torq/fixture.hpp"

namespace npuscope::npu::torq::tiles_test {
namespace {

SliceOperation random_operation(std::mt19937& random) {
  const auto pick = [&](std::initializer_list<std::uint64_t> choices) {
    return choices.begin()[random() % choices.size()];
  };
  SliceOperation operation;
  operation.kernel = pick({0, 1}) ? SliceKernel::convolution : SliceKernel::elementwise;
  operation.repeats = pick({1, 1, 1, 3});
  operation.rows = pick({1, 2, 7, 14, 56, 113});
  operation.row_pixels = pick({1, 7, 56, 113});
  operation.in_channels = pick({1, 3, 16, 200});
  operation.out_channels = pick({1, 3, 4, 33, 256});
  operation.window_x = operation.window_y = pick({1, 3, 7});
  operation.stride = pick({1, 2, 4});
  operation.operands = pick({1, 1, 2});
  operation.element_bytes = operation.output_element_bytes = pick({1, 2, 4});
  operation.channelwise = random() % 3 == 0;
  operation.input_rows = operation.rows * operation.stride;
  operation.input_row_bytes = operation.row_pixels * operation.stride * operation.element_bytes;
  operation.weight_bytes = operation.in_channels * operation.window_x * operation.window_y + 8;
  operation.shared_bytes = pick({0, 0, 1000});
  return operation;
}

// What LRAM holds while stage `first` computes: results of it and of another stage, and all weights
// and data of it and of the next, each once.
std::uint64_t lram_in_use(const SliceOperation& operation, const TilePlan& plan,
                          std::uint64_t first, std::uint64_t slices) {
  std::uint64_t bytes = operation.shared_bytes;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> weights;
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, std::uint64_t> data;
  for (std::uint64_t i = first; i < std::min(first + 2 * slices, plan.tiles); ++i) {
    const TilePart part = plan.part(i);
    const TileSize size = plan.at(operation, part.row_part, part.channel_part);
    weights[{part.repeat, part.channel_part}] = weight_bytes(operation, size);
    const std::uint64_t channels = operation.channelwise ? part.channel_part : 0;
    data[{part.repeat, part.row_part, channels}] =
        input_bytes(operation, size) * operation.operands;
    bytes += output_bytes(operation, size);
  }
  for (const auto& [key, size] : weights) bytes += size;
  for (const auto& [key, size] : data) bytes += size;
  return bytes;
}

TEST(PlanTiles, CoversEverythingOnceAndFits) {
  std::mt19937 random(5);
  const std::uint64_t lram = sl2610().lram_for_data();
  int planned = 0;
  for (int round = 0; round < 2000; ++round) {
    const SliceOperation operation = random_operation(random);
    const auto plan = plan_tiles(operation, sl2610(), {}, lram);
    if (!plan) continue;
    ++planned;
    std::uint64_t results = 0;
    for (std::uint64_t i = 0; i < plan->tiles; ++i) {
      const TilePart part = plan->part(i);
      ASSERT_LT(part.repeat, operation.repeats);
      const TileSize size = plan->at(operation, part.row_part, part.channel_part);
      ASSERT_GT(size.rows * size.channels, 0u);
      results += size.rows * size.channels;
      ASSERT_TRUE(i == 0 || part != plan->part(i - 1));
      ASSERT_TRUE(i % 2 != 0 || lram_in_use(operation, *plan, i, 2) <= lram) << round;
    }
    ASSERT_EQ(results, operation.repeats * operation.rows * operation.out_channels);
    ASSERT_TRUE(operation.rows == 1 || plan->tiles >= 2) << "a slice has nothing to do";
  }
  EXPECT_GT(planned, 1500);
}

TEST(PlanTiles, HasNoPlanForARowThatIsTooLong) {
  SliceOperation operation;
  operation.rows = operation.input_rows = 4;
  operation.input_row_bytes = 1 << 20;
  EXPECT_FALSE(plan_tiles(operation, sl2610(), {}, sl2610().lram_for_data()));
  operation.input_row_bytes = ~std::uint64_t{0};
  operation.weight_bytes = ~std::uint64_t{0};
  EXPECT_FALSE(plan_tiles(operation, sl2610(), {}, sl2610().lram_for_data()));
}

// 25088 to 4096 in 2-byte elements: 205 MB of weights come in once whatever the cut.
TEST(PlanTiles, CutsChannelsOfOneRow) {
  SliceOperation operation;
  operation.kernel = SliceKernel::fully_connected;
  operation.rows = operation.input_rows = 1;
  operation.in_channels = 25088;
  operation.out_channels = 4096;
  operation.element_bytes = operation.output_element_bytes = 2;
  operation.input_row_bytes = 2;
  operation.weight_bytes = 25088 * 2 + 8;
  const auto plan = plan_tiles(operation, sl2610(), {}, sl2610().lram_for_data());
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->row_parts, 1u);
  EXPECT_EQ(plan->size.channels, 2u);
}

// VGG-19's 512 to 512 channels of 28x28 pixels moved the fewest bytes in tiles of two channels, of
// which the ALU takes four at once: 64 products a cycle where ResNet-50 had 220.
TEST(PlanTiles, TheFewestBytesAreNotWorthHalfOfTheAlu) {
  SliceOperation operation;
  operation.kernel = SliceKernel::convolution;
  operation.rows = operation.row_pixels = 28;
  operation.input_rows = 30;
  operation.in_channels = operation.out_channels = 512;
  operation.window_x = operation.window_y = 3;
  operation.element_bytes = operation.output_element_bytes = 2;
  operation.input_row_bytes = 30 * 2;
  operation.weight_bytes = 512 * 9 * 2 + 8;
  const auto plan = plan_tiles(operation, sl2610(), {}, sl2610().lram_for_data());
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->size.channels % 4, 0u);
  const double tile = double(kernel_cycles(ndls_of(work_of(operation, plan->size), sl2610())));
  const double products = 28.0 * 28 * 512 * 512 * 9;
  EXPECT_GT(products / (double(plan->tiles) / 2 * tile), 200);
}

}  // namespace
}  // namespace npuscope::npu::torq::tiles_test
