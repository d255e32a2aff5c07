// The words that texts for people avoid (CONTRIBUTING.md, Style), looked for in the string literals
// of the sources: "not a QPC" rather than "is no QPC", "unknown" rather than "nobody knows".
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

namespace npuscope::wording_test {
namespace {

namespace fs = std::filesystem;

// With the line ends of literals that stand side by side taken out, and without comments.
std::string text_of(const fs::path& path) {
  std::string text;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t comment = line.find("//");
    const bool in_url = comment != line.npos && comment > 0 && line[comment - 1] == ':';
    if (comment != line.npos && !in_url) line.resize(comment);
    line.erase(0, line.find_first_not_of(' '));
    line.erase(line.find_last_not_of(' ') + 1);
    if (text.ends_with('"') && line.starts_with('"')) {
      text.pop_back();
      line.erase(0, 1);
    } else {
      text += '\n';
    }
    text += line;
  }
  return text;
}

// Errors said "is no QPC", and pages "units at work on average while any is, 1 at most".
TEST(Wording, OfTextsSaysNotRatherThanIsNoAndUnknownRatherThanNobody) {
  const std::regex avoided(
      R"re("[^"\n]*\b(there (is|are) no|(is|are) no (?!more|less|longer|larger)[a-z]+|nobody|glue|told)\b[^"\n]*")re",
      std::regex::icase | std::regex::optimize);
  EXPECT_TRUE(std::regex_search("\"{}: is no QPC\"", avoided));
  EXPECT_FALSE(std::regex_search("\"is no more than that\"", avoided));
  const fs::path root = fs::path(NPUSCOPE_SOURCE_DIR) / "src";
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".cpp") continue;
    files += 1;
    std::istringstream lines(text_of(path));
    for (std::string line; std::getline(lines, line);) {
      std::smatch found;
      if (line.find('"') != line.npos && std::regex_search(line, found, avoided)) {
        if (found.str().find(' ') == std::string::npos) continue;  // a key
        ADD_FAILURE() << path.lexically_relative(root).string() << ": " << found.str();
      }
    }
  }
  EXPECT_GT(files, 300u);
}

}  // namespace
}  // namespace npuscope::wording_test
