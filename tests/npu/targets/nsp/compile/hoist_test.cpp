// Constants that stay in VTCM after the first inference: how many, when none, and that nothing else
// changes but who reads them when.
#include <algorithm>
#include <numeric>

#include "npu/targets/nsp/compile/collisions.hpp"
#include "npu/targets/nsp/compile/compile_fixture.hpp"

namespace npuscope::npu::nsp::hoist_test {
namespace {

std::uint64_t sum(const CompiledNetwork& network, std::uint64_t CoreMetrics::*figure) {
  std::uint64_t total = 0;
  for (const CoreMetrics& core : network.metrics.cores) total += core.*figure;
  return total;
}

CompiledNetwork without_hoisting(const Graph& graph, const CompileOptions& options) {
  Target target = aic100();
  target.hoisted_share = 0;
  auto network = compile_network(graph, target, options);
  EXPECT_TRUE(network);
  return network ? *network : CompiledNetwork{};
}

TEST(Hoisting, OnlyChangesWhenConstantsAreRead) {
  const Target target = aic100();
  const auto usable = double(target.vtcm_bytes - target.vtcm_reserved_bytes);
  for (const std::int64_t tokens : {1, 32}) {
    const Graph graph = generated_model("amber-7b", {1, tokens, 128}, 2);
    const CompiledNetwork kept = compiled(graph, options_for(14));
    const CompiledNetwork all = without_hoisting(graph, options_for(14));
    EXPECT_EQ(
        sum(kept, &CoreMetrics::ddr_read_constant_bytes) + sum(kept, &CoreMetrics::hoisted_bytes),
        sum(all, &CoreMetrics::ddr_read_constant_bytes));
    EXPECT_EQ(kept.metrics.hmx_macs, all.metrics.hmx_macs);
    EXPECT_EQ(kept.metrics.constant_bytes, all.metrics.constant_bytes);
    EXPECT_EQ(sum(kept, &CoreMetrics::ddr_write_bytes) < sum(all, &CoreMetrics::ddr_write_bytes),
              true);  // fewer records of statistics
    ASSERT_EQ(kept.program.hoisted_bytes.size(), 14u);
    EXPECT_TRUE(all.program.hoisted_bytes.empty());
    for (std::size_t core = 0; core < 14; ++core) {
      const CoreMetrics& metrics = kept.metrics.cores[core];
      EXPECT_EQ(kept.program.hoisted_bytes[core], metrics.hoisted_bytes);
      EXPECT_GT(metrics.hoisted_bytes, 0u);
      EXPECT_LE(double(metrics.hoisted_bytes), usable * target.hoisted_share);
      EXPECT_LE(double(metrics.vtcm_bytes), usable);
    }
  }
}

// As in the compiler log of the real run.
TEST(Hoisting, KeepsNothingOfProgramsWithoutState) {
  const Graph bert = generated_model("bert-base", {8, 128, 0}, 2);
  EXPECT_TRUE(compiled(bert, options_for(2)).program.hoisted_bytes.empty());
  CompileOptions options = options_for(4);
  options.retained_state = false;
  const Graph decoder = generated_model("qwen3-0.6b", {1, 1, 128}, 1);
  EXPECT_TRUE(compiled(decoder, options).program.hoisted_bytes.empty());
}

TEST(Hoisting, KeepsNothingWhereActivationsNeedTheRoom) {
  const Graph graph = generated_model("qwen3-0.6b", {1, 128, 256}, 1);
  Target target = aic100();
  const auto roomy = compile_network(graph, target, options_for(4));
  target.vtcm_bytes = 5 << 18;
  const auto narrow = compile_network(graph, target, options_for(4));
  ASSERT_TRUE(roomy && narrow);
  EXPECT_FALSE(roomy->program.hoisted_bytes.empty());
  EXPECT_TRUE(narrow->program.hoisted_bytes.empty());
}

TEST(Hoisting, CollidesWithNothing) {
  for (const std::uint64_t bytes : {100'000u, 1'500'000u, 4'000'000u}) {
    const Graph graph = generated_model("qwen3-0.6b", {1, 32, 128}, 1);
    const CollisionCheck check = check_collisions(graph, options_for(5), bytes);
    EXPECT_EQ(check.collisions, 0u) << bytes;
    EXPECT_EQ(check.early_ddr_reads, 0u) << bytes;
  }
}

}  // namespace
}  // namespace npuscope::npu::nsp::hoist_test
