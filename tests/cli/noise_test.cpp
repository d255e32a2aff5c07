// Sets of samples of the reference NPU, compared as sets of a card are: two seeds of one program
// are no change, as often as the interval says, and a change is found.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

#include "cli/program.hpp"

namespace npuscope::cli::noise_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class NoiseOfSets : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / fmt::format("npuscope-noise-{}", ::getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  void must(const std::vector<std::string>& arguments) {
    const Outcome outcome = run_npuscope(arguments);
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
  }
  // An encoder of two layers, on two cores; softmax takes so many cycles for a KiB.
  void compile(const std::string& name, const std::string& cycles) {
    const Outcome made = run_npuscope_model(
        {"bert-base", "--layers", "2", "--batch", "2", "--seq", "128", "-o", path("model.onnx")});
    ASSERT_EQ(made.status, 0) << made.errors;
    std::ifstream file(NPUSCOPE_SOURCE_DIR "/targets/aic100.toml");
    std::string toml((std::istreambuf_iterator<char>(file)), {});
    const std::string softmax = "aicsoftmax              = { cycles_per_kib = 245.9";
    const std::size_t at = toml.find(softmax);
    ASSERT_NE(at, toml.npos);
    toml.replace(at + softmax.size() - 5, 5, cycles);
    std::ofstream(path(name + ".toml")) << toml;
    must({"compile", "-m", path("model.onnx"), "--target", path(name + ".toml"), "-convert-to-fp16",
          "-aic-num-cores=2", "-stats-level=70", "-aic-binary-dir=" + path(name)});
  }
  void run(const std::string& program, const std::string& seed, const std::string& to) {
    fs::create_directories(path(to));
    must({"run", "-t", path(program), "--aic-profiling-type=raw_device_stats",
          "--aic-profiling-out-dir=" + path(to), "--aic-profiling-num-samples=8",
          "--aic-profiling-start-iter=4", "--num-iter=14", "--seed", seed});
  }
  std::string verdict_on_wall(const std::string& a, const std::string& a_program,
                              const std::string& b, const std::string& b_program) {
    const Outcome outcome = run_npuscope(
        {"diff", "--a", path(a), path(a_program), "--b", path(b), path(b_program), "--json"});
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    const json page = json::parse(outcome.output);
    for (const json& numbers : page["numbers"])
      for (const json& row : numbers["rows"])
        if (row["name"] == "wall") return row["verdict"];
    return {};
  }

  fs::path folder_;
};

TEST_F(NoiseOfSets, TwoSeedsOfOneProgramAreSeldomAChange) {
  compile("bin", "245.9");
  constexpr int seeds = 6;
  for (int seed = 1; seed <= seeds; ++seed) run("bin", std::to_string(seed), std::to_string(seed));
  int changes = 0;
  for (int a = 1; a <= seeds; ++a) {
    for (int b = a + 1; b <= seeds; ++b) {
      const std::string verdict =
          verdict_on_wall(std::to_string(a), "bin", std::to_string(b), "bin");
      EXPECT_NE(verdict, "");
      changes += verdict != "within noise" && verdict != "same";
    }
  }
  EXPECT_LE(changes, 2);  // of 15, of which one in twenty may differ by chance
}

TEST_F(NoiseOfSets, AChangeIsFound) {
  compile("bin", "245.9");
  compile("slow", "375.9");
  for (const std::string program : {"bin", "slow"})
    for (const std::string seed : {"1", "2"}) run(program, seed, program + seed);
  EXPECT_EQ(verdict_on_wall("bin1", "bin", "slow2", "slow"), "more");
  EXPECT_EQ(verdict_on_wall("slow1", "slow", "bin2", "bin"), "less");
}

}  // namespace
}  // namespace npuscope::cli::noise_test
