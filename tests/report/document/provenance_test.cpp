// What opening leaves out, in few lines.
#include "report/document/provenance.hpp"

#include <gmock/gmock.h>

namespace npuscope::report {
namespace {

using ::testing::ElementsAre;

TEST(NoteLines, SayTheSameOfSeveralFilesOnce) {
  const std::vector<Note> notes = {
      {Severity::info, "a.txt", 0, "not of a format that npuscope knows", 1},
      {Severity::warning, "1.log", 0, "closed", 1},
      {Severity::info, "b.json", 0, "a table without times", 1},
      {Severity::error, "x.csv", 9, "ends early", 1},
      {Severity::warning, "2.log", 0, "closed", 1},
      {Severity::warning, "3.log", 0, "closed", 1},
      {Severity::warning, "4.log", 0, "closed", 1},
      {Severity::warning, "5.log", 0, "closed", 2},
      {Severity::info, "", 0, "7 more files are not profiles of a known format", 7}};
  EXPECT_THAT(note_lines(notes),
              ElementsAre("info: 2 files are left out: a.txt, b.json; name one to see why",
                          "warning: 1.log, 2.log, 3.log and 1 more: closed",
                          "error: x.csv: ends early (byte 9)", "warning: 5.log: closed (2 times)",
                          "info: 7 more files are not profiles of a known format (7 times)"));
}

TEST(NoteLines, OfOneFileSayWhy) {
  EXPECT_THAT(note_lines({{Severity::info, "a.txt", 0, "not of a format", 1}}),
              ElementsAre("info: a.txt: not of a format"));
}

}  // namespace
}  // namespace npuscope::report
