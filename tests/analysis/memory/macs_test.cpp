#include "npuscope/analysis/macs.hpp"

#include <gmock/gmock.h>

#include "analysis/memory/memory_builder.hpp"

namespace npuscope::analysis::macs_test {
namespace {

using npuscope::test_support::MemoryBuilder;
using ::testing::ElementsAre;
using ::testing::Optional;

OpId matrix_op(MemoryBuilder& made, const char* name, const char* shape,
               const char* node_kind = "Conv2d") {
  const OpId id = made.op(name, "q::ConvLayer");
  made.at(id).engine = Engine::hmx;
  made.at(id).shape = made.text(shape);
  made.at(id).node_kind = made.text(node_kind);
  return id;
}

TEST(Macs, DimensionsAreWholeNumbersAboveNothing) {
  EXPECT_THAT(dimensions_in("[1,8,32,256]"), Optional(ElementsAre(1, 8, 32, 256)));
  EXPECT_THAT(dimensions_in("<64 x 3 x 7>"), Optional(ElementsAre(64, 3, 7)));
  for (const char* bad : {"", "[]", "[1,-2]", "[0]", "Dest [3]", "[99999999999999999999]"}) {
    EXPECT_FALSE(dimensions_in(bad)) << bad;
  }
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
  made.at(product).shape = made.text("[1,1,1,153600]");
  const OpMacs flat(made.profile);
  EXPECT_FALSE(flat.of(product));
  EXPECT_EQ(flat.unknown(), 1u);
}

TEST(Macs, OfOperandsAreSharedByTheTilesOfAnOperator) {
  MemoryBuilder made;
  const StringId operands = made.text(
      "out TCM Dest y float16 <1 x 64 x 10 x 10> 12KB\n"
      "in TCM Src x float16 <1 x 32 x 10 x 10> 6KB\n"
      "in DDR Src1 w float16 <64 x 32 x 3 x 3> 36KB");
  for (const char* name : {"conv/__0", "conv/__1"}) {
    Op& op = made.at(made.op(name, "aicconvolutiond32"));
    op.operands = operands;
    op.output = Bytes{6400};
  }
  const double all = 100.0 * 64 * 32 * 9;
  const OpMacs tiles(made.profile);
  EXPECT_EQ(tiles.of(OpId{0}), all / 2);
  EXPECT_EQ(tiles.of(OpId{1}), all / 2);
  for (Op& op : made.profile.ops) op.output = Bytes{12800};  // each has operands of its own
  EXPECT_EQ(OpMacs(made.profile).of(OpId{0}), all);
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
