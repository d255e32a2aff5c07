// Convolutions band by band: every row of the result once, of what the whole would have taken, and
// as many more products as bands overlap.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "npu/graph/parsed_onnx.hpp"
#include "npu/graph/parts/parts.hpp"
#include "npu/graph/semantics.hpp"

namespace npuscope::npu::image_bands_test {
namespace {

BandLimits limits(std::uint64_t live_bytes) {
  BandLimits limits;
  limits.bytes_of = [](const Tensor& tensor) { return tensor.bytes(); };
  limits.resident_bytes = 100;
  limits.live_bytes = live_bytes;
  limits.weight_bytes = 1 << 20;
  limits.windows = 4;
  return limits;
}

std::string zeros(int count) {
  std::string text = "0";
  for (int i = 1; i < count; ++i) text += ",0";
  return text;
}

// Two convolutions and what they started from, 20 rows of 8 places with 4 channels: 2,560 bytes.
Graph residual(std::int64_t batch, std::int64_t stride = 1) {
  const std::int64_t rows = 20 / stride, places = 8 / stride;
  const std::string text = fmt::format(
      R"(<ir_version: 8, opset_import: ["" : 17]>
model (float[{0},4,20,8] x) => (float[{0},4,{1},{2}] y)
<float[4,4,3,3] w = {{{3}}}, float[4,4,1,1] v = {{{4}}}>
{{
  a = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [{5}, {5}]> (x, w)
  b = Relu (a)
  c = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (b, w)
  d = Conv <kernel_shape = [1, 1], strides = [{5}, {5}]> (x, v)
  y = Add (c, d)
}})",
      batch, rows, places, zeros(144), zeros(16), stride);
  return parsed(text);
}

double macs(const Graph& graph) {
  double sum = 0;
  for (const Node& node : graph.nodes) sum += double(multiply_accumulates(graph, node));
  return sum;
}

std::vector<std::string> described(const Graph& graph) {
  std::vector<std::string> lines;
  for (const Node& node : graph.nodes) {
    std::string line = node.op;
    for (const std::int64_t extent : graph[node.outputs[0]].shape)
      line += " " + std::to_string(extent);
    const auto pads = node.ints_attribute("pads");
    if (!pads.empty()) line += fmt::format(" pads {} {}", pads[0], pads[2]);
    lines.push_back(line);
  }
  return lines;
}

TEST(ImageBands, TakeTheRowsThatWindowsReach) {
  const auto bands = with_image_bands(residual(1), limits(5 * 1024));
  ASSERT_TRUE(bands);
  EXPECT_EQ(
      described(*bands),
      (std::vector<std::string>{
          "Slice 1 4 12 8", "Conv 1 4 11 8 pads 1 0", "Relu 1 4 11 8", "Conv 1 4 10 8 pads 1 0",
          "Slice 1 4 10 8", "Conv 1 4 10 8 pads 0 0", "Add 1 4 10 8", "Slice 1 4 12 8",
          "Conv 1 4 11 8 pads 0 1", "Relu 1 4 11 8", "Conv 1 4 10 8 pads 0 1", "Slice 1 4 10 8",
          "Conv 1 4 10 8 pads 0 0", "Add 1 4 10 8", "Concat 1 4 20 8"}));
}

TEST(ImageBands, ReadRowsAgainWhereTheyAreNotTrimmedInPlace) {
  BandLimits own = limits(5 * 1024);
  own.trims_in_place = false;
  const Graph graph = residual(1);
  const auto bands = with_image_bands(graph, own);
  ASSERT_TRUE(bands);
  const TensorId source = graph.inputs[0];
  for (const Node& node : bands->nodes) {
    if (node.op != "Slice") continue;
    EXPECT_EQ(node.inputs[0], source) << node.name;
  }
}

TEST(ImageBands, AreImagesWhereOneFits) {
  const auto bands = with_image_bands(residual(4), limits(11 * 1024));
  ASSERT_TRUE(bands);
  EXPECT_EQ(macs(*bands), macs(residual(4)));
  EXPECT_EQ(described(*bands).front(), "Slice 1 4 20 8");
  EXPECT_EQ(described(*bands).back(), "Concat 4 4 20 8");
}

TEST(ImageBands, DoTheWorkOfTheWholeAndWhatOverlaps) {
  for (const std::int64_t batch : {1, 3}) {
    for (const std::int64_t stride : {1, 2}) {
      for (const std::uint64_t live : {1'500u, 2'500u, 3'000u}) {
        const Graph whole = residual(batch, stride);
        const auto bands = with_image_bands(whole, limits(live));
        ASSERT_TRUE(bands) << batch << " " << stride << " " << live;
        EXPECT_GE(macs(*bands), macs(whole));
        EXPECT_LE(macs(*bands), 2.5 * macs(whole));
        const TensorId made = bands->outputs[0];
        EXPECT_EQ((*bands)[made].shape, whole[whole.outputs[0]].shape);
        EXPECT_NE((*bands)[made].producer, NodeId::none);
      }
    }
  }
}

TEST(ImageBands, AreNotMadeOfWhatFits) {
  EXPECT_FALSE(with_image_bands(residual(1), limits(1 << 20)));
}

TEST(ImageBands, AreNotMadeWhereWeightsLeaveNoSpace) {
  BandLimits own = limits(5 * 1024);
  own.weight_bytes = 100;
  EXPECT_FALSE(with_image_bands(residual(1), own));
}

}  // namespace
}  // namespace npuscope::npu::image_bands_test
