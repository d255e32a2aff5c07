// What the GitHub action gives npuscope: its gate script runs here with a stand-in that prints its
// arguments, in a folder of files with blanks in their names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace npuscope::action_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ActionGate : public ::testing::Test {
 protected:
  ActionGate() {
    std::string name = (fs::temp_directory_path() / "npuscope-action-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    for (const char* file : {"before.npu", "runs/first run/a b.csv", "runs/second/c.csv"}) {
      fs::create_directories((folder_ / file).parent_path());
      std::ofstream(folder_ / file) << "\n";
    }
    fs::create_directories(folder_ / "bin");
    std::ofstream(folder_ / "bin/npuscope")
        << "#!/bin/bash\necho \"$1\"; shift; printf '[%s]' \"$@\"\n";
    fs::permissions(folder_ / "bin/npuscope", fs::perms::owner_all);
  }
  ~ActionGate() override { fs::remove_all(folder_); }

  struct Inputs {
    std::string baseline = "", current = "", gates = "", inconclusive = "";
  };
  // What was said, behind the exit status where that is not 0.
  std::string gate(const Inputs& inputs) const {
    const auto set = [](const char* name, const std::string& value) {
      return std::string(name) + "='" + value + "' ";
    };
    const std::string command = "cd '" + folder_.string() + "' && PATH='" + folder_.string() +
                                "/bin':$PATH " + set("BASELINE", inputs.baseline) +
                                set("CURRENT", inputs.current) + set("GATES", inputs.gates) +
                                set("INCONCLUSIVE", inputs.inconclusive) +
                                NPUSCOPE_SOURCE_DIR "/.github/actions/npuscope/gate 2>&1";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    std::string said;
    for (int byte = std::fgetc(pipe); byte != EOF; byte = std::fgetc(pipe)) said += char(byte);
    const int status = ::pclose(pipe);
    return status == 0 ? said : std::to_string(status >> 8) + ": " + said;
  }

  fs::path folder_;
};

TEST_F(ActionGate, PartsNamesByBlanksOutsideQuotes) {
  EXPECT_EQ(gate({.current = "before.npu \"runs/first run/a b.csv\""}),
            "check\n[--markdown][--github][before.npu][runs/first run/a b.csv]");
}

TEST_F(ActionGate, TakesANameALine) {
  EXPECT_EQ(
      gate({.baseline = "before.npu\n", .current = "runs/first run/a b.csv\n  runs/second\n"}),
      "diff\n[--markdown][--github][--a][before.npu][--b][runs/first run/a b.csv]"
      "[runs/second]");
}

TEST_F(ActionGate, ExpandsPatternsThroughFolders) {
  EXPECT_EQ(gate({.current = "runs/**/*.csv"}),
            "check\n[--markdown][--github][runs/first run/a b.csv][runs/second/c.csv]");
  EXPECT_EQ(gate({.current = "runs/first run/*.csv\n"}),
            "check\n[--markdown][--github][runs/first run/a b.csv]");
}

TEST_F(ActionGate, APatternOfNoFileIsAnErrorNotAnEmptyRun) {
  EXPECT_EQ(gate({.current = "before.npu *.json"}),
            "3: ::error::npuscope: *.json matches no file; name the folder that the profiles are "
            "in\n");
}

// The baseline was dropped, and its absence judged by limits that were not asked for.
TEST_F(ActionGate, AQuoteWithoutItsOtherOneIsAnError) {
  EXPECT_EQ(
      gate({.baseline = "before \"x.npu", .current = "before.npu"}),
      "3: ::error::npuscope: before \"x.npu has a quote without its other one; write a name a "
      "line\n");
}

TEST_F(ActionGate, HandsGatesAndWhatInconclusiveMeansOn) {
  EXPECT_EQ(gate({.current = "before.npu",
                  .gates = "latency > +3%  # of a warm run\n\n  work > 2\n",
                  .inconclusive = "warn"}),
            "check\n[--markdown][--github][--fail-if][latency > +3%  ][--fail-if][  work > 2]"
            "[--inconclusive][warn][before.npu]");
}

// Nothing of a name is run.
TEST_F(ActionGate, NamesAreData) {
  EXPECT_THAT(gate({.current = "$(touch made) `touch made` ;touch made"}),
              HasSubstr("[$(touch][made)]"));
  EXPECT_FALSE(fs::exists(folder_ / "made"));
}

}  // namespace
}  // namespace npuscope::action_test
