// What operators mean: their classes, and their multiply-accumulates against loops that count.
#include "npu/graph/semantics.hpp"

#include <gmock/gmock.h>

#include "npu/graph/import_onnx.hpp"
#include "npu/graph/onnx_writer.hpp"

namespace npuscope::npu::semantics_test {
namespace {

using Ints = std::vector<std::int64_t>;

// One node with activations (lower case) and weights (upper case names) of the given shapes.
struct OneNode {
  std::string op;
  std::vector<std::pair<std::string, Shape>> inputs;
  std::map<std::string, test::AttributeValue> attributes = {};
  std::string domain = {};
  std::int64_t opset = 23;
};

Graph import_node(const OneNode& one) {
  test::GraphText text;
  test::NodeText node{one.op, {}, {"out"}, one.attributes, one.domain};
  for (const auto& [name, shape] : one.inputs) {
    node.inputs.push_back(name);
    if (name.empty()) continue;
    if (name[0] >= 'A' && name[0] <= 'Z') {
      text.weight(name, shape);
    } else {
      text.input(name, {shape.begin(), shape.end()});
    }
  }
  const auto graph = import_onnx(
      as_byte_span(test::model(text.node(node).output("out"), one.opset)), "m.onnx", {});
  EXPECT_TRUE(graph) << graph.error().message;
  return graph ? *graph : Graph{};
}

std::string text_of(const MatrixProduct& p) {
  return fmt::format("{} x [{} x {}] [{} x {}]{} area {}", p.batch, p.rows, p.depth, p.depth,
                     p.columns, p.constant_weights ? " constant" : "", p.kernel_area);
}

std::string product_of(const OneNode& one) {
  const Graph graph = import_node(one);
  return text_of(matrix_product(graph, graph.nodes.at(0)));
}

std::uint64_t macs_of(const OneNode& one) {
  const Graph graph = import_node(one);
  return multiply_accumulates(graph, graph.nodes.at(0));
}

TEST(MatrixProducts, SayWhatIsMultiplied) {
  EXPECT_EQ(product_of({"MatMul", {{"x", {2, 5, 8}}, {"W", {8, 3}}}}),
            "1 x [10 x 8] [8 x 3] constant area 1");
  EXPECT_EQ(product_of({"MatMul", {{"q", {2, 4, 5, 8}}, {"k", {2, 4, 8, 7}}}}),
            "8 x [5 x 8] [8 x 7] area 1");
  EXPECT_EQ(product_of({"MatMul", {{"x", {8}}, {"W", {8, 3}}}}),
            "1 x [1 x 8] [8 x 3] constant area 1");
  EXPECT_EQ(product_of({"Gemm", {{"x", {5, 8}}, {"W", {3, 8}}}, {{"transB", 1}}}),
            "1 x [5 x 8] [8 x 3] constant area 1");
  EXPECT_EQ(product_of({"Conv", {{"x", {2, 6, 9, 9}}, {"W", {4, 3, 3, 3}}}, {{"group", 2}}}),
            "2 x [98 x 27] [27 x 2] constant area 9");
  EXPECT_EQ(product_of({"ConvTranspose", {{"x", {1, 6, 5, 5}}, {"W", {6, 4, 3, 3}}}}),
            "1 x [25 x 6] [6 x 36] constant area 1");
  EXPECT_EQ(product_of({"MatMulNBits",
                        {{"x", {1, 7, 64}}, {"W", {16, 2, 16}}, {"S", {32}}},
                        {{"K", 64}, {"N", 16}},
                        "com.microsoft"}),
            "1 x [7 x 64] [64 x 16] constant area 1");
  EXPECT_EQ(product_of({"Einsum",
                        {{"q", {2, 5, 4, 8}}, {"k", {2, 7, 4, 8}}},
                        {{"equation", "bqhd,bkhd->bhqk"}}}),
            "8 x [5 x 8] [8 x 7] area 1");
  EXPECT_EQ(product_of({"LSTM",
                        {{"x", {7, 2, 16}}, {"W", {1, 32, 16}}, {"R", {1, 32, 8}}},
                        {{"hidden_size", 8}}}),
            "1 x [14 x 24] [24 x 32] constant area 1");
  EXPECT_EQ(product_of({"DynamicQuantizeLSTM",
                        {{"x", {7, 2, 16}}, {"W", {1, 16, 32}}, {"R", {1, 8, 32}}},
                        {{"hidden_size", 8}},
                        "com.microsoft"}),
            "1 x [14 x 24] [24 x 32] constant area 1");
  EXPECT_EQ(product_of({"Relu", {{"x", {7, 2}}}}), "1 x [0 x 0] [0 x 0] area 1");
}

// Attention is two products: scores, and scores with values.
TEST(MatrixProducts, CountAttentionAsItsTwoProducts) {
  const std::uint64_t batch = 2, heads = 4, queries = 5, keys = 7, size = 8, value_size = 6;
  const std::uint64_t scores = batch * heads * queries * keys * size;
  const std::uint64_t weighted = batch * heads * queries * keys * value_size;
  EXPECT_EQ(macs_of({"Attention", {{"q", {2, 4, 5, 8}}, {"k", {2, 2, 7, 8}}, {"v", {2, 2, 7, 6}}}}),
            scores + weighted);
  EXPECT_EQ(macs_of({"MultiHeadAttention",
                     {{"q", {2, 5, 32}}, {"k", {2, 7, 32}}, {"v", {2, 7, 24}}},
                     {{"num_heads", 4}},
                     "com.microsoft"}),
            scores + weighted);
  // A past of 7 places in a buffer that the new key shares.
  EXPECT_EQ(macs_of({"DecoderMaskedMultiHeadAttention",
                     {{"q", {2, 1, 32}},
                      {"k", {2, 1, 32}},
                      {"v", {2, 1, 32}},
                      {"mask", {2, 7}},
                      {"bias", {1, 4, 1, 7}},
                      {"pk", {2, 4, 7, 8}},
                      {"pv", {2, 4, 7, 8}}},
                     {{"num_heads", 4}, {"past_present_share_buffer", 1}},
                     "com.microsoft"}),
            batch * heads * keys * (8 + 8));
  // Here the input is projected to query, key and value first.
  const std::uint64_t projection = 2 * 5 * 48 * 96, self = 2 * 4 * 5 * 5 * (8 + 8);
  EXPECT_EQ(
      macs_of(
          {"Attention", {{"x", {2, 5, 48}}, {"W", {48, 96}}}, {{"num_heads", 4}}, "com.microsoft"}),
      projection + self);
}

// Every step of the rule, one loop inside the other.
std::uint64_t linear_attention_by_loops(std::int64_t tokens, std::int64_t heads,
                                        std::int64_t key_heads, std::int64_t size,
                                        std::int64_t value_size, bool is_delta) {
  std::uint64_t count = 0;
  for (std::int64_t t = 0; t < tokens; ++t) {
    for (std::int64_t h = 0; h < key_heads; ++h) {
      for (std::int64_t k = 0; k < size; ++k) {
        for (std::int64_t v = 0; v < value_size; ++v) count += is_delta ? 2 : 1;
      }
    }
    for (std::int64_t h = 0; h < heads; ++h) count += std::uint64_t(size * value_size);
  }
  return count;
}

TEST(MatrixProducts, CountLinearAttentionStepByStep) {
  for (const auto& [rule, is_delta] : {std::pair("linear", false), std::pair("gated", false),
                                       std::pair("delta", true), std::pair("gated_delta", true)}) {
    EXPECT_EQ(macs_of({"LinearAttention",
                       {{"q", {2, 5, 32}},
                        {"k", {2, 5, 16}},
                        {"v", {2, 5, 12}},
                        {"s", {2, 2, 8, 6}},
                        {"d", {2, 5, 2}},
                        {"b", {2, 5, 2}}},
                       {{"q_num_heads", 4}, {"kv_num_heads", 2}, {"update_rule", rule}}}),
              2 * linear_attention_by_loops(5, 4, 2, 8, 6, is_delta))
        << rule;
  }
}

TEST(MatrixProducts, CountACausalConvolutionByItsWindow) {
  EXPECT_EQ(macs_of({"CausalConvWithState", {{"x", {2, 6, 9}}, {"W", {6, 1, 4}}}}), 2u * 6 * 9 * 4);
}

// All index combinations of an equation, counted one by one.
std::uint64_t counted_combinations(const std::map<char, std::int64_t>& sizes) {
  std::uint64_t count = 0;
  std::vector<std::int64_t> limits, index(sizes.size());
  for (const auto& [letter, size] : sizes) limits.push_back(size);
  while (true) {
    ++count;
    std::size_t axis = 0;
    while (axis < index.size() && ++index[axis] == limits[axis]) index[axis++] = 0;
    if (axis == index.size()) return count;
  }
}

TEST(MatrixProducts, OfEinsumAreAllIndexCombinations) {
  const std::map<char, std::int64_t> sizes{{'a', 2}, {'b', 3}, {'c', 4}, {'d', 5}};
  for (const std::string equation : {"ab,bc->ac", "abc,cd->abd", "abc,acd->abd", "ab,cb->ca",
                                     "abcd,cd->ab", "ab,bc,cd->ad", "abc,bcd->d"}) {
    OneNode one{"Einsum", {}, {{"equation", equation}}};
    std::map<char, std::int64_t> used;
    std::string name = "p";
    one.inputs.push_back({name, {}});
    for (const char letter : equation.substr(0, equation.find("->"))) {
      if (letter == ',') {
        one.inputs.push_back({name += 'p', {}});
      } else {
        one.inputs.back().second.push_back(sizes.at(letter));
        used.insert(*sizes.find(letter));
      }
    }
    EXPECT_EQ(macs_of(one), counted_combinations(used)) << equation;
  }
}

// A convolution without padding, window by window.
TEST(MatrixProducts, OfConvolutionsAreAllWindowPositions) {
  for (std::int64_t stride = 1; stride <= 3; ++stride) {
    for (std::int64_t kernel = 1; kernel <= 3; ++kernel) {
      std::uint64_t count = 0;
      for (std::int64_t y = 0; y + kernel <= 8; y += stride) {
        for (std::int64_t x = 0; x + kernel <= 7; x += stride) {
          for (std::int64_t output = 0; output < 4; ++output)
            count += std::uint64_t(3 * kernel * kernel);
        }
      }
      EXPECT_EQ(macs_of({"Conv",
                         {{"x", {1, 6, 8, 7}}, {"W", {4, 3, kernel, kernel}}},
                         {{"group", 2}, {"strides", Ints{stride, stride}}}}),
                count);
    }
  }
}

TEST(MatrixProducts, SaturateInsteadOfOverflowing) {
  const std::int64_t large = std::int64_t(1) << 26;
  EXPECT_EQ(macs_of({"MatMul", {{"a", {large, large}}, {"b", {large, large}}}}),
            std::numeric_limits<std::uint64_t>::max());
}

OpClass class_of(const OneNode& one) {
  const Graph graph = import_node(one);
  return classify(graph, graph.nodes.at(0));
}

TEST(Classes, FollowWhatAnOperatorDoes) {
  EXPECT_EQ(class_of({"MatMul", {{"x", {2, 8}}, {"W", {8, 3}}}}), OpClass::matmul);
  EXPECT_EQ(class_of({"Conv", {{"x", {1, 3, 8, 8}}, {"W", {4, 3, 3, 3}}}}), OpClass::convolution);
  EXPECT_EQ(class_of({"Softmax", {{"x", {2, 8}}}}), OpClass::softmax);
  EXPECT_EQ(class_of({"LayerNormalization", {{"x", {2, 8}}, {"W", {8}}}}), OpClass::normalization);
  EXPECT_EQ(class_of({"Add", {{"x", {2, 8}}, {"W", {8}}}}), OpClass::elementwise);
  EXPECT_EQ(class_of({"ReduceMean", {{"x", {2, 8}}}}), OpClass::reduction);
  EXPECT_EQ(class_of({"GlobalAveragePool", {{"x", {1, 8, 4, 4}}}}), OpClass::reduction);
  EXPECT_EQ(class_of({"MaxPool", {{"x", {1, 8, 4, 4}}}, {{"kernel_shape", Ints{2, 2}}}}),
            OpClass::pooling);
  EXPECT_EQ(class_of({"Flatten", {{"x", {2, 8}}}}), OpClass::view);
  EXPECT_EQ(class_of({"Concat", {{"x", {2, 8}}, {"y", {2, 8}}}, {{"axis", 0}}}), OpClass::copy);
  EXPECT_EQ(class_of({"Relu", {{"W", {2, 8}}}}), OpClass::folded);
}

TEST(Classes, TakeWhatMovesNoBytesAsViews) {
  const auto transpose = [](const Shape& shape, const Ints& perm) {
    return class_of({"Transpose", {{"x", shape}}, {{"perm", perm}}});
  };
  EXPECT_EQ(transpose({2, 3}, {1, 0}), OpClass::transpose);
  EXPECT_EQ(transpose({1, 1, 32, 128}, {0, 2, 1, 3}), OpClass::view);
  EXPECT_EQ(transpose({1, 2, 32, 128}, {0, 2, 1, 3}), OpClass::transpose);
  EXPECT_EQ(class_of({"Cast", {{"x", {2}}}, {{"to", 1}}}), OpClass::view);
  EXPECT_EQ(class_of({"Cast", {{"x", {2}}}, {{"to", 10}}}), OpClass::elementwise);
  EXPECT_EQ(class_of({"Concat", {{"x", {2}}}, {{"axis", 0}}}), OpClass::view);
}

TEST(Classes, TellEinsumsApart) {
  const auto einsum = [](const std::string& equation, const Shape& a, const Shape& b) {
    OneNode one{"Einsum", {{"a", a}}, {{"equation", equation}}};
    if (!b.empty()) one.inputs.push_back({"b", b});
    return class_of(one);
  };
  EXPECT_EQ(einsum("ab,bc->ac", {2, 3}, {3, 4}), OpClass::matmul);
  EXPECT_EQ(einsum("ab,ab->ab", {2, 3}, {2, 3}), OpClass::elementwise);
  EXPECT_EQ(einsum("ab->ba", {2, 3}, {}), OpClass::transpose);
  EXPECT_EQ(einsum("ab->a", {2, 3}, {}), OpClass::reduction);
}

TEST(Tensors, CountBytesOfEveryType) {
  Tensor tensor;
  tensor.shape = {3, 5};
  tensor.type = DataType::int4;
  EXPECT_EQ(tensor.bytes(), 8U);  // 60 bits
  tensor.type = DataType::float16;
  EXPECT_EQ(tensor.bytes(), 30U);
  tensor.shape = {std::int64_t(1) << 40, std::int64_t(1) << 40};
  EXPECT_EQ(tensor.elements(), std::uint64_t(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(tensor.bytes(), std::uint64_t(std::numeric_limits<std::int64_t>::max()));
}

TEST(Semantics, ASquareOfEightBitsWasNone) {
  Graph graph;
  graph.tensors.resize(2);
  Tensor& power = graph.tensors[1];
  power.constant = true;
  power.type = DataType::uint8;
  power.values = {255};
  Node node;
  node.op = "Pow";
  node.inputs = {TensorId(0), TensorId(1)};
  EXPECT_FALSE(is_square(graph, node));
  power.scale = TensorScale{0.00784314, 0};
  EXPECT_TRUE(is_square(graph, node));
  power.scale = TensorScale{0.00784314, 128};
  EXPECT_FALSE(is_square(graph, node));
  power.values.reset();
  power.float_values = {4};
  EXPECT_FALSE(is_square(graph, node));
  power.float_values = {2};
  EXPECT_TRUE(is_square(graph, node));
}

}  // namespace
}  // namespace npuscope::npu::semantics_test
