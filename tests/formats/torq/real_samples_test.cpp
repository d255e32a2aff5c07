// Files that torq-compiler and torq-runtime 2.3.0 wrote, against what the vendor's own tools made
// of them; skipped where they are not.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

#include "formats/torq/annotate/annotate.hpp"
#include "formats/torq/annotate/annotated_table.hpp"
#include "formats/torq/debug/debug_folder.hpp"
#include "formats/torq/files.hpp"
#include "formats/torq/overview.hpp"
#include "formats/torq/runtime_log.hpp"

namespace npuscope::torq::real_samples_test {
namespace {

namespace fs = std::filesystem;

struct Sample {
  const char* folder;
  const char* log = "runtime.csv";
  const char* table = "vendor_annotated.csv";
  const char* measurements = "vendor_measurements.json";
  const char* sources = "";
  bool has_source = true;
};

void PrintTo(const Sample& sample, std::ostream* out) {
  *out << sample.folder << " " << sample.log;
}

class RealTorq : public ::testing::TestWithParam<Sample> {
 protected:
  void SetUp() override {
    folder_ = fs::path(NPUSCOPE_SHARED_DIR) / "data/torq/real" / GetParam().folder;
    if (!fs::exists(folder_)) GTEST_SKIP() << "the real samples are not here";
    auto debug = load_debug_info(folder_ / "text", {folder_ / GetParam().sources});
    ASSERT_TRUE(debug) << debug.error().message;
    debug_ = std::move(*debug);
    const auto source = open_byte_source(folder_ / GetParam().log);
    ASSERT_TRUE(source);
    auto annotation = annotate(**source, debug_);
    ASSERT_TRUE(annotation) << annotation.error().message;
    annotation_ = std::move(*annotation);
  }

  fs::path folder_;
  DebugInfo debug_;
  Annotation annotation_;
};

// Kernels of a program are a set to the vendor, printed in another order each time.
std::vector<std::vector<std::string>> rows_of(const fs::path& path, bool has_source) {
  std::vector<std::vector<std::string>> rows;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> fields(1);
    for (const char c : line) c == ';' ? (void)fields.emplace_back() : fields.back().push_back(c);
    std::vector<std::string> kernels(1);
    for (const char c : fields.at(3)) {
      c == ',' ? (void)kernels.emplace_back() : kernels.back().push_back(c);
    }
    std::sort(kernels.begin(), kernels.end());
    fields[3].clear();
    for (const std::string& kernel : kernels) fields[3] += kernel + ",";
    if (!has_source) fields[4].clear();
    rows.push_back(std::move(fields));
  }
  return rows;
}

TEST_P(RealTorq, TheAnnotatedTableIsTheVendorsRowByRow) {
  const fs::path ours = fs::temp_directory_path() / fmt::format("npuscope-real-{}.csv", ::getpid());
  ASSERT_TRUE(write_annotated_csv(annotation_, ours));
  const auto found = rows_of(ours, GetParam().has_source);
  const auto expected = rows_of(folder_ / GetParam().table, GetParam().has_source);
  fs::remove(ours);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], expected[i]) << "row " << i;
}

TEST_P(RealTorq, TheOverviewHasTheVendorsFigures) {
  if (*GetParam().measurements == '\0') GTEST_SKIP() << "the vendor measured no such run";
  std::ifstream file(folder_ / GetParam().measurements);
  const auto vendor = nlohmann::json::parse(file);
  const Overview overview = overview_of(annotation_, OverviewRules::vendor);
  using enum OverviewMetric;
  const std::pair<const char*, OverviewMetric> rows[] = {{"total_duration", overall},
                                                         {"total_npu_operations", npu_operations},
                                                         {"dma_only_time", dma_only},
                                                         {"dma_total_time", dma_union},
                                                         {"dma_in_time", dma_in},
                                                         {"dma_out_time", dma_out},
                                                         {"cdma_time", cdma},
                                                         {"compute_time", compute},
                                                         {"compute_only_time", compute_only},
                                                         {"slice_time", slice},
                                                         {"slice_0_time", slice_0},
                                                         {"slice_1_time", slice_1},
                                                         {"css_time", css},
                                                         {"overlap_time", overlap},
                                                         {"idle_time", idle},
                                                         {"hal_time", hal},
                                                         {"host_copy_time", host_copy}};
  for (const auto& [key, metric] : rows) {
    EXPECT_EQ(overview.of(metric), vendor.at(key).get<std::int64_t>()) << key;
  }
  // Its figure of programs that overlap stands beside the right one.
  const auto of_vendor = overview.of(host_pending) ? overview.of(host_pending) : overview.of(host);
  EXPECT_EQ(of_vendor, vendor.at("host_time").get<std::int64_t>());
}

// The log names no op; the parts of a program must add up to what it says of the program.
TEST_P(RealTorq, TheSplitAddsUpToThePrograms) {
  const auto source = open_byte_source(folder_ / GetParam().log);
  const auto log = read_log(**source);
  ASSERT_TRUE(log);
  const auto nss_time = [](const Profile& profile) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < profile.spans.size(); ++i) {
      const Unit& unit = profile.units[index_of(profile.spans.unit[i])];
      if (profile.text(unit.name) == "NSS") sum += profile.spans.duration[i];
    }
    return sum;
  };
  const Profile split = make_profile(*log, &debug_);
  EXPECT_EQ(nss_time(split), nss_time(make_profile(*log)));
  EXPECT_GT(split.provenance.simulator_slowdown, 1000);
}

INSTANTIATE_TEST_SUITE_P(
    Samples, RealTorq,
    ::testing::Values(Sample{"smallcnn_i8"},
                      Sample{"smallcnn_i8", "runtime_3_inferences.csv",
                             "vendor_annotated_3_inferences.csv", ""},
                      Sample{"add_int8"}, Sample{"conv1_i8"}, Sample{"smallcnn_bf16"},
                      Sample{.folder = "multi_dispatch", .sources = "../smallcnn_i8"},
                      Sample{.folder = "squeezenet_i8", .has_source = false}));

}  // namespace
}  // namespace npuscope::torq::real_samples_test
