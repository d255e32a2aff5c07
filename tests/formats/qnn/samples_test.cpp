// Files of real devices, where they are at hand.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "formats/qnn/scratch_files.hpp"

namespace npuscope::qnn::samples_test {
namespace {

namespace fs = std::filesystem;

class QnnSamples : public test::ScratchFiles {
 protected:
  std::vector<File> files(const std::string& folder, const std::vector<std::string>& names) {
    std::vector<File> out;
    for (const std::string& name : names) {
      const fs::path path = fs::path(NPUSCOPE_SHARED_DIR) / "data/qnn" / folder / name;
      if (!fs::exists(path)) return {};
      const auto head = read_head(path, recognition_bytes);
      EXPECT_TRUE(head);
      out.push_back({path, recognise(*head)});
      EXPECT_NE(out.back().kind, Kind::none) << name;
    }
    return out;
  }
};

std::int64_t sum_of(const Column<std::int64_t>& values) {
  std::int64_t sum = 0;
  for (const std::int64_t value : values) sum += value;
  return sum;
}

TEST_F(QnnSamples, Chain8ObeysEveryIdentity) {
  const auto set =
      files("chain8", {"chrometrace.json", "chrometrace_htp.json", "chrometrace_runtrace.json",
                       "chrometrace_qnn_htp_analysis_summary.json", "profile.txt"});
  if (set.empty()) GTEST_SKIP() << "the sample is not here";
  const Profile profile = read_one(set);
  EXPECT_EQ(test::outcomes(profile, Check::Outcome::failed), "");
  EXPECT_EQ(test::outcomes(profile, Check::Outcome::impossible), "");
  EXPECT_EQ(profile.checks.size(), 16u);
}

TEST_F(QnnSamples, Chain8HasItsHeadlineNumbers) {
  const auto set = files("chain8", {"chrometrace.json", "chrometrace_runtrace.json"});
  if (set.empty()) GTEST_SKIP() << "the sample is not here";
  const Profile profile = read_one(set);
  ASSERT_EQ(profile.spans.size(), 45u);
  EXPECT_EQ(sum_of(profile.spans.duration), 68'626);
  EXPECT_EQ(sum_of(test::column(profile, "dominant path")->values), 63'056);
  std::map<std::string_view, std::int64_t> lanes, engines, kinds;
  for (std::size_t i = 0; i < profile.spans.size(); ++i) {
    lanes[profile.text(profile.units[index_of(profile.spans.unit[i])].name)] +=
        profile.spans.duration[i];
    if (profile.ops[index_of(profile.spans.op[i])].engine == Engine::hmx) {
      engines["hmx"] += profile.spans.duration[i];
    }
    if (profile.spans.kind[i] == SpanKind::dma_wait) kinds["wait"] += profile.spans.duration[i];
  }
  EXPECT_EQ(lanes["HMX 256"], 38'764);
  EXPECT_EQ(engines["hmx"], 12'312);  // a third of what its lane did
  EXPECT_EQ(kinds["wait"], 11'834);
  EXPECT_EQ(profile.counters.size(), 262u);
  double peak = 0;
  for (std::size_t i = 0; i < profile.counters.size(); ++i) {
    if (profile.text(profile.counters.series[profile.counters.of[i]].name) == "VTCM alloc") {
      peak = std::max(peak, profile.counters.value[i]);
    }
  }
  EXPECT_EQ(peak, 671'744);
  ASSERT_EQ(profile.phases.size(), 12u);
  EXPECT_NEAR(profile.phases[3].microseconds, 86.302, 0.001);
  EXPECT_EQ(profile.phases[3].duration, 69'591);
  EXPECT_NEAR(profile.phases[11].microseconds, 15.625, 0.001);
}

// Eight weights of 64 KiB, eight biases of 2 KiB, twelve bytes of control; two records of shapes
// that say 256 KiB hold nothing.
TEST_F(QnnSamples, Chain8Has528KiBOfConstantsNot784) {
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"chrometrace.json", "chrometrace_htp.json"},
        std::vector<std::string>{"chrometrace_htp.json"}}) {
    const auto set = files("chain8", names);
    if (set.empty()) GTEST_SKIP() << "the sample is not here";
    std::int64_t bytes = 0;
    for (const Tensor& tensor : read_one(set).tensors) {
      if (tensor.is_constant) bytes += tensor.size.value;
    }
    EXPECT_EQ(bytes, 8 * 65'536 + 8 * 2'048 + 12);
  }
}

TEST_F(QnnSamples, Resnet50OfAnOtherDeviceHasItsHeadlineNumbers) {
  const auto set = files("winml-cli", {"qhas_resnet50.json", "optrace_resnet50.csv"});
  if (set.empty()) GTEST_SKIP() << "the sample is not here";
  const Profile profile = read_one(set);
  const auto value = [&](std::string_view what) { return test::values_of(profile, what).at(0); };
  EXPECT_EQ(value("graph wall"), 1'582'526);
  EXPECT_EQ(value("cycles of all lanes"), 3'756'198);
  EXPECT_EQ(value("busiest lane"), 1'321'265);
  EXPECT_EQ(value("peak VTCM bytes"), 6'619'136);
  EXPECT_EQ(value("Graph Execute, rounded down"), 1132);
  EXPECT_EQ(value("HTP nodes"), 1481);
  EXPECT_EQ(value("Accelerator (execute) time (cycles)"), 3'755'250);
  EXPECT_EQ(test::values_of(profile, "node cycles").size(), 395u);
  // The sample's tables were shortened by whoever kept it; nothing else is wrong with it.
  EXPECT_EQ(test::outcomes(profile, Check::Outcome::failed),
            "counts of QHAS = rows of its tables (QNN op types 5 of 11, QNN nodes 10 of 86, HTP op "
            "types 5 of 24, instances 0 of 1481)\n");
}

}  // namespace
}  // namespace npuscope::qnn::samples_test
