#include "npu/targets/ipu/compile.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "formats/sigmastar/image.hpp"
#include "formats/sigmastar/model.hpp"
#include "ipu_fixture.hpp"
#include "npu/graph/onnx_writer.hpp"
#include "npu/graph/semantics.hpp"

namespace npuscope::npu::ipu::compile_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::map<std::string, int> types_of(const sigmastar::Model& model) {
  std::map<std::string, int> types;
  for (const auto& each : model.operators) ++types[each.type];
  return types;
}

Graph imported(const test::GraphText& text) {
  const std::string bytes = test::model(text);
  auto graph = import_onnx(as_byte_span(bytes), "test.onnx", {});
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().message);
  return graph ? *graph : Graph{};
}

std::string error_of(const Graph& graph, const CompileOptions& options = {.model_name = "m"}) {
  const auto compiled = compile(graph, muffin(), options);
  return compiled ? "" : compiled.error().message;
}

TEST(IpuCompile, OperatorsHaveTheNamesOfTheFixedModel) {
  const Compiled compiled = compiled_ipu(repository_graph("light_squeezenet.onnx"));
  EXPECT_THAT(types_of(compiled.model),
              ElementsAre(std::pair("CONCATENATION", 8), std::pair("CONV_2D", 26),
                          std::pair("Fix2Float", 1), std::pair("MAX_POOL_2D", 3),
                          std::pair("MEAN", 1), std::pair("SOFTMAX", 1)));
}

TEST(IpuCompile, NormalisationsAndActivationsAreFolded) {
  const Compiled compiled = compiled_ipu(repository_graph("light_resnet50.onnx"));
  const auto types = types_of(compiled.model);
  EXPECT_EQ(types.at("CONV_2D"), 53);
  EXPECT_EQ(types.at("ADD"), 16);
  EXPECT_FALSE(types.contains("RELU"));
  EXPECT_FALSE(types.contains("MUL"));
}

TEST(IpuCompile, AFusedGroupIsAConvolutionWithWhatFollowsInItsPlace) {
  test::GraphText model;
  model.input("x", {1, 32, 28, 28})
      .weight("w", {32, 32, 3, 3})
      .weight("v", {64, 32, 1, 1})
      .node({"Conv", {"x", "w"}, {"a"}, {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}}})
      .node({"Conv", {"a", "v"}, {"b"}})
      .node({"Sigmoid", {"b"}, {"c"}})
      .node({"Mul", {"b", "c"}, {"d"}})
      .output("d");
  const Compiled compiled = compiled_ipu(imported(model));
  std::vector<std::string> marks;
  for (const auto& each : compiled.model.operators) {
    marks.push_back(fmt::format("{} {}", each.type, each.mark));
  }
  // The Mul reads b too, so that b has to leave the chip.
  EXPECT_THAT(marks, ElementsAre("CONV_2D 2", "CONV_2D 3", "LOGISTIC 2", "MUL 3", "Fix2Float 1"));
  EXPECT_EQ(compiled.layers.size(), 3u);
  const auto read =
      sigmastar::read_model(as_byte_span(sigmastar::write_model(compiled.model)), "fixed.sim");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->operators[1].fusion, sigmastar::Fusion::member);
  EXPECT_EQ(read->operators[2].fusion, sigmastar::Fusion::first);
}

TEST(IpuCompile, NamesEveryOperatorThatTheIpuDoesNotHave) {
  test::GraphText model;
  model.input("x", {4, 4})
      .node({"Det", {"x"}, {"a"}, {}, "", "first"})
      .node({"Selu", {"x"}, {"b"}, {}, "", "second"})
      .node({"Selu", {"b"}, {"c"}, {}, "", "third"})
      .output("a")
      .output("c");
  EXPECT_EQ(
      error_of(imported(model)),
      "m: the IPU has no operator for Det (node 'first'), Selu (node 'second' and 1 more); cut "
      "the model before it, or replace it");
}

TEST(IpuCompile, TakesTensorsWithoutElementsAndInputsThatAreOutputs) {
  test::GraphText nothing;
  nothing.input("x", {0, 8, 16, 16})
      .weight("w", {8, 8, 3, 3})
      .node({"Conv", {"x", "w"}, {"y"}})
      .node({"MaxPool", {"y"}, {"z"}, {{"kernel_shape", std::vector<std::int64_t>{2, 2}}}})
      .output("z");
  EXPECT_EQ(compiled_ipu(imported(nothing)).layers.size(), 3u);
  test::GraphText through;
  through.input("x", {4, 4}).node({"Relu", {"x"}, {"y"}}).output("x").output("y");
  const auto model = compiled_ipu(imported(through)).model;
  EXPECT_THAT(types_of(model), ElementsAre(std::pair("Fix2Float", 2), std::pair("RELU", 1)));
  EXPECT_EQ(model.tensors[std::size_t(model.outputs[0])].name, "x_float");
  EXPECT_EQ(model.tensors[std::size_t(model.outputs[1])].name, "y");
}

TEST(IpuCompile, RefusesSenselessOptionsInASentence) {
  const Graph graph = repository_graph("light_squeezenet.onnx");
  EXPECT_EQ(error_of(graph, {.model_name = "m", .batch = 0}), "--batch=0: from 1 to 1024");
  EXPECT_EQ(error_of(graph, {.model_name = "m", .cores = 3}), "--ipu-cores=3: ipu-muffin has 2");
  test::GraphText large;
  large.input("x", {1 << 12, 1 << 12, 1 << 8}).node({"Relu", {"x"}, {"y"}}).output("y");
  EXPECT_THAT(error_of(imported(large)), HasSubstr("more than the IPU can address"));
}

TEST(IpuCompile, BatchFieldsAreAsTheToolsSayThem) {
  const Graph graph = repository_graph("light_squeezenet.onnx");
  const auto batch_of = [&](BatchMode mode) {
    return compile(graph, muffin(), {.model_name = "m", .batch = 4, .batch_mode = mode})->image;
  };
  const auto many = batch_of(BatchMode::n_buf), one = batch_of(BatchMode::one_buf);
  EXPECT_EQ(many.own->batch.max, 4u);
  EXPECT_TRUE(many.own->batch.supported.empty());
  EXPECT_EQ(many.inputs[0].shape[0], 1u);
  EXPECT_THAT(one.own->batch.supported, ElementsAre(4u));
  EXPECT_EQ(one.inputs[0].shape[0], 4u);
  EXPECT_EQ(one.inputs[0].bytes, 4 * many.inputs[0].bytes);
}

struct Totals {
  std::uint64_t load = 0, store = 0;
};

Totals totals_of(const sigmastar::ProgramLayer& layer) {
  Totals totals;
  for (const auto& tiles : layer.cores) {
    for (const auto& tile : tiles) {
      totals.load += tile.load_bytes;
      totals.store += tile.store_bytes;
    }
  }
  return totals;
}

TEST(IpuCompile, MultiplyAccumulatesAreThoseOfTheModel) {
  for (const std::string& file : model_files()) {
    const Graph graph = graph_of(file);
    std::uint64_t macs = 0;
    for (const Node& node : graph.nodes) macs += multiply_accumulates(graph, node);
    for (const std::uint32_t batch : {1u, 3u}) {
      std::uint64_t compiled = 0;
      for (const auto& layer : compiled_ipu(graph, muffin(), batch).layers) {
        compiled += layer.multiply_accumulates;
      }
      EXPECT_EQ(compiled, macs * batch) << file;
    }
  }
}

// Every byte of every result is stored once, and every weight and input byte is loaded once, or
// again where the figures say so.
TEST(IpuCompile, BytesAreConserved) {
  for (const std::string& file : model_files()) {
    for (const std::uint32_t batch : {1u, 2u}) {
      const Compiled compiled = compiled_ipu(graph_of(file), muffin(), batch);
      const auto& program = compiled.image.own->program;
      ASSERT_EQ(program.layers.size(), compiled.layers.size());
      for (std::size_t i = 0; i < program.layers.size(); ++i) {
        const auto& layer = program.layers[i];
        const auto& metrics = compiled.layers[i];
        const Totals totals = totals_of(layer);
        EXPECT_EQ(totals.store, layer.output_bytes) << file << " layer " << i;
        EXPECT_EQ(totals.load, metrics.load_bytes) << file << " layer " << i;
        EXPECT_GE(totals.load, layer.weight_bytes + layer.input_bytes) << file << " layer " << i;
        EXPECT_EQ(metrics.refetch_bytes, totals.load - layer.weight_bytes - layer.input_bytes);
      }
    }
  }
}

TEST(IpuCompile, WhatFitsOneCoreIsLoadedOnce) {
  Target target = muffin();
  target.cores = 1;
  target.memory_bytes = 1 << 26;
  test::GraphText model;
  model.input("x", {1, 64, 16, 16})
      .weight("w", {128, 64, 1, 1})
      .node({"Conv", {"x", "w"}, {"y"}})
      .output("y");
  const Compiled compiled = compiled_ipu(imported(model), target);
  EXPECT_EQ(compiled.layers[0].weight_bytes, 128u * 64);
  EXPECT_EQ(compiled.layers[0].input_bytes, 2 * 64u * 16 * 16);  // int16: no image
  EXPECT_EQ(compiled.layers[0].refetch_bytes, 0u);
}

// Two cores load the weights twice, and the rows on both sides of each border between tiles.
TEST(IpuCompile, RefetchIsWeightsAndSharedRows) {
  test::GraphText model;
  model.input("x", {1, 3, 64, 48})
      .weight("w", {16, 3, 3, 3})
      .node({"Conv", {"x", "w"}, {"y"}, {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}}})
      .output("y");
  const Compiled compiled = compiled_ipu(imported(model));
  const auto& layer = compiled.layers[0];
  ASSERT_EQ(layer.tiles, 8u);
  EXPECT_EQ(layer.refetch_bytes, 16 * 27u + 7 * 2 * 48 * 3);
}

TEST(IpuCompile, TilesFitTheChipTwice) {
  Target target = muffin();
  for (const std::uint64_t memory : {1u << 16, 1u << 18, 1u << 20}) {
    target.memory_bytes = memory;
    const Compiled compiled = compiled_ipu(repository_graph("light_resnet50.onnx"), target);
    for (const auto& layer : compiled.image.own->program.layers) {
      for (const auto& tiles : layer.cores) {
        for (const auto& tile : tiles) {
          EXPECT_LE(2 * tile.load_bytes, memory + 64);
          EXPECT_LE(2 * tile.store_bytes, memory + 64);
        }
      }
    }
  }
}

TEST(IpuCompile, BothCoresShareTheWork) {
  const Compiled compiled = compiled_ipu(repository_graph("light_resnet50.onnx"));
  std::uint64_t conv[2] = {0, 0};
  for (const auto& layer : compiled.image.own->program.layers) {
    ASSERT_EQ(layer.cores.size(), 2u);
    for (std::size_t core = 0; core < 2; ++core) {
      for (const auto& tile : layer.cores[core]) conv[core] += tile.conv_cycles;
    }
  }
  EXPECT_NEAR(double(conv[0]) / double(conv[1]), 1, 0.05);
}

TEST(IpuCompile, IsTheSameEveryTime) {
  const Graph graph = repository_graph("light_squeezenet.onnx");
  EXPECT_EQ(sigmastar::write_image(compiled_ipu(graph).image),
            sigmastar::write_image(compiled_ipu(graph).image));
}

TEST(IpuCompile, AModelThatCannotFollowToOneImageWasRefused) {
  test::GraphText text;
  text.input("x", {3, 4}).input("y", {6, 4});
  text.node({"Concat", {"x", "y"}, {"z"}, {{"axis", std::int64_t{0}}}}).output("z");
  const auto path = std::filesystem::temp_directory_path() /
                    ("npuscope-ipu-batch-" + std::to_string(::getpid()) + ".onnx");
  ASSERT_TRUE(write_file_atomically(path, as_byte_span(test::model(text))));
  const auto built = build(path, {"ipu-muffin", {}, {}});
  const auto asked = build(path, {"ipu-muffin", {.symbols = {}, .batch = 1}, {}});
  std::filesystem::remove(path);
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_THAT(built->warnings, testing::Contains(HasSubstr("with the batch that the model has: ")));
  ASSERT_FALSE(asked);
  EXPECT_THAT(asked.error().message, HasSubstr("begin with different dimensions, 3 and 6"));
}

}  // namespace
}  // namespace npuscope::npu::ipu::compile_test
