// Any bytes at all: an error or a graph, never a crash (the sanitizer build watches).
#include <gmock/gmock.h>

#include <random>

#include "npu/graph/import_onnx.hpp"
#include "npu/graph/onnx_writer.hpp"
#include "npu/graph/semantics.hpp"

namespace npuscope::npu::hostile_test {
namespace {

using Ints = std::vector<std::int64_t>;

// A little of everything that the importer treats specially.
std::string varied_model() {
  const test::FunctionText function{
      "my.ops",
      "F",
      {"a"},
      {"b"},
      {{"Softmax", {"a"}, {"b"}, {{"axis", test::Reference{"axis"}}}}}};
  test::GraphText branch, text;
  branch.node({"Neg", {"p"}, {"n"}}).output("n");
  text.input("x", {1, 3, 8, 8}).weight("w", {4, 3, 3, 3}).integers("shape", {1, 4, -1});
  text.integers("starts", {1})
      .integers("ends", {30})
      .integers("axes", {2})
      .scalar("yes", 1, test::onnx_bool);
  text.node({"Conv", {"x", "w"}, {"c"}, {{"strides", Ints{1, 1}}, {"pads", Ints{1, 1, 1, 1}}}});
  text.node({"Reshape", {"c", "shape"}, {"r"}})
      .node({"Slice", {"r", "starts", "ends", "axes"}, {"s"}});
  text.node({"F", {"s"}, {"f"}, {{"axis", std::int64_t{-1}}}, "my.ops"});
  text.node({"Einsum", {"f", "f"}, {"p"}, {{"equation", "abc,adc->abd"}}});
  text.node({"If", {"yes"}, {"y"}, {{"then_branch", test::Graphs{branch.bytes()}}}});
  text.node({"Range", {"yes", "yes", "yes"}, {"g"}}).node({"TopK", {"y", "starts"}, {"t", "i"}});
  return test::model(text.output("y").output("t"), 18, {function});
}

void import_and_cost(const std::string& bytes) {
  const auto graph = import_onnx(as_byte_span(bytes), "hostile.onnx",
                                 {.symbols = {}, .allow_unknown = true, .batch = 1});
  if (!graph) {
    EXPECT_FALSE(graph.error().message.empty());
    return;
  }
  for (const Node& node : graph->nodes) multiply_accumulates(*graph, node);
}

TEST(HostileModels, StartFromOneThatImports) {
  const auto graph = import_onnx(as_byte_span(varied_model()), "varied.onnx", {});
  ASSERT_TRUE(graph) << graph.error().message;
}

TEST(HostileModels, MayEndAnywhere) {
  const std::string whole = varied_model();
  for (std::size_t size = 0; size < whole.size(); ++size) import_and_cost(whole.substr(0, size));
}

TEST(HostileModels, MayHaveAnyBitFlipped) {
  const std::string whole = varied_model();
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = char(damaged[bit / 8] ^ (1 << (bit % 8)));
    import_and_cost(damaged);
  }
}

TEST(HostileModels, MayHaveManyBytesChanged) {
  const std::string whole = varied_model();
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string damaged = whole;
    for (unsigned change = random() % 6 + 1; change > 0; --change) {
      const char values[] = {0, 1, 2, char(0x7f), char(0x80), char(0xff), char(random())};
      damaged[random() % damaged.size()] = values[random() % std::size(values)];
    }
    import_and_cost(damaged);
  }
}

// Every operator with inputs of odd ranks and sizes, and attributes at their limits.
TEST(HostileModels, MayUseAnyOperatorWrongly) {
  const std::vector<std::string> ops = {"Add",
                                        "ArgMax",
                                        "AffineGrid",
                                        "Attention",
                                        "AveragePool",
                                        "BatchNormalization",
                                        "CenterCropPad",
                                        "Col2Im",
                                        "Concat",
                                        "ConstantOfShape",
                                        "Conv",
                                        "ConvTranspose",
                                        "DFT",
                                        "DepthToSpace",
                                        "Einsum",
                                        "Expand",
                                        "Flatten",
                                        "Gather",
                                        "GatherElements",
                                        "GatherND",
                                        "Gemm",
                                        "GlobalAveragePool",
                                        "GridSample",
                                        "LSTM",
                                        "LayerNormalization",
                                        "MatMul",
                                        "MaxPool",
                                        "MaxUnpool",
                                        "NonZero",
                                        "OneHot",
                                        "Pad",
                                        "QLinearConv",
                                        "QLinearMatMul",
                                        "Range",
                                        "ReduceSum",
                                        "Reshape",
                                        "Resize",
                                        "RoiAlign",
                                        "STFT",
                                        "Shape",
                                        "Slice",
                                        "SpaceToDepth",
                                        "Split",
                                        "Squeeze",
                                        "Tile",
                                        "TopK",
                                        "Transpose",
                                        "Unsqueeze",
                                        "Upsample",
                                        "Where"};
  const std::vector<std::string> contrib = {"Attention",
                                            "GroupQueryAttention",
                                            "MatMulNBits",
                                            "MultiHeadAttention",
                                            "QAttention",
                                            "QLinearConcat",
                                            "EmbedLayerNormalization",
                                            "GatherBlockQuantized",
                                            "SkipLayerNormalization",
                                            "FusedMatMul",
                                            "QGemm"};
  constexpr std::int64_t max = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t min = std::numeric_limits<std::int64_t>::min();
  const std::int64_t sizes[] = {
      0, 1, 2, 3, 4, 7, 8, 64, std::int64_t(1) << 31, std::int64_t(1) << 55};
  const std::int64_t numbers[] = {0, 1, -1, 2, 3, -2, 8, max, min, std::int64_t(1) << 32, -max};
  const char* names[] = {"axis",
                         "axes",
                         "kernel_shape",
                         "strides",
                         "pads",
                         "dilations",
                         "group",
                         "keepdims",
                         "perm",
                         "blocksize",
                         "num_heads",
                         "kv_num_heads",
                         "K",
                         "N",
                         "q_num_heads",
                         "output_shape",
                         "output_padding",
                         "ceil_mode",
                         "start",
                         "end",
                         "hidden_size",
                         "batch_dims",
                         "transA",
                         "transB",
                         "allowzero",
                         "bits",
                         "qkv_hidden_sizes",
                         "output_height",
                         "k",
                         "to",
                         "dtype"};
  std::mt19937 random(2);
  const auto pick = [&](const auto& from) { return from[random() % std::size(from)]; };
  for (int round = 0; round < 60'000; ++round) {
    test::GraphText text;
    test::NodeText node;
    const bool extra = random() % 5 == 0;
    node.op = extra ? pick(contrib) : pick(ops);
    node.domain = extra ? "com.microsoft" : "";
    for (unsigned i = 0, inputs = random() % 10; i < inputs; ++i) {
      const std::string name = "i" + std::to_string(i);
      node.inputs.push_back(random() % 8 == 0 ? "" : name);
      if (random() % 2 == 0) {
        Ints values;
        for (unsigned n = random() % 5; n > 0; --n) values.push_back(pick(numbers));
        text.integers(name, values);
      } else {
        std::vector<test::Dimension> shape;
        for (unsigned n = random() % 6; n > 0; --n) shape.emplace_back(pick(sizes));
        text.input(name, shape, random() % 4 == 0 ? test::onnx_int64 : test::onnx_float);
      }
    }
    for (unsigned n = random() % 4; n > 0; --n) {
      Ints values;
      for (unsigned m = random() % 5; m > 0; --m) values.push_back(pick(numbers));
      node.attributes[pick(names)] =
          random() % 2 == 0 ? test::AttributeValue{values} : test::AttributeValue{pick(numbers)};
    }
    if (node.op == "Einsum")
      node.attributes["equation"] = std::string(pick(std::vector<std::string>{
          "ab,bc->ac", "...a,a...->", "aa", ",->", "->", "...", "a.b,c", "ab,ab->a"}));
    for (unsigned i = 0, outputs = random() % 3 + 1; i < outputs; ++i)
      node.outputs.push_back("o" + std::to_string(i));
    text.node(node).output("o0");
    import_and_cost(test::model(text, pick(std::vector<std::int64_t>{1, 6, 9, 11, 13, 18, 23})));
  }
}

}  // namespace
}  // namespace npuscope::npu::hostile_test
