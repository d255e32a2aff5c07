// The shape of every operator's outputs, form by form: "op(inputs) -> outputs". Expected shapes
// are worked out by hand from the operator specifications.
#include <gmock/gmock.h>

#include "npu/graph/import_onnx.hpp"
#include "npu/graph/onnx_writer.hpp"

namespace npuscope::npu::shapes_test {
namespace {

using test::AttributeValue;
using Ints = std::vector<std::int64_t>;

struct Input {
  std::string text;  // shown
  Shape shape;
  int type = test::onnx_float;
  std::optional<Ints> values;  // a constant
  bool omitted = false;
};

Input t(Shape shape, int type = test::onnx_float) { return {"", std::move(shape), type, {}}; }
Input v(Ints values) { return {"", {std::int64_t(values.size())}, test::onnx_int64, values}; }
Input s(std::int64_t value) { return {"", {}, test::onnx_int64, Ints{value}}; }
Input f(Ints values) { return {"", {std::int64_t(values.size())}, test::onnx_float, values}; }
Input none() { return {"", {}, 0, {}, true}; }

struct Case {
  std::string op;
  std::int64_t opset;
  std::vector<Input> inputs;
  std::map<std::string, AttributeValue> attributes;
  std::string outputs;  // "float[1x2] index64[3]"
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.op << '-' << c.opset; }

std::string text_of(const Tensor& tensor) {
  std::string text = std::string(name_of(tensor.type)) + '[';
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    text += (i > 0 ? "x" : "") + std::to_string(tensor.shape[i]);
  }
  return text + ']';
}

Result<Graph> import_case(const Case& c) {
  test::GraphText graph;
  test::NodeText node;
  const std::size_t dot = c.op.rfind('.');
  node.op = dot == std::string::npos ? c.op : c.op.substr(dot + 1);
  node.domain = dot == std::string::npos ? "" : c.op.substr(0, dot);
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const Input& input = c.inputs[i];
    const std::string name = "i" + std::to_string(i);
    node.inputs.push_back(input.omitted ? "" : name);
    if (input.omitted) continue;
    if (input.values) {
      graph.initializer(test::tensor(name, input.type, input.shape, *input.values));
    } else {
      graph.input(name, {input.shape.begin(), input.shape.end()}, input.type);
    }
  }
  const auto outputs = std::count(c.outputs.begin(), c.outputs.end(), '[');
  for (std::ptrdiff_t i = 0; i < outputs; ++i) node.outputs.push_back("o" + std::to_string(i));
  node.attributes = c.attributes;
  graph.node(node);
  return import_onnx(as_byte_span(test::model(graph, c.opset)), "test.onnx", {});
}

class Shapes : public testing::TestWithParam<Case> {};

TEST_P(Shapes, AreAsSpecified) {
  const auto graph = import_case(GetParam());
  ASSERT_TRUE(graph) << graph.error().message;
  std::string outputs;
  for (const TensorId id : graph->nodes[0].outputs) {
    outputs += (outputs.empty() ? "" : " ") + text_of((*graph)[id]);
  }
  EXPECT_EQ(outputs, GetParam().outputs);
}

constexpr int i64 = test::onnx_int64, i8 = test::onnx_int8, u8 = test::onnx_uint8,
              f16 = test::onnx_float16, boolean = test::onnx_bool;
const std::string ms = "com.microsoft.";

const Case runtime_cases[] = {
    {ms + "GemmFastGelu", 18, {t({2, 5, 8}), t({8, 3}), t({3})}, {}, "float[2x5x3]"},
    {ms + "FusedMatMulActivation", 18, {t({8, 5}), t({8, 3})}, {{"transA", 1}}, "float[5x3]"},
    {ms + "DynamicQuantizeLSTM",
     18,
     {t({7, 2, 16}), t({1, 16, 32}, i8), t({1, 8, 32}, i8)},
     {{"hidden_size", 8}},
     "float[7x1x2x8] float[1x2x8] float[1x2x8]"},
    {ms + "LinearAttention",
     18,
     {t({1, 5, 32}), t({1, 5, 32}), t({1, 5, 64}), none(), t({1, 5, 4}), t({1, 5, 4})},
     {{"q_num_heads", 4}, {"kv_num_heads", 4}},
     "float[1x5x64] float[1x4x8x16]"},
    {ms + "CausalConvWithState",
     18,
     {t({1, 32, 5}), t({32, 1, 4})},
     {},
     "float[1x32x5] float[1x32x3]"},
    {ms + "QLinearReduceMean",
     18,
     {t({1, 8, 7, 7}, u8), t({}), t({}, u8), t({}), t({}, u8)},
     {{"axes", Ints{2, 3}}, {"keepdims", 0}},
     "ui8[1x8]"},
    {ms + "QLinearWhere",
     18,
     {t({3, 1}, boolean), t({1, 4}, u8), t({}), t({}, u8), t({3, 4}, u8), t({}), t({}, u8), t({}),
      t({}, u8)},
     {},
     "ui8[3x4]"},
    {ms + "QEmbedLayerNormalization",
     18,
     {t({2, 5}, i64), none(), t({9, 16}, u8), t({5, 16}, u8), none(), t({16}, u8), t({16}, u8),
      none(), t({})},
     {},
     "float[2x5x16] index32[2]"},
    {ms + "SkipGroupNorm",
     18,
     {t({1, 4, 4, 8}, f16), t({8}), t({8}), t({1, 4, 4, 8}, f16)},
     {{"groups", 2}},
     "float16[1x4x4x8] float16[1x4x4x8]"},
    {ms + "RelativePositionBias", 18, {t({32, 8}), s(5), s(7)}, {}, "float[1x8x5x7]"},
    {ms + "ComplexMul", 18, {t({3, 8, 2}), t({8, 2})}, {}, "float[3x8x2]"},
    {ms + "Trilu", 18, {t({4, 4}), s(1)}, {}, "float[4x4]"},
    {ms + "Pad", 18, {t({2, 3}), v({0, 1, 0, 1})}, {}, "float[2x5]"},
    {ms + "Range", 18, {s(0), s(6), s(2)}, {}, "index64[3]"},
};

const Case elementwise_cases[] = {
    {"Add", 13, {t({2, 3}), t({4, 1, 3})}, {}, "float[4x2x3]"},
    {"Add", 6, {t({2, 3, 4}), t({3})}, {{"broadcast", 1}, {"axis", 1}}, "float[2x3x4]"},
    {"Mul", 6, {t({2, 3}), t({3})}, {{"broadcast", 1}}, "float[2x3]"},
    {"Sum", 8, {t({2, 1}), t({3}), t({})}, {}, "float[2x3]"},
    {"Max", 13, {t({0, 3}), t({1, 3})}, {}, "float[0x3]"},
    {"Equal", 13, {t({2, 3}), t({3})}, {}, "bool[2x3]"},
    {"Where", 16, {t({3, 1}, boolean), t({1, 4}, f16), t({}, f16)}, {}, "float16[3x4]"},
    {"Cast", 25, {t({2, 3})}, {{"to", 23}}, "float4[2x3]"},
    {"Cast", 25, {t({2, 3})}, {{"to", 26}}, "i2[2x3]"},
    {"CastLike", 25, {t({2, 3}), t({1}, 25)}, {}, "ui2[2x3]"},
    {"DequantizeLinear",
     25,
     {t({4, 64}, 23), t({4, 2})},
     {{"block_size", 32}, {"axis", 1}},
     "float[4x64]"},
    {"Cast", 13, {t({5})}, {{"to", 10}}, "float16[5]"},
    {"Cast", 1, {t({5})}, {{"to", "INT64"}}, "index64[5]"},
    {"CastLike", 15, {t({5}), t({1}, i8)}, {}, "i8[5]"},
    {"Not", 1, {t({5}, boolean)}, {}, "bool[5]"},
    {"IsNaN", 13, {t({5})}, {}, "bool[5]"},
    {"PRelu", 16, {t({1, 8, 4, 4}), t({8, 1, 1})}, {}, "float[1x8x4x4]"},
    {"Gelu", 20, {t({2, 8})}, {}, "float[2x8]"},
    {"Swish", 24, {t({2, 8})}, {}, "float[2x8]"},
    {ms + "FastGelu", 18, {t({2, 8}), t({8})}, {}, "float[2x8]"},
    {ms + "BiasSplitGelu", 18, {t({2, 8}), t({8})}, {}, "float[2x4]"},
};

const Case convolution_cases[] = {
    {"Conv",
     11,
     {t({1, 3, 224, 224}), t({64, 3, 7, 7})},
     {{"strides", Ints{2, 2}}, {"pads", Ints{3, 3, 3, 3}}},
     "float[1x64x112x112]"},
    {"Conv",
     11,
     {t({1, 32, 9}), t({32, 1, 3})},
     {{"group", 32}, {"dilations", Ints{2}}},
     "float[1x32x5]"},
    {"Conv",
     11,
     {t({1, 3, 5, 5}), t({8, 3, 3, 3})},
     {{"auto_pad", "SAME_UPPER"}, {"strides", Ints{2, 2}}},
     "float[1x8x3x3]"},
    {"Conv",
     11,
     {t({1, 3, 5, 5, 5}), t({8, 3, 3, 3, 3})},
     {{"auto_pad", "VALID"}},
     "float[1x8x3x3x3]"},
    {"ConvInteger", 10, {t({1, 3, 5, 5}, u8), t({8, 3, 3, 3}, u8)}, {}, "index32[1x8x3x3]"},
    {"QLinearConv",
     10,
     {t({1, 3, 5, 5}, u8), t({}), t({}, u8), t({8, 3, 3, 3}, i8), t({8}), t({8}, i8), t({}),
      t({}, u8)},
     {},
     "ui8[1x8x3x3]"},
    {"ConvTranspose",
     11,
     {t({1, 4, 5, 5}), t({4, 3, 4, 4})},
     {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}},
     "float[1x3x10x10]"},
    {"ConvTranspose",
     11,
     {t({1, 4, 5, 5}), t({4, 3, 3, 3})},
     {{"strides", Ints{2, 2}}, {"output_padding", Ints{1, 1}}, {"group", 2}},
     "float[1x6x12x12]"},
    {"ConvTranspose",
     11,
     {t({1, 4, 5, 5}), t({4, 3, 3, 3})},
     {{"strides", Ints{2, 2}}, {"output_shape", Ints{10, 9}}},
     "float[1x3x10x9]"},
    {"MaxPool",
     12,
     {t({1, 4, 7, 7})},
     {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}},
     "float[1x4x3x3] index64[1x4x3x3]"},
    {"MaxPool",
     12,
     {t({1, 4, 8, 8})},
     {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"ceil_mode", 1}},
     "float[1x4x4x4]"},
    // A window that would start in the right padding is left out.
    {"AveragePool",
     19,
     {t({1, 1, 2})},
     {{"kernel_shape", Ints{1}}, {"strides", Ints{2}}, {"pads", Ints{0, 1}}, {"ceil_mode", 1}},
     "float[1x1x1]"},
    {"AveragePool",
     19,
     {t({1, 1, 4})},
     {{"kernel_shape", Ints{1}}, {"strides", Ints{3}}, {"pads", Ints{0, 2}}, {"ceil_mode", 1}},
     "float[1x1x2]"},
    {"GlobalAveragePool", 1, {t({1, 4, 7, 7})}, {}, "float[1x4x1x1]"},
    {"MaxUnpool",
     11,
     {t({1, 1, 2, 2}), t({1, 1, 2, 2}, i64)},
     {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}},
     "float[1x1x4x4]"},
    {"RoiAlign",
     16,
     {t({1, 8, 32, 32}), t({5, 4}), t({5}, i64)},
     {{"output_height", 7}, {"output_width", 7}},
     "float[5x8x7x7]"},
    {"MaxRoiPool",
     1,
     {t({1, 8, 32, 32}), t({5, 5})},
     {{"pooled_shape", Ints{6, 7}}},
     "float[5x8x6x7]"},
};

const Case matmul_cases[] = {
    {"MatMul", 13, {t({2, 1, 4, 8}), t({3, 8, 5})}, {}, "float[2x3x4x5]"},
    {"MatMul", 13, {t({8}), t({8, 5})}, {}, "float[5]"},
    {"MatMul", 13, {t({4, 8}), t({8})}, {}, "float[4]"},
    {"MatMul", 13, {t({8}), t({8})}, {}, "float[]"},
    {"Gemm", 13, {t({8, 4}), t({5, 8}), t({5})}, {{"transA", 1}, {"transB", 1}}, "float[4x5]"},
    {"MatMulInteger", 10, {t({4, 8}, u8), t({8, 5}, i8)}, {}, "index32[4x5]"},
    {"QLinearMatMul",
     10,
     {t({4, 8}, u8), t({}), t({}, u8), t({8, 5}, i8), t({}), t({}, i8), t({}), t({}, i8)},
     {},
     "i8[4x5]"},
    {"Einsum", 12, {t({2, 3, 4}), t({2, 5, 4})}, {{"equation", "bij, bkj -> bik"}}, "float[2x3x5]"},
    {"Einsum", 12, {t({2, 3, 4}), t({4, 5})}, {{"equation", "...j,jk"}}, "float[2x3x5]"},
    {"Einsum", 12, {t({3, 3})}, {{"equation", "ii->i"}}, "float[3]"},
    {ms + "MatMulNBits",
     18,
     {t({1, 7, 64}, f16), t({16, 2, 16}, u8), t({32}, f16)},
     {{"K", 64}, {"N", 16}, {"bits", 4}, {"block_size", 32}},
     "float16[1x7x16]"},
    {ms + "FusedMatMul",
     18,
     {t({2, 8, 4}), t({2, 5, 8})},
     {{"transA", 1}, {"transB", 1}},
     "float[2x4x5]"},
    {ms + "DynamicQuantizeMatMul", 18, {t({4, 8}), t({8, 5}, i8), t({})}, {}, "float[4x5]"},
    {ms + "QGemm",
     18,
     {t({4, 8}, u8), t({}), t({}, u8), t({5, 8}, i8), t({}), t({}, i8)},
     {{"transB", 1}},
     "float[4x5]"},
    {"LSTM",
     14,
     {t({7, 2, 16}), t({2, 32, 16}), t({2, 32, 8})},
     {{"hidden_size", 8}, {"direction", "bidirectional"}},
     "float[7x2x2x8] float[2x2x8] float[2x2x8]"},
    {"GRU",
     14,
     {t({2, 7, 16}), t({1, 24, 16}), t({1, 24, 8})},
     {{"layout", 1}},
     "float[2x7x1x8] float[2x1x8]"},
};

const Case attention_cases[] = {
    {"Attention",
     23,
     {t({1, 8, 5, 64}), t({1, 2, 7, 64}), t({1, 2, 7, 32})},
     {},
     "float[1x8x5x32]"},
    {"Attention",
     23,
     {t({1, 5, 512}), t({1, 5, 128}), t({1, 5, 128}), none(), t({1, 2, 7, 64}), t({1, 2, 7, 64})},
     {{"q_num_heads", 8}, {"kv_num_heads", 2}},
     "float[1x5x512] float[1x2x12x64] float[1x2x12x64] float[1x8x5x12]"},
    {"RotaryEmbedding", 23, {t({1, 8, 5, 64}), t({5, 32}), t({5, 32})}, {}, "float[1x8x5x64]"},
    {ms + "MultiHeadAttention",
     18,
     {t({2, 5, 64}), t({2, 9, 64}), t({2, 9, 32})},
     {{"num_heads", 4}},
     "float[2x5x32]"},
    {ms + "MultiHeadAttention", 18, {t({2, 5, 4, 3, 16})}, {{"num_heads", 4}}, "float[2x5x64]"},
    {ms + "GroupQueryAttention",
     18,
     {t({1, 1, 512}), t({1, 1, 128}), t({1, 1, 128}), t({1, 2, 127, 64}), t({1, 2, 127, 64}),
      t({1}, test::onnx_int32), t({}, test::onnx_int32)},
     {{"num_heads", 8}, {"kv_num_heads", 2}},
     "float[1x1x512] float[1x2x128x64] float[1x2x128x64]"},
    {ms + "Attention",
     18,
     {t({2, 5, 48}), t({48, 144}), t({144})},
     {{"num_heads", 4}},
     "float[2x5x48]"},
    {"ai.onnx.preview.FlexAttention",
     1,
     {t({1, 8, 5, 64}), t({1, 2, 7, 64}), t({1, 2, 7, 32})},
     {},
     "float[1x8x5x32]"},
    {"LinearAttention",
     27,
     {t({2, 5, 32}), t({2, 5, 16}), t({2, 5, 12}), none(), t({2, 5, 2}), t({2, 5, 2})},
     {{"q_num_heads", 4}, {"kv_num_heads", 2}},
     "float[2x5x24] float[2x2x8x6]"},
    {ms + "MoE",
     18,
     {t({2, 5, 16}), t({10, 4}), t({4, 48, 16}), t({4, 48}), t({4, 16, 24}), t({4, 16})},
     {{"k", 2}},
     "float[2x5x16]"},
    {ms + "QMoE",
     18,
     {t({5, 32}), t({5, 4}), t({4, 16, 16}, test::onnx_uint8), t({4, 16}), none(),
      t({4, 32, 8}, test::onnx_uint8), t({4, 32})},
     {{"k", 1}},
     "float[5x32]"},
    {"CausalConvWithState", 27, {t({2, 6, 9}), t({6, 1, 4})}, {}, "float[2x6x9] float[2x6x3]"},
    {"TRT.EfficientNMS_TRT",
     1,
     {t({2, 8400, 4}), t({2, 8400, 80})},
     {{"max_output_boxes", 100}},
     "index32[2x1] float[2x100x4] float[2x100] index32[2x100]"},
};

const Case normalization_cases[] = {
    {"BatchNormalization",
     15,
     {t({1, 8, 4, 4}), t({8}), t({8}), t({8}), t({8})},
     {},
     "float[1x8x4x4]"},
    {"BatchNormalization",
     1,
     {t({1, 8, 4, 4}), t({8}), t({8}), t({8}), t({8})},
     {{"consumed_inputs", Ints{0, 0, 0, 1, 1}}, {"is_test", 1}},
     "float[1x8x4x4] float[8] float[8] float[8] float[8]"},
    {"LayerNormalization",
     17,
     {t({2, 5, 16}), t({16}), t({16})},
     {{"axis", -1}},
     "float[2x5x16] float[2x5x1] float[2x5x1]"},
    {"RMSNormalization", 23, {t({2, 5, 16}), t({16})}, {}, "float[2x5x16]"},
    {"GroupNormalization",
     21,
     {t({1, 8, 4, 4}), t({8}), t({8})},
     {{"num_groups", 2}},
     "float[1x8x4x4]"},
    {"LRN", 13, {t({1, 8, 4, 4})}, {{"size", 5}}, "float[1x8x4x4]"},
    {"Softmax", 13, {t({2, 5})}, {{"axis", -1}}, "float[2x5]"},
    {ms + "SkipLayerNormalization",
     18,
     {t({2, 5, 16}), t({2, 5, 16}), t({16})},
     {},
     "float[2x5x16] float[2x5x1] float[2x5x1] float[2x5x16]"},
    {ms + "EmbedLayerNormalization",
     18,
     {t({2, 5}, test::onnx_int32), none(), t({100, 16}), t({64, 16})},
     {},
     "float[2x5x16] index32[2]"},
};

const Case layout_cases[] = {
    {"Reshape", 14, {t({2, 3, 4}), v({0, -1})}, {}, "float[2x12]"},
    {"Reshape", 14, {t({0, 3}), v({0, 7})}, {{"allowzero", 1}}, "float[0x7]"},
    {"Reshape", 1, {t({2, 3, 4})}, {{"shape", Ints{4, -1}}}, "float[4x6]"},
    {"Flatten", 13, {t({2, 3, 4})}, {{"axis", 2}}, "float[6x4]"},
    {"Flatten", 13, {t({2, 3, 4})}, {{"axis", 0}}, "float[1x24]"},
    {"Squeeze", 13, {t({1, 3, 1}), v({-1})}, {}, "float[1x3]"},
    {"Squeeze", 1, {t({1, 3, 1})}, {{"axes", Ints{0}}}, "float[3x1]"},
    {"Squeeze", 13, {t({1, 3, 1})}, {}, "float[3]"},
    {"Unsqueeze", 13, {t({3}), v({0, -1})}, {}, "float[1x3x1]"},
    {"Unsqueeze", 1, {t({3})}, {{"axes", Ints{0, 1}}}, "float[1x1x3]"},
    {"Transpose", 13, {t({2, 3, 4})}, {{"perm", Ints{1, 0, 2}}}, "float[3x2x4]"},
    {"Transpose", 13, {t({2, 3, 4})}, {}, "float[4x3x2]"},
    {"DepthToSpace", 13, {t({1, 8, 2, 3})}, {{"blocksize", 2}}, "float[1x2x4x6]"},
    {"SpaceToDepth", 13, {t({1, 2, 4, 6})}, {{"blocksize", 2}}, "float[1x8x2x3]"},
    {"Dropout", 1, {t({2, 3})}, {{"is_test", 1}}, "float[2x3] float[2x3]"},
    {"Dropout", 13, {t({2, 3})}, {}, "float[2x3] bool[2x3]"},
};

const Case movement_cases[] = {
    {"Concat", 13, {t({2, 3}), t({2, 5})}, {{"axis", -1}}, "float[2x8]"},
    {"Concat", 1, {t({2, 3}), t({2, 5})}, {}, "float[2x8]"},
    {"Split", 13, {t({2, 7}), v({3, 4})}, {{"axis", 1}}, "float[2x3] float[2x4]"},
    {"Split", 2, {t({2, 8})}, {{"axis", 1}}, "float[2x4] float[2x4]"},
    {"Split", 18, {t({7})}, {{"num_outputs", 3}}, "float[3] float[3] float[1]"},
    {"Slice", 13, {t({5, 6}), v({1, -4}), v({1000, -1}), v({0, 1})}, {}, "float[4x3]"},
    {"Slice", 13, {t({5, 6}), v({-1}), v({-1000}), v({0}), v({-2})}, {}, "float[3x6]"},
    {"Slice",
     1,
     {t({5, 6})},
     {{"starts", Ints{2}}, {"ends", Ints{-1}}, {"axes", Ints{1}}},
     "float[5x3]"},
    {"Pad", 13, {t({2, 3}), v({0, 1, 2, -1})}, {}, "float[4x3]"},
    {"Pad", 18, {t({2, 3}), v({1, 1}), none(), v({-1})}, {}, "float[2x5]"},
    {"Pad", 2, {t({2, 3})}, {{"pads", Ints{1, 1, 1, 1}}}, "float[4x5]"},
    {"Tile", 13, {t({2, 3}), v({2, 1})}, {}, "float[4x3]"},
    {"Expand", 13, {t({3, 1}), v({2, 1, 4})}, {}, "float[2x3x4]"},
    {"Trilu", 14, {t({3, 4})}, {{"upper", 0}}, "float[3x4]"},
    {"CenterCropPad", 18, {t({20, 8, 3}), v({10, 9})}, {{"axes", Ints{0, 1}}}, "float[10x9x3]"},
    {"Col2Im", 18, {t({1, 5 * 4, 6}), v({4, 3}), v({2, 2})}, {}, "float[1x5x4x3]"},
    {"Resize", 10, {t({1, 3, 5, 5}), f({1, 1, 2, 2})}, {}, "float[1x3x10x10]"},
    {"Resize", 13, {t({1, 3, 5, 5}), none(), none(), v({1, 3, 7, 9})}, {}, "float[1x3x7x9]"},
    {"Resize",
     18,
     {t({1, 3, 5, 10}), none(), none(), v({20, 20})},
     {{"axes", Ints{2, 3}}, {"keep_aspect_ratio_policy", "not_larger"}},
     "float[1x3x10x20]"},
    {"Upsample",
     7,
     {t({1, 3, 5, 5})},
     {{"scales", std::vector<double>{1, 1, 2, 3}}},
     "float[1x3x10x15]"},
    {"Upsample", 9, {t({1, 3, 5, 5}), f({1, 1, 2, 2})}, {}, "float[1x3x10x10]"},
    {"GridSample", 16, {t({1, 3, 8, 8}), t({1, 5, 6, 2})}, {}, "float[1x3x5x6]"},
    {"AffineGrid", 20, {t({2, 2, 3}), v({2, 3, 5, 6})}, {}, "float[2x5x6x2]"},
    {"DFT", 17, {t({1, 10, 1}), none()}, {{"onesided", 1}}, "float[1x6x2]"},
    {"STFT", 17, {t({1, 128, 1}), s(8), none(), s(16)}, {}, "float[1x15x9x2]"},
};

const Case indexing_cases[] = {
    {"Gather", 13, {t({5, 4}), t({2, 3}, i64)}, {{"axis", 1}}, "float[5x2x3]"},
    {"Gather", 13, {t({5, 4}), t({}, i64)}, {}, "float[4]"},
    {"GatherElements", 13, {t({5, 4}), t({2, 4}, i64)}, {}, "float[2x4]"},
    {"GatherND", 13, {t({2, 3, 4}), t({2, 5, 1}, i64)}, {{"batch_dims", 1}}, "float[2x5x4]"},
    {"ScatterND", 18, {t({2, 3}), t({1, 1}, i64), t({1, 3})}, {}, "float[2x3]"},
    {"ScatterElements", 18, {t({2, 3}), t({1, 1}, i64), t({1, 1})}, {}, "float[2x3]"},
    {"OneHot", 11, {t({2, 3}, i64), s(7), t({2})}, {{"axis", 1}}, "float[2x7x3]"},
    {"TopK", 11, {t({2, 9}), v({3})}, {}, "float[2x3] index64[2x3]"},
    {"TopK", 1, {t({9, 2})}, {{"axis", 0}, {"k", 4}}, "float[4x2] index64[4x2]"},
    {"CumSum", 14, {t({2, 9}), s(1)}, {}, "float[2x9]"},
    {"NonZero", 13, {v({1, 0, 1, 1})}, {}, "index64[1x3]"},
    {"ArgMax", 13, {t({2, 9})}, {{"axis", 1}, {"keepdims", 0}}, "index64[2]"},
    {"ReduceMean", 13, {t({2, 3, 4})}, {{"axes", Ints{-1, 0}}}, "float[1x3x1]"},
    {"ReduceMean", 18, {t({2, 3, 4}), v({1})}, {{"keepdims", 0}}, "float[2x4]"},
    {"ReduceSum", 13, {t({2, 3})}, {}, "float[1x1]"},
    {"ReduceSum", 13, {t({2, 3})}, {{"noop_with_empty_axes", 1}}, "float[2x3]"},
    {ms + "GatherBlockQuantized",
     18,
     {t({100, 32}, u8), t({1, 7}, i64), t({100, 2}, f16)},
     {{"bits", 4}, {"block_size", 32}},
     "float16[1x7x64]"},
};

const Case generator_cases[] = {
    {"Shape", 15, {t({2, 3, 4})}, {{"start", 1}}, "index64[2]"},
    {"Size", 13, {t({2, 3, 4})}, {}, "index64[]"},
    {"Range", 11, {s(10), s(0), s(-3)}, {}, "index64[4]"},
    {"ConstantOfShape", 9, {v({2, 3})}, {}, "float[2x3]"},
    {"EyeLike", 9, {t({2, 3})}, {{"dtype", 7}}, "index64[2x3]"},
    {"RandomNormal", 1, {}, {{"shape", Ints{2, 3}}}, "float[2x3]"},
    {"Multinomial", 7, {t({2, 9})}, {{"sample_size", 4}}, "index32[2x4]"},
    {"HannWindow", 17, {s(16)}, {}, "float[16]"},
    {"MelWeightMatrix", 17, {s(8), s(16), s(8192), s(0), s(4000)}, {}, "float[9x8]"},
    {"QuantizeLinear", 13, {t({2, 3}), t({}), t({}, i8)}, {}, "i8[2x3]"},
    {"QuantizeLinear", 21, {t({2, 3}), t({})}, {{"output_dtype", 3}}, "i8[2x3]"},
    {"DequantizeLinear", 19, {t({2, 3}, i8), t({}, f16)}, {}, "float16[2x3]"},
    {"DynamicQuantizeLinear", 11, {t({2, 3})}, {}, "ui8[2x3] float[] ui8[]"},
    {ms + "QLinearAdd",
     18,
     {t({2, 3}, u8), t({}), t({}, u8), t({3}, u8), t({}), t({}, u8), t({}), t({}, u8)},
     {},
     "ui8[2x3]"},
    {ms + "QLinearConcat",
     18,
     {t({}), t({}, u8), t({2, 3}, u8), t({}), t({}, u8), t({2, 4}, u8), t({}), t({}, u8)},
     {{"axis", 1}},
     "ui8[2x7]"},
};

std::string case_name(const testing::TestParamInfo<Case>& info) {
  const std::size_t dot = info.param.op.rfind('.');
  return info.param.op.substr(dot + 1) + "_" + std::to_string(info.index);
}

INSTANTIATE_TEST_SUITE_P(Runtime, Shapes, testing::ValuesIn(runtime_cases), case_name);
INSTANTIATE_TEST_SUITE_P(Elementwise, Shapes, testing::ValuesIn(elementwise_cases), case_name);
INSTANTIATE_TEST_SUITE_P(Convolution, Shapes, testing::ValuesIn(convolution_cases), case_name);
INSTANTIATE_TEST_SUITE_P(Matmul, Shapes, testing::ValuesIn(matmul_cases), case_name);
INSTANTIATE_TEST_SUITE_P(Attention, Shapes, testing::ValuesIn(attention_cases), case_name);
INSTANTIATE_TEST_SUITE_P(Normalization, Shapes, testing::ValuesIn(normalization_cases), case_name);
INSTANTIATE_TEST_SUITE_P(Layout, Shapes, testing::ValuesIn(layout_cases), case_name);
INSTANTIATE_TEST_SUITE_P(Movement, Shapes, testing::ValuesIn(movement_cases), case_name);
INSTANTIATE_TEST_SUITE_P(Indexing, Shapes, testing::ValuesIn(indexing_cases), case_name);
INSTANTIATE_TEST_SUITE_P(Generator, Shapes, testing::ValuesIn(generator_cases), case_name);

struct Misfit {
  Case wrong;
  std::string why;
};

void PrintTo(const Misfit& misfit, std::ostream* out) { *out << misfit.why; }

class Misfits : public testing::TestWithParam<Misfit> {};

TEST_P(Misfits, AreRefusedWithTheReason) {
  const auto graph = import_case(GetParam().wrong);
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().kind, ErrorKind::input);
  EXPECT_THAT(graph.error().message, testing::StartsWith("test.onnx: node '"));
  EXPECT_THAT(graph.error().message, testing::HasSubstr(GetParam().why));
}

constexpr std::int64_t huge = std::int64_t(1) << 62;

const Misfit misfits[] = {
    {{"Add", 13, {t({2, 3}), t({4})}, {}, "[]"}, "the shapes [2x3] and [4] do not fit each other"},
    {{"MatMul", 13, {t({2, 3}), t({4, 5})}, {}, "[]"},
     "[2x3] and [4x5] do not multiply: 3 is not 4"},
    {{"Conv", 11, {t({1, 3, 8, 8}), t({8, 4, 3, 3})}, {}, "[]"},
     "the input [1x3x8x8] and the weights [8x4x3x3] do not fit each other in 1 group"},
    {{"Conv", 11, {t({1, 3, 2, 2}), t({8, 3, 3, 3})}, {}, "[]"}, "does not fit into 2"},
    {{"Conv", 11, {t({1, 3, 8, 8}), t({8, 3, 3, 3})}, {{"strides", Ints{0, 1}}}, "[]"},
     "its strides has the value 0"},
    {{"Conv", 11, {t({1, 3, 8, 8})}, {}, "[]"}, "it lacks its input 1"},
    {{"MaxPool", 11, {t({1, 3, 8, 8})}, {{"kernel_shape", Ints{3}}}, "[]"}, "its kernel [3]"},
    {{"Concat", 13, {t({2, 3}), t({3, 3})}, {{"axis", 1}}, "[]"}, "do not join along axis 1"},
    {{"Concat", 13, {t({2, 3})}, {}, "[]"}, "it lacks its attribute 'axis'"},
    {{"Reshape", 13, {t({2, 3}), v({4, -1})}, {}, "[]"}, "[2x3] cannot take the shape [4x-1]"},
    {{"Reshape", 13, {t({2, 3}), t({2}, i64)}, {}, "[]"}, "not known at compile time"},
    {{"Transpose", 13, {t({2, 3})}, {{"perm", Ints{0, 0}}}, "[]"}, "axis 0 is given twice"},
    {{"Expand", 13, {t({1}), v({huge, 4})}, {}, "[]"}, "a dimension of 4611686018427387904"},
    {{"Tile", 13, {t({3}), v({huge})}, {}, "[]"}, "is too large for a dimension"},
    {{"Slice", 13, {t({5}), v({0}), v({5}), v({0}), v({0})}, {}, "[]"}, "its step is 0"},
    {{"Gather", 13, {v({1, 2}), v({7})}, {}, "[]"}, "it reads index 7 of a dimension of 2"},
    {{"NonMaxSuppression", 11, {t({1, 9, 4}), t({1, 2, 9})}, {}, "[]"},
     "the size of its output depends on data"},
    {{"Einsum", 12, {t({2, 3})}, {{"equation", "ab,bc->ac"}}, "[]"}, "is for 2 inputs, not 1"},
    {{"Relu", 13, {t({2})}, {}, "[] []"}, "more outputs than the operator makes"},
};

INSTANTIATE_TEST_SUITE_P(Every, Misfits, testing::ValuesIn(misfits), [](const auto& each) {
  return each.param.wrong.op + "_" + std::to_string(each.index);
});

}  // namespace
}  // namespace npuscope::npu::shapes_test
