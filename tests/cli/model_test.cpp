// npuscope-model as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/program.hpp"

namespace npuscope::cli::model_test {
namespace {

class ModelProgram : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  static std::string bytes_of(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("npuscope-model-" + std::to_string(::getpid()));
};

TEST_F(ModelProgram, PrintsWhatItWrote) {
  const Outcome outcome = run_npuscope_model({"decoder", "--hidden", "512", "--layers", "4",
                                              "--heads", "8", "--kv-heads", "2", "--ffn", "1536",
                                              "--vocab", "32000", "-o", file("own.onnx")});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.errors, "");
  const auto size = std::filesystem::file_size(file("own.onnx"));
  EXPECT_EQ(outcome.output,
            "decoder: decoder of 4 layers, hidden 512, 8 heads (2 key/value) of 64, ffn 1536, "
            "vocab 32000\n"
            "one inference: batch 1, 32 tokens, context 128\n"
            "  parameters                      44,831,232\n"
            "  weights at float16              85.51 MiB\n"
            "  retained state at float16       0.25 MiB\n"
            "  multiply-accumulates            419,037,184\n"
            "    with rows padded to 32        926,941,184\n"
            "wrote " +
                file("own.onnx") + ": 315 nodes, " + std::to_string(size / 1000) + "," +
                std::to_string(1000 + size % 1000).substr(1) + " bytes, float32\n");
}

TEST_F(ModelProgram, WritesNothingWithoutAFileName) {
  const Outcome outcome = run_npuscope_model({"bert-base"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output,
            "bert-base: encoder of 12 layers, hidden 768, 12 heads of 64, ffn 3072, vocab 28996\n"
            "one inference: batch 1, 128 tokens\n"
            "  parameters                      107,719,680\n"
            "  weights at float16              205.46 MiB\n"
            "  multiply-accumulates            11,173,625,856\n"
            "    with rows padded to 32        11,173,625,856\n"
            "no file written; -o FILE.onnx writes the model\n");
}

TEST_F(ModelProgram, ListsThePresets) {
  const Outcome outcome = run_npuscope_model({"--list"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output,
            "preset      kind      layers  hidden  heads kv-heads   size     ffn    vocab  "
            "sizes published in\n"
            "amber-7b    decoder       32    4096     32       32    128   11008    32000  "
            "huggingface.co/LLM360/Amber, config.json\n"
            "qwen3-0.6b  decoder       28    1024     16        8    128    3072   151936  "
            "huggingface.co/Qwen/Qwen3-0.6B, config.json\n"
            "bert-base   encoder       12     768     12       12     64    3072    28996  "
            "huggingface.co/google-bert/bert-base-cased, config.json\n");
}

TEST_F(ModelProgram, PrintsTheSameAsJson) {
  const Outcome outcome = run_npuscope_model(
      {"qwen3-0.6b", "-seq=1", "-ctx", "256", "--symbolic", "--json", "-o", file("qwen.onnx")});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  const auto json = nlohmann::json::parse(outcome.output);
  const auto expected = nlohmann::json::parse(R"({
    "architecture": {"name": "qwen3-0.6b", "kind": "decoder", "hidden_size": 1024, "layers": 28,
                     "heads": 16, "key_value_heads": 8, "head_size": 128,
                     "feed_forward_size": 3072, "vocabulary_size": 151936,
                     "tied_embeddings": true, "query_key_norm": true, "rotary_base": 1000000.0,
                     "norm_epsilon": 1e-06},
    "batch": 1, "sequence": 1, "context": 256, "symbolic": true, "precision": "float32",
    "parameters": 596049920, "weight_bytes_float16": 1192099840,
    "weight_mebibytes_float16": 1136.8750, "retained_bytes_float16": 29360128})");
  auto head = json;
  for (const char* key : {"schema_version", "npuscope", "command", "multiply_accumulates",
                          "padded_multiply_accumulates", "file"}) {
    head.erase(key);
  }
  auto rounded = head;
  rounded["weight_mebibytes_float16"] = expected.at("weight_mebibytes_float16");
  EXPECT_EQ(rounded, expected);
  EXPECT_NEAR(head.at("weight_mebibytes_float16"), 1192099840 / 1048576.0, 1e-9);
  // 440,401,920 weights of the layers and 155,582,464 of the table, one token; two products of
  // 16 heads of 128 with 256 positions in each of 28 layers.
  EXPECT_EQ(json.at("multiply_accumulates"), 440401920 + 155582464 + 28 * 2 * 16 * 128 * 256);
  EXPECT_EQ(json.at("file").at("path"), file("qwen.onnx"));
  EXPECT_EQ(json.at("file").at("bytes"), std::filesystem::file_size(file("qwen.onnx")));
}

TEST_F(ModelProgram, ListsThePresetsAsJson) {
  const auto json = nlohmann::json::parse(run_npuscope_model({"--list", "--json"}).output);
  ASSERT_EQ(json.at("presets").size(), 3u);
  EXPECT_EQ(json.at("presets")[2].at("name"), "bert-base");
  EXPECT_EQ(json.at("presets")[2].at("max_positions"), 512);
}

TEST_F(ModelProgram, KeepsTheSummaryOutOfAModelOnStandardOutput) {
  const Outcome piped =
      run_npuscope_model({"bert-base", "--layers", "1", "-o", "/dev/stdout"}, "| cat");
  EXPECT_THAT(piped.errors, ::testing::HasSubstr("wrote /dev/stdout"));
  run_npuscope_model({"bert-base", "--layers", "1", "-o", file("bert.onnx")});
  EXPECT_EQ(piped.output, bytes_of(file("bert.onnx")));
}

TEST_F(ModelProgram, LeavesAnOldFileAloneWhenTheRequestMakesNoSense) {
  std::ofstream(file("old.onnx")) << "old";
  const Outcome outcome = run_npuscope_model({"amber-7b", "--seq", "200", "-o", file("old.onnx")});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.errors,
            "npuscope-model: a sequence of 200 tokens exceeds the context of 128; raise the "
            "context\n");
  EXPECT_EQ(bytes_of(file("old.onnx")), "old");
}

TEST_F(ModelProgram, SaysWhatIsWrongInOneSentence) {
  struct Wrong {
    std::vector<std::string> arguments;
    int status;
    std::string errors;
  };
  const Wrong all[] = {
      {{}, 2, "no model named; give a preset (--list shows them), decoder or encoder"},
      {{"amber-7b", "--name", "a\x1b[31m"},
       2,
       "the name \"a\\x1b[31m\" is not plain UTF-8 text; take letters and digits"},
      {{"bert-base", "--ctx", "128"}, 2, "an encoder has no context; leave it away"},
      {{"amber-7b", "-o", file("missing/a.onnx")},
       4,
       file("missing/a.onnx") + ": cannot create: No such file or directory; check the path"},
  };
  for (const Wrong& wrong : all) {
    const Outcome outcome = run_npuscope_model(wrong.arguments);
    EXPECT_EQ(outcome.status, wrong.status);
    EXPECT_EQ(outcome.errors, "npuscope-model: " + wrong.errors + "\n");
    EXPECT_EQ(outcome.output, "");
  }
}

}  // namespace
}  // namespace npuscope::cli::model_test
