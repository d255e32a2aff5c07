// What opening leaves out, in few lines.
#include "report/document/provenance.hpp"

#include <gmock/gmock.h>

#include "analysis/profile_builder.hpp"

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

// Of ProfilerStep#2 to #5 the third was "number 4 of 4, counted from 0".
TEST(ScopeOfOne, OfStepsThatATraceNumbersSaysWhichTheyAre) {
  test_support::ProfileBuilder made;
  const UnitId cpu = made.unit("CPU", Engine::host);
  for (const std::uint32_t step : {2, 3, 4, 5}) {
    made.span(cpu, "MatMul", 10 * step, 10 * step + 5);
    made.profile.spans.instance.push_back(step);
  }
  EXPECT_EQ(scope_of_one(made.profile, 4), "one inference: number 4 of 2 to 5");
  for (std::uint32_t& step : made.profile.spans.instance) step -= 2;
  EXPECT_EQ(scope_of_one(made.profile, 2), "one inference: number 2 of 4, counted from 0");
}

}  // namespace
}  // namespace npuscope::report
