// One allocation fails, wherever: a sentence and a status, never an abort.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"
#include "faults/fault_folder.hpp"

namespace npuscope::faults::failed_allocation_test {
namespace {

using cli::Outcome;
using cli::run_npuscope;
using cli::run_program_at;
using cli::TraceFolder;
using testing::HasSubstr;

class FailedAllocation : public TraceFolder {
 protected:
  // Every so manieth allocation of a program, one after another, until one run does not come so
  // far.
  void expect_a_sentence(
      const std::vector<std::string>& arguments, long step,
      const std::function<void()>& after_each = [] {}) const {
    int failed = 0, ended_well = 0;
    for (long number = 0; number < 200'000; number += number < 10 ? 1 : step) {
      std::vector<std::string> all{"NPUSCOPE_FAIL_CALL=allocation:" + std::to_string(number) + ":0",
                                   preload_of_fail_call(), cli::npuscope_program()};
      all.insert(all.end(), arguments.begin(), arguments.end());
      const Outcome outcome = run_program_at("/usr/bin/env", all);
      ASSERT_TRUE(outcome.status == 0 || outcome.status == 3 || outcome.status == 4)
          << arguments.front() << ": allocation " << number << ": status " << outcome.status << ", "
          << outcome.errors;
      after_each();
      if (outcome.status == 0) {
        if (++ended_well == max_made_good_)
          break;  // some failures are made good, such as a buffer's
        continue;
      }
      ended_well = 0;
      ++failed;
      ASSERT_THAT(outcome.errors, HasSubstr("npuscope: ")) << number;
    }
    EXPECT_GT(failed, 10);
  }

  int max_made_good_ = 3;  // one after another, until the program is known to have ended before
};

TEST_F(FailedAllocation, OfTheSetUpAbortedTheProgram) { expect_a_sentence({"--help"}, 347); }

TEST_F(FailedAllocation, OfACommandIsASentence) {
  expect_a_sentence({"diff", path("trace.json"), path("trace.json")}, 419);
  expect_a_sentence({"show", path("trace.json")}, 503);
}

// The spreadsheet library crashed, or left parts of the file out and said nothing.
TEST_F(FailedAllocation, OfASpreadsheetGaveHalfAFile) {
  const std::string data = NPUSCOPE_TEST_DATA "/torq/";
  const auto annotate = [&](const char* name) {
    return std::vector<std::string>{"torq", "annotate", data + "debug_info", data + "runtime.csv",
                                    path(name)};
  };
  ASSERT_EQ(run_npuscope(annotate("whole.xlsx")).status, 0);
  const auto after_each = [&] {
    if (!std::filesystem::exists(path("failed.xlsx"))) return;
    EXPECT_EQ(std::filesystem::file_size(path("failed.xlsx")),
              std::filesystem::file_size(path("whole.xlsx")));
    std::filesystem::remove(path("failed.xlsx"));
  };
  max_made_good_ = 20;
  expect_a_sentence(annotate("failed.xlsx"), 61, after_each);
}

}  // namespace
}  // namespace npuscope::faults::failed_allocation_test
