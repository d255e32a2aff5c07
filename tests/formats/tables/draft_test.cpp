#include "formats/tables/draft.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "formats/tables/read_table.hpp"

namespace npuscope::tables::draft_test {
namespace {

using testing::HasSubstr;

// "Layer Name=op; Duration (us)=time us"
std::string guessed(const std::string& text) {
  auto source = open_byte_source(text, "folder/layers.csv");
  const auto draft = draft_description(**source);
  if (!draft) return draft.error().message;
  std::string line;
  for (const DraftColumn& each : draft->columns) {
    line +=
        fmt::format("{}{}={}", line.empty() ? "" : "; ", each.column.head, word_of(each.column.is));
    if (each.column.unit != TableUnit::count) line += fmt::format(" {}", word_of(each.column.unit));
    if (each.is_unit_guessed) line += '?';
  }
  return line;
}

constexpr const char* timeline =
    "Layer Name;Op Type;Core;Start (us);Duration (us);Bytes;Util %\n"
    "conv1;Conv2D;0;0.0;12.5;4096;55.0\n"
    "relu1;Relu;1;12.5;3.25;2048;10.0\n";

TEST(TableDrafts, GuessByHeadsAndRows) {
  EXPECT_EQ(guessed(timeline),
            "Layer Name=op; Op Type=kind; Core=unit; Start (us)=start us; Duration (us)=time us; "
            "Bytes=number bytes; Util %=number percent");
  EXPECT_EQ(guessed("id,cycles,stall cycles\n0,1891,0\n1,22943,8004\n"),
            "id=op; cycles=time cycles; stall cycles=number cycles");
  EXPECT_EQ(guessed("# a preamble\n\nstage\tvalue\telapsed\nload\t7\t3.5\nrun\t8\t4\n"),
            "stage=op; value=number; elapsed=time us?");
  EXPECT_EQ(guessed("a,b\nx,y\n"),
            "folder/layers.csv: no line is a header of names with a row of as many cells below; "
            "tables are drafted of text with a delimiter (CSV): write the description by hand "
            "(docs/formats/tables.md)");
}

TEST(TableDrafts, AreDescriptionsThatReadTheFile) {
  auto source = open_byte_source(std::string_view(timeline), "layers.csv");
  const std::string toml = description_text(*draft_description(**source));
  EXPECT_EQ(
      toml.substr(0, toml.find("\n\n")),
      "# Drafted from 2 rows of layers.csv: what a column is was guessed from its head. Correct "
      "it; keys and\n# values are in docs/formats/tables.md. npuscope tables check says what is "
      "wrong.\nname = \"layers\"\norigin = \"measured\"  # or estimated, simulated\ndelimiter = "
      "\";\"");
  const auto description = parse_description(toml, "mine.toml");
  ASSERT_TRUE(description) << description.error().message;
  ASSERT_TRUE(recognise_table(timeline, {&*description, 1}));
  source = open_byte_source(std::string_view(timeline), "layers.csv");
  const auto profiles = read_table(**source, *description);
  ASSERT_TRUE(profiles) << profiles.error().message;
  const Profile& profile = profiles->front();
  ASSERT_EQ(profile.spans.size(), 2u);
  EXPECT_EQ(profile.spans.start[1], 12'500);
  EXPECT_EQ(profile.spans.duration[1], 3'250);
  EXPECT_EQ(profile.text(profile.units[1].name), "core 1");
}

TEST(TableDrafts, SayWhatIsMissing) {
  auto source = open_byte_source(std::string_view("layer,size\nconv,3\n"), "layers.csv");
  const std::string toml = description_text(*draft_description(**source));
  EXPECT_THAT(toml, HasSubstr("# No column looks like the time of a row"));
  EXPECT_EQ(parse_description(toml, "mine.toml").error().message, "mine.toml: no column is a time");
}

}  // namespace
}  // namespace npuscope::tables::draft_test
