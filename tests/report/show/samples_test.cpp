// The first page of every real sample: tests/data/show/samples/NAME.txt. A mismatch leaves what was
// printed in the temporary folder, as show-NAME.txt.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "npuscope/analysis/analysis.hpp"
#include "npuscope/formats/open.hpp"
#include "report/show/show.hpp"

namespace npuscope::report::samples_test {
namespace {

namespace fs = std::filesystem;

struct Sample {
  const char* name;
  const char* path;                // in the shared folder
  const char* why_less = nullptr;  // why the page's rows explain less than four fifths of the work
};

const Sample samples[] = {
    {"chain8", "data/qnn/chain8"},
    {"qhas_resnet50", "data/qnn/winml-cli/qhas_resnet50.json"},
    {"optrace_resnet50", "data/qnn/winml-cli/optrace_resnet50.csv"},
    {"bert_summary", "data/qaic/bert-base-cased_b8_2core.opstats.summary.txt"},
    {"bert_latency", "data/qaic/bert-base-cased_b8_2core.latency.txt"},
    {"torq_log", "data/torq/runtime_new.csv"},
    {"torq_annotated", "data/torq/annotated_new.csv"},
    {"torq_trace", "data/torq/annotated_new.pb"},
    {"torq_timeline", "data/torq/timeline_v3_taskId.csv"},
    {"llama_cpp_engines", "data/ggml/g6_p3.log.gz"},
    {"llama_cpp_pmu", "data/ggml/g6_p2.log"},
    {"llama_cpp_calls", "data/ggml/g1_p1.log"},
    {"mi250", "data/chrome/mi250_minitoy_train_ROCm6_2_kineto.json.gz"},
    {"mtia", "data/chrome/mtia_inference_rank_0.json.gz"},
    {"triton", "data/chrome/triton_example.json.gz"},
};

// Of the work, by the rows of the page or by the parts above them, whichever explains more.
double explained(const Document& page) {
  double by_parts = 0, by_rows = 0;
  for (const Section& section : page.sections) {
    if (section.key != "ops") continue;
    for (const Fact& fact : section.facts) {
      auto text = std::get<std::string>(fact.value.held());
      text.resize(std::min(text.size(), text.find("other ")));  // what no part explains
      const std::regex percent("([0-9]+) %");
      for (std::sregex_iterator at(text.begin(), text.end(), percent), end; at != end; ++at) {
        by_parts += std::stod((*at)[1]) / 100;
      }
    }
    const auto& fields = section.table.fields;
    for (std::size_t column = 0; column < fields.size(); ++column) {
      if (fields[column].format != Format::share) continue;
      for (const auto& row : section.table.rows) {
        if (row[column].known()) by_rows += std::get<double>(row[column].held());
      }
    }
  }
  return std::max(by_parts, by_rows);
}

bool has_ops(const Document& page) {
  return std::any_of(page.sections.begin(), page.sections.end(),
                     [](const Section& section) { return section.key == "ops"; });
}

// Where the shared folder is the current one, so that pages name files as everybody has them.
class Samples : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(NPUSCOPE_SHARED_DIR "/data")) GTEST_SKIP() << "the shared samples are not here";
    fs::current_path(NPUSCOPE_SHARED_DIR);
  }
  void TearDown() override { fs::current_path(before_); }

  fs::path before_ = fs::current_path();
};

// At least four ops on 30 lines of 80 columns, and more where the terminal is taller.
void expect_ops_on_screens(const analysis::Analysis& analysis) {
  std::size_t before = 0;
  for (const std::size_t height : {30, 50}) {
    const Document page = first_page(analysis, {.width = 80, .height = height});
    const std::string text = document_text(page, 80);
    EXPECT_LE(std::size_t(std::count(text.begin(), text.end(), '\n')), height) << text;
    const auto ops = std::ranges::find(page.sections, "ops", &Section::key);
    if (ops == page.sections.end()) return;
    const std::size_t all = std::max<std::size_t>(ops->table.row_count, ops->table.rows.size());
    const std::size_t wanted = before + (height == 30 ? 4 : 1);
    EXPECT_GE(ops->table.rows.size(), std::min(all, wanted)) << text;
    before = ops->table.rows.size();
  }
}

TEST_F(Samples, HaveFirstPagesAsExpectedThatExplainFourFifthsOfTheWork) {
  for (const Sample& sample : samples) {
    SCOPED_TRACE(sample.name);
    const fs::path path = sample.path;
    const auto opened = open_profiles({&path, 1});
    ASSERT_TRUE(opened) << opened.error().message;
    std::string printed;
    for (const Profile& profile : opened->profiles) {
      const Document page =
          first_page(analysis::Analysis(profile), {.width = 100, .files = sample.path});
      const std::string text = document_text(page, 100);
      EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 30) << text;
      printed += text;
      expect_ops_on_screens(analysis::Analysis(profile));
      if (!has_ops(page)) continue;
      if (sample.why_less == nullptr) {
        EXPECT_GE(explained(page), 0.8) << text;
      } else {
        EXPECT_LT(explained(page), 0.8) << "no longer less: " << sample.why_less;
      }
    }
    std::stringstream expected;
    expected << std::ifstream(fs::path(NPUSCOPE_TEST_DATA) / "show/samples" /
                              (std::string(sample.name) + ".txt"))
                    .rdbuf();
    if (expected.str() != printed) {
      std::ofstream(fs::temp_directory_path() / ("show-" + std::string(sample.name) + ".txt"))
          << printed;
    }
    EXPECT_EQ(printed, expected.str());
  }
}

}  // namespace
}  // namespace npuscope::report::samples_test
