// The compiler plans addresses in program order but the queues run out of that order: no two tasks
// may touch the same VTCM bytes at the same time when one of them writes.
#include "npu/compile/collisions.hpp"

#include "npu/compile/compile_fixture.hpp"

namespace npuscope::npu {
namespace {

std::size_t collisions(const Graph& graph, const CompileOptions& options) {
  const CollisionCheck check = check_collisions(graph, options);
  EXPECT_GT(check.accesses, 100u * options.cores);
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
  EXPECT_EQ(collisions(generated_model("bert-base", {16, 128, 0}, 1), options_for(1)), 0u);
}

}  // namespace
}  // namespace npuscope::npu
