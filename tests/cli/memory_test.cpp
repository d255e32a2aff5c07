// npuscope memory as a user runs it.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::memory_test {
namespace {

using testing::HasSubstr;

using Memory = TraceFolder;

std::string bert() {
  return std::string(NPUSCOPE_TEST_DATA) + "/qaic/bert-base-cased_b8_2core.opstats.summary.txt";
}

// It had status 0 and a page without a number, which a script takes for an answer.
TEST_F(Memory, AProfileWithoutBytesIsNoAnswer) {
  const Outcome outcome = run_npuscope({"memory", path("trace.json")});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(outcome.output, "");
  EXPECT_EQ(outcome.errors,
            "npuscope: " + path("trace.json") +
                ": says nothing of bytes that were moved; a trace of this format names no bytes "
                "that npuscope understands; numbers called \"ddr read bytes\", \"dram_write\", "
                "\"vtcm read\" and the like are\n");
}

TEST_F(Memory, MachinesGetEveryRow) {
  const Outcome few = run_npuscope({"memory", "--csv", "--table", "ops", "--top", "1", bert()});
  EXPECT_EQ(std::count(few.output.begin(), few.output.end(), '\n'), 2);
  const Outcome all = run_npuscope({"memory", "--csv", "--table", "ops", bert()});
  EXPECT_EQ(std::count(all.output.begin(), all.output.end(), '\n'), 5);
  EXPECT_EQ(run_npuscope({"memory", "--csv", "--table", "ops", "--top", "0", bert()}).output,
            all.output);
}

TEST_F(Memory, OfASummary) {
  const Outcome outcome = run_npuscope({"memory", "--json", "--by", "kind", bert()});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  const auto page = nlohmann::json::parse(outcome.output)["profiles"][0];
  EXPECT_EQ(page["ops"]["rows"][0]["op"], "aiccopytovtcm");
  EXPECT_EQ(page["roofline"]["peaks_from"], "target aic100");
}

// What an optrace set of SqueezeNet says of MACs with the model beside it.
Outcome squeezenet_with(const std::string& model) {
  return run_npuscope({"memory", NPUSCOPE_SOURCE_DIR "/examples/qnn_htp", "--target", "htp-v75",
                       "--json", "--model", std::string(NPUSCOPE_SOURCE_DIR "/models/") + model});
}

TEST_F(Memory, ShapesAndTheModelTellTheSameMacs) {
  const Outcome with_model = squeezenet_with("light_squeezenet.onnx");
  EXPECT_EQ(with_model.status, 0) << with_model.errors;
  const Outcome by_shapes = run_npuscope(
      {"memory", NPUSCOPE_SOURCE_DIR "/examples/qnn_htp", "--target", "htp-v75", "--json"});
  const auto roofline = nlohmann::json::parse(with_model.output)["profiles"][0]["roofline"];
  EXPECT_EQ(roofline["macs"], 349'151'936);
  EXPECT_EQ(roofline["macs"],
            nlohmann::json::parse(by_shapes.output)["profiles"][0]["roofline"]["macs"]);
  EXPECT_THAT(std::string(roofline["macs_from"]), HasSubstr("the model, by name"));
}

// Its nodes have the same names: 83 % of the peak came out, of a model that was not run.
TEST_F(Memory, AnotherModelIsRefused) {
  const Outcome outcome = squeezenet_with("light_resnet50.onnx");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(outcome.output, "");
  EXPECT_THAT(outcome.errors, HasSubstr("--model: not the model of this profile: 10 of 11 ops"));
}

TEST_F(Memory, AsCsvOfATable) {
  const Outcome outcome = run_npuscope({"memory", "--csv", "--table", "traffic", bert()});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, testing::StartsWith("route,bytes,"));
  EXPECT_THAT(outcome.output, HasSubstr("\nDDR read,1721"));
}

TEST_F(Memory, BadRequestsAreUsageErrors) {
  const std::vector<std::vector<std::string>> requests = {
      {"memory", bert(), "--ddr-peak", "fast"},
      {"memory", bert(), "--mac-peak", "8.2"},
      {"memory", bert(), "--clock=-1GHz"},
      {"memory", bert(), "--target", "htp-v99"},
      {"memory", bert(), "--buckets", "0"},
      {"memory", bert(), "--by", "colour"},
      {"memory", bert(), "--csv", "--table", "nothing"},
      {"memory", bert(), "--onnx-define-symbol", "a,1"},
      {"memory"}};
  for (const auto& request : requests) {
    const Outcome outcome = run_npuscope(request);
    EXPECT_EQ(outcome.status, 2) << request.back();
    EXPECT_NE(outcome.errors, "") << request.back();
    EXPECT_EQ(outcome.output, "") << request.back();
  }
  EXPECT_EQ(run_npuscope({"memory", path("missing.json")}).status, 3);
  EXPECT_EQ(run_npuscope({"memory", bert(), "--model", path("missing.onnx")}).status, 3);
  EXPECT_EQ(run_npuscope({"memory", bert(), "--target", path("missing.toml")}).status, 3);
}

// They had the peaks, the name and the advice of a Cloud AI 100.
TEST_F(Memory, BuffersOfAnHtpAreJudgedByItsOwnPeaks) {
  std::filesystem::create_directories(path("stats"));
  const std::vector<std::string> commands[] = {
      {"compile", std::string(NPUSCOPE_SOURCE_DIR) + "/models/light_squeezenet.onnx", "--target",
       "htp-v73", "-stats-level=70", "-aic-binary-dir=" + path("binaries")},
      {"run", "-t", path("binaries"), "--aic-profiling-type=raw_device_stats",
       "--aic-profiling-out-dir=" + path("stats"), "-n", "1"}};
  for (const auto& command : commands) ASSERT_EQ(run_npuscope(command).status, 0);
  const std::string page = run_npuscope({"memory", path("stats"), path("binaries")}).output;
  EXPECT_THAT(page, HasSubstr("peaks from    target htp-v73"));
  EXPECT_THAT(run_npuscope({"show", path("stats"), path("binaries")}).output,
              HasSubstr("Hexagon Tensor Processor v73"));
  EXPECT_THAT(
      run_npuscope({"memory", path("stats"), path("binaries"), "--target", "aic100"}).output,
      HasSubstr("peaks from    target aic100"));
}

}  // namespace
}  // namespace npuscope::cli::memory_test
