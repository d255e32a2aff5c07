// How much a program moves and which cores work: recurrent weights, long attention, spilled tensors
// that every core needs, batches that do not divide by the cores.
#include "npu/targets/nsp/compile/best_cores.hpp"

#include <gmock/gmock.h>

#include "npu/graph/onnx_writer.hpp"
#include "npu/targets/nsp/compile/compile_fixture.hpp"

namespace npuscope::npu::nsp::best_cores_test {
namespace {

Graph imported(const test::GraphText& text) {
  const std::string bytes = test::model(text, 23);
  auto graph = import_onnx(as_byte_span(bytes), "m.onnx", {});
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().message);
  return graph ? *graph : Graph{};
}

Traffic traffic_of(const CompiledNetwork& network, TrafficPurpose purpose) {
  Traffic sum;
  for (const CoreMetrics& core : network.metrics.cores) {
    sum.read_bytes += core.by_purpose[purpose].read_bytes;
    sum.write_bytes += core.by_purpose[purpose].write_bytes;
  }
  return sum;
}

std::size_t working_cores(const CompiledNetwork& network) {
  return std::size_t(std::ranges::count_if(
      network.metrics.cores, [](const CoreMetrics& core) { return core.hmx_cycles > 0; }));
}

TEST(BestCores, ABatchThatDividesByFewerLeavesTheOthersIdle) {
  const Graph bert = generated_model("bert-base", {8, 128, 0}, 1);
  const CompiledNetwork network = compiled(bert, options_for(14, 0));
  EXPECT_EQ(network.program.cores, 14u);
  EXPECT_EQ(network.metrics.cores.size(), 14u);
  EXPECT_LT(working_cores(network), 14u);
  EXPECT_EQ(network.metrics.spill_bytes, 0u);
  EXPECT_THAT(network.metrics.performance_warnings,
              testing::Contains(testing::HasSubstr("of 14 cores work: with more the network would "
                                                   "not be faster")));
  EXPECT_EQ(working_cores(compiled(bert, options_for(8))), 8u);
}

// Every step read them again.
TEST(RecurrentLayer, ReadsTheWeightsOfItsStepsOnce) {
  test::GraphText text;
  text.input("x", {20, 4, 256}).weight("w", {1, 1024, 256}).weight("r", {1, 1024, 256});
  text.output("y").node({"LSTM", {"x", "w", "r"}, {"y"}, {{"hidden_size", 256}}});
  for (const std::uint32_t cores : {1, 4}) {
    const CompiledNetwork network = compiled(imported(text), options_for(cores));
    EXPECT_EQ(traffic_of(network, TrafficPurpose::constants).read_bytes, 2ull * 1024 * 256 * 2);
  }
}

// 33.5 GB of spill were read for 1.2 GB written: each core had read all of what all need.
TEST(Streaming, AnActivationOfAllCoresWasReadByEachOfThem) {
  test::GraphText text;
  text.input("x", {512, 4096}).weight("w", {4096, 4096}).output("y");
  text.node({"MatMul", {"x", "w"}, {"y"}});
  const CompiledNetwork network = compiled(imported(text), options_for(14));
  EXPECT_LE(traffic_of(network, TrafficPurpose::network_input).read_bytes, 2ull * 512 * 4096 * 2);
}

TEST(QueryBlocks, KeepScoresThatNoCoreHoldsInVtcm) {
  test::GraphText text;
  text.input("q", {1, 8, 2048, 64}).input("k", {1, 8, 2048, 64}).input("v", {1, 8, 2048, 64});
  text.output("y").node({"Attention", {"q", "k", "v"}, {"y"}, {{"is_causal", 1}}});
  const CompiledNetwork network = compiled(imported(text), options_for(4));
  const std::uint64_t scores = 8ull * 2048 * 2048 * 2;
  EXPECT_LT(traffic_of(network, TrafficPurpose::spill).write_bytes, scores / 20);
  EXPECT_EQ(network.metrics.original_macs, 2ull * 8 * 2048 * 2048 * 64);
}

// Keys and values of 16 sequences were written to DDR once for each query that shares them: 201 MB.
TEST(GroupedHeads, WereSpilledAsOftenAsTheyAreShared) {
  const Graph graph = generated_model("qwen3-0.6b", {16, 1, 1024}, 1);
  const CompiledNetwork network = compiled(graph, options_for(16, 0));
  EXPECT_EQ(network.metrics.spill_bytes, 0u);
  EXPECT_EQ(network.metrics.original_macs,
            compiled(graph, options_for(1, 0)).metrics.original_macs);
}

// One place for each tensor that was ever spilled: prefill of 512 into 2,048 needed 9 GB, and was
// refused.
TEST(SpillPlaces, WereNotUsedAgain) {
  test::GraphText text;
  text.input("x", {1, 64, 512, 512}).output("y");
  std::string last = "x";
  for (int i = 0; i < 6; ++i) {
    const std::string made = i == 5 ? "y" : "t" + std::to_string(i);
    text.node({"Softmax", {last}, {made}, {{"axis", 1}}});
    last = made;
  }
  const CompileMetrics metrics = compiled(imported(text), options_for(1)).metrics;
  const std::uint64_t tensor = 64ull * 512 * 512 * 2;
  EXPECT_EQ(metrics.spill_bytes, 5 * tensor);
  EXPECT_EQ(metrics.spill_place_bytes, 2 * tensor);
}

// As a submission to MLPerf was compiled, which was told nothing of depth first.
TEST(DepthFirst, IsLeftOutWhereLayersAreToGoOneByOne) {
  test::GraphText text;
  text.input("x", {1, 32, 512, 512}).output("y");
  std::string from = "x";
  for (const char* to : {"a", "b", "y"}) {
    const std::string weights = std::string("w") + to;
    text.weight(weights, {32, 32, 3, 3});
    text.node({"Conv",
               {from, weights},
               {to},
               {{"kernel_shape", std::vector<std::int64_t>{3, 3}},
                {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}}});
    from = to;
  }
  CompileOptions options = options_for(1);
  const CompiledNetwork deep = compiled(imported(text), options);
  options.layer_by_layer = true;
  const CompiledNetwork layers = compiled(imported(text), options);
  const std::uint64_t image = 32ull * 512 * 512 * 2;
  EXPECT_EQ(deep.metrics.spill_bytes, 0u);
  EXPECT_GE(layers.metrics.spill_bytes, 2 * image);
}

TEST(TensorScatter, WritesWhatIsNewIntoACacheThatLiesInVtcm) {
  test::GraphText text;
  text.input("past", {1, 8, 256, 64}).input("new", {1, 8, 1, 64}).output("y");
  text.node({"TensorScatter", {"past", "new"}, {"y"}, {{"axis", 2}}});
  const CompiledNetwork network = compiled(imported(text), options_for(4));
  std::uint64_t cycles = 0;
  for (const CoreMetrics& core : network.metrics.cores) cycles += core.hvx_cycles;
  EXPECT_LT(cycles, 40'000u);  // of the whole cache: 29 a KiB, 7,424 for each of 4 cores and more
}

}  // namespace
}  // namespace npuscope::npu::nsp::best_cores_test
