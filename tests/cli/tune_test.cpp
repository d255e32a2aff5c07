// npuscope tune as a user runs it: what it prints of a configuration is what its commands measure.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/program.hpp"

namespace npuscope::cli::tune_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* squeezenet = NPUSCOPE_SOURCE_DIR "/models/light_squeezenet.onnx";

class TuneCommand : public testing::Test {
 protected:
  TuneCommand() { std::filesystem::create_directories(folder_); }
  ~TuneCommand() override { std::filesystem::remove_all(folder_); }

  // A command that was printed, in the folder of this test, with the program under test.
  json do_command(const std::string& printed) const {
    EXPECT_THAT(printed, StartsWith("npuscope "));
    const Outcome outcome =
        run_program_at("/bin/sh", {"-c", "cd \"$1\" && \"$2\"" + printed.substr(8) + " --json",
                                   "sh", folder_.string(), npuscope_program()});
    EXPECT_EQ(outcome.status, 0) << printed << '\n' << outcome.errors;
    return outcome.status == 0 ? json::parse(outcome.output) : json();
  }

  // Of each point of the front.
  void expect_what_commands_measure(const std::vector<std::string>& arguments) const {
    std::vector<std::string> words{"tune", "--json"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const Outcome tuned = run_npuscope(words);
    ASSERT_EQ(tuned.status, 0) << tuned.errors;
    const json rows = json::parse(tuned.output).at("front").at("rows");
    ASSERT_FALSE(rows.empty());
    for (const json& row : rows) {
      do_command(row.at("compile_command"));
      const json run = do_command(row.at("run_command"));
      if (run.contains("programs")) {
        const json& program = run.at("programs").at(0);
        EXPECT_EQ(program.at("request_latency").at("median_seconds"), row.at("latency_seconds"));
        EXPECT_EQ(program.at("request_latency").at("percentile_99_seconds"),
                  row.at("latency_99_seconds"));
        EXPECT_EQ(program.at("inferences_per_second"), row.at("samples_per_second")) << row;
      } else {
        const json& times = run.at("run");
        const bool is_ipu = times.contains("invoke_seconds");
        EXPECT_EQ(times.at(is_ipu ? "invoke_seconds" : "inference_seconds"),
                  row.at("latency_seconds"));
        EXPECT_DOUBLE_EQ(row.at("samples_per_second").get<double>(),
                         row.at("batch").get<double>() / row.at("latency_seconds").get<double>());
      }
    }
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("npuscope-tune-cli-" + std::to_string(::getpid()));
};

TEST_F(TuneCommand, PrintsWhatItsCommandsMeasure) {
  expect_what_commands_measure({squeezenet, "--batch", "1,8", "--cores", "2,16"});
  expect_what_commands_measure(
      {squeezenet, "--precision", "model", "--cores", "3,4", "--batch", "2"});
  for (const char* target : {"htp-v75", "ipu-muffin", "torq-sl2610", "torq-sr200"}) {
    expect_what_commands_measure({squeezenet, "--target", target});
  }
}

TEST_F(TuneCommand, PrintsWhatItsCommandsMeasureOfADecoder) {
  const std::string model = path("a small 'decoder'.onnx");
  ASSERT_EQ(run_npuscope_model({"decoder", "--hidden", "256", "--layers", "2", "--heads", "4",
                                "--ffn", "512", "--vocab", "1000", "--symbolic", "-o", model})
                .status,
            0);
  expect_what_commands_measure({model, "-onnx-define-symbol=seq_len,1",
                                "-onnx-define-symbol=ctx_len,128", "-retained-state", "--batch",
                                "1,4", "--cores", "4,16"});
}

TEST_F(TuneCommand, NamesTheBestWhereTheGoalIsOutOfReach) {
  const Outcome outcome = run_npuscope(
      {"tune", squeezenet, "--latency", "1us", "--cores", "16", "--batch", "1", "--json"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.errors, StartsWith("npuscope: nothing that was tried reaches the goal "
                                         "(latency of at most 0.001 ms); nearest: "));
  const json chosen = json::parse(outcome.output).at("chosen");
  EXPECT_FALSE(chosen.at("reached"));
  EXPECT_EQ(chosen.at("latency_seconds"),
            json::parse(outcome.output).at("front").at("rows").at(0).at("latency_seconds"));
}

TEST_F(TuneCommand, IsTheSameEachTime) {
  const std::vector<std::string> words{"tune", squeezenet, "--throughput", "--batch",
                                       "1,2",  "--cores",  "4,16"};
  const Outcome first = run_npuscope(words);
  EXPECT_EQ(first.status, 0) << first.errors;
  EXPECT_EQ(run_npuscope(words).output, first.output);
  EXPECT_THAT(first.output, HasSubstr("\nnpuscope compile -m "));
  EXPECT_THAT(first.output, HasSubstr("Trust: not judged: "));
}

TEST_F(TuneCommand, RefusesWhatMeansNothing) {
  const auto refusal = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"tune", squeezenet});
    const Outcome outcome = run_npuscope(words);
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    EXPECT_EQ(outcome.output, "");
    return outcome.errors;
  };
  EXPECT_EQ(refusal({"--latency", "-5ms"}),
            "npuscope: --latency -5ms: must be above 0; write it like 5ms\n");
  EXPECT_EQ(refusal({"--latency", "5"}),
            "npuscope: --latency 5: a time needs a unit; write it like 12.5ms, 300us, 1000cyc or "
            "20ticks\n");
  EXPECT_EQ(refusal({"--latency", "5cyc"}),
            "npuscope: --latency 5cyc: not a time in seconds; write it like 12.5ms, 300us or 1s\n");
  EXPECT_THAT(refusal({"--latency", "soon"}), HasSubstr("--latency soon: not a time"));
  for (const char* flag : {"--cores", "--batch", "--activations", "--queued"}) {
    EXPECT_THAT(refusal({flag, "0"}), HasSubstr(flag));
    EXPECT_THAT(refusal({flag, "1,-1"}), HasSubstr(flag));
  }
  EXPECT_THAT(refusal({"--min-throughput", "-1"}), HasSubstr("--min-throughput"));
  EXPECT_EQ(refusal({"--min-throughput", "0"}), "npuscope: --min-throughput 0: must be above 0\n");
  EXPECT_THAT(refusal({"--activations", "17", "--cores", "1", "--batch", "1"}),
              HasSubstr("--activations 17 on 1 core each: aic100 runs 16 at most"));
  EXPECT_THAT(refusal({"--target", "aic101"}), HasSubstr("target 'aic101' is not built in"));
  EXPECT_THAT(refusal({"--cores", "17"}), HasSubstr("aic100 has 16 cores"));
  EXPECT_EQ(run_npuscope({"tune", path("missing.onnx")}).status, 3);
}

TEST_F(TuneCommand, CoresAndQueuesThatATargetLacksStoodInItsRows) {
  for (const auto& [flag, value, why] :
       {std::tuple{"--cores", "4", "--cores 4: torq-sl2610 has 1 core; give no more"},
        {"--queued", "5", "--queued 5: torq-sl2610 runs one inference after the other"}}) {
    const Outcome outcome =
        run_npuscope({"tune", squeezenet, "--target", "torq-sl2610", flag, value});
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    EXPECT_THAT(outcome.errors, HasSubstr(why));
  }
}

TEST_F(TuneCommand, ATruthValueStoodAsANumberInTheCommands) {
  const Outcome outcome =
      run_npuscope({"tune", squeezenet, "--cores", "16", "--batch", "1", "--activations", "1",
                    "--queued", "1", "--throughput", "-onnx-define-symbol=with,false"});
  EXPECT_THAT(outcome.output, HasSubstr(" -onnx-define-symbol=with,false "));
}

}  // namespace
}  // namespace npuscope::cli::tune_test
