// The compiler plans addresses in program order but the queues run out of that order: no two tasks
// may touch the same VTCM bytes at the same time when one of them writes, and what is read from DDR
// must have been written there.
#include "npu/targets/nsp/compile/collisions.hpp"

#include "npu/graph/onnx_writer.hpp"
#include "npu/targets/nsp/compile/compile_fixture.hpp"

namespace npuscope::npu::nsp::collisions_test {
namespace {

std::size_t collisions(const Graph& graph, const CompileOptions& options) {
  const CollisionCheck check = check_collisions(graph, options);
  EXPECT_GT(check.accesses, 100u * options.cores);
  EXPECT_EQ(check.early_ddr_reads, 0u);
  return check.collisions;
}

TEST(VtcmCollisions, NoneInConvolutionalModels) {
  EXPECT_EQ(collisions(repository_model("light_resnet50.onnx"), options_for(4)), 0u);
  EXPECT_EQ(collisions(repository_model("light_squeezenet.onnx"), options_for(3)), 0u);
}

TEST(VtcmCollisions, NoneInTransformers) {
  EXPECT_EQ(collisions(generated_model("amber-7b", {1, 1, 128}, 1), options_for(6)), 0u);
  EXPECT_EQ(collisions(generated_model("qwen3-0.6b", {1, 32, 128}, 1), options_for(5)), 0u);
}

TEST(VtcmCollisions, NoneWhenTensorsAreSpilledAndStreamed) {
  EXPECT_EQ(collisions(generated_model("bert-base", {8, 128, 0}, 1), options_for(2)), 0u);
  EXPECT_EQ(collisions(generated_model("bert-base", {8, 128, 0}, 1), options_for(1)), 0u);
  EXPECT_EQ(collisions(generated_model("bert-base", {16, 128, 0}, 1), options_for(1)), 0u);
}

// What these hold in VTCM leaves too little room for a usual chunk of weights or for all the tiles.
TEST(VtcmCollisions, NoneWhenRoomIsMadeForTiles) {
  CompileOptions options = options_for(3);
  options.convert_to_fp16 = false;
  EXPECT_EQ(collisions(generated_model("bert-base", {8, 128, 0}, 1), options), 0u);

  test::GraphText text;
  test::NodeText concat{"Concat", {}, {"y"}, {{"axis", std::int64_t{0}}}};
  for (int i = 0; i < 24; ++i) {
    text.input(concat.inputs.emplace_back(fmt::format("x{}", i)), {1 + 4 * i, 256, 64});
  }
  text.node(concat).node({"Relu", {"y"}, {"z"}}).output("z");
  const std::string model = test::model(text);
  const auto graph = import_onnx(as_byte_span(model), "concat", {});
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(collisions(*graph, options_for(2)), 0u);
}

CollisionCheck check(const std::string& op, const std::vector<test::Dimension>& first,
                     const std::vector<test::Dimension>& second, std::uint32_t cores) {
  test::GraphText text;
  text.input("x", first).input("y", second, op == "Gather" ? test::onnx_int64 : test::onnx_float);
  text.node({"Relu", {"x"}, {"a"}}).node({op, {"a", "y"}, {"b"}}).node({"Relu", {"b"}, {"c"}});
  const std::string model = test::model(text.output("c"));
  const auto graph = import_onnx(as_byte_span(model), op, {});
  EXPECT_TRUE(graph) << graph.error().message;
  return check_collisions(*graph, options_for(cores));
}

// Larger than the VTCM, so the first Relu stores it tile by tile.
TEST(DdrReads, WaitForEveryTileThatWasStored) {
  for (const auto& [op, other] : std::vector<std::pair<std::string, std::vector<test::Dimension>>>{
           {"Add", {64, 512, 512}}, {"MatMul", {64, 512, 16}}, {"Gather", {40}}}) {
    for (std::uint32_t cores : {1u, 3u}) {
      const CollisionCheck found = check(op, {64, 512, 512}, other, cores);
      EXPECT_GT(found.ddr_reads, 100u) << op;
      EXPECT_EQ(found.early_ddr_reads, 0u) << op << " on " << cores << " cores";
      EXPECT_EQ(found.collisions, 0u) << op << " on " << cores << " cores";
    }
  }
}

// One row of results, but so large an operand that it comes in many tiles.
TEST(DdrReads, WaitForProductsOfFewerRowsThanTiles) {
  const CollisionCheck found = check("MatMul", {1, 1, 600'000}, {1, 600'000, 64}, 2);
  EXPECT_EQ(found.early_ddr_reads, 0u);
  EXPECT_EQ(found.collisions, 0u);
}

}  // namespace
}  // namespace npuscope::npu::nsp::collisions_test
