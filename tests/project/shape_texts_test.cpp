// Nobody behind the readers reads shapes, operands or ports out of texts: a profile has them as
// numbers (npuscope/profile/shapes.hpp), and src/profile/shape_texts.hpp makes them of what files
// print. Here the text of the sources is searched for the forms that reading had.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace npuscope::project_shape_texts_test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> readings_of(std::istream& source, const std::string& file) {
  static const std::regex reading(
      R"re(shape_texts\.hpp|\b(shape|operands|attribute|port)_in\(|\bread_op_texts\(|)re"
      R"re(PortDescription|TransactionId|"(Kernels|Transposed)[:"]|"(->|<-)"|find\(["'][\[<]|)re"
      R"re([.>]operands\b *[),;]|)re"
      R"re([.>](shape|attributes)\)*\.(r?find|starts_with|ends_with|contains|substr)|)re"
      R"re((take|parse)_number.*(shape|operands|attributes|dims)\b)re");
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

TEST(ShapeTexts, AreReadByReadersOnly) {
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

TEST(ShapeTexts, AReadingIsSeen) {
  for (const char* line :
       {R"re(#include "profile/shape_texts.hpp")re",
        R"re(const auto output = shape_in(profile_.text(matrix.shape), shapes);)re",
        R"re(const std::string_view ports = attribute(attributes, "PortDescription");)re",
        R"re(const auto out = ports.find("->");)re",
        R"re(if (attributes.find("Kernels:") != attributes.npos) {)re",
        R"re(if (const auto open = text.find('['); open != text.npos) {)re",
        R"re(const auto product = read_operands(profile.text(matrix.operands));)re",
        R"re(if (profile.text(op.shape).starts_with("[1,")) return;)re",
        R"re(const auto extent = take_number<std::int64_t>(shape);)re"}) {
    std::istringstream source(line);
    EXPECT_THAT(readings_of(source, "a.cpp"), testing::SizeIs(1)) << line;
  }
  std::istringstream fine("rows.push_back({std::string(profile_.text(op.shape))});");
  EXPECT_THAT(readings_of(fine, "a.cpp"), testing::IsEmpty());
}

}  // namespace
}  // namespace npuscope::project_shape_texts_test
