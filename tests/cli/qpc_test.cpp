// npuscope qpc list|extract|validate as a user runs them.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/program.hpp"

namespace npuscope::cli::qpc_test {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

const std::string two_devices = NPUSCOPE_TEST_DATA "/qaic/two_devices.qpc";
const std::string tiny = NPUSCOPE_TEST_DATA "/qaic/tiny_file_writer.qpc";

TEST(QpcList, ShowsSegmentsOfNestedContainersToo) {
  const Outcome outcome = run_npuscope({"qpc", "list", two_devices});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.output, "CONTAINER\n  file        " + two_devices + R"(
  version     0.1
  bytes       2,832

SEGMENTS
  segment                                 offset  bytes  content
  QAicGraph_slice00                          200  1,312  nested container
  QAicGraph_slice01                        1,512  1,312  nested container
  mdp_meta_info                            2,824      4  multi-device information, not read
  QAicGraph_slice00/constantsdesc.bin        400     24  sizes of constants
  QAicGraph_slice00/networkdesc.bin          424    230  network descriptor
  QAicGraph_slice00/npuscope.program.bin     656    856  npuscope program
  QAicGraph_slice01/constantsdesc.bin      1,712     24  sizes of constants
  QAicGraph_slice01/networkdesc.bin        1,736    230  network descriptor
  QAicGraph_slice01/npuscope.program.bin   1,968    856  npuscope program
)");
}

TEST(QpcList, AsJsonSaysTheSame) {
  const Outcome outcome = run_npuscope({"qpc", "list", "-json", "--qpc", tiny});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  const auto json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json["container"]["bytes"], 344);
  EXPECT_EQ(json["segments"]["rows"][0]["path"], "constants.bin");
  EXPECT_EQ(json["segments"]["rows"][0]["offset"], 276);
  EXPECT_EQ(json["segments"]["rows"].size(), 5u);
}

TEST(QpcList, AsCsvAndMarkdownSaysTheSame) {
  const Outcome csv = run_npuscope({"qpc", "list", tiny, "--csv", "--table", "segments"});
  EXPECT_EQ(csv.status, 0) << csv.errors;
  EXPECT_THAT(csv.output, HasSubstr("path,offset,bytes,content\nconstants.bin,276,8,constants\n"));
  const Outcome markdown = run_npuscope({"qpc", "list", tiny, "--markdown"});
  EXPECT_THAT(markdown.output, HasSubstr("| constants.bin | 276 | 8 | constants |"));
  const Outcome cut = run_npuscope({"qpc", "list", tiny, "--top", "2"});
  EXPECT_THAT(cut.output, HasSubstr("SEGMENTS (2 of 5)"));
}

TEST(QpcValidate, SaysValidAndHowManyCoresItTakes) {
  const Outcome outcome = run_npuscope({"qpc", "validate", "-i", two_devices});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.output, "CONTAINER\n  file        " + two_devices + R"(
  valid       yes

CHECKS
  verdict  container          check       finding
  ok                          container   QPC 0.1, 3 segments, 2,628 bytes in them
  ok                          segments    2 nested containers
  ok       QAicGraph_slice00  container   QPC 0.1, 3 segments, 1,110 bytes in them
  ok       QAicGraph_slice00  segments    the required ones are there
  ok       QAicGraph_slice00  constants   5,000 static and 0 dynamic bytes, not kept
  ok       QAicGraph_slice00  descriptor  network QAicGraph, 1 core of 6 threads, statistics level 70 with 4 ops
  ok       QAicGraph_slice00  program     4 tasks on 1 core, checksums match, no deadlock, fingerprint 1567810440f8b7d8
  ok       QAicGraph_slice00  ops         descriptor and program agree on 4 recorded ops
  ok       QAicGraph_slice01  container   QPC 0.1, 3 segments, 1,110 bytes in them
  ok       QAicGraph_slice01  segments    the required ones are there
  ok       QAicGraph_slice01  constants   5,000 static and 0 dynamic bytes, not kept
  ok       QAicGraph_slice01  descriptor  network QAicGraph, 1 core of 6 threads, statistics level 70 with 4 ops
  ok       QAicGraph_slice01  program     4 tasks on 1 core, checksums match, no deadlock, fingerprint 1567810440f8b7d8
  ok       QAicGraph_slice01  ops         descriptor and program agree on 4 recorded ops

PROGRAMS
  container          network    cores
  QAicGraph_slice00  QAicGraph      1
  QAicGraph_slice01  QAicGraph      1
)");
}

TEST(QpcValidate, ReportsEachFindingAndFails) {
  const Outcome outcome = run_npuscope({"qpc", "validate", tiny});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.output, HasSubstr("  valid       no\n"));
  EXPECT_THAT(outcome.output,
              HasSubstr("  verdict  check       finding\n"
                        "  ok       container   QPC 0.1, 5 segments, 68 bytes in them\n"
                        "  ok       segments    the required ones are there\n"
                        "  ok       constants   5 static and 3 dynamic bytes\n"
                        "  error    descriptor  " +
                        tiny +
                        "/networkdesc.bin: network descriptor is broken at byte 0 of 6 "
                        "(unknown pbf field type exception); copy the file again\n"));
  const Outcome as_json = run_npuscope({"qpc", "validate", tiny, "--json"});
  EXPECT_EQ(as_json.status, 3);
  const auto json = nlohmann::json::parse(as_json.output);
  EXPECT_EQ(json["container"]["valid"], false);
  EXPECT_EQ(json["checks"]["rows"][3]["verdict"], "error");
}

class QpcExtract : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::vector<std::string> files() const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
      if (entry.is_regular_file()) out.push_back(entry.path().lexically_relative(folder_).string());
    }
    return out;
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("npuscope-extract-" + std::to_string(::getpid()));
};

TEST_F(QpcExtract, WritesWhatMatches) {
  const Outcome outcome = run_npuscope({"qpc", "extract", "--qpc", two_devices, "-output-dir",
                                        folder_.string(), "-s", "*slice01*networkdesc.bin"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.output,
            "FILES\n"
            "  file                                                        bytes\n"
            "  QAicGraph_slice01_dir/networkdesc.bin                         230\n"
            "  QAicGraph_slice01_dir/networkdesc.bin_dir/networkdesc.json  2,432\n");
  EXPECT_THAT(files(),
              UnorderedElementsAre("QAicGraph_slice01_dir/networkdesc.bin",
                                   "QAicGraph_slice01_dir/networkdesc.bin_dir/networkdesc.json"));
}

TEST_F(QpcExtract, TakesTheFileBehindAPattern) {
  const Outcome outcome = run_npuscope({"qpc", "extract", "--output-dir", folder_.string(), "-s",
                                        "*.elf", "-s", "constants*", tiny});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(files(), UnorderedElementsAre("network.elf", "constants.bin", "constantsdesc.bin"));
}

TEST_F(QpcExtract, TakesTheRestWhenAPartIsBroken) {
  const Outcome outcome = run_npuscope({"qpc", "extract", tiny, "--output-dir", folder_.string()});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.errors, HasSubstr("networkdesc.bin: network descriptor is broken"));
  EXPECT_EQ(files().size(), 5u);
}

TEST_F(QpcExtract, WritesNothingWhenNothingMatches) {
  const Outcome outcome =
      run_npuscope({"qpc", "extract", tiny, "--output-dir", folder_.string(), "-s", "nothing"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(outcome.errors, "npuscope: " + tiny +
                                ": no segment matches nothing; `npuscope qpc list` shows their "
                                "names\n");
  EXPECT_FALSE(std::filesystem::exists(folder_));
}

TEST_F(QpcExtract, WhereNothingCanBeWrittenIsAnOutputError) {
  std::ofstream(folder_) << "a file in the way";
  const Outcome outcome = run_npuscope({"qpc", "extract", tiny, "--output-dir", folder_.string()});
  EXPECT_EQ(outcome.status, 4);
  EXPECT_THAT(outcome.errors, HasSubstr(folder_.string()));
}

TEST(Qpc, OfAnotherKindIsAnInputError) {
  for (const char* action : {"list", "validate"}) {
    EXPECT_EQ(run_npuscope({"qpc", action, NPUSCOPE_TEST_DATA "/qaic/README.md"}).status, 3);
    EXPECT_EQ(run_npuscope({"qpc", action, NPUSCOPE_TEST_DATA}).status, 3);
    EXPECT_EQ(run_npuscope({"qpc", action, "no such file"}).status, 3);
  }
}

TEST(Qpc, UsedWronglyIsAUsageError) {
  EXPECT_EQ(run_npuscope({"qpc"}).status, 2);
  EXPECT_EQ(run_npuscope({"qpc", "list"}).status, 2);
  EXPECT_EQ(run_npuscope({"qpc", "extract", tiny}).status, 2);
}

TEST(Qpc, OntoAFullDiskIsAnOutputError) {
  const Outcome outcome = run_npuscope({"qpc", "list", tiny}, "> /dev/full");
  EXPECT_EQ(outcome.status, 4);
}

}  // namespace
}  // namespace npuscope::cli::qpc_test
