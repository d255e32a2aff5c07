// Shape arithmetic at compile time, against loops that do the same slowly.
#include <gmock/gmock.h>

#include <cmath>
#include <random>
#include <utility>

#include "npu/graph/import_onnx.hpp"
#include "npu/graph/onnx_writer.hpp"

namespace npuscope::npu::folding_test {
namespace {

using testing::ElementsAre;
using Ints = std::vector<std::int64_t>;

// The model's only output; its values when they are known.
Tensor output_of(test::GraphText& text, std::int64_t opset = 18) {
  const auto graph = import_onnx(as_byte_span(test::model(text.output("y"), opset)), "m.onnx", {});
  EXPECT_TRUE(graph) << graph.error().message;
  return graph ? (*graph)[graph->outputs.at(0)] : Tensor{};
}

Ints values_of(test::GraphText& text) { return output_of(text).values.value_or(Ints{-999}); }

Ints counted(std::int64_t size) {
  Ints values;
  for (std::int64_t i = 0; i < size; ++i) values.push_back(i);
  return values;
}

// x.view(x.size(0), -1, heads, x.size(2) / heads).transpose(1, 2), as PyTorch's exporter writes it.
TEST(Folding, ResolvesTheHeadsOfAnExportedAttention) {
  test::GraphText text;
  text.input("x", {2, 5, 12}).scalar("zero", 0).scalar("two", 2).scalar("heads", 4);
  text.integers("first", {0}).integers("rest", {-1});
  text.node({"Shape", {"x"}, {"s0"}}).node({"Gather", {"s0", "zero"}, {"batch"}});
  text.node({"Shape", {"x"}, {"s2"}}).node({"Gather", {"s2", "two"}, {"width"}});
  text.node({"Div", {"width", "heads"}, {"quotient"}});
  text.node({"Cast", {"quotient"}, {"cast"}, {{"to", 7}}});
  text.node({"Unsqueeze", {"batch", "first"}, {"u0"}})
      .node({"Unsqueeze", {"heads", "first"}, {"u2"}});
  text.node({"Unsqueeze", {"cast", "first"}, {"u3"}});
  text.node({"Concat", {"u0", "rest", "u2", "u3"}, {"target"}, {{"axis", 0}}});
  text.node({"Reshape", {"x", "target"}, {"split"}});
  text.node({"Transpose", {"split"}, {"y"}, {{"perm", Ints{0, 2, 1, 3}}}});
  EXPECT_EQ(output_of(text).shape, (Shape{2, 4, 5, 3}));
}

// tensor.expand(-1, 7): Where(shape == -1, input's own size, shape).
TEST(Folding, ResolvesAnExportedExpand) {
  test::GraphText text;
  text.input("x", {3, 1})
      .integers("wanted", {-1, 7})
      .integers("two", {2})
      .integers("minus", {-1, -1});
  text.node({"ConstantOfShape",
             {"two"},
             {"ones"},
             {{"value", test::Encoded{test::tensor("", test::onnx_int64, {1}, {1})}}}});
  text.node({"Equal", {"wanted", "minus"}, {"open"}});
  text.node({"Where", {"open", "ones", "wanted"}, {"shape"}})
      .node({"Expand", {"x", "shape"}, {"y"}});
  EXPECT_EQ(output_of(text).shape, (Shape{3, 7}));
}

// F.interpolate(x, scale_factor=2): sizes from floor(size * scale) in float32.
TEST(Folding, ResolvesAnExportedInterpolation) {
  test::GraphText text;
  text.input("x", {1, 8, 7, 9}).scalar("scale", 2, test::onnx_float);
  text.integers("two", {2}).integers("four", {4}).integers("zero", {0});
  text.node({"Shape", {"x"}, {"shape"}}).node({"Slice", {"shape", "two", "four", "zero"}, {"hw"}});
  text.node({"Cast", {"hw"}, {"real"}, {{"to", 1}}}).node({"Mul", {"real", "scale"}, {"scaled"}});
  text.node({"Floor", {"scaled"}, {"floor"}}).node({"Cast", {"floor"}, {"whole"}, {{"to", 7}}});
  text.node({"Slice", {"shape", "zero", "two", "zero"}, {"nc"}});
  text.node({"Concat", {"nc", "whole"}, {"sizes"}, {{"axis", 0}}});
  text.node({"Resize", {"x", "", "", "sizes"}, {"y"}});
  EXPECT_EQ(output_of(text).shape, (Shape{1, 8, 14, 18}));
}

// Every slice of short lists, element by element as Python would.
TEST(Folding, SlicesLikePython) {
  for (std::int64_t size = 0; size <= 5; ++size) {
    for (std::int64_t begin = -7; begin <= 7; ++begin) {
      for (std::int64_t end = -7; end <= 7; ++end) {
        for (const std::int64_t step : {-3, -1, 1, 2}) {
          const std::int64_t from = begin < 0 ? begin + size : begin;
          const std::int64_t to = end < 0 ? end + size : end;
          Ints expected;
          std::int64_t next = step > 0 ? std::max<std::int64_t>(from, 0) : std::min(from, size - 1);
          if (step < 0 && from < 0) next = 0;  // clamped into the list, as ONNX says
          for (; size > 0 &&
                 (step > 0 ? next < std::min(to, size) : next > std::max<std::int64_t>(to, -1));
               next += step) {
            expected.push_back(next);
          }
          test::GraphText text;
          text.scalar("zero", 0).scalar("size", size).scalar("one", 1);
          text.integers("b", {begin}).integers("e", {end}).integers("a", {0}).integers("s", {step});
          text.node({"Range", {"zero", "size", "one"}, {"list"}});
          text.node({"Slice", {"list", "b", "e", "a", "s"}, {"y"}});
          ASSERT_EQ(values_of(text), expected)
              << size << ": " << begin << ':' << end << ':' << step;
        }
      }
    }
  }
}

TEST(Folding, MovesElementsWhereTheyBelong) {
  const auto with = [](const std::string& op, std::vector<std::string> inputs,
                       std::map<std::string, test::AttributeValue> attributes = {}) {
    test::GraphText text;
    text.initializer(test::tensor("m", test::onnx_int64, {2, 3}, {1, 2, 3, 4, 5, 6}));
    text.integers("v", {7, 8, 9}).integers("repeats", {2, 1}).integers("index", {2, 0, -1});
    text.integers("shape", {2, 1, 3}).integers("sizes", {1, 2});
    text.node({op, std::move(inputs), {"y"}, std::move(attributes)});
    return values_of(text);
  };
  EXPECT_THAT(with("Transpose", {"m"}), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(with("Tile", {"m", "repeats"}), ElementsAre(1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(with("Gather", {"m", "index"}, {{"axis", 1}}), ElementsAre(3, 1, 3, 6, 4, 6));
  EXPECT_THAT(with("Concat", {"m", "m"}, {{"axis", 1}}),
              ElementsAre(1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6));
  EXPECT_THAT(with("Expand", {"v", "shape"}), ElementsAre(7, 8, 9, 7, 8, 9));
  EXPECT_THAT(with("Add", {"m", "v"}), ElementsAre(8, 10, 12, 11, 13, 15));
  EXPECT_THAT(with("ReduceProd", {"m"}, {{"keepdims", 0}}), ElementsAre(720));
  EXPECT_THAT(with("NonZero", {"m"}), ElementsAre(0, 0, 0, 1, 1, 1, 0, 1, 2, 0, 1, 2));
}

TEST(Folding, SplitsIntoItsParts) {
  test::GraphText text;
  text.integers("v", {1, 2, 3, 4, 5}).integers("sizes", {2, 3});
  text.node({"Split", {"v", "sizes"}, {"head", "y"}});
  EXPECT_THAT(values_of(text), ElementsAre(3, 4, 5));
}

std::int64_t slow(const std::string& op, std::int64_t a, std::int64_t b) {
  if (op == "Add") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Min") return a < b ? a : b;
  if (op == "Max") return a > b ? a : b;
  if (op == "Div") return a / b;                                   // towards zero
  return a - b * std::int64_t(std::floor(double(a) / double(b)));  // Mod has the divisor's sign
}

TEST(Folding, ComputesRandomArithmetic) {
  const char* ops[] = {"Add", "Sub", "Mul", "Min", "Max", "Div", "Mod"};
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    Ints expected;
    for (int i = 0; i < 3; ++i) expected.push_back(std::int64_t(random() % 41) - 20);
    test::GraphText text;
    text.integers("t0", expected);
    const int steps = 5;
    for (int step = 0; step < steps; ++step) {
      const std::string op = ops[random() % std::size(ops)];
      std::int64_t operand = std::int64_t(random() % 13) - 6;
      if ((op == "Div" || op == "Mod") && operand == 0) operand = 3;
      const std::string number = std::to_string(step);
      text.scalar("c" + number, operand);
      text.node({op,
                 {"t" + number, "c" + number},
                 {step + 1 == steps ? "y" : "t" + std::to_string(step + 1)}});
      for (std::int64_t& value : expected) value = slow(op, value, operand);
    }
    ASSERT_EQ(values_of(text), expected) << "round " << round;
  }
}

TEST(Folding, LeavesUndefinedArithmeticUnknown) {
  test::GraphText text;
  text.integers("a", {1}).integers("zero", {0}).node({"Div", {"a", "zero"}, {"y"}});
  EXPECT_EQ(output_of(text).values, std::nullopt);
}

TEST(Folding, WrapsIntegersToTheirType) {
  test::GraphText text;
  text.integers("a", {(std::int64_t(1) << 32) + 5}).node({"Cast", {"a"}, {"y"}, {{"to", 6}}});
  EXPECT_THAT(values_of(text), ElementsAre(5));
}

TEST(Folding, StopsAtFourThousandElements) {
  for (const std::int64_t size : {4096, 4097}) {
    test::GraphText text;
    text.scalar("zero", 0).scalar("size", size).scalar("one", 1);
    text.node({"Range", {"zero", "size", "one"}, {"y"}});
    const Tensor tensor = output_of(text);
    EXPECT_EQ(tensor.shape, Shape{size});
    EXPECT_TRUE(tensor.constant);
    EXPECT_EQ(tensor.values.has_value(), size == 4096);
    EXPECT_EQ(tensor.values.value_or(counted(size)), counted(size));
  }
}

// Window positions one by one, for every small pooling.
TEST(Windows, AreCountedLikeSlidingThem) {
  for (int code = 0; code < 6 * 3 * 3 * 2 * 3 * 3 * 2; ++code) {
    int rest = code;
    const auto next = [&rest](int choices) {
      return std::int64_t(std::exchange(rest, rest / choices) % choices);
    };
    const std::int64_t size = next(6) + 1, kernel = next(3) + 1, stride = next(3) + 1;
    const std::int64_t dilation = next(2) + 1, before = next(3), after = next(3), ceil = next(2);
    const std::int64_t extent = (kernel - 1) * dilation + 1, padded = size + before + after;
    if (extent > padded) continue;
    std::int64_t count = 0, at = 0;
    for (; at + extent <= padded; at += stride) ++count;
    if (ceil == 1 && at - stride + extent < padded) ++count;          // one more, cut off
    if (ceil == 1 && (count - 1) * stride >= size + before) --count;  // it sees padding alone
    test::GraphText text;
    text.input("x", {1, 1, size});
    text.node({"MaxPool",
               {"x"},
               {"y"},
               {{"kernel_shape", Ints{kernel}},
                {"strides", Ints{stride}},
                {"dilations", Ints{dilation}},
                {"pads", Ints{before, after}},
                {"ceil_mode", ceil}}});
    ASSERT_EQ(output_of(text).shape, (Shape{1, 1, count}))
        << size << " kernel " << kernel << " stride " << stride << " dilation " << dilation
        << " pads " << before << ',' << after << " ceil " << ceil;
  }
}

}  // namespace
}  // namespace npuscope::npu::folding_test
