// npuscope starts npuscope-fleet, which lies next to it, for what asks a fleet's store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "cli/program.hpp"

namespace npuscope::cli::hand_over_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class HandOver : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    fs::copy_file(npuscope_program(), alone_, fs::copy_options::overwrite_existing);
  }
  void TearDown() override { fs::remove_all(folder_); }

  const fs::path folder_ =
      fs::temp_directory_path() / ("npuscope-hand-over-" + std::to_string(::getpid()));
  const std::string alone_ = (folder_ / "npuscope").string();
  const std::string store_ = (folder_ / "fleet.db").string();
};

TEST_F(HandOver, HelpOfFleetIsThatOfTheProgramThatHasIt) {
  const Outcome help = run_npuscope({"fleet", "--help"});
  EXPECT_EQ(help.status, 0) << help.errors;
  EXPECT_THAT(help.output, HasSubstr("outliers"));
  EXPECT_EQ(run_npuscope({"help", "fleet"}).output, help.output);
  const Outcome all = run_npuscope({"--help"});
  EXPECT_THAT(all.output, HasSubstr("fleet"));
}

TEST_F(HandOver, WithoutThatProgramFleetIsASentenceAndTheRestRuns) {
  const Outcome fleet = run_program_at(alone_, {"fleet", "ls", store_});
  EXPECT_EQ(fleet.status, 3);
  EXPECT_EQ(fleet.errors,
            "npuscope: fleet: npuscope-fleet, the program of this command, is not next to "
            "npuscope; install npuscope again, or build it with "
            "./dev build release npuscope-fleet\n");
  const Outcome show = run_program_at(alone_, {"show", NPUSCOPE_SOURCE_DIR "/examples/qnn_htp"});
  EXPECT_EQ(show.status, 0) << show.errors;
  const Outcome completion = run_program_at(alone_, {"completion", "bash"});
  EXPECT_EQ(completion.status, 0) << completion.errors;
  EXPECT_THAT(completion.output, HasSubstr("fleet"));
}

TEST_F(HandOver, AProgramThatCannotBeStartedIsSaidToBeThere) {
  fs::create_directory(folder_ / "npuscope-fleet");
  const Outcome fleet = run_program_at(alone_, {"fleet", "ls", store_});
  EXPECT_EQ(fleet.status, 3);
  EXPECT_THAT(fleet.errors, HasSubstr("cannot be started: Permission denied (" + folder_.string()));
}

TEST_F(HandOver, AReportOfAStoreNeedsItAndOneOfAProfileDoesNot) {
  const std::string example = NPUSCOPE_SOURCE_DIR "/examples/qnn_htp";
  ASSERT_EQ(run_npuscope({"fleet", "add", store_, example}).status, 0);
  const std::string page = (folder_ / "page.html").string();
  EXPECT_EQ(run_npuscope({"report", store_, "-o", page}).status, 0);
  const Outcome lacking = run_program_at(alone_, {"report", store_, "-o", page});
  EXPECT_EQ(lacking.status, 3);
  EXPECT_THAT(lacking.errors, HasSubstr("npuscope-fleet"));
  EXPECT_EQ(run_program_at(alone_, {"report", example, "-o", page}).status, 0);
}

// A folder of links, as package managers make them: the program's own place counts.
TEST_F(HandOver, IsFoundThroughASymbolicLink) {
  const std::string link = (folder_ / "link").string();
  fs::create_symlink(npuscope_program(), link);
  EXPECT_EQ(run_program_at(link, {"fleet", "--help"}).status, 0);
}

}  // namespace
}  // namespace npuscope::cli::hand_over_test
