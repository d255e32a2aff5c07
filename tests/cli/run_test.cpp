// npuscope run as a user runs it, on a program compiled from a real model.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/program.hpp"

namespace npuscope::cli::run_test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

class Run : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder() =
        std::filesystem::temp_directory_path() / ("npuscope-run-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder());
    std::filesystem::create_directories(folder() / "out");
    compile("70");
    compile("40");
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder()); }

  static void compile(const std::string& level) {
    const Outcome outcome =
        run_npuscope({"compile", "-model=" NPUSCOPE_SOURCE_DIR "/models/light_squeezenet.onnx",
                      "-aic-binary-dir=" + binaries(level), "-stats-level=" + level,
                      "-aic-num-cores=2", "-convert-to-fp16"});
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
  }
  static std::filesystem::path& folder() {
    static std::filesystem::path path;
    return path;
  }
  static std::string binaries(const std::string& level) {
    return (folder() / ("level" + level)).string();
  }
  static std::string out() { return (folder() / "out").string(); }
};

TEST_F(Run, PrintsTheVendorsBlock) {
  const Outcome outcome = run_npuscope({"run", "-t", binaries("70"), "-n", "5"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(
      outcome.output,
      MatchesRegex(" ---- Stats ----\n"
                   "InferenceCnt 5 TotalDuration [0-9]+us BatchSize 1 Inf/Sec [0-9.]+\n"
                   "Device Performance: \n"
                   "Metric,          Avg,           Min,           Max,           Std            \n"
                   "ExecTimeUs,      [0-9., ]+\n"
                   "InputWaitTimeUs, [0-9., ]+\n"
                   "OutputWaitTimeUs,[0-9., ]+\n\n"
                   "Latency of an inference, from the host's queue to its result: median [0-9.]+ "
                   "us, 99 % [0-9.]+ us\\.\n\n"
                   "Throughput of an activation: device [0-9.]+ Inf/Sec, system [0-9.]+ Inf/Sec, "
                   "[0-9.]+ % less\\.\n[A-Z][^\n]+\\.\n\n"));
  EXPECT_EQ(outcome.errors, "");
}

TEST_F(Run, TakesTheFlagsOfTheVendorsDocument) {
  const Outcome outcome = run_npuscope({"run",
                                        "--test-data=" + binaries("70"),
                                        "--aic-profiling-type=raw_device_stats",
                                        "--aic-profiling-type",
                                        "stats",
                                        "-aic-profiling-type=trace",
                                        "--aic-profiling-type=latency",
                                        "--aic-profiling-out-dir=" + out(),
                                        "--aic-profiling-num-samples=2",
                                        "--aic-profiling-start-iter",
                                        "1",
                                        "--num-iter=10",
                                        "-S",
                                        "1",
                                        "-d",
                                        "0",
                                        "-a",
                                        "1",
                                        "-T",
                                        "2"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  const std::string prefix = "Writing file:" + out() + "/aic-profiling-program-0-";
  EXPECT_THAT(outcome.output,
              StartsWith(prefix + "activation-0-inf-1-QAicGraph-aiccyclecounts.bin\n" + prefix +
                         "activation-0-inf-1.txt\n" + prefix +
                         "activation-0-inf-2-QAicGraph-aiccyclecounts.bin\n" + prefix +
                         "activation-0-inf-2.txt\n" + prefix + "latency.txt\n" + prefix +
                         "trace.json\n" + prefix + "host-trace.json\n ---- Stats ----\n"));
}

TEST_F(Run, TakesAFileAfterFlagsThatMayBeRepeated) {
  const Outcome outcome = run_npuscope({"run", "-n", "1", "-i", "a.raw", "-i", "b.raw", "-d", "0,1",
                                        binaries("70") + "/programqpc.bin"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("Program 1: QAicGraph on device 1\n"));
}

TEST_F(Run, TheSameRunAgainWritesTheSameBytes) {
  const std::vector<std::string> command{"run",
                                         "-t",
                                         binaries("70"),
                                         "-n",
                                         "2",
                                         "--json",
                                         "--aic-profiling-type=raw_device_stats",
                                         "--aic-profiling-out-dir",
                                         out()};
  const std::string sum = "cat " + out() + "/*inf-0*aiccyclecounts.bin | cksum";
  const Outcome first = run_npuscope(command);
  const Outcome first_sum = run_program_at("/bin/sh", {"-c", sum});
  const Outcome again = run_npuscope(command);
  EXPECT_EQ(first.output, again.output);
  EXPECT_EQ(first_sum.output, run_program_at("/bin/sh", {"-c", sum}).output);
}

TEST_F(Run, AsJsonSaysTheSameAndNothingElse) {
  const Outcome outcome =
      run_npuscope({"run", "-t", binaries("40"), "-n", "3", "--json", "-a", "2",
                    "--aic-profiling-type=latency", "--aic-profiling-out-dir", out()});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  const auto json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json["programs"][0]["inference_count"], 6);
  EXPECT_EQ(json["programs"][0]["device_performance"]["ExecTimeUs"]["measured"], true);
  EXPECT_EQ(json["programs"][0]["device_performance"]["InputWaitTimeUs"]["measured"], false);
  EXPECT_EQ(json["files"][0], out() + "/aic-profiling-program-0-latency.txt");
}

// "device input wait" and "device output wait" were both cut down to "devic…t wait".
TEST_F(Run, LeavesALatencyFileWhoseStepsCanBeToldApart) {
  const Outcome run =
      run_npuscope({"run", "-t", binaries("70"), "-n", "3", "--aic-profiling-type=latency",
                    "--aic-profiling-out-dir", out()});
  EXPECT_EQ(run.status, 0) << run.errors;
  const std::string file = out() + "/aic-profiling-program-0-latency.txt";
  for (const char* width : {"80", "100", "120"}) {
    const Outcome outcome = run_npuscope({"latency", file, "--width", width});
    EXPECT_THAT(outcome.output, HasSubstr("device input wait ")) << width;
    EXPECT_THAT(outcome.output, HasSubstr("device output wait ")) << width;
    EXPECT_THAT(outcome.output, HasSubstr(" 99 % ")) << width;
  }
}

TEST_F(Run, SaysWhatTheLevelDoesNotMeasure) {
  const Outcome outcome = run_npuscope({"run", "-t", binaries("40"), "-n", "1"});
  EXPECT_THAT(outcome.output, HasSubstr("InputWaitTimeUs, N/A,"));
  EXPECT_EQ(
      outcome.errors,
      "npuscope: warning: program 0: waiting for inputs and outputs is not measured, shown as "
      "N/A: it was compiled with -stats-level=40, it needs 50 or more\n");
}

struct Refusal {
  std::vector<std::string> arguments;
  int status;
  std::string error;
};

TEST_F(Run, RefusesWhatMakesNoSense) {
  const std::string good = binaries("70");
  for (const Refusal& refusal : {
           Refusal{{}, 2, "nothing to run"},
           Refusal{{"-t", good, good + "/programqpc.bin"}, 2, "both -t and a QPC file are given"},
           Refusal{{"-t", "nowhere"}, 3, "nowhere: cannot open"},
           Refusal{{"-t", good, "-n", "0"}, 2, "--num-iter=0 runs nothing"},
           Refusal{{"-t", good, "-n", "-3"}, 2, "--num-iter"},
           Refusal{{"-t", good, "-n", "many"}, 2, "--num-iter"},
           Refusal{{"-t", good, "-a", "9"}, 2, "9 activations of 2 cores each need 18 cores"},
           Refusal{{"-t", good, "-S", "0"}, 2, "set size 0"},
           Refusal{{"-t", good, "--time", "-1"}, 2, "--time"},
           Refusal{{"-t", good, "--time", "nan"}, 2, "--time: nan is not a number from"},
           Refusal{{"-t", good, "--time", "1e308"}, 2, "--time: 1e308 is not a number from"},
           Refusal{{"-t", good, "-n", "99999999999999999999"}, 2, "is not a whole number"},
           Refusal{{"-t", good, "-n", "5000001", "-a", "2"}, 2, "lower --num-iter"},
           Refusal{{"-t", good, "--aic-profiling-type=flames"},
                   2,
                   "use stats, trace, raw_device_stats"},
           Refusal{{"-t", good, "--aic-profiling-type=stats", "--aic-profiling-out-dir=/no/such"},
                   4,
                   "/no/such: no such folder; create it first"},
           Refusal{{"-t", good, "--aic-profiling-type=stats", "--aic-profiling-out-dir=/dev/null"},
                   4,
                   "/dev/null: not a folder"},
           Refusal{{"-t", binaries("40"), "--aic-profiling-type=trace", "--aic-profiling-out-dir",
                    out()},
                   3,
                   "compile with -stats-level=70 or more"},
           Refusal{{NPUSCOPE_SOURCE_DIR "/models/light_squeezenet.onnx"}, 3, "not a QPC"},
       }) {
    std::vector<std::string> arguments{"run"};
    arguments.insert(arguments.end(), refusal.arguments.begin(), refusal.arguments.end());
    const Outcome outcome = run_npuscope(arguments);
    EXPECT_EQ(outcome.status, refusal.status) << refusal.error;
    EXPECT_THAT(outcome.errors, HasSubstr(refusal.error));
    EXPECT_EQ(outcome.output, "");
  }
}

// A program for the HTP and the set that its vendor's viewer would make of a run.
TEST_F(Run, EmitsAQnnOptraceSet) {
  const std::string folder_of_htp = (folder() / "htp").string();
  const Outcome compiled =
      run_npuscope({"compile", "-model=" NPUSCOPE_SOURCE_DIR "/models/light_squeezenet.onnx",
                    "-aic-binary-dir=" + folder_of_htp, "-stats-level=70", "-target=htp-v75"});
  ASSERT_EQ(compiled.status, 0) << compiled.errors;
  const Outcome outcome =
      run_npuscope({"run", "-t", folder_of_htp, "-n", "2", "--emit=qnn", "--emit-dir", out()});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, StartsWith("Writing file:" + out() + "/chrometrace.json\n"));
  for (const char* name :
       {"chrometrace.json", "chrometrace_htp.json", "chrometrace_runtrace.json",
        "chrometrace_qnn_htp_analysis_summary.json", "chrometrace_profile.txt"}) {
    EXPECT_TRUE(std::filesystem::exists(folder() / "out" / name)) << name;
  }
}

TEST_F(Run, RefusesToEmitWhatTheProgramCannotGive) {
  const Outcome other = run_npuscope({"run", "-t", binaries("70"), "--emit=qnn"});
  EXPECT_EQ(other.status, 3);
  EXPECT_THAT(other.errors, HasSubstr("compile with -target=htp-v75"));
  const Outcome unknown = run_npuscope({"run", "-t", binaries("70"), "--emit=perfetto"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_EQ(unknown.errors, "npuscope: --emit=perfetto: use qnn\n");
  const Outcome alone = run_npuscope({"run", "-t", binaries("70"), "--emit-dir", out()});
  EXPECT_EQ(alone.status, 2);
}

}  // namespace
}  // namespace npuscope::cli::run_test
