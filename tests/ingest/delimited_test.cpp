#include "ingest/delimited.hpp"

#include <gmock/gmock.h>

#include <random>

namespace npuscope::delimited_test {
namespace {

using testing::ElementsAre;
using Records = std::vector<std::vector<std::string>>;

struct Read {
  Records records;
  std::vector<std::uint64_t> offsets;
  std::vector<Note> notes;
};

Read read(std::string_view text, char delimiter = ',') {
  auto source = open_byte_source(text, "table.csv");
  Read read;
  if (!source) return read;
  CountedNotes losses;
  LineReader lines(**source, losses);
  DelimitedReader records(lines, losses, delimiter);
  while (records.next()) {
    read.records.push_back(records.fields());
    read.offsets.push_back(records.offset());
  }
  read.notes = losses.notes();
  return read;
}

TEST(Delimited, FieldsOfARecord) {
  const Read of = read(
      "\xEF\xBB\xBF"
      "a,b,c\r\n1,,\"x, y\"\r\n\r\n\"say \"\"hi\"\"\",in\"side,\n");
  EXPECT_THAT(of.records, ElementsAre(ElementsAre("a", "b", "c"), ElementsAre("1", "", "x, y"),
                                      ElementsAre(""), ElementsAre("say \"hi\"", "in\"side", "")));
  EXPECT_THAT(of.offsets, ElementsAre(0u, 10u, 21u, 23u));
}

TEST(Delimited, AQuotedFieldGoesOnInTheNextLine) {
  const Read of = read("x;\"proportion (%)\n\";y\n1;2;3\n", ';');
  EXPECT_THAT(of.records,
              ElementsAre(ElementsAre("x", "proportion (%)\n", "y"), ElementsAre("1", "2", "3")));
}

TEST(Delimited, AQuoteThatIsNeverClosedGathersNoMoreThanARecord) {
  std::string text = "a,\"b\n";
  for (int i = 0; i < 20'000; ++i) text += "1,2,3,4,5,6\n";
  const Read of = read(text);
  ASSERT_GT(of.records.size(), 2u);
  EXPECT_LT(of.records[0][1].size(), std::size_t{66} << 10);
  EXPECT_THAT(of.records.back(), ElementsAre("1", "2", "3", "4", "5", "6"));
  ASSERT_EQ(of.notes.size(), 1u);
  EXPECT_EQ(of.notes[0].message, "rows of more than 64 KiB; cut");
}

TEST(Delimited, ARowThatEndsInTheMiddleIsNone) {
  const Read cut = read("a,b,c\n1,2,3\n4,5");
  EXPECT_THAT(cut.records, ElementsAre(ElementsAre("a", "b", "c"), ElementsAre("1", "2", "3")));
  ASSERT_EQ(cut.notes.size(), 1u);
  EXPECT_EQ(cut.notes[0].severity, Severity::error);
  EXPECT_EQ(cut.notes[0].offset, 12u);
  EXPECT_EQ(cut.notes[0].message, "the file ends in the middle of a row; left out");
  const Read whole = read("a,b,c\n1,2,3\n4,5,6");
  EXPECT_EQ(whole.records.size(), 3u);
  ASSERT_EQ(whole.notes.size(), 1u);
  EXPECT_EQ(whole.notes[0].message, "the last row has no line end: the file may be cut short");
  EXPECT_TRUE(read("a,b,c\n1,2,3\n").notes.empty());
}

// What is written as RFC 4180 has it is read as it was.
TEST(Delimited, IsTheInverseOfQuoting) {
  std::mt19937 random(7);
  const std::string_view letters = "ab,\"\n ;";
  for (int round = 0; round < 500; ++round) {
    Records records(1 + random() % 4);
    std::string text;
    for (auto& record : records) {
      record.resize(1 + random() % 4);
      for (std::size_t i = 0; i < record.size(); ++i) {
        for (std::size_t length = random() % 5; length > 0; --length) {
          record[i] += letters[random() % letters.size()];
        }
        text += i > 0 ? ",\"" : "\"";
        for (const char c : record[i]) text += c == '"' ? std::string("\"\"") : std::string(1, c);
        text += '"';
      }
      text += '\n';
    }
    ASSERT_EQ(read(text).records, records) << text;
  }
}

}  // namespace
}  // namespace npuscope::delimited_test
