// Nobody behind the readers looks at what a number is called: analyses, queries and pages ask for
// its meaning (npuscope/profile/meaning.hpp). tests/report/show tries it; here the text of the
// sources is searched for the forms that it had.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace npuscope::number_names_test {
namespace {

namespace fs = std::filesystem;

// The lines of a source that read the name of a number.
std::vector<std::string> readings_of(std::istream& source, const std::string& file) {
  static const std::regex reading(
      R"re(\bwhat\) *([!=]= *"|\.(r?find|starts_with|ends_with))|)re"
      R"re(\b(column|columns\[.*\]|series|measure)\.name\)?\.(r?find|starts_with|ends_with)|)re"
      R"re(\bname\)? *[!=]= *"[^"]*(bytes|\(Hz\)|percent|path)|)re"
      R"re(strings\.find\("|\bnumber_named\(|\bevent_of_pmu_measure\(|number_names\.hpp)re");
  std::vector<std::string> found;
  std::size_t number = 0;
  for (std::string line; std::getline(source, line);) {
    ++number;
    if (std::regex_search(line, reading)) {
      found.push_back(file + ":" + std::to_string(number) + ": " + line);
    }
  }
  return found;
}

TEST(NumberNames, AreReadByReadersOnly) {
  std::vector<std::string> found;
  int files = 0;
  for (const char* folder : {"/src/analysis", "/src/query", "/src/report",
                             "/include/npuscope/analysis", "/include/npuscope/query"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(std::string(NPUSCOPE_SOURCE_DIR) + folder)) {
      if (!entry.is_regular_file()) continue;
      ++files;
      std::ifstream source(entry.path());
      for (std::string& line : readings_of(source, entry.path().filename().string())) {
        found.push_back(std::move(line));
      }
    }
  }
  EXPECT_GT(files, 100);
  EXPECT_THAT(found, testing::IsEmpty());
}

TEST(NumberNames, AReadingIsSeen) {
  for (const char* line : {R"re(if (profile.text(column.what) == "packets") return;)re",
                           R"re(is_bytes = profile_.text(measure.what).find("byte") != npos;)re",
                           R"re(return column.name.starts_with("utilization");)re",
                           R"re(const auto name = profile.strings.find("dominant path");)re",
                           R"re(if (column.name == "effective frequency (Hz)") return 1;)re",
                           R"re(if (numbers.columns[i].name != "utilization percent") continue;)re",
                           R"re(const Meaning meaning = number_named(kind, name).meaning;)re"}) {
    std::istringstream source(line);
    EXPECT_THAT(readings_of(source, "a.cpp"), testing::SizeIs(1)) << line;
  }
  std::istringstream fine("rows.push_back({std::string(profile_.text(column.what))});");
  EXPECT_THAT(readings_of(fine, "a.cpp"), testing::IsEmpty());
}

}  // namespace
}  // namespace npuscope::number_names_test
