// Files as public reports have them, with what their pages must conclude: latencies of each graph,
// work of ops, what is outside the NPU.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "npuscope/analysis/analysis.hpp"
#include "npuscope/formats/open.hpp"
#include "report/show/show.hpp"
#include "report/show/show_sections.hpp"

namespace npuscope::report::public_cases_test {
namespace {

namespace fs = std::filesystem;

class PublicCases : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(NPUSCOPE_SHARED_DIR "/data/public_cases")) {
      GTEST_SKIP() << "the shared samples are not here";
    }
  }

  static std::vector<Profile> open(const std::string& path) {
    const fs::path file = fs::path(NPUSCOPE_SHARED_DIR "/data") / path;
    auto opened = open_profiles({&file, 1});
    if (opened) return std::move(opened->profiles);
    ADD_FAILURE() << opened.error().message;
    return {};
  }

  static std::string microseconds(std::optional<double> seconds) {
    return seconds ? fmt::format("{:g}", std::round(*seconds * 1e8) / 100) : "-";
  }

  // "detector: call 32501 cold -; on the NPU …", warm or the file's mean, a line a profile.
  static std::string latencies(const std::string& path) {
    std::string out;
    for (const Profile& profile : open(path)) {
      out += profile.provenance.graph + ":";
      const LatencyOfCall latency = latency_of(analysis::Analysis(profile));
      for (const LatencyRow& row : latency.rows) {
        out += fmt::format(" {} {} cold {};", row.what,
                           microseconds(row.warm_seconds ? row.warm_seconds : row.seconds),
                           microseconds(row.cold_seconds));
      }
      out += '\n';
    }
    return out;
  }

  // What ops are ranked by, the largest first: "conv 900,074".
  static std::string ops(const Profile& profile, std::size_t top) {
    const analysis::Analysis analysis(profile);
    const auto table = analysis.ops({.top = top, .per_inference = true});
    std::string out;
    for (const analysis::OpRow& row : table.rows) {
      out += fmt::format("{} {:g}\n", row.name,
                         std::round(row.values[table.ranked_by].value_or(0) * 10) / 10);
    }
    return out;
  }
};

TEST_F(PublicCases, GraphsOfTheViewersCsvHaveTheirOwnLatency) {
  for (const char* name : {"01-qnn-viewer-csv-native", "02-qnn-viewer-csv-blanks-removed"}) {
    const std::string path = fmt::format("public_cases/{}/profile.csv", name);
    EXPECT_EQ(latencies(path),
              "prompt_ar128_part2: call 12308 cold 13388; on the NPU 11760 cold 12840;\n"
              "token_ar1_part2: call 7258 cold 7688; on the NPU 6710 cold 7140;\n")
        << path;
    const auto profiles = open(path);
    ASSERT_EQ(profiles.size(), 2u);
    EXPECT_EQ(ops(profiles[0], 1), "/layers.0/q_proj/Conv 900074\n");
    EXPECT_EQ(ops(profiles[1], 1), "/layers.0/q_proj/Conv 310074\n");
  }
}

TEST_F(PublicCases, SummariesOfTheViewersTextAreMeansOfCalls) {
  const std::string folder = "public_cases/03-qnn-viewer-text-average/";
  EXPECT_EQ(latencies(folder + "modern.txt"),
            "detector: call 32501 cold -; on the NPU 31650 cold -;\n");
  EXPECT_EQ(latencies(folder + "qnn213_basic.txt"),
            "model: call 2949 cold -; on the NPU 2492 cold -;\n");
  EXPECT_EQ(ops(open(folder + "modern.txt").front(), 2), "conv1 2.81e+07\nconv2 1.92e+07\n");
}

TEST_F(PublicCases, OfOnnxRuntimesCsv) {
  EXPECT_EQ(latencies("public_cases/05-ort-qnn-csv-8-columns/run.csv"), ": call 117.5 cold 100;\n");
  EXPECT_EQ(ops(open("public_cases/05-ort-qnn-csv-8-columns/run.csv").front(), 3),
            "conv_a 617.5\nfc 300\nInput 100\n");
  EXPECT_EQ(latencies("public_cases/06-ort-qnn-csv-no-opid/run.csv"),
            ": call 3300 cold 3100; on the NPU 3000 cold 2800;\n");
  EXPECT_EQ(ops(open("public_cases/06-ort-qnn-csv-no-opid/run.csv").front(), 3),
            "/encoder/layer.0/MatMul 6000\n/encoder/layer.0/Softmax_reshape 3000\ninput_0_cast "
            "1000\n");
  for (const char* file : {"native.csv", "blanks_removed.csv"}) {
    const auto profiles = open(fmt::format("public_cases/07-qnn-csv-linting/{}", file));
    ASSERT_EQ(profiles.size(), 1u);
    EXPECT_EQ(profiles[0].ops.size(), 6u);
    EXPECT_EQ(ops(profiles[0], 5),
              "embed 39688\nGather.0 14045\nInput 4185\nq_proj.0 2143\nOpId_32 1624\n");
  }
  EXPECT_EQ(latencies("public_cases/09-qairt-report-json/report.json"),
            ": call 2090 cold 3001; on the NPU 115 cold 1734;\n");
  EXPECT_EQ(ops(open("public_cases/09-qairt-report-json/report.json").front(), 3),
            "act 8567\nInput 8405\nfc 5987\n");
}

TEST_F(PublicCases, TwoGraphsOfOneModelAreOneInference) {
  EXPECT_EQ(latencies("qnn/host/two_graphs/prof.csv"),
            "graph 1: call 24357 cold 45785; emulated NPU 24263 cold 45607; all graphs 27996 cold "
            "80731;\n"
            "graph 2: call 3639 cold 34946; emulated NPU 3525 cold 34771; all graphs 27996 cold "
            "80731;\n");
}

TEST_F(PublicCases, LatencySamplesHaveNoWorkOfOps) {
  for (const char* file : {"aic-profiling-program-0-latency.txt", "unpadded.txt"}) {
    const std::string path = fmt::format("public_cases/11-qaic-latency-no-device-columns/{}", file);
    EXPECT_EQ(latencies(path), "Program:BenchmarkSet: inference 1059 cold -;\n");
    for (const Profile& profile : open(path)) {
      EXPECT_TRUE(analysis::Analysis(profile).ops({}).rows.empty());
    }
  }
}

// The rate stood in neither log.
TEST_F(PublicCases, LogsOfCompilerAndRunnerTogetherSayWhatBoundsATokensTime) {
  const fs::path folder = NPUSCOPE_SHARED_DIR "/data/qaic";
  const std::vector<fs::path> files{folder / "amber-7b_decode1_14core.compile.log",
                                    folder / "amber-7b_decode1_14core.runner.log"};
  if (!fs::exists(files[0])) GTEST_SKIP();
  const auto opened = open_profiles(files);
  ASSERT_TRUE(opened);
  ASSERT_EQ(opened->profiles.size(), 1u);
  const Document page =
      first_page(analysis::Analysis(opened->profiles[0]), {.width = 100, .files = "logs"});
  const std::string text = document_text(page, 100);
  EXPECT_NE(text.find("DDR         12.44 GiB read in 124.8 ms = 107 GB/s, 78.1 % of the peak"),
            text.npos)
      << text;
  // Two of one kind: which belongs to which is unknown.
  const std::vector<fs::path> three{files[0], files[1],
                                    folder / "amber-7b_prefill32_14core.compile.log"};
  const auto apart = open_profiles(three);
  ASSERT_TRUE(apart);
  EXPECT_EQ(apart->profiles.size(), 3u);
}

// The file names ten of 86 nodes, and all types: what it states is what the page adds up to.
TEST_F(PublicCases, ASummaryOfTenNodesAddsUpToItsOwnTypes) {
  const auto profiles = open("qnn/winml-cli/qhas_resnet50.json");
  ASSERT_EQ(profiles.size(), 1u);
  double convolution = 0, all = 0;
  for (const Measure& measure : profiles[0].measures) {
    if (measure.subject != Measure::Subject::op) continue;
    if (profiles[0].text(measure.what) != "dominant path") continue;
    all += measure.value;
    const Op& op = profiles[0].ops[measure.subject_id];
    if (profiles[0].text(op.node_kind) == "Conv2d") convolution += measure.value;
  }
  EXPECT_EQ(convolution, 1'274'883);
  EXPECT_EQ(all, 1'576'062);
  EXPECT_EQ(latencies("qnn/winml-cli/qhas_resnet50.json"),
            "QNNExecutionProvider_QNN_16832493022758615247_1_0: on the NPU - cold 1343; graph - "
            "cold 1132;\n");
}

TEST_F(PublicCases, AnEstimateOfTheHostHasNoTimesAndNoRate) {
  for (const char* file : {"qhas_Infinity.json", "qhas_cut_at_value.json", "qhas_inf.json",
                           "qhas_nan_and_null.json", "qhas_ok_zero_time.json"}) {
    const std::string path = fmt::format("public_cases/08-qhas-hextimate-time-zero/{}", file);
    const auto profiles = open(path);
    ASSERT_EQ(profiles.size(), 1u) << path;
    EXPECT_EQ(profiles[0].provenance.inferences, 0u) << path;
    for (const Measure& measure : profiles[0].measures) {
      if (measure.origin == Origin::derived) continue;
      EXPECT_EQ(measure.origin, Origin::estimated) << path << profiles[0].text(measure.what);
      EXPECT_NE(measure.meaning.role, NumberRole::run_rate) << path;
    }
    EXPECT_EQ(latencies(path), "tiny:\n");
  }
}

}  // namespace
}  // namespace npuscope::report::public_cases_test
