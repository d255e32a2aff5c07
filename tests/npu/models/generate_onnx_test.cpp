// The files: valid to the ONNX library, deterministic, small, and with the names and shapes that
// exported models have. Multiply-accumulates are summed over the library's own inferred shapes.
#include "npuscope/npu/models/generate_onnx.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "npu/models/summary.hpp"

namespace npuscope::npu::generate_onnx_test {
namespace {

using Shape = std::vector<std::int64_t>;

std::string bytes_of(std::string_view preset, const InputSizes& sizes,
                     const GenerateOptions& options = {}, const ArchitectureChanges& changes = {}) {
  const auto model = generate_onnx(*make_architecture(preset, changes), sizes, options);
  return model ? model->bytes : model.error().message;
}

onnx::ModelProto parse(const std::string& bytes) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(bytes)) << bytes.substr(0, 200);
  return model;
}

// "float[1x32x128]", symbols as they are
std::string text_of(const onnx::ValueInfoProto& value) {
  const auto& tensor = value.type().tensor_type();
  std::string text;
  for (const auto& dimension : tensor.shape().dim()) {
    if (!text.empty()) text += 'x';
    text +=
        dimension.has_dim_param() ? dimension.dim_param() : std::to_string(dimension.dim_value());
  }
  const bool half = tensor.elem_type() == onnx::TensorProto::FLOAT16;
  const bool integer = tensor.elem_type() == onnx::TensorProto::INT64;
  return value.name() + (integer ? " int64[" : half ? " float16[" : " float[") + text + "]";
}

template <class Values>
std::vector<std::string> texts_of(const Values& values) {
  std::vector<std::string> out;
  for (const auto& value : values) out.push_back(text_of(value));
  return out;
}

std::vector<std::string> node_names(const onnx::ModelProto& model) {
  std::vector<std::string> out;
  for (const auto& node : model.graph().node()) out.push_back(node.name());
  return out;
}

// Shapes of all values, inferred by the ONNX library; -1 where it does not know.
std::map<std::string, Shape> inferred_shapes(onnx::ModelProto& model) {
  const onnx::ShapeInferenceOptions strict{true, 1, true};
  onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(), strict);
  std::map<std::string, Shape> shapes;
  const auto take = [&](const auto& values) {
    for (const auto& value : values) {
      Shape& shape = shapes[value.name()];
      for (const auto& dimension : value.type().tensor_type().shape().dim()) {
        shape.push_back(dimension.has_dim_value() ? dimension.dim_value() : -1);
      }
    }
  };
  take(model.graph().input());
  take(model.graph().value_info());
  take(model.graph().output());
  return shapes;
}

struct MatrixWork {
  std::uint64_t macs = 0;
  std::uint64_t padded_macs = 0;
};

// A product with a plain matrix takes all rows at once; one of two stacks goes matrix by matrix.
MatrixWork matrix_work(onnx::ModelProto model) {
  const auto shapes = inferred_shapes(model);
  MatrixWork work;
  for (const auto& node : model.graph().node()) {
    if (node.op_type() != "MatMul" && node.op_type() != "Gemm") continue;
    const Shape& a = shapes.at(node.input(0));
    const Shape& b = shapes.at(node.input(1));
    const Shape& y = shapes.at(node.output(0));
    if (a.size() < 2 || b.size() < 2 || y.size() < 2) {
      ADD_FAILURE() << node.name() << " has operands of unknown shape";
      continue;
    }
    const bool gemm = node.op_type() == "Gemm";
    std::uint64_t rows = 1, batch = 1;
    for (std::size_t i = 0; i + 1 < a.size(); ++i) {
      (b.size() > 2 && i + 2 < a.size() ? batch : rows) *= std::uint64_t(a[i]);
    }
    EXPECT_GT(y.back(), 0) << node.name();
    EXPECT_EQ(a.back(), gemm ? b.back() : b.end()[-2]) << node.name();
    const std::uint64_t inner = std::uint64_t(a.back()) * std::uint64_t(y.back());
    work.macs += batch * rows * inner;
    work.padded_macs += batch * ((rows + 31) / 32 * 32) * inner;
  }
  return work;
}

// Elements of all weights and of the constants beside them.
struct Constants {
  std::uint64_t weights = 0;
  std::uint64_t others = 0;
};

Constants constants_of(const onnx::ModelProto& model) {
  std::map<std::string, const onnx::TensorProto*> initializers;
  Constants constants;
  for (const auto& tensor : model.graph().initializer()) {
    initializers[tensor.name()] = &tensor;
    constants.others += std::uint64_t(std::max(tensor.int64_data_size(), 1)) +
                        std::uint64_t(tensor.float_data_size());
  }
  for (const auto& node : model.graph().node()) {
    if (node.op_type() != "ConstantOfShape") continue;
    std::uint64_t elements = 1;
    for (const auto size : initializers.at(node.input(0))->int64_data()) {
      elements *= std::uint64_t(size);
    }
    constants.weights += elements;
  }
  return constants;
}

struct Case {
  std::string preset;
  InputSizes sizes;
  GenerateOptions options;
};

// "amber_7b_b1_s32_c128_float16": names the test, and is printed in place of the object's bytes.
std::string name_of(const Case& model) {
  std::string name = fmt::format("{}_b{}_s{}_c{}", model.preset, model.sizes.batch,
                                 model.sizes.sequence, model.sizes.context);
  if (model.options.precision == FloatType::float16) name += "_float16";
  if (model.options.symbolic) name += "_symbolic";
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}
void PrintTo(const Case& model, std::ostream* out) { *out << name_of(model); }

class GeneratedModels : public ::testing::TestWithParam<Case> {};

TEST_P(GeneratedModels, PassTheOnnxChecker) {
  const auto& [preset, sizes, options] = GetParam();
  const auto model = parse(bytes_of(preset, sizes, options));
  EXPECT_NO_THROW(onnx::checker::check_model(model));
  for (const auto& tensor : model.graph().initializer()) {
    EXPECT_NE(tensor.data_location(), onnx::TensorProto::EXTERNAL) << tensor.name();
  }
}

TEST_P(GeneratedModels, HaveTheWorkAndWeightsOfTheClosedForm) {
  const auto& [preset, sizes, options] = GetParam();
  const auto model = parse(bytes_of(preset, sizes, options));
  const auto summary = *summarize(*make_architecture(preset, {}), sizes);
  const Constants constants = constants_of(model);
  EXPECT_EQ(constants.weights, summary.parameters);
  EXPECT_LT(constants.others * 2, 400'000u);
  if (options.symbolic) return;
  const MatrixWork work = matrix_work(model);
  EXPECT_EQ(work.macs, summary.multiply_accumulates);
  EXPECT_EQ(work.padded_macs, summary.padded_multiply_accumulates);
}

TEST_P(GeneratedModels, LetTheOnnxLibraryInferEveryShape) {
  const auto& [preset, sizes, options] = GetParam();
  if (options.symbolic) return;
  auto model = parse(bytes_of(preset, sizes, options));
  const auto shapes = inferred_shapes(model);
  for (const auto& node : model.graph().node()) {
    const auto shape = shapes.find(node.output(0));
    ASSERT_NE(shape, shapes.end()) << node.name();
    EXPECT_THAT(shape->second, ::testing::Each(::testing::Ge(0))) << node.name();
  }
}

TEST_P(GeneratedModels, AreTheSameBytesEveryTimeAndSmall) {
  const auto& [preset, sizes, options] = GetParam();
  const std::string bytes = bytes_of(preset, sizes, options);
  EXPECT_EQ(bytes, bytes_of(preset, sizes, options));
  EXPECT_LT(bytes.size(), 600'000u);
}

TEST_P(GeneratedModels, NameEveryNodeAndValueOnce) {
  const auto& [preset, sizes, options] = GetParam();
  const auto model = parse(bytes_of(preset, sizes, options));
  std::set<std::string> nodes, values;
  for (const auto& node : model.graph().node()) {
    EXPECT_TRUE(nodes.insert(node.name()).second) << node.name();
    EXPECT_TRUE(values.insert(node.output(0)).second) << node.output(0);
  }
}

constexpr GenerateOptions half{.symbolic = false, .precision = FloatType::float16};
constexpr GenerateOptions symbolic{.symbolic = true, .precision = FloatType::float32};

INSTANTIATE_TEST_SUITE_P(
    Presets, GeneratedModels,
    ::testing::Values(Case{"amber-7b", {1, 32, 128}, {}}, Case{"amber-7b", {1, 1, 128}, {}},
                      Case{"amber-7b", {3, 128, 128}, half},
                      Case{"amber-7b", {1, 32, 128}, symbolic},
                      Case{"qwen3-0.6b", {1, 32, 128}, {}}, Case{"qwen3-0.6b", {4, 1, 4096}, half},
                      Case{"qwen3-0.6b", {1, 32, 128}, symbolic},
                      Case{"bert-base", {1, 128, 0}, {}}, Case{"bert-base", {8, 17, 0}, half},
                      Case{"bert-base", {1, 128, 0}, symbolic}),
    [](const auto& model) { return name_of(model.param); });

TEST(GenerateOnnx, Amber7BHasTheVendorsFigures) {
  EXPECT_EQ(matrix_work(parse(bytes_of("amber-7b", {1, 32, 128}))).macs, 208'436'985'856u);
  EXPECT_EQ(matrix_work(parse(bytes_of("amber-7b", {1, 1, 128}))).macs, 6'640'631'808u);
  EXPECT_EQ(matrix_work(parse(bytes_of("amber-7b", {1, 32, 128}))).padded_macs, 212'500'217'856u);
  EXPECT_EQ(matrix_work(parse(bytes_of("amber-7b", {1, 1, 128}))).padded_macs, 212'500'217'856u);
  const Constants constants = constants_of(parse(bytes_of("amber-7b", {1, 32, 128})));
  const double mebibytes = double((constants.weights + constants.others) * 2) / (1 << 20);
  EXPECT_GT(mebibytes, 12'852.0);
  EXPECT_LT(mebibytes, 12'852.99);
}

ArchitectureChanges one_layer() {
  ArchitectureChanges changes;
  changes.layers = 1;
  return changes;
}

TEST(GenerateOnnx, DecoderInputsAndOutputs) {
  const auto model = parse(bytes_of("qwen3-0.6b", {2, 32, 128}, {}, one_layer()));
  EXPECT_THAT(
      texts_of(model.graph().input()),
      ::testing::ElementsAre("input_ids int64[2x32]", "position_ids int64[2x32]",
                             "past_key.0 float[2x8x128x128]", "past_value.0 float[2x8x128x128]"));
  EXPECT_THAT(texts_of(model.graph().output()),
              ::testing::ElementsAre("logits float[2x1x151936]",
                                     "past_key.0_RetainedState float[2x8x128x128]",
                                     "past_value.0_RetainedState float[2x8x128x128]"));
}

TEST(GenerateOnnx, SymbolicSizesHaveTheNamesOfSpecializationFiles) {
  const auto model = parse(bytes_of(
      "amber-7b", {1, 32, 128}, {.symbolic = true, .precision = FloatType::float16}, one_layer()));
  EXPECT_THAT(texts_of(model.graph().input()),
              ::testing::ElementsAre("input_ids int64[batch_sizexseq_len]",
                                     "position_ids int64[batch_sizexseq_len]",
                                     "past_key.0 float16[batch_sizex32xctx_lenx128]",
                                     "past_value.0 float16[batch_sizex32xctx_lenx128]"));
  EXPECT_EQ(text_of(model.graph().output(0)), "logits float16[batch_sizex1x32000]");
}

TEST(GenerateOnnx, SymbolicFilesDoNotDependOnTheSizes) {
  EXPECT_EQ(bytes_of("amber-7b", {1, 32, 128}, symbolic),
            bytes_of("amber-7b", {4, 1, 64}, symbolic));
}

TEST(GenerateOnnx, EncoderInputsAndOutputs) {
  const auto model = parse(bytes_of("bert-base", {8, 128, 0}, half, one_layer()));
  EXPECT_THAT(texts_of(model.graph().input()),
              ::testing::ElementsAre("input_ids int64[8x128]", "attention_mask int64[8x128]",
                                     "token_type_ids int64[8x128]"));
  EXPECT_THAT(texts_of(model.graph().output()),
              ::testing::ElementsAre("last_hidden_state float16[8x128x768]"));
}

TEST(GenerateOnnx, NamesNodesLikeAnExportedDecoder) {
  EXPECT_THAT(
      node_names(parse(bytes_of("qwen3-0.6b", {1, 32, 128}, {}, one_layer()))),
      ::testing::IsSupersetOf(
          {"/model/embed_tokens/Gather", "/model/layers.0/input_layernorm/Pow",
           "/model/layers.0/self_attn/q_proj/MatMul", "/model/layers.0/self_attn/k_norm/ReduceMean",
           "/model/layers.0/self_attn/ScatterND", "/model/layers.0/self_attn/ScatterND_1",
           "/model/layers.0/self_attn/MatMul", "/model/layers.0/self_attn/Softmax",
           "/model/layers.0/self_attn/MatMul_1", "/model/layers.0/self_attn/o_proj/MatMul",
           "/model/layers.0/mlp/gate_proj/MatMul", "/model/layers.0/mlp/act_fn/Sigmoid",
           "/model/layers.0/mlp/down_proj/MatMul", "/model/layers.0/Add_1", "/model/norm/Mul_1",
           "/lm_head/Gemm"}));
}

TEST(GenerateOnnx, NamesNodesLikeAnExportedEncoder) {
  EXPECT_THAT(node_names(parse(bytes_of("bert-base", {1, 128, 0}, {}, one_layer()))),
              ::testing::IsSupersetOf({"/embeddings/word_embeddings/Gather",
                                       "/embeddings/LayerNorm/LayerNormalization",
                                       "/encoder/layer.0/attention/self/query/MatMul",
                                       "/encoder/layer.0/attention/self/Softmax",
                                       "/encoder/layer.0/attention/output/dense/MatMul",
                                       "/encoder/layer.0/intermediate/dense/MatMul",
                                       "/encoder/layer.0/intermediate/intermediate_act_fn/Erf",
                                       "/encoder/layer.0/output/LayerNorm/LayerNormalization"}));
}

TEST(GenerateOnnx, RotaryPositionsMultiplyNoMatrices) {
  const auto model = parse(bytes_of("amber-7b", {1, 32, 128}, {}, one_layer()));
  std::vector<std::string> products;
  for (const auto& node : model.graph().node()) {
    if (node.op_type() == "MatMul" || node.op_type() == "Gemm") products.push_back(node.name());
  }
  EXPECT_THAT(
      products,
      ::testing::ElementsAre(
          "/model/layers.0/self_attn/q_proj/MatMul", "/model/layers.0/self_attn/k_proj/MatMul",
          "/model/layers.0/self_attn/v_proj/MatMul", "/model/layers.0/self_attn/MatMul",
          "/model/layers.0/self_attn/MatMul_1", "/model/layers.0/self_attn/o_proj/MatMul",
          "/model/layers.0/mlp/gate_proj/MatMul", "/model/layers.0/mlp/up_proj/MatMul",
          "/model/layers.0/mlp/down_proj/MatMul", "/lm_head/MatMul"));
}

TEST(GenerateOnnx, TakesManyLayersAndOddCorners) {
  ArchitectureChanges changes;
  changes.hidden_size = 2;
  changes.layers = 1500;
  changes.heads = 1;
  changes.feed_forward_size = 1;
  changes.vocabulary_size = 1;
  const auto model = parse(bytes_of("decoder", {1, 1, 1}, {}, changes));
  EXPECT_NO_THROW(onnx::checker::check_model(model));
  EXPECT_EQ(model.graph().output_size(), 1 + 2 * 1500);
}

TEST(GenerateOnnx, RefusesWhatDoesNotFit) {
  const auto model = generate_onnx(*make_architecture("bert-base", {}), {1, 600, 0}, {});
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace npuscope::npu::generate_onnx_test
