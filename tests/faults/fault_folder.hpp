// A folder with the inputs of all commands, in which one is run and what it leaves is judged.
//
//   const Result good = run(command);
//   const Result bad = run(command, {"NPUSCOPE_FAIL_CALL=write:0:28"});
//   expect_whole_or_absent(command, good, bad);
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cli/program.hpp"
#include "faults/writing_commands.hpp"

namespace npuscope::faults {

struct Result {
  cli::Outcome outcome;
  std::map<std::string, std::string> files;  // outputs, by their paths in the folder
  std::vector<std::string> temporary;        // files that should be gone
  // The spreadsheet library removes its files right after making them: a signal may come between.
  std::vector<std::string> empty_in_tmpdir;
};

// "LD_PRELOAD=" and preload/fail_call.cpp, for the environment of a program.
std::string preload_of_fail_call();

class FaultFolder : public testing::Test {
 public:
  // NPUSCOPE_ALL_FAULTS: ./dev faults, which takes its time.
  static bool is_full();

 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();

  // With an empty out/. `around` stands before the program: variables (NAME=VALUE), then a program
  // that runs it, such as prlimit.
  static Result run(const WritingCommand& command, const std::vector<std::string>& around = {});

  // As SetUpTestSuite() made them, after a command during which they changed.
  static void restore_inputs();

  // What any fault may lead to: all that a good run makes, or status 3 or 4 with a sentence, and
  // each output as it should be or absent. Where input may be lacking, outputs of the rest stand,
  // if a sentence says so.
  static void expect_whole_or_absent(const WritingCommand& command, const Result& good,
                                     const Result& after, bool may_lack_input);

  // Of it what does not depend on the outputs of a good run: the status, a sentence, and no
  // temporary file.
  static void expect_ended_well(const WritingCommand& command, const Result& after,
                                bool may_lack_input = true);

  // What a signal may lead to.
  static void expect_no_halves(const Result& good, const Result& after);

  static std::filesystem::path folder_;

 private:
  static std::filesystem::path kept_inputs();
  static std::string rows_of_store(const WritingCommand& command, int status);
};

}  // namespace npuscope::faults
