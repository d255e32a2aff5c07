#include "formats/tables/description.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "profile/embedded_toml.hpp"

namespace npuscope::tables::description_test {
namespace {

constexpr const char* columns =
    "[[column]]\nhead = \"layer\"\nis = \"op\"\n"
    "[[column]]\nhead = \"time\"\nis = \"time\"\nunit = \"us\"\n";

std::string error_of(const std::string& toml) {
  const auto description = parse_description(toml, "mine.toml");
  return description ? "" : description.error().message;
}

TEST(TableDescriptions, BuiltInOnesAreAllRead) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(NPUSCOPE_SOURCE_DIR "/tables")) {
    std::ifstream file(entry.path());
    const std::string toml((std::istreambuf_iterator<char>(file)), {});
    const auto description = parse_description(toml, entry.path().string());
    EXPECT_TRUE(description) << description.error().message;
    ++files;
  }
  EXPECT_EQ(builtin_descriptions().size(), files);
}

// What is asked for without parsing, of those that come with the program.
TEST(TableDescriptions, AskForTheHeadsThatNoVersionLacksAndForPlainMarks) {
  for (const EmbeddedToml& file : builtin_description_files()) {
    const std::string path = NPUSCOPE_SOURCE_DIR "/tables/" + std::string(file.name) + ".toml";
    std::ifstream stream(path);
    const std::string toml((std::istreambuf_iterator<char>(stream)), {});
    const auto description = parse_description(toml, path);
    ASSERT_TRUE(description) << description.error().message;
    std::vector<std::string> heads, asked;
    for (const TableColumn& column : description->columns) {
      if (!column.optional && description->heads.empty()) heads.push_back(column.head);
    }
    const auto texts = texts_asked_for(file);
    for (const std::string_view text : texts) {
      const bool is_head = std::ranges::find(heads, text) != heads.end();
      const bool is_mark = std::ranges::any_of(
          description->marks, [&](const Pattern& mark) { return mark.found_in(text); });
      EXPECT_TRUE(is_head || is_mark) << path << ": " << text;
      if (is_head) asked.emplace_back(text);
    }
    EXPECT_EQ(asked, heads) << path;
    EXPECT_FALSE(texts.empty()) << path << " would be parsed for each file";
  }
}

TEST(TableDescriptions, FitNoTextThatLacksAHeadOfEach) {
  EXPECT_TRUE(may_fit_builtin_description("LayerID, Total Cycles, Stall Cycles, Overall Util %"));
  EXPECT_TRUE(may_fit_builtin_description(
      "\"LayerID\",\"Total\nCycles\",\"Stall\nCycles\",\"Overall\nUtil %\""));
  EXPECT_FALSE(may_fit_builtin_description("LayerID, Cycles of all, Overall Util %"));
  EXPECT_FALSE(may_fit_builtin_description("# What this folder holds\n"));
}

TEST(TableDescriptions, SayWhatIsWrongAndWhere) {
  const std::string begin = "name = \"x\"\norigin = \"measured\"\n";
  EXPECT_EQ(error_of(begin + columns), "");
  EXPECT_EQ(error_of("name = \n"),
            "mine.toml:1: Error while parsing key-value pair: expected value, "
            "saw '\\n'; correct the line");
  EXPECT_EQ(error_of(columns), "mine.toml:1: 'name' is missing");
  EXPECT_EQ(error_of("name = \"x\"\norigin = \"guessed\"\n" + std::string(columns)),
            "mine.toml:2: 'origin' must be one of: measured, estimated, simulated");
  EXPECT_EQ(
      error_of(begin + "[[column]]\nhead = \"a\"\nis = \"op\"\nunits = \"us\"\n"),
      "mine.toml:6: 'units' is unknown (did you mean 'unit'?); the keys here are head, is, unit, "
      "statistic, origin, name, prefix, optional, zero_is_unknown, part");
  EXPECT_EQ(error_of(begin + "[[column]]\nhead = \"a\"\nis = \"op\"\n"),
            "mine.toml: no column is a time");
  EXPECT_EQ(error_of(begin + "[[column]]\nhead = \"a\"\nis = \"time\"\nunit = \"bytes\"\n"),
            "mine.toml:3: a time needs a 'unit' of time: cycles, ns, us, ms, s");
  EXPECT_EQ(error_of(begin + columns + "[[row]]\nhead = \"b\"\nequals = \"c\"\nis = \"skipped\"\n"),
            "mine.toml: the 'b' of a row is not a column");
  EXPECT_EQ(error_of(begin + columns + "[[row]]\nhead = \"layer\"\nis = \"skipped\"\n"),
            "mine.toml:10: 'equals' or 'matches' is missing");
  EXPECT_EQ(error_of(begin + columns +
                     "[[engine]]\nhead = \"layer\"\nequals = \"x\"\nzero = \"b\"\nis = \"dma\"\n"),
            "mine.toml: the 'b' of an engine is not a column");
  EXPECT_EQ(error_of(begin + columns + "[[line]]\nmatches = 'a'\nis = \"runs\"\n"),
            "mine.toml:10: 'matches' needs a group, (...), which the number is");
  EXPECT_EQ(error_of(begin + columns + "[[line]]\nmatches = '(a'\nis = \"runs\"\n").substr(0, 21),
            "mine.toml:11: matches");
  EXPECT_EQ(error_of(begin + columns + "[[line]]\nmatches = '(a)'\nis = \"latency\"\n"),
            "mine.toml:10: a latency needs a 'unit' of time: cycles, ns, us, ms, s");
  EXPECT_EQ(error_of(begin + columns +
                     "[[line]]\nmatches = '(a)'\nis = \"latency\"\nunit = \"cycles\"\n"),
            "mine.toml:10: a latency needs a 'unit' of time: ns, us, ms, s");
  const std::string latency = "[[column]]\nhead = \"l\"\nis = \"latency\"\nunit = \"ms\"\n";
  EXPECT_EQ(error_of(begin + columns + latency),
            "mine.toml:10: a latency needs a 'statistic' and a 'unit' of time: ns, us, ms, s");
  EXPECT_EQ(error_of(begin + columns + latency + "statistic = \"mean\"\n"),
            "mine.toml: a latency is a column of rows that are networks");
  EXPECT_EQ(error_of(begin + "warm = true\n" + columns),
            "mine.toml: 'warm' is of rows that are inferences");
  EXPECT_EQ(error_of(begin), "mine.toml: no column is the op");
  EXPECT_EQ(error_of(begin + "heads = [\"layer\", \"time\"]\n" + columns),
            "mine.toml: 'heads' need the 'title' above the rows, and 'marks'");
  EXPECT_EQ(error_of(begin + "rows = \"networks\"\n" + columns),
            "mine.toml: no column is the network");
  EXPECT_EQ(error_of(begin + "rows = \"inferences\"\n" + columns),
            "mine.toml: no column is a start");
  EXPECT_EQ(error_of(begin + columns + "[[column]]\nhead = \"f\"\nis = \"clock\"\n"),
            "mine.toml:10: a clock needs the 'unit' Hz");
}

TEST(TableDescriptions, OfFoldersAreAllTheirFiles) {
  const auto all = read_descriptions({NPUSCOPE_SOURCE_DIR "/tables"});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->size(), builtin_descriptions().size());
  EXPECT_EQ(read_descriptions({NPUSCOPE_SOURCE_DIR "/src/base"}).error().message,
            NPUSCOPE_SOURCE_DIR "/src/base: the folder has no .toml file; name a description");
}

}  // namespace
}  // namespace npuscope::tables::description_test
