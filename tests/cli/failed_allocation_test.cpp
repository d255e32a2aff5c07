// One allocation fails, wherever: a sentence and a status, never an abort.
#include <gmock/gmock.h>

#include <cstdlib>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::failed_allocation_test {
namespace {

using testing::HasSubstr;

class FailedAllocation : public TraceFolder {
 protected:
  // Every so manieth allocation of a program, one after another, until one run does not come so
  // far.
  void expect_a_sentence(const std::vector<std::string>& arguments, long step) const {
    int failed = 0, ended_well = 0;
    for (long number = 0; number < 200'000; number += number < 10 ? 1 : step) {
      const std::string environment = "NPUSCOPE_FAIL_ALLOCATION=" + std::to_string(number) +
                                      " LD_PRELOAD=" NPUSCOPE_FAIL_ALLOCATION_LIBRARY;
      std::vector<std::string> all{environment.substr(0, environment.find(' ')),
                                   environment.substr(environment.find(' ') + 1), NPUSCOPE_PROGRAM};
      all.insert(all.end(), arguments.begin(), arguments.end());
      const Outcome outcome = run_program_at("/usr/bin/env", all);
      ASSERT_TRUE(outcome.status == 0 || outcome.status == 3 || outcome.status == 4)
          << arguments.front() << ": allocation " << number << ": status " << outcome.status << ", "
          << outcome.errors;
      if (outcome.status == 0) {
        if (++ended_well == 3) break;  // some failures are made good, such as a buffer's
        continue;
      }
      ended_well = 0;
      ++failed;
      ASSERT_THAT(outcome.errors, HasSubstr("npuscope: ")) << number;
    }
    EXPECT_GT(failed, 10);
  }
};

TEST_F(FailedAllocation, OfTheSetUpAbortedTheProgram) { expect_a_sentence({"--version"}, 347); }

TEST_F(FailedAllocation, OfACommandIsASentence) {
  expect_a_sentence({"diff", path("trace.json"), path("trace.json")}, 419);
  expect_a_sentence({"show", path("trace.json")}, 503);
}

}  // namespace
}  // namespace npuscope::cli::failed_allocation_test
