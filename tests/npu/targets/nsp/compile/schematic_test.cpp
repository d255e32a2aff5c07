// The schematic: an op for each task, in the program's order, and a graph in which every tensor has
// a maker and every result a way to an output.
#include "formats/qaic/qpc/schematic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "npu/graph/parsed_onnx.hpp"
#include "npu/targets/nsp/compile/compile_fixture.hpp"

namespace npuscope::npu::nsp::schematic_test {
namespace {

using qaic::Schematic;
using qaic::SchematicOp;
using qaic::SchematicRole;

CompiledNetwork compiled_for_htp(const Graph& graph) { return compiled_for("htp-v75", graph); }

std::span<const std::uint32_t> inputs_of(const Schematic& schematic, const SchematicOp& op) {
  return std::span(schematic.inputs).subspan(op.input_begin, op.input_count);
}

std::map<std::string, std::size_t> ops_by_type(const Schematic& schematic) {
  std::map<std::string, std::size_t> counts;
  for (const SchematicOp& op : schematic.ops) ++counts[schematic.texts[op.type]];
  return counts;
}

TEST(Schematic, IsOnlyOfTargetsWithSessions) {
  const Graph graph = repository_model("light_squeezenet.onnx");
  EXPECT_FALSE(compiled(graph, options_for(1)).schematic);
  EXPECT_TRUE(compiled_for_htp(graph).schematic);
}

TEST(Schematic, ReadsBackAndIsOfItsProgram) {
  const auto network = compiled_for_htp(repository_model("light_resnet50.onnx"));
  const auto read = qaic::read_schematic(qaic::write_schematic(*network.schematic), "schematic");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->program_fingerprint, qaic::fingerprint(network.program));
  EXPECT_GE(read->ops.size(), network.program.tasks.size());
}

// An op reads only what ops that come before it in time make: there is no way back to itself.
void expect_graph(const Graph& model, std::size_t loose_ends) {
  const auto network = compiled_for_htp(model);
  const Schematic& schematic = *network.schematic;
  std::vector<std::uint8_t> state(schematic.ops.size(), 0);  // 1: on the way, 2: done
  std::vector<std::pair<std::uint32_t, std::size_t>> way;
  for (std::uint32_t root = 0; root < schematic.ops.size(); ++root) {
    if (state[root] == 0) way.emplace_back(root, 0);
    while (!way.empty()) {
      auto& [op, next] = way.back();
      state[op] = 1;
      const auto inputs = inputs_of(schematic, schematic.ops[op]);
      if (next == inputs.size()) {
        state[op] = 2;
        way.pop_back();
        continue;
      }
      const std::uint32_t input = inputs[next++];
      ASSERT_NE(state[input], 1) << "op " << op << " depends on itself";
      if (state[input] == 0) way.emplace_back(input, 0);
    }
  }
  std::set<std::uint32_t> read;
  for (const SchematicOp& op : schematic.ops) {
    const auto inputs = inputs_of(schematic, op);
    read.insert(inputs.begin(), inputs.end());
  }
  std::size_t unread = 0;
  for (std::uint32_t i = 0; i < schematic.ops.size(); ++i) {
    const SchematicOp& op = schematic.ops[i];
    if (op.data_type != 0) unread += !read.contains(i);
  }
  EXPECT_EQ(unread, loose_ends);
  for (std::uint32_t i = 0; i < network.program.tasks.size(); ++i) {
    const auto role = SchematicRole(schematic.ops[i].role);
    const bool moves = role == SchematicRole::dma || role == SchematicRole::spill;
    ASSERT_EQ(moves, i >= network.program.queue_begin[2] && role != SchematicRole::sync);
    ASSERT_NE(role, SchematicRole::constant);
    ASSERT_NE(role, SchematicRole::view);
  }
}

TEST(Schematic, LeadsFromConstantsAndInputsToOutputs) {
  expect_graph(repository_model("light_resnet50.onnx"), 0);
  expect_graph(repository_model("light_squeezenet.onnx"), 0);
  expect_graph(generated_model("bert-base", {1, 128, 0}, 2), 0);
}

// Tensors that do not fit go to memory and back, tile by tile, and are put together once.
TEST(Schematic, SpillsAndFillsWhatDoesNotFit) {
  const Graph graph = generated_model("bert-base", {8, 128, 0}, 2);
  const auto counts = ops_by_type(*compiled_for_htp(graph).schematic);
  EXPECT_GT(counts.at("@Spill"), 10u);
  EXPECT_GT(counts.at("@Fill"), 5u);
  EXPECT_GT(counts.at("q::Concat"), 0u);
  expect_graph(graph, 0);
}

TEST(Schematic, NamesOpsAsTheHtpsToolsDo) {
  const auto network = compiled_for_htp(repository_model("light_squeezenet.onnx"));
  const auto counts = ops_by_type(*network.schematic);
  for (const char* type :
       {"q::*InputSlice", "q::*OutputSlice", "q::ConvLayer.fp16.s1.tcm",
        "q::ConvLayer.opt.weights_to_vtcm", "q::ConvLayer.opt.bias_to_vtcm",
        "q::ForceFormat_Crouton", "q::MaxPool_valid.tcm", "SyncOp", "$Const", "$Shape"}) {
    EXPECT_TRUE(counts.contains(type)) << type;
  }
  // Kernel and strides of every product are the same two constants.
  std::map<std::uint32_t, std::size_t> readers;
  for (const SchematicOp& op : network.schematic->ops) {
    for (const std::uint32_t input : inputs_of(*network.schematic, op)) {
      if (network.schematic->texts[network.schematic->ops[input].type] == "$Const")
        ++readers[input];
    }
  }
  EXPECT_EQ(std::count_if(readers.begin(), readers.end(),
                          [](const auto& reader) { return reader.second > 20; }),
            2);
}

// What each kind of op says of the integers of its tensor.
std::map<std::string, std::set<std::pair<float, int>>> scales_by_type(const Schematic& schematic) {
  std::map<std::string, std::set<std::pair<float, int>>> scales;
  for (const qaic::SchematicScale& scale : schematic.scales) {
    scales[schematic.texts[schematic.ops[scale.op].type]].emplace(scale.step, scale.zero_offset);
  }
  return scales;
}

TEST(Schematic, KeepsTheScalesOfQuantisedTensors) {
  const auto network = compiled_for_htp(parsed(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      quantized (uint8[1,64,32,32] x) => (uint8[1,64,32,32] y) {
        xs = Constant <value_float = 0.5> ()
        xz = Constant <value = uint8 {128}> ()
        ws = Constant <value_float = 0.25> ()
        wz = Constant <value = int8 {0}> ()
        ys = Constant <value_float = 2.0> ()
        yz = Constant <value = uint8 {7}> ()
        extents = Constant <value_ints = [64,64,3,3]> ()
        w = ConstantOfShape <value = int8[1] {1}> (extents)
        y = QLinearConv <kernel_shape = [3,3], pads = [1,1,1,1]> (x, xs, xz, w, ws, wz, ys, yz)
      })"));
  using Scales = std::set<std::pair<float, int>>;
  const auto scales = scales_by_type(*network.schematic);
  EXPECT_EQ(scales.at("q::*InputSlice"), (Scales{{0.5F, 128}}));
  EXPECT_EQ(scales.at("q::ConvLayer.opt.weights_to_vtcm"), (Scales{{0.25F, 0}}));
  EXPECT_EQ(scales.at("$Const"), (Scales{{0.25F, 0}}));
  EXPECT_EQ(scales.at("q::ConvLayer_s1.opt"), (Scales{{2.0F, 7}}));
  EXPECT_TRUE(
      compiled_for_htp(repository_model("light_squeezenet.onnx")).schematic->scales.empty());
}

}  // namespace
}  // namespace npuscope::npu::nsp::schematic_test
