// Cycles of kernels, as torq-compiler 2.3.0 says of them in its debug information (max_cycle), at
// the shapes that show each rule.
#include "npu/targets/torq/kernels.hpp"

#include <gtest/gtest.h>

#include "npu/targets/torq/fixture.hpp"

namespace npuscope::npu::torq::kernels_test {
namespace {

using enum SliceKernel;

std::uint64_t cycles(const KernelWork& work) { return kernel_cycles(work, sl2610()); }

KernelWork image(SliceKernel kernel, std::uint64_t element_bytes, std::uint64_t pixels,
                 std::uint64_t in_channels, std::uint64_t out_channels, std::uint64_t window) {
  return {kernel, element_bytes, pixels, in_channels, out_channels, window, window};
}

KernelWork elements(SliceKernel kernel, std::uint64_t count, std::uint64_t element_bytes = 2) {
  return {.kernel = kernel, .element_bytes = element_bytes, .pixels = count};
}

// 28x28 pixels are 13 blocks of 64, or 25 of 32 with 2-byte elements.
TEST(Conv2d, MultipliesABlockOfPixelsByFourChannelsACycle) {
  EXPECT_EQ(cycles(image(conv2d, 1, 784, 64, 64, 1)), 13'312u);
  EXPECT_EQ(cycles(image(conv2d, 2, 784, 64, 32, 1)), 12'800u);
  EXPECT_EQ(cycles(image(conv2d, 1, 784, 128, 128, 3)), 479'232u);
  EXPECT_EQ(cycles(image(conv2d_stride2, 2, 196, 64, 32, 3)), 32'256u);
}

// 8 products for each result, and 16 cycles to scale the results of a block.
TEST(Conv2d, IsBoundByItsResultsWhenThereIsLittleToMultiply) {
  EXPECT_EQ(cycles(image(conv2d, 1, 784, 8, 8, 1)), 416u);
  EXPECT_EQ(cycles(image(conv2d, 2, 784, 8, 4, 1)), 400u);
}

// 3 channels of 4x14 pixels, by 512.
TEST(Conv2d, TakesFewerThanFourChannelsOneByOne) {
  EXPECT_EQ(cycles(image(conv2d, 2, 224, 512, 3, 1)), 10'752u);
}

TEST(DepthwiseConv2d, ReadsRowsOfAWindowInThrees) {
  EXPECT_EQ(cycles(image(depthwise, 1, 784, 1, 128, 3)), 6'656u);  // its results: 16 a block
  EXPECT_EQ(cycles(image(depthwise, 1, 784, 1, 128, 5)), 16'640u);
  EXPECT_EQ(cycles(image(depthwise, 2, 784, 1, 64, 5)), 16'000u);
  EXPECT_EQ(cycles(image(depthwise, 2, 3136, 1, 3, 3)), 2'646u);
}

TEST(DepthwiseConv2d, ReadsFourPartsWithAStrideOfTwo) {
  EXPECT_EQ(cycles(image(depthwise_stride2, 1, 576, 1, 32, 3)), 2'304u);
  EXPECT_EQ(cycles(image(depthwise_stride2, 2, 196, 1, 64, 5)), 5'376u);
  EXPECT_EQ(cycles(image(depthwise_stride2, 1, 256, 1, 32, 2)), 512u);
}

TEST(MaxPool, TakesWholeWindowsInFewerReads) {
  EXPECT_EQ(cycles(image(max_pool, 2, 256, 1, 16, 2)), 512u);
  EXPECT_EQ(cycles(image(max_pool, 1, 3136, 1, 8, 3)), 3'528u);
  EXPECT_EQ(cycles(image(max_pool_padded, 2, 256, 1, 16, 3)), 3'072u);
}

TEST(Segmentation, TakesLongerWhereRowsArePartsOfWords) {
  KernelWork work = elements(segmentation, 64 * 32 * 32, 1);
  work.row_bytes = 16;
  EXPECT_EQ(cycles(work), 4'096u);
  work.row_bytes = 14;
  EXPECT_EQ(cycles(work), 5'939u);
}

TEST(Products, TakeBlocksOfColumns) {
  const auto product = [](SliceKernel kernel, std::uint64_t size, std::uint64_t rows,
                          std::uint64_t depth, std::uint64_t columns) {
    return cycles({kernel, size, rows, depth, columns});
  };
  EXPECT_EQ(product(fc, 2, 1, 256, 256), 2'048u);
  EXPECT_EQ(product(fc, 1, 1, 64, 10), 64u);
  EXPECT_EQ(product(fc_fast, 2, 32, 128, 512), 16'384u);
  EXPECT_EQ(product(matmul_fast, 2, 64, 64, 64), 2'048u);
  EXPECT_EQ(product(average_pool, 2, 64, 64, 64), 128u);
  EXPECT_EQ(product(reduce_mean, 2, 128, 512, 1), 2'048u);
}

TEST(Elements, AreTakenAsManyACycleAsTheKernelHas) {
  EXPECT_EQ(cycles(elements(add, 8 * 784)), 784u);
  EXPECT_EQ(cycles(elements(add, 16 * 784, 1)), 1'568u);
  EXPECT_EQ(cycles(elements(mul, 32 * 3136, 1)), 25'088u);
  EXPECT_EQ(cycles(elements(fma, 32 * 3136, 1)), 6'272u);
  EXPECT_EQ(cycles(elements(sub, 32 * 784)), 6'272u);
  EXPECT_EQ(cycles(elements(table, 32 * 784)), 12'544u);
  EXPECT_EQ(cycles(elements(compare, 32 * 784)), 1'568u);
  EXPECT_EQ(cycles(elements(reduce_max, 4096)), 4'096u);
  EXPECT_EQ(cycles(elements(transpose_block, 4096)), 128u);
  EXPECT_EQ(cycles(elements(transpose, 4096, 4)), 4'096u);
  EXPECT_EQ(cycles(elements(fill, 2048, 4)), 256u);
  EXPECT_EQ(cycles(elements(clamp, 1)), 1u);
}

TEST(KernelNames, AreThoseOfTheCompilersDebugInformation) {
  EXPECT_EQ(names_of(conv2d_stride2).operation, "conv2dStride2");
  EXPECT_EQ(names_of(conv2d_stride2).program, "conv2d");
  EXPECT_EQ(names_of(max_pool).operation, "MaxPool2D");
  EXPECT_EQ(names_of(max_pool_padded).operation, "maxpool2d");
  EXPECT_EQ(names_of(gather).operation, "gather");
  EXPECT_EQ(code_bytes(conv2d, sl2610()), 376u);
  EXPECT_EQ(code_bytes(table, sl2610()), 2'280u);
  EXPECT_EQ(code_bytes(mul, sl2610()), 240u);  // as others
}

TEST(KernelCycles, Saturate) {
  constexpr std::uint64_t huge = ~std::uint64_t{0} / 2;
  EXPECT_EQ(cycles(image(conv2d, 1, huge, huge, huge, huge)), ~std::uint64_t{0});
}

}  // namespace
}  // namespace npuscope::npu::torq::kernels_test
