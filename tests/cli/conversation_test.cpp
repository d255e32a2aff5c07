// npuscope conversation as a user runs it: its phases are runs of programs that anybody can
// compile.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/program.hpp"

namespace npuscope::cli::conversation_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Conversation : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::filesystem::create_directories(folder());
    ASSERT_EQ(run_npuscope_model({"decoder", "--hidden", "256", "--layers", "2", "--heads", "4",
                                  "--ffn", "512", "--vocab", "1000", "--symbolic", "-o", model()})
                  .status,
              0);
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder()); }

  static std::filesystem::path folder() {
    return std::filesystem::temp_directory_path() /
           ("npuscope-conversation-" + std::to_string(::getpid()));
  }
  static std::string path(const std::string& name) { return (folder() / name).string(); }
  static std::string model() { return path("decoder.onnx"); }

  static json held(std::vector<std::string> words) {
    words.insert(words.begin(), {"conversation", model(), "--json"});
    const Outcome outcome = run_npuscope(words);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    return outcome.status == 0 ? json::parse(outcome.output) : json();
  }

  // Seconds of a phase's steps, compiled and run on their own.
  static double seconds_of(const json& phase, const std::string& batch, const std::string& cores,
                           const std::string& activations) {
    const auto number = [&](const char* key) { return std::to_string(phase.at(key).get<int>()); };
    const std::string program = path("program");
    const Outcome compiled = run_npuscope(
        {"compile", "-m", model(), "-onnx-define-symbol=seq_len," + number("input_tokens"),
         "-onnx-define-symbol=ctx_len," + number("context"), "-batchsize=" + batch,
         "-convert-to-fp16", "-retained-state", "-aic-num-cores=" + cores,
         "-aic-binary-dir=" + program});
    EXPECT_EQ(compiled.status, 0) << compiled.errors;
    const json run = json::parse(run_npuscope({"run", "-t", program, "-S", "1", "-a", activations,
                                               "-n", number("steps"), "--json"})
                                     .output);
    return run.at("programs").at(0).at("total_duration_us").get<double>() * 1e-6;
  }
};

TEST_F(Conversation, ItsPhasesAreRunsOfPrograms) {
  const json page = held({"--prompt", "80", "--generate", "64", "--context", "64,128,256",
                          "--batchsize", "2", "-a", "2", "-aic-num-cores=4"});
  const json& facts = page.at("conversation");
  const json& rows = page.at("phases").at("rows");
  const auto phase = [](const json& row) {
    return row.at("phase").get<std::string>() + " " + row.at("input_tokens").dump() + " " +
           row.at("context").dump() + " " + row.at("steps").dump();
  };
  std::vector<std::string> phases;
  for (const json& row : rows) phases.push_back(phase(row));
  // 80 tokens in chunks of 32 reach 32, 64 and 80; the answer's 63 steps 81 to 143.
  EXPECT_THAT(phases, testing::ElementsAre("prefill 32 64 2", "prefill 32 128 1", "decode 1 128 48",
                                           "decode 1 256 15"));
  double first = 0, all = 0;
  for (const json& row : rows) {
    const double seconds = seconds_of(row, "2", "4", "2");
    EXPECT_DOUBLE_EQ(row.at("seconds").get<double>(), seconds);
    all += seconds;
    if (row.at("phase") == "prefill") first += seconds;
  }
  EXPECT_DOUBLE_EQ(facts.at("first_token_seconds").get<double>(), first);
  EXPECT_DOUBLE_EQ(facts.at("total_seconds").get<double>(), all);
  const double rate = facts.at("tokens_per_second").get<double>();
  EXPECT_NEAR(rate, 63 / (all - first), 1e-6 * rate);
  EXPECT_NEAR(facts.at("all_tokens_per_second").get<double>(), 4 * rate, 1e-6 * rate);
}

TEST_F(Conversation, LongerContextsTakeLongerSteps) {
  const json rows =
      held({"--prompt", "32", "--generate", "900", "--context", "128,512,2048", "-aic-num-cores=2"})
          .at("phases")
          .at("rows");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_LT(rows.at(1).at("step_seconds"), rows.at(2).at("step_seconds"));
  EXPECT_LT(rows.at(2).at("step_seconds"), rows.at(3).at("step_seconds"));
  EXPECT_LT(rows.at(1).at("step_ddr_bytes"), rows.at(3).at("step_ddr_bytes"));
}

TEST_F(Conversation, OfOneTokenHasNoRate) {
  const json page = held({"--prompt", "8", "--generate", "1"});
  EXPECT_TRUE(page.at("conversation").at("tokens_per_second").is_null());
  EXPECT_EQ(page.at("conversation").at("first_token_seconds"),
            page.at("conversation").at("total_seconds"));
}

TEST_F(Conversation, RefusesWhatMeansNothing) {
  const auto refusal = [](std::vector<std::string> words, int status) {
    words.insert(words.begin(), {"conversation", model()});
    const Outcome outcome = run_npuscope(words);
    EXPECT_EQ(outcome.status, status) << outcome.output;
    EXPECT_EQ(outcome.output, "");
    return outcome.errors;
  };
  EXPECT_EQ(refusal({"--context", "10"}, 2),
            "npuscope: the largest context is 10, but prompt and answer are 256 tokens; give a "
            "context of 256 or more\n");
  for (const char* flag : {"--prompt", "--generate", "--chunk", "--context", "-a"}) {
    EXPECT_THAT(refusal({flag, "0"}, 2), HasSubstr("is not a whole number from 1")) << flag;
  }
  EXPECT_THAT(refusal({"-aic-num-cores=17"}, 2), HasSubstr("aic100 has 16 cores"));
  EXPECT_THAT(refusal({"-a", "17", "-aic-num-cores=1"}, 2), HasSubstr("activations"));
  EXPECT_THAT(refusal({"--context-symbol", "context"}, 3), HasSubstr("ctx_len"));
  EXPECT_THAT(refusal({"--target", "torq-sl2610"}, 2), HasSubstr("torq-sl2610"));
}

// A network for images had a time to its first token.
TEST_F(Conversation, AModelWithoutTokensHoldsNone) {
  const std::string images = std::string(NPUSCOPE_SOURCE_DIR) + "/models/light_squeezenet.onnx";
  const Outcome outcome = run_npuscope({"conversation", images, "--prompt", "4"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(outcome.output, "");
  EXPECT_THAT(outcome.errors, HasSubstr("no input has an open dimension 'ctx_len'"));
}

}  // namespace
}  // namespace npuscope::cli::conversation_test
