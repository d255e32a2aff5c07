#include "report/document/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "analysis/profile_builder.hpp"

namespace npuscope::report::document_test {
namespace {

using ::testing::HasSubstr;

Section units_section() {
  Section units{.key = "units", .title = "UNITS"};
  units.facts = {{{"wall", "wall", Format::ticks}, 64829},
                 {{"peak_bytes", "peak", Format::bytes}, Value()},
                 {{"hidden", "", Format::count}, 7}};
  units.table.fields = {{"unit", "unit", Format::name},
                        {"busy", "busy", Format::ticks},
                        {"busy_share_of_wall", "of wall", Format::share},
                        {"rate", "rate", Format::hertz, true, true},
                        {"engines", "engines", Format::names, false}};
  units.table.rows = {{"HMX", 12312, 0.19, Value(), std::vector<std::string>{"HMX", "DMA"}},
                      {"=cmd()", 1, std::numeric_limits<double>::quiet_NaN(), Value(), Value()}};
  units.table.row_count = 4;
  units.remarks = {"Busy times of units that run side by side do not add up to the wall."};
  return units;
}

Document document_of(const Profile& profile) {
  return {.profile = &profile, .selection = "from 2ms", .sections = {units_section()}};
}

Profile profile_from(const char* file) {
  test_support::ProfileBuilder made;
  made.profile.provenance.files = {file};
  made.profile.provenance.format = "QNN HTP optrace";
  made.profile.notes.push_back({Severity::warning, file, 90, "an end without begin", 3});
  return std::move(made.profile);
}

TEST(Document, AsText) {
  const Profile profile = profile_from("set/trace.json");
  const std::string expected = R"(set/trace.json
  selection    from 2ms
  notes        1 warning; npuscope show --full lists them

UNITS (2 of 4)
  wall        64,829
  unit      busy  of wall  engines
  HMX     12,312   19.0 %  HMX, DMA
  =cmd()       1
  Busy times of units that run side by side do not add up to the wall.
)";
  EXPECT_EQ(document_text(document_of(profile), 80), expected);
}

TEST(Document, ATableWithoutRowsLeftItsTitleWithNothingBelow) {
  Document document;
  Section empty{.key = "units", .title = "UNITS"};
  empty.table.fields = {{"unit", "unit"}, {"hidden", "", Format::count}};
  document.sections = {empty};
  EXPECT_EQ(document_text(document, 80), "UNITS\n  none\n");
  document.sections[0].table.rows = {{"HMX", 1}};
  EXPECT_EQ(document_text(document, 80), "UNITS\n  unit\n  HMX\n");
  document.sections[0].table = {};
  EXPECT_EQ(document_text(document, 80), "UNITS\n");
}

TEST(Document, ListsOfNumbersAndExactNumbers) {
  Document document;
  Section section{.key = "tensor", .title = "TENSOR"};
  section.facts = {{{"shape", "shape", Format::numbers}, std::vector<std::int64_t>{1, 480, 800}},
                   {{"scale", "scale", Format::exact}, 0.00055925}};
  document.sections = {section};
  EXPECT_THAT(document_text(document, 80), HasSubstr("shape       [1, 480, 800]\n"));
  EXPECT_THAT(document_text(document, 80), HasSubstr("scale       0.00055925\n"));
  EXPECT_THAT(document_json(document, {}), HasSubstr("0.00055925"));
}

// A legend explained p50 and p95 where the page had no room for them, and nothing said so.
TEST(Document, TablesThatLeaveColumnsOutAreNamedWithTheWidthThatShowsAll) {
  Document document{.sections = {units_section()}};
  document.sections[0].table.rows[0][0] = std::string(30, 'n');
  document.sections[0].table.rows[0][4] = std::vector<std::string>{std::string(40, 'e')};
  const std::string narrow = document_text(document, 60);
  const std::string note = "\n\n  some columns hidden in UNITS; --width ";
  const std::size_t place = narrow.find(note);
  ASSERT_NE(place, narrow.npos) << narrow;
  const std::size_t width = std::stoul(narrow.substr(place + note.size()));
  EXPECT_EQ(document_text(document, width).find("hidden"), std::string::npos);
  EXPECT_THAT(document_text(document, width), HasSubstr(std::string(40, 'e')));
  EXPECT_THAT(document_text(document, width - 1), HasSubstr("hidden"));
}

TEST(Document, LinesFitTheWidth) {
  const Profile profile = profile_from("set/trace.json");
  Document document = document_of(profile);
  document.sections[0].facts.push_back({{"advice", "advice"}, std::string(300, 'x') + " and more"});
  const std::string text = document_text(document, 60);
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    EXPECT_LE(text.substr(begin, end - begin).size(), 62u) << text.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST(Document, AsJson) {
  const Profile profile = profile_from("set/trace.json");
  Document document = document_of(profile);
  document.sections[0].parts = {{.key = "finding", .in_list = true}};
  document.sections[0].parts[0].facts = {{{"rule", "rule"}, "spill"}};
  const std::string expected = R"json({
  "profiles": [
    {
      "files": [
        "set/trace.json"
      ],
      "format": "QNN HTP optrace",
      "clock": {
        "name": "cycles",
        "kind": "unit_cycles",
        "unit": "cycles",
        "hertz": null
      },
      "partial": false,
      "structure_only": false,
      "scope": null,
      "selection": "from 2ms",
      "units": {
        "wall": 64829,
        "peak_bytes": null,
        "hidden": 7,
        "row_count": 4,
        "rows": [
          {
            "unit": "HMX",
            "busy": 12312,
            "busy_share_of_wall": 0.19,
            "rate": null,
            "engines": [
              "HMX",
              "DMA"
            ]
          },
          {
            "unit": "=cmd()",
            "busy": 1,
            "busy_share_of_wall": null,
            "rate": null,
            "engines": null
          }
        ],
        "remarks": [
          "Busy times of units that run side by side do not add up to the wall."
        ],
        "finding": [
          {
            "rule": "spill"
          }
        ]
      },
      "notes": [
        {
          "severity": "warning",
          "file": "set/trace.json",
          "offset": 90,
          "count": 3,
          "message": "an end without begin"
        }
      ]
    }
  ],
  "notes": []
}
)json";
  EXPECT_EQ(documents_json({&document, 1}, {}), expected);
}

TEST(Document, AsCsv) {
  const Profile profile = profile_from("set/trace.json");
  const Document document = document_of(profile);
  EXPECT_EQ(documents_csv({&document, 1}, "").value(),
            "unit,busy,busy_share_of_wall,rate,engines\n"
            "HMX,12312,0.19,,HMX;DMA\n"
            "\"'=cmd()\",1,,,\n");
}

TEST(Document, CsvOfSeveralProfilesSaysWhich) {
  const Profile first = profile_from("a.json"), second = profile_from("b.json");
  const std::vector<Document> documents{document_of(first), document_of(second)};
  EXPECT_EQ(documents_csv(documents, "units").value(),
            "profile,unit,busy,busy_share_of_wall,rate,engines\n"
            "a.json,HMX,12312,0.19,,HMX;DMA\n"
            "a.json,\"'=cmd()\",1,,,\n"
            "b.json,HMX,12312,0.19,,HMX;DMA\n"
            "b.json,\"'=cmd()\",1,,,\n");
}

TEST(Document, AnUnknownTableNamesThoseThereAre) {
  const Profile profile = profile_from("a.json");
  const Document document = document_of(profile);
  const auto csv = documents_csv({&document, 1}, "ops");
  ASSERT_FALSE(csv);
  EXPECT_EQ(csv.error().kind, ErrorKind::usage);
  EXPECT_THAT(csv.error().message, HasSubstr("unknown table 'ops'; the tables are: units"));
}

TEST(Document, NumbersBeyondSixtyThreeBitsStayLarge) {
  const Value value(~std::uint64_t{0});
  EXPECT_EQ(std::get<double>(value.held()), 18446744073709551616.0);
}

}  // namespace
}  // namespace npuscope::report::document_test
