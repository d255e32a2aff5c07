// A flag of compile and run that is accepted acts, or says that it does not.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>

#include "cli/program.hpp"

namespace npuscope::cli::acting_flags_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

enum class Does : std::uint8_t {
  acts,      // program, files or output change
  says,      // that it has no effect
  always,    // what is done in any case: the help says so
  elsewhere  // needs files or another program; has tests of its own
};

struct Trial {
  std::vector<std::string> words;
  Does does = Does::acts;
};
using Trials = std::map<std::string, Trial>;  // by flag

const Trials& compile_trials() {
  static const Trials trials{
      {"--model", {{}, Does::elsewhere}},
      {"--help", {{}, Does::elsewhere}},
      {"--output", {{}, Does::elsewhere}},
      {"--target", {{"--target", "htp-v75"}}},
      {"--onnx-define-symbol", {{"-onnx-define-symbol=n,2"}, Does::says}},
      {"--batchsize", {{"--batchsize", "2"}}},
      {"--allow-unknown", {{}, Does::elsewhere}},
      {"--json", {{"--json"}}},
      {"--aic-binary-dir", {{}, Does::elsewhere}},
      {"--aic-num-cores", {{"--aic-num-cores", "3"}}},
      {"--mos", {{"-mos=4"}}},
      {"--ols", {{"-ols=4"}}},
      {"--mdp-load-partition-config", {{}, Does::elsewhere}},
      {"--mdp-dump-partition-config", {{}, Does::elsewhere}},
      {"--convert-to-fp16", {{"--convert-to-fp16"}}},
      {"--retained-state", {{"--retained-state"}, Does::says}},
      {"--network-specialization-config", {{}, Does::elsewhere}},
      {"--aic-perf-metrics", {{"--aic-perf-metrics"}}},
      {"--aic-perf-warnings", {{"--aic-perf-warnings"}, Does::elsewhere}},
      {"--stats-level", {{"--stats-level", "70"}}},
      {"--stats-batchsize", {{"--stats-batchsize", "4"}}},
      {"--ddr-stats", {{"--ddr-stats"}}},
      {"--aic-pmu-recipe", {{"--aic-pmu-recipe", "HmxMacs"}}},
      {"--aic-pmu-events", {{"--aic-pmu-events", "3F"}}},
      {"--aic-op-stats-verbosity", {{"--aic-op-stats-verbosity", "2"}, Does::says}},
      {"--aic-profiling-type", {{"--aic-profiling-type=stats"}}},
      {"--aic-hw", {{"-aic-hw"}, Does::always}},
      {"--compile-only", {{"-compile-only"}, Does::always}},
      {"--multicast-weights", {{"-multicast-weights"}, Does::always}},
      {"--verbose", {{"-v"}, Does::says}},
      {"--aic-hw-version", {{"-aic-hw-version=2.0"}, Does::says}},
      {"--custom-IO-list-file", {{}, Does::elsewhere}},
      {"--mdts-mos", {{"-mdts-mos=1"}, Does::says}},
      {"--aic-enable-depth-first", {{"-aic-enable-depth-first"}, Does::always}},
      {"--layer-by-layer", {{"--layer-by-layer"}, Does::says}},
      {"--allocator-dealloc-delay", {{"-allocator-dealloc-delay=1"}, Does::says}},
      {"--size-split-granularity", {{"-size-split-granularity=1024"}, Does::says}},
      {"--vtcm-working-set-limit-ratio", {{"-vtcm-working-set-limit-ratio=1"}, Does::says}},
      {"--aic-depth-first-mem", {{"-aic-depth-first-mem=8"}, Does::says}},
      {"--mxint8-mdp-io", {{"-mxint8-mdp-io"}, Does::says}},
      {"--sdp-cluster-sizes", {{"-aic-cluster-sizes=4,4"}, Does::says}},
      {"--io-encrypt", {{"-io-encrypt=all"}, Does::says}},
      {"--io-crc", {{"-io-crc"}, Does::says}},
      {"--combine-inputs", {{"-combine-inputs=false"}, Does::says}},
      {"--combine-outputs", {{"-combine-outputs=true"}, Does::says}},
      {"--time-passes", {{"-time-passes"}, Does::says}},
      {"--max-compilation-threads", {{"-max-compilation-threads=4"}, Does::says}},
      {"--mxfp6-matmul", {{"-mxfp6-matmul"}, Does::says}},
      {"--mxint8-kv-cache", {{"--mxint8-kv-cache"}, Does::says}}};
  return trials;
}

const Trials& run_trials() {
  static const Trials trials{
      {"--model", {{}, Does::elsewhere}},
      {"--help", {{}, Does::elsewhere}},
      {"--num-iter", {{"--num-iter", "5"}}},
      {"--verbose", {{"-v"}}},
      {"--json", {{"--json"}}},
      {"--test-data", {{}, Does::elsewhere}},
      {"--program", {{}, Does::elsewhere}},
      {"--time", {{"--time", "0.01"}}},
      {"--input-file", {{"-i", "input.raw"}, Does::says}},
      {"--aic-device-id", {{"-d", "0,1"}}},
      {"--aic-device-map", {{}, Does::elsewhere}},
      {"--aic-num-of-activations", {{"-a", "2"}}},
      {"--set-size", {{"-S", "1"}}},
      {"--aic-threads-per-queue", {{"-T", "1", "-a", "4"}}},
      {"--core-clock-mhz", {{"--core-clock-mhz", "700"}}},
      {"--seed", {{"--seed", "7"}}},
      {"--aic-profiling-type", {{"--aic-profiling-type=latency", "--aic-profiling-out-dir=."}}},
      {"--aic-profiling-out-dir", {{"--aic-profiling-out-dir=."}, Does::says}},
      {"--aic-profiling-num-samples", {{"--aic-profiling-num-samples=2"}, Does::says}},
      {"--aic-profiling-start-iter", {{"--aic-profiling-start-iter=2"}, Does::says}},
      {"--aic-profiling-start-delay", {{"--aic-profiling-start-delay=1"}, Does::says}},
      {"--emit", {{}, Does::elsewhere}},
      {"--emit-dir", {{}, Does::elsewhere}},
      {"--write-output-dir", {{}, Does::elsewhere}},
      {"--write-output-start-iter", {{"--write-output-start-iter=1"}, Does::says}},
      {"--write-output-num-samples", {{"--write-output-num-samples=2"}, Does::says}}};
  return trials;
}

class ActingFlags : public testing::Test {
 protected:
  ActingFlags() { std::filesystem::create_directories(folder_); }
  ~ActingFlags() override { std::filesystem::remove_all(folder_); }

  static std::vector<std::string> words(std::vector<std::string> first,
                                        const std::vector<std::string>& more) {
    first.insert(first.end(), more.begin(), more.end());
    return first;
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // In the folder of this test.
  Outcome npuscope(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"-C", folder_.string(), npuscope_program()});
    return run_program_at("/usr/bin/env", arguments);
  }
  std::string program() const {
    std::ifstream file(path("out/programqpc.bin"), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  Outcome compile(const std::vector<std::string>& more) const {
    return npuscope(words({"compile", "-m", NPUSCOPE_SOURCE_DIR "/models/light_squeezenet.onnx",
                           "-aic-binary-dir=out"},
                          more));
  }

  // Flags of the help above the titles of other architectures.
  static void expect_all_are_tried(const std::string& command, const Trials& trials) {
    std::string help = run_npuscope({command, "--help"}).output;
    help.resize(std::min(help.find("\nSigmaStar IPU:"), help.size()));
    const std::regex flag("^ +(?:-[A-Za-z], )?(--[A-Za-z0-9_-]+)");
    std::size_t found = 0;
    for (std::size_t at = help.find("\nOptions:"); at != help.npos; at = help.find('\n', at + 1)) {
      const std::string line = help.substr(at + 1, help.find('\n', at + 1) - at - 1);
      std::smatch match;
      if (!std::regex_search(line, match, flag)) continue;
      ++found;
      EXPECT_TRUE(trials.contains(match[1])) << match[1] << " of " << command << " is not tried";
    }
    EXPECT_GE(found, 20U);
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("npuscope-flags-" + std::to_string(::getpid()));
};

TEST_F(ActingFlags, OfCompile) {
  expect_all_are_tried("compile", compile_trials());
  const Outcome plain = compile({});
  ASSERT_EQ(plain.status, 0) << plain.errors;
  const std::string usual = program();
  for (const auto& [flag, trial] : compile_trials()) {
    if (trial.does == Does::elsewhere) continue;
    const Outcome outcome = compile(trial.words);
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    const bool acts = program() != usual || outcome.output != plain.output;
    EXPECT_EQ(acts, trial.does == Does::acts) << flag;
    if (trial.does == Does::says) {
      EXPECT_THAT(outcome.errors, ContainsRegex(flag.substr(1) + "[^ ]* has no effect: ")) << flag;
    } else {
      EXPECT_EQ(outcome.errors, "") << flag;
    }
  }
  // Of operators that are recorded.
  ASSERT_EQ(compile({"-stats-level=70"}).status, 0);
  const std::string recorded = program();
  EXPECT_EQ(compile({"-stats-level=70", "-aic-op-stats-verbosity=2"}).errors, "");
  EXPECT_NE(program(), recorded);
}

TEST_F(ActingFlags, WhatIsDoneInAnyCaseWasTurnedOffInSilence) {
  EXPECT_THAT(
      compile({"-multicast-weights=false"}).errors,
      HasSubstr("--multicast-weights=false has no effect: weights that several cores need"));
  EXPECT_EQ(compile({"-multicast-weights=true"}).errors, "");
}

TEST_F(ActingFlags, ThatWouldMakeAnotherProgramAreRefusedWithTheReason) {
  for (const std::string flag : {"-quantization-precision=Int8", "-enable-channelwise"}) {
    const Outcome outcome = compile({flag});
    EXPECT_EQ(outcome.status, 2) << flag;
    EXPECT_THAT(outcome.errors, HasSubstr("npuscope quantises no model; export it with"));
  }
  EXPECT_THAT(compile({"-node-precision-info", "x.yaml"}).errors,
              HasSubstr("--node-precision-info: all nodes have the model's precision"));
}

TEST_F(ActingFlags, OfRun) {
  expect_all_are_tried("run", run_trials());
  ASSERT_EQ(compile({"-aic-num-cores=2", "-stats-level=70"}).status, 0);
  const std::vector<std::string> usual{"run", "-t", "out"};
  const Outcome plain = npuscope(usual);
  const Outcome four = npuscope(words(usual, {"-a", "4"}));
  for (const auto& [flag, trial] : run_trials()) {
    if (trial.does == Does::elsewhere) continue;
    const Outcome outcome = npuscope(words(usual, trial.words));
    ASSERT_EQ(outcome.status, 0) << flag << outcome.errors;
    const Outcome& other = flag == "--aic-threads-per-queue" ? four : plain;
    EXPECT_EQ(outcome.output != other.output, trial.does == Does::acts) << flag;
    if (trial.does == Does::says) {
      EXPECT_THAT(outcome.errors, HasSubstr(flag + " has no effect")) << flag;
    } else {
      EXPECT_EQ(outcome.errors, "") << flag;
    }
  }
}

}  // namespace
}  // namespace npuscope::cli::acting_flags_test
