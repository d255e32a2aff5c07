// What making calls fail has found, each fault with the call that showed it.
#include <gmock/gmock.h>

#include <fstream>

#include "faults/fault_folder.hpp"

namespace npuscope::faults::mended_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Mended : public FaultFolder {
 protected:
  // "open:3:13", as preload/fail_call.cpp takes it.
  static Result run_with(const WritingCommand& command, const std::string& fault) {
    return run(command, {"NPUSCOPE_FAIL_CALL=" + fault, "NPUSCOPE_COUNT_INTO=" + count_file(),
                         preload_of_fail_call()});
  }

  // How many such calls a good run of it makes; none where they cannot be caught here.
  static long calls(const WritingCommand& command, const std::string& name) {
    const Result good = run_with(command, name + ":-1:5");
    if (good.outcome.status != 0) return 0;
    long count = 0;
    std::ifstream(count_file()) >> count;
    return count;
  }

  static std::string count_file() { return (folder_ / "count").string(); }
};

// Where memory ended under std::call_once, whose exceptions pass the C library.
TEST_F(Mended, OutOfMemoryForGoodAborted) {
  const WritingCommand command{{"diff", "trace.json", "trace.json"}};
  const long count = calls(command, "allocation");
  ASSERT_GT(count, 100);
  for (long number = 0; number < count; number += count / 40) {
    const Result after = run_with(command, "allocation:" + std::to_string(number) + "+:12");
    EXPECT_THAT(after.outcome.status, testing::AnyOf(0, 3, 4)) << number;
    EXPECT_TRUE(after.outcome.status == 0 || after.outcome.errors.starts_with("npuscope: "))
        << number << ": " << after.outcome.errors;
  }
}

TEST_F(Mended, SigquitLeftATemporaryFile) {
  const WritingCommand command{{"convert", "trace.json", "-o", "out/trace.pftrace"}};
  if (calls(command, "write") == 0) GTEST_SKIP() << "no system call can be caught here (seccomp)";
  const Result after = run_with(command, "write:0:quit");
  EXPECT_EQ(after.outcome.status, -1) << after.outcome.errors;  // the signal's end
  EXPECT_THAT(after.temporary, IsEmpty());
  EXPECT_THAT(after.files, IsEmpty());
}

// It said that the file was a folder, pipe or device.
TEST_F(Mended, AFileWithoutAStateWasCalledAFolder) {
  const WritingCommand command{{"qpc", "list", "binaries/programqpc.bin"}};
  const long count = calls(command, "stat");
  if (count == 0) GTEST_SKIP() << "no system call can be caught here (seccomp)";
  int refused = 0;
  for (long number = 0; number < count; ++number) {
    const Result after = run_with(command, "stat:" + std::to_string(number) + ":13");
    if (after.outcome.status == 0) continue;
    ++refused;
    EXPECT_THAT(after.outcome.errors, Not(HasSubstr("a folder, pipe or device"))) << number;
    EXPECT_THAT(after.outcome.errors, HasSubstr("Permission denied")) << number;
  }
  EXPECT_GT(refused, 0);
}

// "written (0 B)", of a database whose size could not be looked at.
TEST_F(Mended, ADatabaseOfUnknownSizeWasSaidToHaveNone) {
  const WritingCommand command{{"convert", "trace.json", "-o", "out/profile.db"}};
  const long count = calls(command, "stat");
  if (count == 0) GTEST_SKIP() << "no system call can be caught here (seccomp)";
  const Result good = run(command);
  for (long number = 0; number < count; ++number) {
    const Result after = run_with(command, "stat:" + std::to_string(number) + ":13");
    expect_whole_or_absent(command, good, after, true);
  }
}

// The page was of the other files of the folder, with status 0.
TEST_F(Mended, AnUnreadableFileOfAFolderGaveStatusZero) {
  const WritingCommand command{{"show", "stats", "binaries/programqpc.bin"}};
  const long count = calls(command, "open");
  if (count == 0) GTEST_SKIP() << "no system call can be caught here (seccomp)";
  int refused = 0;
  for (long number = 0; number < count && refused < 2; ++number) {
    const Result after = run_with(command, "open:" + std::to_string(number) + ":13");
    if (after.outcome.errors.find("error: stats/") == std::string::npos) continue;
    ++refused;
    EXPECT_EQ(after.outcome.status, 3) << after.outcome.errors;
  }
  EXPECT_EQ(refused, 2);
}

// It stood in the JSON alone, and the status came without a word.
TEST_F(Mended, WhatDecidesTheStatusWasNotOnStandardErrorNextToJson) {
  for (const char* name : {"show", "ops", "diagnose"}) {
    const Result after = run({{name, "trace.json", "missing.json", "--json"}});
    EXPECT_EQ(after.outcome.status, 3) << name;
    EXPECT_EQ(after.outcome.errors,
              "npuscope: error: missing.json: no such file or folder; check the path\n")
        << name;
  }
}

}  // namespace
}  // namespace npuscope::faults::mended_test
