#include "formats/open_inputs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace npuscope::file_sets_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class FileSets : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("npuscope-file-sets-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  void write_trace(const std::string& name) const { write(name, R"({"traceEvents": []})"); }
  // Of a QNN set, whose files may belong together.
  void write_qnn(const std::string& name) const {
    write(name, R"({"header": {"header_version": {"major": 1, "minor": 0, "patch": 0},
      "version": {"major": 1, "minor": 0, "patch": 0}, "artifact_type": "OP_TRACE"},
      "traceEvents": []})");
  }
  std::vector<std::string> sets(const std::vector<std::string>& names) const {
    std::vector<fs::path> paths;
    for (const std::string& name : names) paths.push_back(folder_ / name);
    std::vector<std::string> found;
    for (const FileSet& set : file_sets(paths)) {
      std::string text;
      for (const fs::path& path : set.paths) {
        text += (text.empty() ? "" : " + ") + path.lexically_relative(folder_).string();
      }
      found.push_back(text);
    }
    return found;
  }

  fs::path folder_;
};

TEST_F(FileSets, TracesOfAFolderAreEachByItself) {
  write_trace("all/b.json"), write_trace("all/a.json"), write_trace("all/more/c.json");
  write("all/notes.bin", "?");
  EXPECT_THAT(sets({"all"}), ElementsAre("all/a.json", "all/b.json", "all/more/c.json"));
}

TEST_F(FileSets, FilesThatMayBelongTogetherAreTheirFolder) {
  write_qnn("fleet/1/trace.json"), write_trace("fleet/1/other.json");
  write_qnn("fleet/2/trace.json"), write("fleet/2/below/x.bin", "?");
  EXPECT_THAT(sets({"fleet"}), ElementsAre("fleet/1", "fleet/2"));
}

TEST_F(FileSets, FilesNamedOneByOneAreTogetherWhereTheyMayBelong) {
  write_trace("a.json"), write_trace("b.json"), write_qnn("q/1.json"), write_trace("q/2.json");
  EXPECT_THAT(sets({"a.json", "b.json"}), ElementsAre("a.json", "b.json"));
  EXPECT_THAT(sets({"q/1.json", "a.json", "q/2.json"}),
              ElementsAre("q/1.json + q/2.json", "a.json"));
}

TEST_F(FileSets, WhatIsNoProfileIsKeptSoThatOpeningSaysSo) {
  fs::create_directories(folder_ / "empty");
  EXPECT_THAT(sets({"missing.json", "empty"}), ElementsAre("missing.json", "empty"));
}

// Links to a folder above must not be followed for ever.
TEST_F(FileSets, LinksToFoldersAreNotFollowed) {
  write_trace("all/a.json");
  fs::create_directory_symlink(folder_ / "all", folder_ / "all/again");
  EXPECT_THAT(sets({"all"}), ElementsAre("all/a.json"));
}

}  // namespace
}  // namespace npuscope::file_sets_test
