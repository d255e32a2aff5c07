// What an op on the path of the reference NPU's programs gains when it takes no time.
#include "analysis/path/gain_if_free.hpp"
#include "flow/path_twin.hpp"

namespace npuscope::path_gain_test {
namespace {

using namespace test;

TEST(GainIfFree, OfTheReferenceNpusProgramsIsThePartOfThePath) {
  const npu::nsp::Target target = target_without_shared_bandwidth();
  std::size_t tried = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const qaic::Program program = program_of(seed, 1 + seed % 3, 60);
    const TruthProfile made(program, run(program, target));
    SCOPED_TRACE(seed);
    tried += expect_gains(made.profile, analysis_of(made.profile));
  }
  EXPECT_GT(tried, 20u);
}

}  // namespace
}  // namespace npuscope::path_gain_test
