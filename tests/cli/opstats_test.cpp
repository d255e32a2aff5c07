// npuscope opstats as a user runs it, on what npuscope compile and run make.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cli/program.hpp"
#include "formats/qaic/opstats/trace_checker.hpp"

namespace npuscope::cli::opstats_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

class Opstats : public testing::Test {
 protected:
  Opstats() {
    folder_ = fs::path(testing::TempDir()) / ("opstats_cli_" + std::to_string(::getpid()));
    for (const char* name : {"bin", "stats", "out"}) fs::create_directories(folder_ / name);
  }
  ~Opstats() override { fs::remove_all(folder_); }

  std::string in(const std::string& name) const { return folder_ / name; }

  void compile_and_run(const std::string& level) {
    const Outcome compiled =
        run_npuscope({"compile", "-model=" NPUSCOPE_SOURCE_DIR "/models/light_resnet50.onnx",
                      "-aic-binary-dir=" + in("bin"), "-stats-level=" + level, "-convert-to-fp16",
                      "-aic-num-cores=2"});
    ASSERT_EQ(compiled.status, 0) << compiled.errors;
    const Outcome ran =
        run_npuscope({"run", "--test-data=" + in("bin"), "--aic-profiling-type=raw_device_stats",
                      "--aic-profiling-out-dir=" + in("stats"), "--num-iter=3"});
    ASSERT_EQ(ran.status, 0) << ran.errors;
  }
  Outcome opstats(const std::vector<std::string>& more, const std::string& input = "stats",
                  const std::string& output = "out") {
    std::vector<std::string> arguments{
        "opstats", "--qpc", in("bin/programqpc.bin"), "-i", in(input), "-o", in(output)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_npuscope(arguments);
  }
  std::string content(const std::string& ending) const {
    for (const auto& entry : fs::directory_iterator(folder_ / "out")) {
      if (entry.path().string().ends_with(ending)) {
        std::ifstream file(entry.path());
        return {std::istreambuf_iterator<char>(file), {}};
      }
    }
    return "";
  }

  fs::path folder_;
};

TEST_F(Opstats, TheWholeFlow) {
  compile_and_run("70");
  const Outcome outcome = opstats({"--summary", "--trace", "--flow-events", "full"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
  const std::string stem =
      in("out/aic-profiling-program-0-activation-0-inf-0-QAicGraph.qaic-opstats.");
  EXPECT_EQ(outcome.output,
            "Writing file:" + stem + "summary.txt\nWriting file:" + stem + "trace.json\n");
  EXPECT_THAT(content("summary.txt"), StartsWith("\ncore  ucycles  ucycles(%)     pcycles"));
  EXPECT_THAT(content("summary.txt"), HasSubstr("  aicconvolutiond32 HMX TCM ("));
  EXPECT_THAT(content("trace.json"), HasSubstr("\"ph\": \"s\""));
}

// Of a real program a viewer must take every event, and bind every arrow to the kernels that it
// joins: ends in kernels without length went to the slice after them.
TEST_F(Opstats, ArrowsOfARealProgramBindToTheirOwnKernels) {
  compile_and_run("70");
  ASSERT_EQ(opstats({"--trace", "--flow-events", "full"}).status, 0);
  const test::CheckedTrace trace =
      test::TraceChecker(
          in("out/aic-profiling-program-0-activation-0-inf-0-QAicGraph.qaic-opstats.trace.json"))
          .run();
  EXPECT_THAT(trace.problems, testing::IsEmpty());
  EXPECT_GT(test::bind_flows(trace.events, test::nanoseconds_cut).size(), 1000u);
}

TEST_F(Opstats, BooleansStandAloneOrTakeAValue) {
  compile_and_run("70");
  const auto tracks = [&](const std::vector<std::string>& flags) {
    fs::remove_all(folder_ / "out");
    fs::create_directories(folder_ / "out");
    const Outcome outcome = opstats(flags);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    return content("trace.json");
  };
  for (const std::vector<std::string>& off :
       {std::vector<std::string>{"--trace", "--merge-thread-groups", "false"},
        std::vector<std::string>{"-trace", "-merge-thread-groups=false"},
        std::vector<std::string>{"--trace=true", "--summary=false", "--merge-thread-groups=0"}}) {
    EXPECT_THAT(tracks(off), HasSubstr("QAicGraph_Core_0_HVX_T3\""));
  }
  EXPECT_THAT(tracks({"--merge-thread-groups", "--trace", "--show-barrier-events"}),
              HasSubstr("QAicGraph_Core_0_HVX_Barrier\""));
  EXPECT_EQ(opstats({"--trace", "--merge-thread-groups", "maybe"}).status, 2);
}

TEST_F(Opstats, ExitStatusSaysWhatWentWrong) {
  compile_and_run("40");
  EXPECT_EQ(opstats({}).status, 2);
  EXPECT_EQ(opstats({"--summary", "--flow-events", "some"}).status, 2);
  EXPECT_EQ(opstats({"--trace", "--select-cores", "x"}).status, 2);
  EXPECT_EQ(opstats({"--summary"}, "stats", "missing").status, 4);
  const Outcome level = opstats({"--trace"});
  EXPECT_EQ(level.status, 3);
  EXPECT_THAT(level.errors, HasSubstr("compiled with -stats-level=40, which records no operators"));
  const Outcome none = opstats({"--summary"}, "out");
  EXPECT_EQ(none.status, 3);
  EXPECT_THAT(none.errors, HasSubstr("holds no statistics buffer"));
}

}  // namespace
}  // namespace npuscope::cli::opstats_test
