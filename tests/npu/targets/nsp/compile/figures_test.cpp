// The figures that the vendor's compiler printed for the same models (SDK 1.12 logs of Amber 7B),
// and identities that must hold whatever the tiling.
#include <numeric>

#include "npu/targets/nsp/compile/compile_fixture.hpp"

namespace npuscope::npu::nsp::figures_test {
namespace {

constexpr std::uint64_t mebibyte = 1024 * 1024;

std::uint64_t task_macs(const qaic::Program& program) {
  return std::accumulate(program.tasks.begin(), program.tasks.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const qaic::Task& task) { return sum + task.macs; });
}

TEST(AmberFigures, PrefillOf32TokensMatchesTheVendorsCompiler) {
  const auto network = compiled(generated_model("amber-7b", {1, 32, 128}), options_for(14));
  EXPECT_EQ(network.metrics.original_macs, 208'436'985'856u);
  EXPECT_EQ(network.metrics.hmx_macs, 212'500'217'856u);
  EXPECT_EQ(network.metrics.non_hmx_macs, 0u);
  EXPECT_EQ(network.metrics.constant_bytes / mebibyte, 12'852u);
}

TEST(AmberFigures, DecodeOfOneTokenMatchesTheVendorsCompiler) {
  const auto network = compiled(generated_model("amber-7b", {1, 1, 128}), options_for(14));
  EXPECT_EQ(network.metrics.original_macs, 6'640'631'808u);
  EXPECT_EQ(network.metrics.hmx_macs, 212'500'217'856u);
  EXPECT_EQ(network.metrics.constant_bytes / mebibyte, 12'852u);
  // 32000 x 4096 columns and 32 heads over 14 cores leave no partial d32 block: the tiles' padded
  // products add up to the estimate.
  EXPECT_EQ(task_macs(network.program), 212'500'217'856u);
}

TEST(AmberFigures, EveryWeightIsReadFromDdrExactlyOncePerInference) {
  const auto network = compiled(generated_model("amber-7b", {1, 1, 128}), options_for(14));
  std::uint64_t read = 0;
  for (const CoreMetrics& core : network.metrics.cores) read += core.ddr_read_constant_bytes;
  // The embedding table is in memory whole, but one token reads one row of it (on every core).
  const std::uint64_t embedding = 32'000ull * 4096 * 2;
  const double expected = double(network.metrics.constant_bytes - embedding);
  EXPECT_NEAR(double(read) / expected, 1.0, 0.001);
}

TEST(ResNetFigures, MultiplyAccumulatesAreThoseOfTheLiterature) {
  const auto network = compiled(repository_model("light_resnet50.onnx"), options_for(4));
  EXPECT_EQ(network.metrics.original_macs, 4'089'184'256u);
  EXPECT_GE(network.metrics.hmx_macs, network.metrics.original_macs);
  // 25.5 million parameters of two bytes
  EXPECT_NEAR(double(network.metrics.constant_bytes), 51.06e6, 0.2e6);
}

TEST(CompilerCost, GrowsLinearlyWithTheNumberOfLayers) {
  const auto tasks = [](std::int64_t layers) {
    return compiled(generated_model("amber-7b", {1, 1, 128}, layers), options_for(14))
        .program.tasks.size();
  };
  const std::size_t at8 = tasks(8), at16 = tasks(16), at32 = tasks(32);
  EXPECT_NEAR(double(at32 - at16), 2.0 * double(at16 - at8), 0.02 * double(at32 - at16));
}

TEST(FloatModels, RunTheirProductsOnHvxAndSaySo) {
  CompileOptions options = options_for(4);
  options.convert_to_fp16 = false;
  const auto network = compiled(repository_model("light_squeezenet.onnx"), options);
  EXPECT_EQ(network.metrics.hmx_macs, 0u);
  EXPECT_EQ(network.metrics.non_hmx_macs, network.metrics.original_macs);
  ASSERT_EQ(network.metrics.performance_warnings.size(), 1u);
  EXPECT_NE(network.metrics.performance_warnings[0].find("-convert-to-fp16"), std::string::npos);
}

TEST(VtcmUse, NeverExceedsWhatTheTargetHas) {
  const Target target = aic100();
  for (std::uint32_t cores : {1u, 2u, 5u, 16u}) {
    const auto network = compiled(generated_model("bert-base", {8, 128, 0}, 2), options_for(cores));
    for (const CoreMetrics& core : network.metrics.cores) {
      EXPECT_LE(core.vtcm_bytes, target.vtcm_bytes - target.vtcm_reserved_bytes);
    }
  }
}

}  // namespace
}  // namespace npuscope::npu::nsp::figures_test
