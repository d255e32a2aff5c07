// Models with very many tensors alive at once: 100,000 operators side by side once took the
// compiler time that grew with the square of their number.

#include "npu/graph/parsed_onnx.hpp"
#include "npu/targets/nsp/compile/collisions.hpp"
#include "npu/targets/nsp/compile/compile_fixture.hpp"

namespace npuscope::npu::nsp::wide_models_test {
namespace {

Graph parsed(const std::string& body, const std::string& output) {
  return npu::parsed(R"(<ir_version: 8, opset_import: ["" : 13]> wide (float[1,64] x) => ()" +
                     output + ") {\n" + body + "}");
}

std::string branches(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("t{} = Relu (x)\n", i);
  return text;
}

TEST(WideModels, SpillBeyondAFixedNumberOfResidentTensors) {
  constexpr int count = 700;  // 256 bytes each: VTCM could hold them all
  std::string text = branches(count) + "s0 = Relu (t0)\n";
  for (int i = 1; i < count; ++i) text += fmt::format("s{0} = Add (s{1}, t{0})\n", i, i - 1);
  const Graph graph = parsed(text, fmt::format("float[1,64] s{}", count - 1));
  EXPECT_GT(compiled(graph, options_for(1)).metrics.spill_bytes, 0u);
  EXPECT_EQ(check_collisions(graph, options_for(2)).collisions, 0u);
}

// Their tiles are small, so they need not be cut as if each could leave a hole between the others.
TEST(WideModels, JoinMorePartsThanTilesUsuallyLieInVtcmAtOnce) {
  constexpr int count = 700;  // 12 MB in all
  std::string names = "x",
              text = "shape = Constant <value_ints = [128, 64]> ()\nlarge = Expand (x, shape)\n";
  for (int i = 1; i < count; ++i) {
    text += fmt::format("t{0} = Relu (large)\n", i);
    names += fmt::format(", t{}", i);
  }
  text += "y = Concat <axis = 0> (" + names + ")\n";
  const auto network = compiled(parsed(text, "float[89473,64] y"), options_for(1));
  EXPECT_LT(network.program.tasks.size(), 100u * count);
}

// Thousands of parts, of a result that fits VTCM or not; every fifth is one that has been before.
TEST(WideModels, JoinVeryManyPartsOneAfterTheOther) {
  for (const int rows : {1, 64}) {
    constexpr int count = 2000;
    std::string names = "large";
    std::string text = fmt::format(
        "shape = Constant <value_ints = [{}, 64]> ()\nlarge = Expand (x, shape)\n", rows);
    for (int i = 1; i < count; ++i) {
      if (i % 5 != 0) text += fmt::format("t{0} = Relu (large)\n", i);
      names += fmt::format(", t{}", i % 5 != 0 ? i : i - 1);
    }
    text += "y = Concat <axis = 0> (" + names + ")\n";
    const Graph graph = parsed(text, fmt::format("float[{},64] y", count * rows));
    const auto network = compiled(graph, options_for(2));
    EXPECT_LT(network.program.tasks.size(), 20u * count) << rows;
    const CollisionCheck check = check_collisions(graph, options_for(2));
    EXPECT_EQ(check.collisions, 0u) << rows;
    EXPECT_EQ(check.early_ddr_reads, 0u) << rows;
    std::uint64_t written = 0;
    for (const CoreMetrics& core : network.metrics.cores) {
      written += core.by_purpose[TrafficPurpose::network_output].write_bytes;
    }
    EXPECT_EQ(written, 2ull * 64 * rows * count) << rows;
  }
}

TEST(WideModels, RefuseAnOperatorWhoseOperandsNoTaskCouldHold) {
  const std::string all = [] {
    std::string names = "t0";
    for (int i = 1; i < 5000; ++i) names += fmt::format(", t{}", i);
    return names;
  }();
  const auto network = compile_network(
      parsed(branches(5000) + "y = Concat <axis = 0> (" + all + ")\n", "float[5000,64] y"),
      aic100(), options_for(1));
  ASSERT_FALSE(network);
  EXPECT_EQ(network.error().kind, ErrorKind::input);
  EXPECT_EQ(network.error().message,
            "node 'Concat_5000' has 5000 operands, more than the 4096 that one operator can have; "
            "split it");
}

}  // namespace
}  // namespace npuscope::npu::nsp::wide_models_test
