// Gates on what devices and the reference NPU write, as a user runs them.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::gate_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

class Gates : public TraceFolder {
 protected:
  void compile(const std::string& folder, std::vector<std::string> flags) const {
    std::vector<std::string> all{"compile",
                                 "-m",
                                 NPUSCOPE_SOURCE_DIR "/models/light_squeezenet.onnx",
                                 "-stats-level=70",
                                 "-convert-to-fp16",
                                 "-aic-binary-dir=" + path(folder)};
    all.insert(all.end(), flags.begin(), flags.end());
    const Outcome outcome = run_npuscope(all);
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
  }
  void run(std::vector<std::string> flags, const std::string& out) const {
    fs::create_directories(path(out));
    flags.insert(flags.begin(), "run");
    const Outcome outcome = run_npuscope(flags);
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
  }

  // The outcomes of the gates, in their order.
  static std::vector<std::string> outcomes(const json& page) {
    std::vector<std::string> all;
    for (const json& row : page["gates"]["rows"]) all.push_back(row["outcome"]);
    return all;
  }
};

TEST_F(Gates, OfAQnnSetRestOnItsWarmCalls) {
  compile("bin", {"-target=htp-v75"});
  for (const std::string seed : {"1", "2"}) {
    run({"-t", path("bin"), "-n", "8", "-S", "1", "--seed", seed, "--emit=qnn", "--emit-dir",
         path("traces" + seed)},
        "traces" + seed);
  }
  const auto page_of = [&](const std::string& a, const std::string& b) {
    const Outcome outcome =
        run_npuscope({"diff", path(a), path(b), "--json", "--fail-if", "latency > +3%", "--fail-if",
                      "device_latency > -50%", "--fail-if", "phase('Graph Execute') > +5%",
                      "--fail-if", "wall > +3%"});
    EXPECT_EQ(outcome.status, 1) << outcome.errors;
    return json::parse(outcome.output);
  };
  for (const std::string part : {"", "/chrometrace_runtrace.json"}) {
    const json page = page_of("traces1" + part, "traces2" + part);
    const bool is_set = part.empty();
    EXPECT_THAT(outcomes(page),
                testing::ElementsAreArray(
                    is_set ? std::vector{"passed", "failed", "passed", "inconclusive"}
                           : std::vector{"failed", "passed", "not judged", "not judged"}));
    const json& first = page["call"][0]["rows"][0];
    EXPECT_EQ(first["name"], is_set ? "latency" : "device_latency");
    EXPECT_EQ(first["samples_a"], 7);
    EXPECT_EQ(first["cold"], false);
    EXPECT_EQ(page["sides"]["samples_b"], 7);
    EXPECT_EQ(page["sides"]["cold_apart_b"], 1);
  }
  // The same medians by hand, from what the viewer printed.
  std::vector<double> calls;
  std::istringstream text(read("traces1/chrometrace_profile.txt"));
  for (std::string line; std::getline(text, line);) {
    constexpr std::string_view label = "QNN (execute) time : ";
    if (line.starts_with(label)) calls.push_back(std::stod(line.substr(label.size())));
  }
  ASSERT_EQ(calls.size(), 8u);
  std::sort(calls.begin() + 1, calls.end());
  const json page = page_of("traces1", "traces2");
  EXPECT_DOUBLE_EQ(page["call"][0]["rows"][0]["a"].get<double>(), calls[4] / 1e6);
}

TEST_F(Gates, OfRawBuffersFindTheLatencyFileInTheirFolder) {
  compile("bin", {"-aic-num-cores=2"});
  for (const std::string seed : {"1", "2"}) {
    run({"-t", path("bin"), "--aic-profiling-type=raw_device_stats", "--aic-profiling-type=latency",
         "--aic-profiling-out-dir=" + path(seed), "--aic-profiling-num-samples=6", "--num-iter=8",
         "-S", "1", "--seed", seed},
        seed);
  }
  const Outcome outcome = run_npuscope(
      {"diff", "--a", path("1"), path("bin"), "--b", path("2"), path("bin"), "--json", "--fail-if",
       "device_latency > +5%", "--fail-if", "latency > +50%", "--fail-if", "findings(high) > +0"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  const json page = json::parse(outcome.output);
  EXPECT_THAT(outcomes(page), testing::Each("passed"));
  EXPECT_EQ(page["gates"]["rows"][0]["source"], "wall");
  EXPECT_EQ(page["gates"]["rows"][0]["samples_a"], 5);
  EXPECT_EQ(page["gates"]["rows"][1]["source"], "total round trip");
}

TEST_F(Gates, OfATorqLogRestOnTheInferencesAfterTheFirst) {
  const Outcome compiled =
      run_npuscope({"compile", "-m", NPUSCOPE_SOURCE_DIR "/models/light_squeezenet.onnx",
                    "--target", "torq-sl2610", "-o", path("s.torq")});
  ASSERT_EQ(compiled.status, 0) << compiled.errors;
  run({path("s.torq"), "--torq_profile_host=" + path("log.csv"), "-n", "6"}, "unused");
  const Outcome outcome = run_npuscope({"diff", path("log.csv"), path("log.csv"), "--json",
                                        "--fail-if", "latency > +3%", "--fail-if",
                                        "device_latency > -50%", "--fail-if", "throughput < -3%"});
  EXPECT_EQ(outcome.status, 1) << outcome.errors;
  const json page = json::parse(outcome.output);
  EXPECT_THAT(outcomes(page), testing::ElementsAre("passed", "failed", "passed"));
  for (const json& row : page["gates"]["rows"]) {
    EXPECT_EQ(row["samples_a"], 5);
    EXPECT_EQ(row["cold"], false);
  }
}

TEST_F(Gates, OfARealSetSayHowManyWarmSamplesAreMissing) {
  const std::string set = NPUSCOPE_SHARED_DIR "/data/qnn/chain8";
  if (!fs::exists(set)) GTEST_SKIP() << set;
  const Outcome outcome =
      run_npuscope({"diff", set, set, "--json", "--fail-if", "latency > +3%", "--fail-if",
                    "wall > +3%", "--fail-if", "p95 > 5ms", "--fail-if", "op('MatMul_3') > +5%"});
  EXPECT_EQ(outcome.status, 1);
  const json page = json::parse(outcome.output);
  EXPECT_THAT(outcomes(page), testing::Each("inconclusive"));
  const json& gates = page["gates"]["rows"];
  EXPECT_EQ(gates[0]["samples_a"], 2);  // executes 2 and 3: 2,467 and 2,412 us
  EXPECT_EQ(gates[0]["more_samples_a"], 1);
  EXPECT_DOUBLE_EQ(page["call"][0]["rows"][0]["a"].get<double>(), 2439.5e-6);
  EXPECT_EQ(gates[1]["cold"], true);
  EXPECT_EQ(gates[2]["more_samples_b"], 57);
  EXPECT_EQ(gates[3]["metric"], "node cycles");  // warm: 11,536 and 8,871
  EXPECT_EQ(page["ops"]["column"], "node cycles");
  EXPECT_THAT(outcome.errors, HasSubstr("latency and device_latency have warm samples"));
}

TEST_F(Gates, OfACompilersEstimateNeedOneSample) {
  const std::string head = "taskId, elapsed_time(us), timestamp(us), event, location, bytes\n";
  write("a.csv", head + "0,100,0,DMA In,loc(unknown),364\n1,50,100,DMA Out,loc(unknown),2\n");
  write("b.csv", head + "0,110,0,DMA In,loc(unknown),364\n1,50,110,DMA Out,loc(unknown),2\n");
  const auto gated = [&](const char* gate) {
    return run_npuscope({"diff", path("a.csv"), path("b.csv"), "--fail-if", gate});
  };
  EXPECT_EQ(gated("device_latency > +7%").status, 0) << gated("device_latency > +7%").errors;
  EXPECT_EQ(gated("device_latency > +6%").status, 1);
  EXPECT_THAT(gated("device_latency > +6%").errors,
              HasSubstr("failed: 150 cycles -> 160 cycles, +6.7 %"));
}

}  // namespace
}  // namespace npuscope::cli::gate_test
