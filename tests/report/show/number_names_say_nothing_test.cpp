// A number's name is for people. What pages say of a profile does not change when its numbers have
// other names: the meaning that the reader set is all that programs look at.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/samples.hpp"
#include "npuscope/formats/open.hpp"
#include "report/findings/findings_document.hpp"
#include "report/memory/memory_document.hpp"
#include "report/ops/ops_document.hpp"
#include "report/show/show.hpp"
#include "report/units/units_document.hpp"

namespace npuscope::report::number_names_say_nothing_test {
namespace {

namespace fs = std::filesystem;

// "device execution, 50%" becomes "number 3, 50%": by what is before the comma, rows are put
// together.
class OtherNames {
 public:
  explicit OtherNames(Profile& profile) : profile_(profile) {}

  void give() {
    for (MeasureColumn& column : profile_.spans.measures) column.what = other(column.what);
    for (Measure& measure : profile_.measures) measure.what = other(measure.what);
    for (CounterSeries& series : profile_.counters.series) series.name = other(series.name);
  }

 private:
  StringId other(StringId id) {
    const auto [place, is_new] = others_.try_emplace(id);
    if (!is_new) return place->second;
    const std::string name(profile_.text(id));
    const std::size_t comma = std::min(name.rfind(", "), name.size());
    const auto [number, unused] = numbers_.try_emplace(name.substr(0, comma), numbers_.size());
    place->second =
        profile_.strings.intern(fmt::format("number {}{}", number->second, name.substr(comma)));
    return place->second;
  }

  Profile& profile_;
  std::map<StringId, StringId> others_;
  std::map<std::string, std::size_t> numbers_;
};

void add_leaves(const nlohmann::ordered_json& json, std::vector<std::string>& leaves) {
  if (json.is_structured()) {
    for (const auto& inner : json) add_leaves(inner, leaves);
  } else if (!json.is_string()) {
    leaves.push_back(json.dump());
  }
}

// All numbers and truth values of the pages, in any order: some tables are sorted by name.
std::vector<std::string> numbers_of_pages(const Profile& profile) {
  const analysis::Analysis analysis(profile);
  std::vector<std::string> texts;
  texts.push_back(document_json(first_page(analysis, {}), {}));
  const auto add = [&](const Result<Document>& document) {
    texts.push_back(document ? document_json(*document, {}) : "null");
  };
  add(show_document(analysis, {.top = 0}));
  add(units_document(analysis, {.top = 0}));
  add(make_memory_document(analysis, {}));
  add(make_findings_document(analysis, {}));
  add(ops_document(analysis, {.top = 0}));
  std::vector<std::string> leaves;
  for (const std::string& text : texts) {
    add_leaves(nlohmann::ordered_json::parse(text), leaves);
  }
  const analysis::RunSamples samples(profile);
  for (const char* name : {"latency", "device_latency", "throughput", "p50", "p95"}) {
    const Metric* metric = samples.metric(name);
    if (metric == nullptr) continue;
    for (const Sample& sample : metric->samples) {
      leaves.push_back(fmt::format("{} {} {}", name, sample.inference, sample.value));
    }
  }
  std::sort(leaves.begin(), leaves.end());
  return leaves;
}

std::vector<fs::path> samples() {
  std::vector<fs::path> found;
  for (const fs::path folder :
       {NPUSCOPE_TEST_DATA "/chrome", NPUSCOPE_TEST_DATA "/qaic", NPUSCOPE_TEST_DATA "/torq",
        NPUSCOPE_TEST_DATA "/ggml", NPUSCOPE_SHARED_DIR "/data/qnn",
        NPUSCOPE_SHARED_DIR "/data/qaic", NPUSCOPE_SHARED_DIR "/data/sigmastar",
        NPUSCOPE_SHARED_DIR "/data/torq"}) {
    if (!fs::is_directory(folder)) continue;
    for (const auto& entry : fs::directory_iterator(folder)) {
      constexpr std::uintmax_t largest = 4 << 20;  // bytes
      if (entry.is_directory() || entry.file_size() < largest) found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

TEST(NumberNames, OfSamplesChangeNothingOnPages) {
  std::size_t numbers = 0;
  for (const fs::path& path : samples()) {
    auto opened = open_profiles(std::array{path});
    if (!opened) continue;
    for (Profile& profile : opened->profiles) {
      if (profile.spans.size() > 300'000) continue;
      SCOPED_TRACE(path.string() + ": " + profile.provenance.format);
      const auto before = numbers_of_pages(profile);
      OtherNames(profile).give();
      const auto after = numbers_of_pages(profile);
      std::vector<std::string> different;
      std::set_symmetric_difference(before.begin(), before.end(), after.begin(), after.end(),
                                    std::back_inserter(different));
      EXPECT_THAT(different, testing::IsEmpty());
      numbers += profile.measures.size() + profile.spans.measures.size();
    }
  }
  EXPECT_GT(numbers, 0u);
}

}  // namespace
}  // namespace npuscope::report::number_names_say_nothing_test
