// One call of a command fails, whichever: its outputs are whole or absent, and it says so.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>

#include "faults/fault_folder.hpp"

namespace npuscope::faults::failed_call_test {
namespace {

enum class Outcome : std::uint8_t {
  whole_or_absent,
  less_input,   // or of what could be read, with a sentence
  other_input,  // or of what the file has become
  ended,        // by a signal: no temporary file, and no half of an output
  same          // made good: nothing is lost
};

struct Fault {
  std::string_view name;
  const char* call;        // as preload/fail_call.cpp names it
  const char* later = "";  // "+": all later ones too
  const char* how = "";
  Outcome outcome = Outcome::whole_or_absent;
  long dense = 1;  // every so manieth call, when all are tried
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

// errno: 4 EINTR, 5 EIO, 11 EAGAIN, 12 ENOMEM, 13 EACCES, 24 EMFILE, 28 ENOSPC, 37 ENOLCK.
constexpr Fault all_faults[] = {
    {"Open", "open", "", "24", Outcome::less_input},
    {"OpenFromThenOn", "open", "+", "13", Outcome::less_input},
    {"Read", "read", "", "5", Outcome::less_input},
    {"ReadInterrupted", "read", "", "4", Outcome::same},
    {"ReadHalf", "read", "", "short", Outcome::same},
    {"Write", "write", "", "28"},
    {"WriteFromThenOn", "write", "+", "28"},
    {"WriteInterrupted", "write", "", "4", Outcome::same},
    {"WriteHalf", "write", "", "short", Outcome::same},
    {"TermWhileOpening", "open", "", "term", Outcome::ended},
    {"TermWhileRenaming", "rename", "", "term", Outcome::ended},
    {"InputShrinks", "input", "", "shrink", Outcome::less_input},
    {"InputGrows", "input", "", "grow", Outcome::other_input},
    {"InputIsReplaced", "input", "", "replace", Outcome::less_input},
    {"Map", "map", "", "12", Outcome::less_input},
    {"MapFromThenOn", "map", "+", "12", Outcome::less_input},
    {"Rename", "rename", "", "13"},
    {"Sync", "sync", "", "5"},
    {"Close", "close", "", "5"},
    {"Seek", "seek", "", "5"},
    {"Stat", "stat", "", "13", Outcome::less_input},
    {"MakeFolder", "mkdir", "", "28"},
    {"ListFolder", "list", "", "5", Outcome::less_input},
    {"Mode", "mode", "", "5"},
    {"Truncate", "truncate", "", "28"},
    {"Lock", "lock", "", "37", Outcome::less_input},
    {"Thread", "thread", "", "11"},
    {"ThreadFromThenOn", "thread", "+", "11"},
    {"Allocation", "allocation", "", "12", Outcome::less_input, 199},
    {"AllocationFromThenOn", "allocation", "+", "12", Outcome::less_input, 997}};

class FailedCall : public FaultFolder, public testing::WithParamInterface<Fault> {
 protected:
  static std::vector<std::string> around(long number) {
    const Fault& fault = GetParam();
    return {"NPUSCOPE_FAIL_CALL=" + std::string(fault.call) + ":" + std::to_string(number) +
                fault.later + ":" + fault.how,
            "NPUSCOPE_COUNT_INTO=" + (folder_ / "count").string(), preload_of_fail_call()};
  }

  // Of the suite a fifth of the pairs of fault and command, with one call of each.
  static bool is_tried(std::size_t command) {
    const std::size_t fault =
        std::size_t(std::ranges::find(all_faults, GetParam().name, &Fault::name) - all_faults);
    return is_full() || (fault + command) % 5 == 0;
  }

  static std::set<long> numbers(long count, std::size_t command) {
    if (count == 0) return {};
    if (!is_full()) return {long(command * 7 % std::size_t(count))};
    std::set<long> chosen;
    for (long number = 0; number < count; number += number < 20 ? 1 : GetParam().dense) {
      chosen.insert(number);
    }
    return chosen;
  }

  static bool changes_inputs() { return std::string_view(GetParam().call) == "input"; }

  static void expect(const WritingCommand& command, const Result& good, const Result& after) {
    if (GetParam().outcome == Outcome::ended) {
      expect_no_halves(good, after);
      return;
    }
    if (GetParam().outcome == Outcome::other_input) {
      expect_ended_well(command, after);
      return;
    }
    if (GetParam().outcome != Outcome::same) {
      expect_whole_or_absent(command, good, after, GetParam().outcome == Outcome::less_input);
      return;
    }
    // The C library's streams, by which libxlsxwriter reads its temporary files again, do not go on
    // where a call was interrupted.
    if (after.outcome.status == 4 && after.outcome.errors.find(".xlsx: ") != std::string::npos) {
      expect_whole_or_absent(command, good, after, false);
      return;
    }
    EXPECT_EQ(after.outcome.status, 0) << after.outcome.errors;
    EXPECT_TRUE(after.outcome.output == good.outcome.output) << after.outcome.output.size();
    EXPECT_TRUE(after.files == good.files);
  }
};

TEST_P(FailedCall, LeavesOutputsWholeOrAbsentAndASentence) {
  long runs = 0;
  for (std::size_t i = 0; i < writing_commands().size(); ++i) {
    const WritingCommand& command = writing_commands()[i];
    if (!is_tried(i)) continue;
    const Result good = run(command, around(-1));  // and counts its calls
    if (good.outcome.status == 99) GTEST_SKIP() << "no system call can be caught here (seccomp)";
    ASSERT_EQ(good.outcome.status, 0) << command.text() << good.outcome.errors;
    long count = 0;
    std::ifstream(folder_ / "count") >> count;
    for (const long number : numbers(count, i)) {
      SCOPED_TRACE(command.text() + "\n  " + around(number).front());
      expect(command, good, run(command, around(number)));
      if (changes_inputs()) restore_inputs();
      ++runs;
    }
  }
  if (is_full()) std::printf("%ld runs\n", runs);
}

INSTANTIATE_TEST_SUITE_P(Of, FailedCall, testing::ValuesIn(all_faults),
                         [](const auto& fault) { return std::string(fault.param.name); });

}  // namespace
}  // namespace npuscope::faults::failed_call_test
