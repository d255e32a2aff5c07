#include "npuscope/analysis/macs.hpp"

#include <gmock/gmock.h>

#include "analysis/memory/memory_builder.hpp"

namespace npuscope::analysis::macs_test {
namespace {

using npuscope::test_support::MemoryBuilder;

OpId matrix_op(MemoryBuilder& made, const char* name, const char* shape,
               const char* node_kind = "Conv2d") {
  const OpId id = made.op(name, "q::ConvLayer");
  made.at(id).engine = Engine::hmx;
  made.shape(made.at(id), shape);
  made.at(id).node_kind = made.text(node_kind);
  return id;
}

// chain8: 256 rows, drawn as 8 x 32, times weights of 256 x 256.
TEST(Macs, OfWeightsThatATransferBrings) {
  MemoryBuilder made;
  const OpId fetch = made.op("MatMul_0", "q::ConvLayer.opt.weights_to_vtcm");
  made.at(fetch).engine = Engine::dma;
  const OpId product = matrix_op(made, "MatMul_0", "[1,8,32,256]", "FullyConnected");
  const auto weights = made.tensor("[256,256]", true);
  made.use(weights, fetch);
  made.use(made.tensor("[1,8,32,256]", false), product);
  made.use(made.tensor("[1,1,1,65536]", false, fetch), product);
  const OpMacs macs(made.profile);
  EXPECT_EQ(macs.of(product), 256.0 * 256 * 256);
  EXPECT_FALSE(macs.of(fetch));
  EXPECT_EQ(macs.unknown(), 0u);
}

// A convolution of 3 x 3, 64 to 128 channels; its tile of 1000 elements is flat, its bias is not.
TEST(Macs, OfATileWhoseChannelsOnlyTheBiasTells) {
  MemoryBuilder made;
  const OpId product = matrix_op(made, "conv", "[1,1,1,1000]");
  made.use(made.tensor("[128,64,3,3]", true), product);
  EXPECT_FALSE(OpMacs(made.profile).of(product));
  made.use(made.tensor("[1,1,1,128]", true), product);
  EXPECT_EQ(OpMacs(made.profile).of(product), 1000.0 * 64 * 9);
}

TEST(Macs, OfTwoActivationsWhoseRowsAgree) {
  MemoryBuilder made;
  const OpId product = matrix_op(made, "scores", "[1,12,128,100]", "MatMul");
  made.use(made.tensor("[1,12,128,64]", false), product);
  made.use(made.tensor("[1,12,64,100]", false), product);
  EXPECT_EQ(OpMacs(made.profile).of(product), 12.0 * 128 * 64 * 100);
  made.shape(made.at(product), "[1,1,1,153600]");
  const OpMacs flat(made.profile);
  EXPECT_FALSE(flat.of(product));
  EXPECT_EQ(flat.unknown(), 1u);
}

struct TaskOp {
  MemoryBuilder made;
  TaskOp(const char* operands, std::int64_t output, const char* attributes = "") {
    Op& op = made.at(made.op("task", "aicconvolutiond32"));
    op.operands = made.text(operands);
    op.attributes = made.text(attributes);
    op.output = Bytes{output};
    read_op_texts(made.profile);
  }
  std::optional<double> macs() const { return OpMacs(made.profile).of(OpId{0}); }
};

// Half of the rows and a quarter of the columns of a product; the weights lie in VTCM.
TEST(Macs, OfATaskComeFromItsOwnOperands) {
  const TaskOp product(
      "out TCM Dest y float16 <1 x 64 x 192> 24KB\n"
      "in TCM Src x float16 <1 x 64 x 768> 96KB\n"
      "in TCM Src1 w float16 <768 x 192> 288KB\n"
      "in TCM Src2 b float16 <192> 0KB",
      64 * 192 * 2);
  EXPECT_EQ(product.macs(), 64.0 * 768 * 192);
}

// Seven places of seven weights' columns: only the dimension of the channels counts.
TEST(Macs, OfAConvolutionWhoseKernelIsAsWideAsItsOutput) {
  const TaskOp convolution(
      "out TCM Dest y float16 <1 x 32 x 7 x 7> 3KB\n"
      "in TCM Src x float16 <1 x 64 x 13 x 13> 21KB\n"
      "in TCM Src1 w float16 <32 x 64 x 7 x 7> 196KB",
      32 * 49 * 2, "{Kernels: [7, 7], Strides: [1, 1], Borders: [0], Group: 1, Dilation: [1, 1]}");
  EXPECT_EQ(convolution.macs(), 32.0 * 49 * 64 * 49);
}

// Every input element meets all of its channel's weights.
TEST(Macs, OfATransposedConvolutionGoByItsInput) {
  const TaskOp convolution(
      "out TCM Dest y float16 <1 x 16 x 8 x 8> 2KB\n"
      "in TCM Src x float16 <1 x 32 x 4 x 4> 1KB\n"
      "in TCM Src1 w float16 <32 x 16 x 2 x 2> 4KB",
      16 * 64 * 2, "{Kernels: [2, 2], Group: 1, Dilation: [1, 1], Transposed: 1}");
  EXPECT_EQ(convolution.macs(), 32.0 * 16 * 16 * 4);
}

TEST(Macs, OfPackedWeightsAndOfTransposedOnes) {
  EXPECT_EQ(TaskOp("out TCM Dest y float16 <1 x 8 x 64> 1KB\n"
                   "in TCM Src x float16 <1 x 8 x 128> 2KB\n"
                   "in TCM Src1 w ui8 <64 x 4 x 16> 4KB",
                   8 * 64 * 2)
                .macs(),
            8.0 * 128 * 64);
  EXPECT_EQ(TaskOp("out TCM Dest y float16 <8 x 64> 1KB\n"
                   "in TCM Src x float16 <128 x 8> 2KB\n"
                   "in TCM Src1 w float16 <64 x 128> 16KB",
                   8 * 64 * 2)
                .macs(),
            8.0 * 128 * 64);
}

// The sum of a part of the depth is added to what is there.
TEST(Macs, OfAPartOfTheDepthAreNotThoseOfAll) {
  EXPECT_EQ(TaskOp("inout TCM Dest y float16 <8 x 64> 1KB\n"
                   "in TCM Src x float16 <8 x 32> 0KB\n"
                   "in TCM Src1 w float16 <32 x 64> 4KB",
                   8 * 64 * 2)
                .macs(),
            8.0 * 32 * 64);
}

// Several products in one operator: keys as wide as a head, values beside them.
TEST(Macs, OfAnAttentionInOneOperatorAreNotGuessed) {
  EXPECT_FALSE(TaskOp("out TCM Dest y float16 <1 x 2 x 64 x 64> 16KB\n"
                      "in TCM Src q float16 <1 x 2 x 64 x 64> 16KB\n"
                      "in TCM Src1 k float16 <1 x 2 x 64 x 64> 16KB\n"
                      "in TCM Src2 v float16 <1 x 2 x 64 x 64> 16KB",
                      2 * 64 * 64 * 2)
                   .macs());
}

TEST(Macs, OfAWholeOperatorsOperandsAreSharedByOutputSize) {
  const TaskOp half(
      "out TCM Dest y float16 <1 x 64 x 10 x 10> 12KB\n"
      "in TCM Src x float16 <1 x 32 x 10 x 10> 6KB\n"
      "in DDR Src1 w float16 <64 x 32 x 3 x 3> 36KB",
      6400, "{Kernels: [3, 3]}");
  EXPECT_EQ(half.macs(), 100.0 * 64 * 32 * 9 / 2);
}

TEST(Macs, ForgedGraphsEndAndGiveNoFigure) {
  MemoryBuilder made;
  const OpId ring = made.op("ring", "copy");
  made.at(ring).engine = Engine::dma;
  const OpId product = matrix_op(made, "conv", "[1,8,8,64]");
  const auto endless = made.tensor("[64,64]", false, ring);
  made.use(endless, ring);
  made.use(endless, product);
  made.use(9999, product);
  made.use(endless, OpId{9999});
  made.use(made.tensor("[9223372036854775807,9223372036854775807,64]", true), product);
  EXPECT_FALSE(OpMacs(made.profile).of(product));
}

}  // namespace
}  // namespace npuscope::analysis::macs_test
