#include "profile/shape_texts.hpp"

#include <gmock/gmock.h>

#include <random>
#include <string>

namespace npuscope::shape_texts_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Pools {
  Shapes shapes;
  OperandLists lists;

  std::span<const std::int64_t> shape(std::string_view text) {
    return shapes[shape_in(text, shapes)];
  }
};

TEST(ShapeTexts, OfEachFormatAreTheSameNumbers) {
  Pools pools;
  EXPECT_THAT(pools.shape("[1,8,32,256]"), ElementsAre(1, 8, 32, 256));
  EXPECT_THAT(pools.shape("Dest [64 x 3 x 7]"), ElementsAre(64, 3, 7));
  EXPECT_THAT(pools.shape("Dest [4 x 1 x 1024], ScratchReduce [1024]"), ElementsAre(4, 1, 1024));
  EXPECT_THAT(pools.shape("1 x 224 x 224 x 3"), ElementsAre(1, 224, 224, 3));
  EXPECT_EQ(shape_in("[1, 8]", pools.shapes), shape_in("[1,8]", pools.shapes));
  EXPECT_NE(shape_in("[]", pools.shapes), ShapeId::none);  // a scalar
  EXPECT_THAT(pools.shape("[]"), IsEmpty());
  EXPECT_EQ(shape_of(std::vector<std::int64_t>{1, 8}, pools.shapes),
            shape_in("[1,8]", pools.shapes));
}

TEST(ShapeTexts, HostileOnesAreOfNoShape) {
  Pools pools;
  const std::string seventeen = "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]";
  for (const std::string& text :
       {std::string(), std::string("[0]"), std::string("[1,-2]"), std::string("[1,2"),
        std::string("[[1,2],[3]]"), std::string("[99999999999999999999]"), std::string("Dest"),
        std::string("[1.5,2]"), std::string("[1,\0,2]", 7), std::string(1 << 20, '['),
        "[" + std::string(1 << 20, '9'), seventeen}) {
    EXPECT_EQ(shape_in(text, pools.shapes), ShapeId::none) << text.substr(0, 40);
  }
  EXPECT_EQ(pools.shapes.size(), 0u);
  EXPECT_THAT(pools.shape("[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"), SizeIs(16));
  EXPECT_EQ(shape_of(std::vector<std::int64_t>{1, 0}, pools.shapes), ShapeId::none);
  EXPECT_EQ(shape_of(std::vector<std::int64_t>(17, 1), pools.shapes), ShapeId::none);
}

TEST(ShapeTexts, OperandsHaveARoleAWidthAndAShape) {
  Pools pools;
  const auto read = [&](std::string_view text) {
    return pools.lists[operands_in(text, pools.lists, pools.shapes)];
  };
  const auto operands = read(
      "inout TCM Dest y float16 <1 x 64> 0KB\n"
      "in DDR Src w<T> ui4 <64 x 3> 0KB\n"
      "in TCM Src1 mask bool <3>\n"
      "out TCM Dest1 z whatever <3> 0KB\n");
  ASSERT_THAT(operands, SizeIs(4));
  EXPECT_THAT(pools.shapes[operands[1].shape], ElementsAre(64, 3));
  EXPECT_THAT(
      (std::vector<int>{operands[0].bits, operands[1].bits, operands[2].bits, operands[3].bits}),
      ElementsAre(16, 4, 8, 32));
  EXPECT_THAT((std::vector<bool>{operands[0].is_output, operands[1].is_output,
                                 operands[2].is_output, operands[3].is_output}),
              ElementsAre(true, false, false, true));
  // Names do not count: another tile of the same operator has the same list.
  EXPECT_EQ(operands_in("in TCM Src a i8 <3> 0KB", pools.lists, pools.shapes),
            operands_in("in DDR Src1 b i8 <3> 1KB", pools.lists, pools.shapes));
  EXPECT_EQ(read("in TCM Src x float4000000000 <3>")[0].bits, 32);
  EXPECT_EQ(read("in TCM Src x float99999999999999999999 <3>")[0].bits, 32);
  for (const char* bad : {"", "\n", "in", "in <", "in >3<", "in <3", "in <>", "in <0>",
                          "in <3 y 4>", "in TCM Src x i8 <3>\nout", "x@float16, y@i8"}) {
    EXPECT_THAT(read(bad), IsEmpty()) << bad;
  }
}

TEST(ShapeTexts, AttributesAreFoundByTheirWholeKey) {
  constexpr std::string_view text = "{PortType: P2P, TransactionId: 6, Kernels: [1, 1]}";
  EXPECT_EQ(attribute_in(text, "PortType"), "P2P");
  EXPECT_EQ(attribute_in(text, "TransactionId"), "6");
  EXPECT_EQ(attribute_in(text, "Id"), std::nullopt);
  EXPECT_EQ(attribute_in("Group: 1", "Group"), "1");
  EXPECT_EQ(attribute_in("{Group: }", "Group"), "");
  for (const char* none : {"", "Group", "{Group:1}", "{GroupGroup: 1", ": "}) {
    EXPECT_EQ(attribute_in(none, "Group"), std::nullopt) << none;
  }
}

TEST(ShapeTexts, OfOpsBecomePortsProductsAndShapes) {
  Profile profile;
  const auto add = [&](const char* kind, const char* attributes, const char* operands) {
    Op op;
    op.kind = profile.strings.intern(kind);
    op.attributes = profile.strings.intern(attributes);
    op.operands = profile.strings.intern(operands);
    op.shape = profile.strings.intern("[1,64]");
    profile.ops.push_back(op);
  };
  constexpr const char* operands = "out TCM Dest y i8 <1 x 64> 0KB";
  add("aicconvolutiond32", "", operands);
  add("aicconvolutiond32", "{Kernels: [1, 1], Group: 1}", operands);
  add("aicconvolutiond32", "{Kernels: [1, 1], Transposed: 1}", operands);
  add("elementadd", "", operands);
  add("out", "{PortType: P2P, PortDescription: 0->12, TransactionId: 6}", "");
  add("in", "{Kernels: [1, 1], PortDescription: 1<-0, TransactionId: 7, Group: 1}", "");
  add("no port", "{PortDescription: host}", "");
  read_op_texts(profile);
  const auto& ops = profile.ops;
  EXPECT_EQ(ops[0].product, ProductKind::matrices);
  EXPECT_EQ(ops[1].product, ProductKind::convolution);
  EXPECT_EQ(ops[2].product, ProductKind::transposed_convolution);
  EXPECT_EQ(ops[3].product, ProductKind::none);
  EXPECT_EQ(ops[2].operand_list, ops[0].operand_list);
  EXPECT_EQ(profile.operand_lists.size(), 1u);
  for (const Op& op : ops) EXPECT_THAT(profile.shapes[op.extents], ElementsAre(1, 64));
  ASSERT_THAT(profile.peer_ports, SizeIs(2));
  const PeerPort &out = profile.peer_ports[0], &in = profile.peer_ports[1];
  EXPECT_EQ(out.op, OpId(4));
  EXPECT_EQ(profile.text(out.from), "0");
  EXPECT_EQ(profile.text(out.to), "12");
  EXPECT_EQ(profile.text(out.transaction), "6");
  EXPECT_TRUE(out.is_sender);
  EXPECT_EQ(profile.text(in.from), "0");
  EXPECT_EQ(profile.text(in.to), "1");
  EXPECT_FALSE(in.is_sender);
}

// Beside a vector of all lists that were put in.
TEST(ListPool, KeepsEachListOnce) {
  std::mt19937 random(5);
  Shapes shapes;
  std::vector<std::vector<std::int64_t>> twin;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::int64_t> list(random() % 4);
    for (std::int64_t& extent : list) extent = random() % 9;
    const auto known = std::find(twin.begin(), twin.end(), list);
    const auto place = std::size_t(known - twin.begin());
    if (known == twin.end()) twin.push_back(list);
    ASSERT_EQ(std::uint32_t(shapes.intern(list)), place + 1);
  }
  ASSERT_EQ(shapes.size(), twin.size());
  const Shapes copy = shapes;
  for (std::size_t i = 0; i < twin.size(); ++i) {
    ASSERT_THAT(copy[ShapeId(i + 1)], testing::ElementsAreArray(twin[i]));
  }
  EXPECT_THAT(copy[ShapeId::none], IsEmpty());
}

}  // namespace
}  // namespace npuscope::shape_texts_test
