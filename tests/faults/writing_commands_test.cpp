// No command and no flag that writes is forgotten.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "faults/fault_folder.hpp"

namespace npuscope::faults::writing_commands_test {
namespace {

bool is_among_them(const std::string& part) {
  return std::ranges::any_of(writing_commands(), [&](const WritingCommand& command) {
    return (command.text() + " ").find(part) != std::string::npos;
  });
}

class WritingCommands : public FaultFolder {};

// By their man pages, which are made of the commands themselves: npuscope-torq-overview.1.
TEST_F(WritingCommands, HaveEveryCommand) {
  const Result pages = run({{"completion", "--man-pages", "out"}});
  ASSERT_GT(pages.files.size(), 20u);
  for (const auto& [name, text] : pages.files) {
    const std::string page = name.substr(4, name.size() - 6);  // without out/ and .1
    const bool is_group = std::ranges::any_of(pages.files, [&](const auto& other) {
      return other.first.starts_with("out/" + page + "-");
    });
    if (is_group) continue;
    std::string words = page;
    std::size_t dashes = 1;
    for (const char* group :
         {"npuscope-fleet", "npuscope-ipu", "npuscope-qpc", "npuscope-tables", "npuscope-torq"}) {
      if (page.starts_with(group)) dashes = 2;
    }
    for (char& c : words) {
      if (c == '-' && dashes > 0) --dashes, c = ' ';
    }
    EXPECT_TRUE(is_among_them(words + " ")) << words;
  }
}

// By the table that names the values of flags.
TEST_F(WritingCommands, HaveEveryFlagThatNamesAnOutput) {
  std::stringstream source;
  source << std::ifstream(std::filesystem::path(NPUSCOPE_SOURCE_DIR) / "src/cli/flag_values.cpp")
                .rdbuf();
  const std::string text = source.str();
  const std::regex row(R"re(\{"([A-Za-z_-]+)", written_(file|folder)\})re");
  std::size_t flags = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at, ++flags) {
    const std::string flag = (*at)[1];
    const std::string brief = flag == "output" || flag == "output-dir" ? "-o " : "-" + flag;
    EXPECT_TRUE(is_among_them(brief)) << flag;
  }
  EXPECT_GT(flags, 10u);
}

}  // namespace
}  // namespace npuscope::faults::writing_commands_test
