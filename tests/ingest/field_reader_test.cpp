#include "ingest/field_reader.hpp"

#include <gmock/gmock.h>

#include <random>

#include "ingest/delimited.hpp"

namespace npuscope::field_reader_test {
namespace {

using Records = std::vector<std::vector<std::string>>;

Records plain_records(const std::string& text) {
  auto source = open_byte_source(text, "a.csv");
  CountedNotes losses;
  LineReader lines(**source, losses);
  FieldReader reader(lines, losses, ',');
  Records records;
  std::string scratch;
  while (reader.next()) {
    records.emplace_back();
    for (const std::string_view field : reader.fields()) {
      records.back().emplace_back(plain_field(field, scratch));
    }
  }
  return records;
}

Records records_of_twin(const std::string& text) {
  auto source = open_byte_source(text, "a.csv");
  CountedNotes losses;
  LineReader lines(**source, losses);
  DelimitedReader reader(lines, losses, ',');
  Records records;
  while (reader.next()) records.push_back(reader.fields());
  return records;
}

TEST(FieldReader, FieldsStandAsInTheText) {
  EXPECT_EQ(plain_records("\xef\xbb\xbf"
                          "a,\"b,\"\"c\"\"\",,d\r\n\"x\ny\",2\n"),
            (Records{{"a", "b,\"c\"", "", "d"}, {"x\ny", "2"}}));
  EXPECT_EQ(plain_records("5\" disk,1\n"), (Records{{"5\" disk", "1"}}));
}

// Of texts whose quotes stand around whole fields, as programs write them.
TEST(FieldReader, IsTheTwinOfTheDelimitedReader) {
  std::mt19937 random(7);
  const auto one_of = [&](int count) { return int(random() % unsigned(count)); };
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int row = one_of(5); row >= 0; --row) {
      for (int field = one_of(5); field >= 0; --field) {
        const bool is_quoted = one_of(3) == 0;
        if (is_quoted) text += '"';
        for (int i = one_of(6); i > 0; --i) {
          constexpr std::string_view plain = "ab. \t", within = "a,\n\"";
          const char c = is_quoted ? within[std::size_t(one_of(4))] : plain[std::size_t(one_of(5))];
          text += c == '"' ? "\"\"" : std::string(1, c);
        }
        if (is_quoted) text += '"';
        if (field > 0) text += ',';
      }
      text += one_of(4) == 0 ? "\r\n" : "\n";
    }
    ASSERT_EQ(plain_records(text), records_of_twin(text)) << text;
  }
}

TEST(FieldReader, AQuoteThatIsNeverClosedEnds) {
  const Records records = plain_records("a,\"b\nc,d\n" + std::string(100, 'x'));
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0][0], "a");
}

}  // namespace
}  // namespace npuscope::field_reader_test
