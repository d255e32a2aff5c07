// Cycles of kernels, each worked out by hand from the counts that its movers have.
#include "npu/targets/torq/tiles.hpp"

#include <gtest/gtest.h>

#include "npu/targets/torq/fixture.hpp"

namespace npuscope::npu::torq::ndl_test {
namespace {

std::uint64_t cycles(const SliceWork& work) { return kernel_cycles(ndls_of(work, sl2610())); }

TEST(KernelCycles, AddsMemoryMoversOfAKindAndTakesTheLastOfOthers) {
  EXPECT_EQ(kernel_cycles({{NdlKind::dedr, {3, 4}}, {NdlKind::dedr, {5}}}), 17u);
  EXPECT_EQ(kernel_cycles({{NdlKind::cedr, {30, 4}}, {NdlKind::cedr, {5}}}), 5u);
  EXPECT_EQ(kernel_cycles({{NdlKind::dedr, {9}}, {NdlKind::cepr, {11}}}), 11u);
  EXPECT_EQ(kernel_cycles({}), 0u);
  constexpr std::uint64_t huge = ~std::uint64_t{0} / 2;
  EXPECT_EQ(kernel_cycles({{NdlKind::dedr, {huge, 9}}, {NdlKind::dedr, {huge}}}),
            ~std::uint64_t{0});
}

// 28x28 = 784 pixels are 13 blocks of 64 (or 25 of 32, 49 of 16); 128 channels 32 blocks of 4 (16
// of 8, 8 of 16). 16x16 has the fewest, 49 * 8 = 392; each takes 3 * 3 * 64 products.
TEST(Convolution, TakesAProductOfEachMultiplierACycle) {
  EXPECT_EQ(cycles({.kernel = SliceKernel::convolution,
                    .pixels = 784,
                    .out_channels = 128,
                    .in_channels = 64,
                    .window_x = 3,
                    .window_y = 3}),
            576u * 392);
}

// 2-byte elements: 32 pixels of 4 channels at once. 49 pixels are 2 blocks (or 4 of 16, 7 of 8).
TEST(Convolution, HalvesWithTwoByteElements) {
  EXPECT_EQ(cycles({.kernel = SliceKernel::convolution,
                    .pixels = 64,
                    .out_channels = 8,
                    .in_channels = 16,
                    .element_bytes = 2}),
            16u * 2 * 2);
}

// With one input channel and no window the activation unit is slower than the ALU: 64 pixels of 4
// channels are 16 steps of 16 results.
TEST(Convolution, IsBoundByItsResultsWhenThereIsLittleToMultiply) {
  EXPECT_EQ(cycles({.kernel = SliceKernel::convolution, .pixels = 64, .out_channels = 4}), 16u);
}

// 5 columns are read 3 at a time, so 6: 6 * 5 instead of 25 steps.
TEST(Convolution, ReadsWideWindowsInThrees) {
  EXPECT_EQ(cycles({.kernel = SliceKernel::convolution,
                    .pixels = 64,
                    .out_channels = 4,
                    .in_channels = 10,
                    .window_x = 5,
                    .window_y = 5}),
            300u);
}

TEST(Depthwise, ReadsChannelsOneByOne) {
  EXPECT_EQ(cycles({.kernel = SliceKernel::depthwise,
                    .pixels = 128,
                    .out_channels = 32,
                    .window_x = 3,
                    .window_y = 3}),
            9u * 2 * 32);
}

// 1000 results are 16 groups of 64; each reads 2048 data.
TEST(FullyConnected, TakesAGroupOfResultsACycle) {
  EXPECT_EQ(cycles({.kernel = SliceKernel::fully_connected,
                    .pixels = 1,
                    .out_channels = 1000,
                    .in_channels = 2048}),
            2048u * 16);
}

// 3x3 with stride 2: two taps of a row at once, in each of four parts, for each of 3 rows.
TEST(MaxPooling, ReadsFourPartsWithAStrideOfTwo) {
  EXPECT_EQ(cycles({.kernel = SliceKernel::max_pooling,
                    .pixels = 64,
                    .out_channels = 8,
                    .window_x = 3,
                    .window_y = 3,
                    .stride = 2}),
            2u * 4 * 3 * 8);
  EXPECT_EQ(cycles({.kernel = SliceKernel::max_pooling,
                    .pixels = 64,
                    .out_channels = 8,
                    .window_x = 3,
                    .window_y = 3}),
            9u * 8);
}

// The addition of the vendor's phase dump: 2 cycles for a 32-bit number.
TEST(Elementwise, ReadsEachOperandOnce) {
  const auto add = [](std::uint64_t elements, std::uint64_t element_bytes) {
    return cycles({.kernel = SliceKernel::elementwise,
                   .pixels = elements,
                   .operands = 2,
                   .element_bytes = element_bytes});
  };
  EXPECT_EQ(add(1, 4), 2u);
  EXPECT_EQ(add(1600, 1), 100u);  // 16 results a cycle
  EXPECT_EQ(add(1600, 2), 200u);
}

TEST(FewAtATime, TablesTransposesAndGathers) {
  EXPECT_EQ(cycles({.kernel = SliceKernel::table, .pixels = 101}), 51u);
  EXPECT_EQ(cycles({.kernel = SliceKernel::transpose, .pixels = 101}), 26u);
  EXPECT_EQ(cycles({.kernel = SliceKernel::gather, .pixels = 10, .out_channels = 33}), 30u);
  EXPECT_EQ(cycles({.kernel = SliceKernel::reduction, .pixels = 130, .in_channels = 7}), 21u);
}

}  // namespace
}  // namespace npuscope::npu::torq::ndl_test
