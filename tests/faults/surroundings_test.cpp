// Outputs that are pipes, links or of two runs at once, and a folder in which nothing can be
// written.
#include <gmock/gmock.h>

#include "faults/fault_folder.hpp"

namespace npuscope::faults::surroundings_test {
namespace {

namespace fs = std::filesystem;

class Surroundings : public FaultFolder {
 protected:
  // Of the suite a part of the commands that write a file.
  template <class Check>
  static void each_that_writes(std::size_t first, const Check& check) {
    constexpr std::size_t step = 4;
    for (std::size_t i = 0; i < writing_commands().size(); ++i) {
      if (!is_full() && i % step != first) continue;
      const WritingCommand& command = writing_commands()[i];
      const Result good = run(command);
      ASSERT_EQ(good.outcome.status, 0) << command.text() << good.outcome.errors;
      if (good.files.empty()) continue;
      SCOPED_TRACE(command.text());
      check(command, good);
    }
  }

  static void expect_same(const WritingCommand& command, const Result& good, Result after) {
    const bool says_what_it_replaces = command.words.front() == "run";
    if (says_what_it_replaces) after.outcome.output = good.outcome.output;
    expect_whole_or_absent(command, good, after, false);
  }

  // What a shell does with each name $f of a good run's outputs before the command, after it, and
  // at the end.
  static std::vector<std::string> within(const Result& good, const std::string& before,
                                         const std::string& after = ":",
                                         const std::string& at_end = ":") {
    std::string names;
    for (const auto& [name, text] : good.files) names += " '" + name + "'";
    const auto each = [&](const std::string& what) {
      return "for f in" + names + "; do " + what + "; done; ";
    };
    return {"bash", "-c",
            each("mkdir -p \"$(dirname \"$f\")\"; " + before) + "\"$@\"; status=$?; " +
                each(after) + "wait; " + each(at_end) + "exit $status",
            "bash"};
  }
};

TEST_F(Surroundings, AReadOnlyFolderIsASentence) {
  const std::vector<std::string> in_read_only{
      "unshare",
      "-rm",
      "sh",
      "-c",
      "mount -t tmpfs none out && mount -o remount,ro out && { \"$@\"; exit; }; exit 99",
      "sh"};
  if (run(writing_commands().front(), in_read_only).outcome.status != 0) {
    GTEST_SKIP() << "no file system can be mounted here";
  }
  each_that_writes(0, [&](const WritingCommand& command, const Result& good) {
    if (!good.files.begin()->first.starts_with("out/")) return;
    const Result after = run(command, in_read_only);
    EXPECT_EQ(after.outcome.status, 4) << after.outcome.errors;
    EXPECT_THAT(after.outcome.errors, testing::HasSubstr("Read-only file system"))
        << command.text();
    expect_whole_or_absent(command, good, after, false);
  });
}

// A reader takes what comes, whether the command writes to the pipe or refuses it.
TEST_F(Surroundings, APipeAsOutputGetsAllOrASentenceSaysWhyNot) {
  each_that_writes(1, [&](const WritingCommand& command, const Result& good) {
    const Result after = run(
        command,
        within(
            good, "mkfifo \"$f\"; { timeout 60 cat \"$f\" >\"$f.read\" & }", ": <>\"$f\"",
            "rm \"$f\"; if test $status = 0; then mv \"$f.read\" \"$f\"; else rm \"$f.read\"; fi"));
    expect_same(command, good, after);
    if (after.outcome.status != 0) {
      // A store is opened before it is written.
      EXPECT_EQ(after.outcome.status, good.files.contains(store_output) ? 3 : 4);
      EXPECT_THAT(after.outcome.errors, testing::HasSubstr("pipe"));
    }
  });
}

// Somebody else's link under the name of an output, to a file that is there or not. A store is no
// output that is written anew: what the link leads to is the store.
TEST_F(Surroundings, ALinkAsOutputEndsInAWholeFile) {
  for (const std::string make :
       {"ln -s nowhere \"$f\"", "echo old >\"$f.old\"; ln -s \"$PWD/$f.old\" \"$f\"",
        "ln -s \"$(basename \"$f\")\" \"$f\""}) {
    each_that_writes(2, [&](const WritingCommand& command, const Result& good) {
      if (good.files.contains(store_output)) return;
      const Result after = run(
          command,
          within(
              good, make, ":",
              "test ! -e \"$f.old\" || { cat \"$f\" >new; rm \"$f\" \"$f.old\"; mv new \"$f\"; }"));
      EXPECT_EQ(after.outcome.status, 0) << make << '\n' << after.outcome.errors;
      expect_same(command, good, after);
    });
  }
}

// The last one that ends has the file; no reader ever sees parts of both.
TEST_F(Surroundings, TwoWritersOfOneOutputLeaveOneOfThem) {
  each_that_writes(3, [&](const WritingCommand& command, const Result& good) {
    const std::vector<std::string> twice{
        "bash", "-c", "\"$@\" >first & \"$@\"; status=$?; wait $! && rm -f first; exit $status",
        "bash"};
    const Result after = run(command, twice);
    EXPECT_EQ(after.outcome.status, 0) << after.outcome.errors;
    expect_same(command, good, after);
  });
}

}  // namespace
}  // namespace npuscope::faults::surroundings_test
