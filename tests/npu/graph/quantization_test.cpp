// Which tensors are quantised, and how: what stands in the model, and what operators that only move
// values hand on.
#include "npu/graph/semantics.hpp"

#include <gtest/gtest.h>

#include "npu/graph/parsed_onnx.hpp"

namespace npuscope::npu::quantization_test {
namespace {

// "0.5 128", or "none".
std::string scale_of(const Graph& graph, std::string_view name) {
  const auto scales = tensor_scales(graph);
  for (std::size_t i = 0; i < scales.size(); ++i) {
    if (graph.tensors[i].name != name) continue;
    return scales[i] ? fmt::format("{} {}", scales[i]->step, scales[i]->zero_point) : "none";
  }
  return "no such tensor";
}

TEST(TensorScales, StandBesideTheOperandsOfQuantisedOperators) {
  const Graph graph = parsed(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      model (float[2,4] x, int8[4,8] w) => (uint8[2,8] y) {
        a = Constant <value_float = 0.5> ()
        az = Constant <value = uint8 {128}> ()
        b = Constant <value_float = 0.25> ()
        bz = Constant <value = int8 {-3}> ()
        xq = QuantizeLinear (x, a, az)
        y = QLinearMatMul (xq, a, az, w, b, bz, b, az)
      })");
  EXPECT_EQ(scale_of(graph, "x"), "none");
  EXPECT_EQ(scale_of(graph, "xq"), "0.5 128");
  EXPECT_EQ(scale_of(graph, "w"), "0.25 -3");
  EXPECT_EQ(scale_of(graph, "y"), "0.25 128");
}

TEST(TensorScales, AreKeptByOperatorsThatMoveValues) {
  const Graph graph = parsed(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      model (uint8[2,4] x) => (float[4,2] y, uint8[8] z) {
        s = Constant <value_float = 0.5> ()
        zero = Constant <value = uint8 {9}> ()
        flat = Constant <value_ints = [8]> ()
        t = Transpose (x)
        y = DequantizeLinear (t, s, zero)
        z = Reshape (x, flat)
      })");
  EXPECT_EQ(scale_of(graph, "t"), "0.5 9");
  EXPECT_EQ(scale_of(graph, "x"), "0.5 9") << "its only reader says so of what it makes";
  EXPECT_EQ(scale_of(graph, "z"), "0.5 9");
  EXPECT_EQ(scale_of(graph, "y"), "none");
}

TEST(TensorScales, AreNoneWhenTheyAreManyOrOnlyKnownWhenTheModelRuns) {
  const Graph graph = parsed(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      model (float[2,4] x, float given, uint8[2,4] u) => (uint8[2,4] y, uint8[2,4] z, float[2,4] v) {
        many = Constant <value_floats = [0.5, 0.25, 1.0, 2.0]> ()
        zeros = Constant <value = uint8[4] {1, 2, 3, 4}> ()
        nothing = Constant <value_float = 0.0> ()
        zero = Constant <value = uint8 {9}> ()
        y = QuantizeLinear <axis = 1> (x, many, zeros)
        z = QuantizeLinear (x, given, zero)
        v = DequantizeLinear (u, nothing, zero)
      })");
  for (const char* name : {"y", "z", "u", "v"}) EXPECT_EQ(scale_of(graph, name), "none") << name;
}

}  // namespace
}  // namespace npuscope::npu::quantization_test
