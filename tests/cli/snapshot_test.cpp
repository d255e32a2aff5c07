// npuscope snapshot, and diff with what it wrote against diff with the files.
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"
#include "sanitized.hpp"

namespace npuscope::cli::snapshot_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

class Snapshots : public TraceFolder {
 protected:
  Outcome snapshot(const std::vector<std::string>& files, const std::string& to) const {
    std::vector<std::string> arguments{"snapshot"};
    arguments.insert(arguments.end(), files.begin(), files.end());
    arguments.insert(arguments.end(), {"-o", path(to)});
    return run_npuscope(arguments);
  }
  static Outcome diff(const std::vector<std::string>& a, const std::vector<std::string>& b,
                      std::vector<std::string> flags) {
    flags.insert(flags.begin(), "diff");
    flags.push_back("--a");
    flags.insert(flags.end(), a.begin(), a.end());
    flags.push_back("--b");
    flags.insert(flags.end(), b.begin(), b.end());
    return run_npuscope(flags);
  }

  // What cannot be the same: the files that a side is named by, and their folders in notes.
  static json comparable(const std::string& text) {
    if (text.empty()) return {};
    json page = json::parse(text);
    const auto without_folder = [](json& note) {
      note["file"] = fs::path(note["file"].get<std::string>()).filename().string();
    };
    for (json& profile : page["profiles"]) {
      profile.erase("files");
      for (json& note : profile["notes"]) without_folder(note);
    }
    for (const char* key : {"a", "b", "files_a", "files_b"}) page["sides"].erase(key);
    page.erase("notes");  // files that are no profile, which a snapshot does not have
    return page;
  }

  // Those that are not large, of the folders of `data`; of many a part where sanitized.
  static std::vector<std::string> files_of(const fs::path& data,
                                           const std::vector<std::string>& folders) {
    std::vector<std::string> all, taken;
    for (const std::string& folder : folders) {
      for (const auto& entry : fs::directory_iterator(data / folder)) {
        if (entry.is_directory() || entry.file_size() > 4'000'000) continue;
        all.push_back(entry.path().string());
      }
    }
    std::sort(all.begin(), all.end());
    for (std::size_t file = 0; file < all.size(); ++file) {
      if (test_support::takes(file)) taken.push_back(all[file]);
    }
    return taken;
  }

  void expect_the_same(const std::vector<std::string>& files) const {
    SCOPED_TRACE(files.front());
    const Outcome made = snapshot(files, "kept.npu");
    if (made.status == 2 || made.output.empty()) return;  // nothing that could be compared
    const std::vector<std::string> kept{path("kept.npu")};
    const std::vector<std::string> flags{
        "--json",    "--allow-partial", "--keep-going", "--fail-if",          "latency > +3%",
        "--fail-if", "work.p95 > +1%",  "--fail-if",    "findings(high) > +0"};
    const Outcome whole = diff(files, files, flags);
    for (const auto& [a, b] :
         {std::pair(kept, files), std::pair(files, kept), std::pair(kept, kept)}) {
      const Outcome other = diff(a, b, flags);
      EXPECT_EQ(other.status, whole.status) << other.errors << whole.errors;
      EXPECT_EQ(comparable(other.output), comparable(whole.output));
    }
  }
};

TEST_F(Snapshots, AsASideOfDiffGiveTheSameAsTheFilesOfEverySample) {
  const fs::path data = NPUSCOPE_TEST_DATA;
  std::size_t compared = 0;
  for (const std::string& file : files_of(data, {"chrome", "perfetto_cases", "qaic", "torq"})) {
    expect_the_same({file});
    compared += fs::remove(path("kept.npu"));
  }
  expect_the_same({(data / "torq/runtime.csv").string(), (data / "torq/debug_info").string()});
  EXPECT_GT(compared, test_support::rounds(40));
}

TEST_F(Snapshots, AsASideOfDiffGiveTheSameAsRealFiles) {
  const fs::path data = NPUSCOPE_SHARED_DIR "/data";
  if (!fs::exists(data)) GTEST_SKIP() << data;
  expect_the_same({(data / "qnn/chain8").string()});
  for (const std::string& file : files_of(data, {"qnn", "qaic", "torq", "chrome"})) {
    expect_the_same({file});
  }
}

TEST_F(Snapshots, OfSeveralRunsAreKilobytes) {
  const std::string model = NPUSCOPE_SOURCE_DIR "/models/light_resnet50.onnx";
  ASSERT_EQ(run_npuscope({"compile", "-m", model, "-stats-level=70", "-convert-to-fp16",
                          "-aic-num-cores=4", "-aic-binary-dir=" + path("bin")})
                .status,
            0);
  fs::create_directories(path("stats"));
  ASSERT_EQ(
      run_npuscope({"run", "-t", path("bin"), "--aic-profiling-type=raw_device_stats",
                    "--aic-profiling-type=latency", "--aic-profiling-out-dir=" + path("stats"),
                    "-n", "8", "--aic-profiling-num-samples=4"})
          .status,
      0);
  expect_the_same({path("stats"), path("bin")});
  EXPECT_LT(fs::file_size(path("kept.npu")), 100'000u);
  EXPECT_THAT(read("kept.npu"), HasSubstr("\"ops_of_run\": 1"));
  const Outcome again = snapshot({path("kept.npu")}, "again.npu");
  EXPECT_THAT(again.output, HasSubstr("5 runs, 8 inferences, 354 rows of ops"));
  EXPECT_EQ(read("again.npu"), read("kept.npu"));
}

TEST_F(Snapshots, OfAPhonesTraceAreKilobytes) {
  const std::string set = NPUSCOPE_SHARED_DIR "/data/qnn/chain8";
  if (!fs::exists(set)) GTEST_SKIP() << set;
  ASSERT_EQ(snapshot({set}, "kept.npu").status, 0);
  EXPECT_LT(fs::file_size(path("kept.npu")), 25'000u);
}

TEST_F(Snapshots, ShowWhatTheyAreAndWhatTheyCannotSay) {
  ASSERT_EQ(snapshot({path("trace.json")}, "kept.npu").status, 0);
  const Outcome page = run_npuscope({"show", path("kept.npu")});
  EXPECT_EQ(page.status, 0) << page.errors;
  EXPECT_THAT(page.output, HasSubstr("SNAPSHOT\n  files          trace.json\n"));
  EXPECT_THAT(page.output, HasSubstr("It has no spans"));
  EXPECT_THAT(page.output, HasSubstr("active"));
  const json head = json::parse(run_npuscope({"show", path("kept.npu"), "--json"}).output);
  EXPECT_EQ(head["profiles"][0]["snapshot"]["made_of"][0], "trace.json");
  for (const char* command : {"ops", "units", "timeline", "path", "memory", "graph", "diagnose"}) {
    const Outcome refused = run_npuscope({command, path("kept.npu")});
    EXPECT_EQ(refused.status, 2) << command;
    EXPECT_THAT(refused.errors, HasSubstr("kept.npu: a snapshot, which has the numbers that"));
  }
}

TEST_F(Snapshots, OfAPartAreComparedWithThatPart) {
  ASSERT_EQ(run_npuscope({"snapshot", path("trace.json"), "--op", "matmul", "-o", path("part.npu")})
                .status,
            0);
  const Outcome whole = run_npuscope({"diff", path("part.npu"), path("trace.json")});
  EXPECT_EQ(whole.status, 2);
  EXPECT_THAT(whole.errors,
              HasSubstr("a snapshot of ops matching 'matmul' cannot be compared as all"));
  const Outcome part =
      run_npuscope({"diff", path("part.npu"), path("trace.json"), "--op", "matmul"});
  EXPECT_EQ(part.status, 0) << part.errors;
  EXPECT_THAT(part.output, HasSubstr("selection   ops matching 'matmul'"));
}

TEST_F(Snapshots, AreNotWrittenOverAnInput) {
  EXPECT_EQ(snapshot({path("trace.json")}, "trace.json").status, 2);
  EXPECT_EQ(snapshot({path("missing.json")}, "kept.npu").status, 3);
  EXPECT_FALSE(fs::exists(path("kept.npu")));
  const Outcome piped = run_npuscope({"snapshot", path("trace.json"), "-o", "-", "--json"});
  EXPECT_THAT(piped.output, testing::StartsWith("{\n\"npuscope_snapshot\": 1,"));
  EXPECT_EQ(json::parse(piped.errors)["runs"][0]["inferences"], 1);
}

}  // namespace
}  // namespace npuscope::cli::snapshot_test
