// What an op on the path of real traces gains when it takes no time.
#include "analysis/path/gain_if_free.hpp"

#include <filesystem>

#include "npuscope/formats/open.hpp"

namespace npuscope::report::gain_if_free_test {
namespace {

namespace fs = std::filesystem;
using analysis::PathAnalysis;

TEST(GainIfFree, OfSamplesIsThePartOfThePathWhereNoOtherChainIsAsLong) {
  if (!fs::exists(NPUSCOPE_SHARED_DIR "/data")) GTEST_SKIP() << "the shared samples are not here";
  std::size_t tried = 0;
  for (const char* sample :
       {"cases/poll.json", "cases/nopoll.json", "qnn/chain8",
        "public_cases/34-optrace-247-lanes/chrometrace.json",
        "public_cases/33-homemade-optrace/chrometrace.json",
        "public_cases/12-ggml-hexagon-perfetto/optrace.perfetto-trace", "torq/annotated_new.csv",
        "chrome/triton_example.json.gz", "chrome/mtia_inference_rank_0.json.gz"}) {
    const fs::path path = fs::path(NPUSCOPE_SHARED_DIR "/data") / sample;
    if (!fs::exists(path)) continue;
    SCOPED_TRACE(sample);
    const auto opened = open_profiles({&path, 1});
    ASSERT_TRUE(opened) << opened.error().message;
    for (const Profile& profile : opened->profiles) {
      const auto analysis = PathAnalysis::create(profile, std::nullopt);
      if (analysis) tried += test::expect_gains(profile, *analysis);
    }
  }
  EXPECT_GT(tried, 10u);
}

}  // namespace
}  // namespace npuscope::report::gain_if_free_test
