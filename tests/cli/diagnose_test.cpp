// npuscope diagnose as a user runs it.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "cli/raw_buffers.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::diagnose_test {
namespace {

using testing::HasSubstr;

using Diagnose = TraceFolder;

std::string bert() {
  return std::string(NPUSCOPE_TEST_DATA) + "/qaic/bert-base-cased_b8_2core.opstats.summary.txt";
}

TEST_F(Diagnose, OfASummary) {
  const Outcome outcome = run_npuscope({"diagnose", "--json", bert()});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  const auto page = nlohmann::json::parse(outcome.output)["profiles"][0];
  EXPECT_EQ(page["findings"][0]["rule"], "vector-bound");
  EXPECT_EQ(page["ranking"]["rows"][0]["rule"], "vector-bound");
  EXPECT_EQ(page["findings"][1]["rule"], "softmax");
  EXPECT_EQ(page["summary"]["found"], page["findings"].size());
}

// Raw buffers hold one inference each: a page for every one says the same many times.
TEST_F(Diagnose, OneInferenceStandsForTheBuffersOfARun) {
  make_raw_buffers(path("bin"), path("stats"), 4);
  const auto pages = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"diagnose", "--json", path("bin"), path("stats")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return nlohmann::json::parse(run_npuscope(arguments).output)["profiles"];
  };
  const auto one = pages({});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0]["summary"]["sample_count"], 3);
  EXPECT_EQ(one[0]["summary"]["cold_apart"], 1);
  EXPECT_EQ(pages({"--each"}).size(), 4u);
}

TEST_F(Diagnose, APartOfTheBuffersOfARunWasAPageForEachOfThem) {
  make_raw_buffers(path("bin"), path("stats"), 4);
  const auto pages = [&](std::vector<std::string> part) {
    std::vector<std::string> arguments{"diagnose", "--json", path("bin"), path("stats")};
    arguments.insert(arguments.end(), part.begin(), part.end());
    return nlohmann::json::parse(run_npuscope(arguments).output)["profiles"];
  };
  const auto whole = pages({});
  ASSERT_EQ(whole.size(), 1u);
  const std::vector<std::string> parts[] = {
      {"--core", "0"}, {"--unit", "HVX"}, {"--op", "conv"}, {"--from", "100us"}};
  for (const auto& part : parts) {
    const auto one = pages(part);
    ASSERT_EQ(one.size(), 1u) << part[0];
    EXPECT_EQ(one[0]["files"], whole[0]["files"]) << part[0];  // the same inference
    EXPECT_EQ(one[0]["summary"]["sample_count"], 3) << part[0];
    EXPECT_EQ(pages({part[0], part[1], "--each"}).size(), 4u) << part[0];
  }
}

// The form and the figures of a real log: Amber 7B, a token at a time.
TEST_F(Diagnose, DeviceAgainstSystemOfARunnersLogWasRefused) {
  std::ofstream(path("runner.log"))
      << "Using bounded random inputs\n"
         " ---- Stats ----\n"
         "InferenceCnt 10 TotalDuration 2242274us BatchSize 1 Inf/Sec 4.460\n"
         "Device Performance: \n"
         "Metric,          Avg,           Min,           Max,           Std            \n"
         "ExecTimeUs,      124826.111,    124682.969,    124958.542,    93.740         \n"
         "InputWaitTimeUs, 103266.866,    78898.594,     178349.688,    34244.603      \n"
         "OutputWaitTimeUs,0.113,         0.104,         0.156,         0.019          \n";
  const Outcome diagnosed = run_npuscope({"diagnose", "--json", path("runner.log")});
  ASSERT_EQ(diagnosed.status, 0) << diagnosed.errors;
  const auto finding = nlohmann::json::parse(diagnosed.output)["profiles"][0]["findings"][0];
  EXPECT_EQ(finding["rule"], "system-throughput");
  EXPECT_NEAR(finding["rows"][0]["value"].get<double>(), 8.011, 1e-3);
  EXPECT_NEAR(finding["rows"][1]["value"].get<double>(), 4.460, 1e-3);
  EXPECT_THAT(run_npuscope({"show", path("runner.log")}).output,
              HasSubstr("\nTHROUGHPUT\n"
                        "  device      8.011 inferences/s, if it executed without a break\n"
                        "  system      4.460 inferences/s, 44.3 % less\n"));
  const Outcome latency = run_npuscope({"latency", path("runner.log")});
  EXPECT_EQ(latency.status, 0) << latency.errors;
  EXPECT_THAT(latency.output, HasSubstr("device, inferences/s     8.011\n"));
  EXPECT_THAT(latency.output, HasSubstr("system, inferences/s     4.460\n"));
}

TEST_F(Diagnose, SaysWhatCouldNotBeTried) {
  const Outcome outcome = run_npuscope({"diagnose", "--all", path("trace.json")});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("a timeline of units"));
  EXPECT_THAT(outcome.output, HasSubstr("0 (5 rules checked, "));
}

TEST_F(Diagnose, RulesAndTheirExplanationsNeedNoFile) {
  const Outcome rules = run_npuscope({"diagnose", "--rules"});
  EXPECT_EQ(rules.status, 0) << rules.errors;
  EXPECT_THAT(rules.output, HasSubstr("memory-bound"));
  const Outcome one = run_npuscope({"diagnose", "--explain", "spill"});
  EXPECT_EQ(one.status, 0) << one.errors;
  EXPECT_THAT(one.output, HasSubstr("25 %"));
}

TEST_F(Diagnose, BadRequestsAreOneSentence) {
  const std::vector<std::pair<std::vector<std::string>, int>> requests = {
      {{"diagnose"}, 2},
      {{"diagnose", bert(), "--rule", "luck"}, 2},
      {{"diagnose", "--explain", "luck"}, 2},
      {{"diagnose", "--explain", "spill", "--csv"}, 2},
      {{"diagnose", bert(), "--target", "htp-v99"}, 2},
      {{"diagnose", bert(), "--ddr-peak", "fast"}, 2},
      {{"diagnose", bert(), "--rule", "tiny-dma"}, 3},
      {{"diagnose", path("missing.json")}, 3}};
  for (const auto& [request, status] : requests) {
    const Outcome outcome = run_npuscope(request);
    EXPECT_EQ(outcome.status, status) << request.back();
    EXPECT_EQ(outcome.output, "") << request.back();
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
  }
}

}  // namespace
}  // namespace npuscope::cli::diagnose_test
