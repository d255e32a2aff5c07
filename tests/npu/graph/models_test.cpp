// Real models: their sizes and multiply-accumulates against figures found independently.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "npu/graph/import_onnx.hpp"
#include "npu/graph/semantics.hpp"

namespace npuscope::npu::models_test {
namespace {

std::uint64_t product(const Shape& shape) {
  std::uint64_t result = 1;
  for (const std::int64_t dimension : shape) result *= std::uint64_t(dimension);
  return result;
}

// The slow and obvious count: every output element of a convolution or Gemm is a sum over the
// weights of its channel.
std::uint64_t obvious_macs(const Graph& graph) {
  std::uint64_t sum = 0;
  for (const Node& node : graph.nodes) {
    if (node.op != "Conv" && node.op != "Gemm") continue;
    const Shape& weights = graph[node.inputs[1]].shape;
    const Shape& out = graph[node.outputs[0]].shape;
    const auto channels = std::uint64_t(out[1]);
    sum += product(out) * (product(weights) / channels);
  }
  return sum;
}

struct Model {
  std::string file;
  std::uint64_t macs;
  std::uint64_t parameters;  // elements of constant floating-point tensors that executed nodes read
  Shape output;
};

void PrintTo(const Model& model, std::ostream* out) { *out << model.file; }

class RealModel : public testing::TestWithParam<Model> {};

TEST_P(RealModel, HasTheKnownSize) {
  auto path = std::filesystem::path(NPUSCOPE_SOURCE_DIR) / "models" / GetParam().file;
  if (!std::filesystem::exists(path)) {
    path = std::filesystem::path(NPUSCOPE_SHARED_DIR) / "models" / GetParam().file;
  }
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here";
  const auto graph = import_onnx_file(path, {});
  ASSERT_TRUE(graph) << graph.error().message;
  std::uint64_t macs = 0;
  for (const Node& node : graph->nodes) macs += multiply_accumulates(*graph, node);
  std::uint64_t parameters = 0;
  for (const Tensor& tensor : graph->tensors) {
    const bool read = std::any_of(tensor.consumers.begin(), tensor.consumers.end(), [&](NodeId id) {
      return classify(*graph, (*graph)[id]) != OpClass::folded;
    });
    if (tensor.constant && is_float(tensor.type) && read) parameters += tensor.elements();
  }
  EXPECT_EQ(macs, obvious_macs(*graph));
  EXPECT_EQ(macs, GetParam().macs);
  EXPECT_EQ(parameters, GetParam().parameters);
  ASSERT_EQ(graph->outputs.size(), 1U);
  EXPECT_EQ((*graph)[graph->outputs[0]].shape, GetParam().output);
  EXPECT_THAT(graph->warnings, testing::IsEmpty());
}

// ResNet-50: 25,557,032 parameters (He et al., arXiv 1512.03385, as torchvision counts them) and
// 2 * 26,560 running statistics. VGG-19: 143,667,240 and 19.6 G (arXiv 1409.1556). AlexNet with
// groups at 224 x 224: 60,965,224 (bvlc_alexnet). GoogLeNet: 6,998,552 and 1.43 G (arXiv
// 1409.4842). SqueezeNet 1.1: 1,235,496 and 0.35 G (arXiv 1602.07360). ShuffleNet: 0.12 to 0.14 G
// (1707.01083).
INSTANTIATE_TEST_SUITE_P(
    Shared, RealModel,
    testing::Values(Model{"light_resnet50.onnx", 4'089'184'256, 25'610'152, {1, 1000}},
                    Model{"light_bvlc_alexnet.onnx", 654'560'384, 60'965'224, {1, 1000}},
                    Model{"light_inception_v1.onnx", 1'431'556'352, 6'998'552, {1, 1000}},
                    Model{"light_shufflenet.onnx", 124'664'528, 1'420'152, {1, 1000}},
                    Model{"light_squeezenet.onnx", 349'151'936, 1'235'496, {1, 1000, 1, 1}},
                    Model{"light_vgg19.onnx", 19'632'062'464, 143'667'240, {1, 1000}}),
    [](const auto& each) { return each.param.file.substr(6, each.param.file.size() - 11); });

}  // namespace
}  // namespace npuscope::npu::models_test
