// Limits of the system and signals: outputs are whole or absent, and no temporary file stays.
#include <gmock/gmock.h>

#include <functional>

#include "faults/fault_folder.hpp"
#include "sanitized.hpp"

namespace npuscope::faults::limits_test {
namespace {

class Limits : public FaultFolder {
 protected:
  // Each command under one of the values, all under all of them where all faults are tried.
  static void each_value(const std::vector<std::string>& values,
                         const std::function<std::vector<std::string>(const std::string&)>& around,
                         const std::function<void(const WritingCommand&, const Result& good,
                                                  const Result& after)>& check) {
    std::size_t turn = 0;
    for (const WritingCommand& command : writing_commands()) {
      ++turn;
      // Commands further apart than values, so that these take turns where not all are tried.
      if (!is_full() && !test_support::takes(turn + turn / values.size())) continue;
      const Result good = run(command);
      ASSERT_EQ(good.outcome.status, 0) << command.text() << good.outcome.errors;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (!is_full() && i != turn % values.size()) continue;
        SCOPED_TRACE(command.text() + "\n  " + values[i]);
        check(command, good, run(command, around(values[i])));
      }
    }
  }

  static void each_limit(const std::string& flag, const std::vector<std::string>& values,
                         bool may_lack_input) {
    each_value(
        values,
        [&](const std::string& value) {
          // Without the files that whoever runs the tests left open: they would count.
          return std::vector<std::string>{"sh", "-c",
                                          "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; exec prlimit " +
                                              flag + "=" + value + " \"$@\"",
                                          "sh"};
        },
        [&](const WritingCommand& command, const Result& good, const Result& after) {
          expect_whole_or_absent(command, good, after, may_lack_input);
        });
  }

  static void each_moment(const std::string& signal) {
    each_value(
        {"0.002", "0.005", "0.008", "0.011", "0.015", "0.020", "0.030"},
        [&](const std::string& seconds) {
          return std::vector<std::string>{"timeout", "--foreground", "-s", signal, seconds};
        },
        [](const WritingCommand&, const Result& good, const Result& after) {
          expect_no_halves(good, after);
        });
  }
};

TEST_F(Limits, OfFileSizesGiveWholeOutputsOrASentence) {
  each_limit("--fsize", {"1000", "9000", "60000"}, false);
}

TEST_F(Limits, OfOpenFilesGiveWholeOutputsOrASentence) {
  if (test_support::is_sanitized())
    GTEST_SKIP() << "a sanitizer asks through a pipe what is an object";
  each_limit("--nofile", {"4", "5", "6", "7", "9"}, true);
}

TEST_F(Limits, OfMemoryGiveWholeOutputsOrASentence) {
  if (test_support::is_sanitized()) GTEST_SKIP() << "a sanitizer needs terabytes of address space";
  each_limit("--as", {"90000000", "100000000", "120000000", "170000000"}, true);
}

// A small file system, mounted over one of the folders; what it holds is copied back.
std::vector<std::string> on_disk_of(const std::string& size, const std::string& folder) {
  return {"unshare",
          "-rm",
          "sh",
          "-c",
          "folder=" + folder +
              "; mkdir -p kept && rm -rf kept/* && mount -t tmpfs -o size=" + size +
              " none $folder && { \"$@\"; status=$?; cp -a $folder/. kept/ && umount $folder && "
              "cp -a kept/. $folder/ && rm -rf kept; exit $status; }; exit 99",
          "sh"};
}

TEST_F(Limits, OfADiskThatIsFullGiveWholeOutputsOrASentence) {
  for (const std::string folder : {"out", "tmp"}) {  // of outputs, and of temporary files (TMPDIR)
    const Result tried = run(writing_commands().front(), on_disk_of("4k", folder));
    if (tried.outcome.status != 0) GTEST_SKIP() << "no file system can be mounted here";
    each_value(
        {"4k", "16k", "64k"}, [&](const std::string& size) { return on_disk_of(size, folder); },
        [](const WritingCommand& command, const Result& good, const Result& after) {
          expect_whole_or_absent(command, good, after, false);
        });
  }
}

TEST_F(Limits, ATermSignalLeavesNoTemporaryFile) { each_moment("TERM"); }

TEST_F(Limits, AnInterruptLeavesNoTemporaryFile) { each_moment("INT"); }

// SIGPIPE, which a message on standard error can raise while a file is written.
TEST_F(Limits, AReaderThatIsGoneLeavesNoTemporaryFile) {
  each_value(
      {"true"},
      [](const std::string& reader) -> std::vector<std::string> {
        return {"sh", "-c", "\"$@\" 2>&1 | " + reader, "sh"};
      },
      [](const WritingCommand&, const Result& good, const Result& after) {
        expect_no_halves(good, after);
      });
}

}  // namespace
}  // namespace npuscope::faults::limits_test
