// The compiler plans addresses in program order but the queues run out of that order: no two tasks
// may touch the same VTCM bytes at the same time when one of them writes, and what is read from DDR
// must have been written there.
#include "npu/targets/nsp/compile/collisions.hpp"

#include "npu/graph/onnx_writer.hpp"
#include "npu/graph/parts/parts.hpp"
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

TEST(VtcmCollisions, NoneWhereHeadsShareKeys) {
  EXPECT_EQ(collisions(generated_model("qwen3-0.6b", {16, 1, 1024}, 1), options_for(2)), 0u);
  EXPECT_EQ(collisions(generated_model("qwen3-0.6b", {4, 64, 512}, 1), options_for(3)), 0u);
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

// HVX and HMX work on strips of one image at a time, and the next takes the places of what they
// have done with.
TEST(VtcmCollisions, NoneInStripsOfAnHtp) {
  for (const std::string name : {"light_resnet50.onnx", "light_squeezenet.onnx"}) {
    const CollisionCheck check = check_collisions_of_htp(repository_model(name));
    EXPECT_GT(check.accesses, 500u) << name;
    EXPECT_EQ(check.collisions, 0u) << name;
    EXPECT_EQ(check.early_ddr_reads, 0u) << name;
  }
}

// Bands of rows are loaded out of tensors in DDR, and each result goes to its place there.
TEST(VtcmCollisions, NoneInBandsOfImages) {
  test::GraphText text;
  text.input("x", {2, 32, 150, 150}).weight("w", {64, 32, 3, 3}).weight("v", {64, 64, 3, 3});
  text.weight("p", {64, 32, 1, 1}).output("z");
  const std::vector<std::int64_t> pads{1, 1, 1, 1}, kernel{3, 3};
  text.node({"Conv", {"x", "w"}, {"a"}, {{"pads", pads}, {"kernel_shape", kernel}}});
  text.node({"Relu", {"a"}, {"b"}});
  text.node({"Conv", {"b", "v"}, {"c"}, {{"pads", pads}, {"kernel_shape", kernel}}});
  text.node({"Conv", {"x", "p"}, {"d"}, {{"kernel_shape", std::vector<std::int64_t>{1, 1}}}});
  text.node({"Add", {"c", "d"}, {"y"}});
  text.node({"Relu", {"y"}, {"e"}});
  text.node(
      {"MaxPool",
       {"e"},
       {"z"},
       {{"kernel_shape", kernel}, {"pads", pads}, {"strides", std::vector<std::int64_t>{2, 2}}}});
  const std::string model = test::model(text);
  const auto graph = import_onnx(as_byte_span(model), "images", {});
  ASSERT_TRUE(graph) << graph.error().message;
  std::size_t ddr_reads = 0;
  for (const std::uint32_t cores : {1u, 2u, 3u}) {
    for (const std::uint64_t live : {900'000u, 3'000'000u}) {
      BandLimits limits;
      limits.bytes_of = [](const Tensor& tensor) { return tensor.elements() * 2; };
      limits.resident_bytes = 500'000;
      limits.live_bytes = live * cores;
      limits.weight_bytes = 2'000'000;
      limits.windows = 4;
      limits.trims_in_place = cores == 1;
      const auto bands = with_image_bands(*graph, limits);
      ASSERT_TRUE(bands);
      const CollisionCheck found = check_collisions(*bands, options_for(cores));
      EXPECT_EQ(found.collisions, 0u) << cores << " cores, " << live;
      EXPECT_EQ(found.early_ddr_reads, 0u) << cores << " cores, " << live;
      ddr_reads += found.ddr_reads;
    }
  }
  EXPECT_GT(ddr_reads, 0u);
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
