// Generated models through npuscope's own importer: every operator known, every shape known, and
// the same work as the closed form says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "npu/graph/import_onnx.hpp"
#include "npu/graph/semantics.hpp"
#include "npu/models/summary.hpp"
#include "npuscope/npu/models/generate_onnx.hpp"

namespace npuscope::npu::import_test {
namespace {

struct Case {
  std::string preset;
  InputSizes sizes;
};

// "amber_7b_b1_s32_c128": names the test, and is printed in place of the object's bytes.
std::string name_of(const Case& model) {
  std::string name = fmt::format("{}_b{}_s{}_c{}", model.preset, model.sizes.batch,
                                 model.sizes.sequence, model.sizes.context);
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}
void PrintTo(const Case& model, std::ostream* out) { *out << name_of(model); }

Graph import_generated(const Case& model, const GenerateOptions& options,
                       const Symbols& symbols = {}) {
  const auto generated = generate_onnx(*make_architecture(model.preset, {}), model.sizes, options);
  EXPECT_TRUE(generated);
  auto graph = import_onnx(as_byte_span(generated->bytes), "generated.onnx",
                           {.symbols = symbols, .allow_unknown = false, .batch = 0});
  EXPECT_TRUE(graph) << graph.error().message;
  return graph ? *graph : Graph{};
}

Symbols symbols_of(const InputSizes& sizes) {
  return {{"batch_size", sizes.batch}, {"seq_len", sizes.sequence}, {"ctx_len", sizes.context}};
}

std::uint64_t macs_of(const Graph& graph) {
  std::uint64_t sum = 0;
  for (const Node& node : graph.nodes) sum += multiply_accumulates(graph, node);
  return sum;
}

std::uint64_t padded_macs_of(const Graph& graph) {
  std::uint64_t sum = 0;
  for (const Node& node : graph.nodes) {
    if (classify(graph, node) != OpClass::matmul) continue;
    const MatrixProduct product = matrix_product(graph, node);
    sum += product.batch * ((product.rows + 31) / 32 * 32) * product.depth * product.columns;
  }
  return sum;
}

// At two bytes an element: the constants that operations which execute read, each once.
double constant_mebibytes(const Graph& graph) {
  std::uint64_t elements = 0;
  for (const Tensor& tensor : graph.tensors) {
    const bool read = std::any_of(tensor.consumers.begin(), tensor.consumers.end(), [&](NodeId id) {
      return classify(graph, graph[id]) != OpClass::folded;
    });
    if (tensor.constant && read) elements += tensor.elements();
  }
  return double(elements * 2) / (1 << 20);
}

class ImportedModels : public ::testing::TestWithParam<Case> {};

TEST_P(ImportedModels, HaveTheWorkOfTheClosedForm) {
  const auto& [preset, sizes] = GetParam();
  const auto summary = *summarize(*make_architecture(preset, {}), sizes);
  for (const FloatType precision : {FloatType::float32, FloatType::float16}) {
    const Graph graph = import_generated(GetParam(), {.symbolic = false, .precision = precision});
    EXPECT_EQ(macs_of(graph), summary.multiply_accumulates);
    EXPECT_EQ(padded_macs_of(graph), summary.padded_multiply_accumulates);
    EXPECT_THAT(graph.warnings, ::testing::IsEmpty());
  }
}

TEST_P(ImportedModels, HaveTheSameWorkWithSymbolsSet) {
  const Graph graph =
      import_generated(GetParam(), {.symbolic = true, .precision = FloatType::float32},
                       symbols_of(GetParam().sizes));
  const auto summary = *summarize(*make_architecture(GetParam().preset, {}), GetParam().sizes);
  EXPECT_EQ(macs_of(graph), summary.multiply_accumulates);
  EXPECT_EQ(padded_macs_of(graph), summary.padded_multiply_accumulates);
  const Graph concrete = import_generated(GetParam(), {});
  ASSERT_EQ(graph.outputs.size(), concrete.outputs.size());
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    EXPECT_EQ(graph[graph.outputs[i]].name, concrete[concrete.outputs[i]].name);
    EXPECT_EQ(graph[graph.outputs[i]].shape, concrete[concrete.outputs[i]].shape);
  }
}

TEST_P(ImportedModels, HoldTheWeightsOfTheClosedForm) {
  const Graph graph = import_generated(GetParam(), {});
  const auto summary = *summarize(*make_architecture(GetParam().preset, {}), GetParam().sizes);
  // Small constants beside the weights; an encoder leaves out the positions it does not reach.
  EXPECT_NEAR(constant_mebibytes(graph), summary.weight_mebibytes_float16(), 1.0);
}

INSTANTIATE_TEST_SUITE_P(
    Presets, ImportedModels,
    ::testing::Values(Case{"amber-7b", {1, 32, 128}}, Case{"amber-7b", {1, 1, 128}},
                      Case{"amber-7b", {3, 16, 64}}, Case{"qwen3-0.6b", {1, 32, 128}},
                      Case{"qwen3-0.6b", {2, 1, 512}}, Case{"bert-base", {1, 128, 0}},
                      Case{"bert-base", {8, 128, 0}}),
    [](const auto& model) { return name_of(model.param); });

TEST(ImportedModel, Amber7BHasTheVendorsFigures) {
  const Graph prefill = import_generated({"amber-7b", {1, 32, 128}}, {});
  EXPECT_EQ(macs_of(prefill), 208'436'985'856u);
  EXPECT_EQ(padded_macs_of(prefill), 212'500'217'856u);
  EXPECT_GT(constant_mebibytes(prefill), 12'852.0);
  EXPECT_LT(constant_mebibytes(prefill), 12'852.99);
  const Graph decode = import_generated({"amber-7b", {1, 1, 128}}, {});
  EXPECT_EQ(macs_of(decode), 6'640'631'808u);
  EXPECT_EQ(padded_macs_of(decode), 212'500'217'856u);
}

}  // namespace
}  // namespace npuscope::npu::import_test
