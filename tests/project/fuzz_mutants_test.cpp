#include "fuzz/mutants.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

namespace npuscope::fuzz {
namespace {

std::string file(const std::string& name) {
  std::ifstream in(std::string(NPUSCOPE_SOURCE_DIR) + "/tests/fuzz/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(FuzzMutants, OfJsonAreJsonUnlessAValueWasChangedByteByByte) {
  const std::string trace =
      R"( {"traceEvents": [ {"ph":"X", "ts": 1.5 ,"name":"a\"b","args":{"x":[1,{}]}}, {"ph":"M"} ]} )";
  const std::string other = R"([{"dur":[null,"\\"]}])";
  std::mt19937_64 random(1);
  std::set<std::string> made;
  int valid = 0;
  for (int i = 0; i < 2'000; ++i) {
    const std::string text = mutant_of_json(trace, other, random);
    ASSERT_FALSE(text.empty());
    valid += nlohmann::json::accept(text) ? 1 : 0;
    made.insert(text);
  }
  EXPECT_GT(made.size(), 500u);
  EXPECT_GT(valid, 1'500);  // bytes, and "3." and "1E400", which JSON does not have
}

TEST(FuzzMutants, OfWhatIsNotJsonThereAreNone) {
  std::mt19937_64 random(1);
  for (const char* text : {"", "x", "[1,", "{\"a\" 1}", "[1] 2", "\"", "{", "{}", "[]"}) {
    EXPECT_EQ(mutant_of_json(text, "[1]", random), "") << text;
  }
}

TEST(FuzzMutants, OfAModelAreMessagesWithRightLengths) {
  const std::string model = file("model/bert_layer.onnx"), other = file("model/qwen_layer.onnx");
  ASSERT_FALSE(model.empty());
  std::mt19937_64 random(1);
  std::set<std::string> made;
  for (int i = 0; i < 200; ++i) {
    const std::string bytes = mutant_of_protobuf(model, other, random);
    made.insert(bytes);
    // A mutant of a mutant: it could be read.
    if (!bytes.empty()) {
      EXPECT_NE(mutant_of_protobuf(bytes, other, random), "") << i;
    }
  }
  EXPECT_GT(made.size(), 150u);
}

TEST(FuzzMutants, OfTextThatIsNoMessageThereAreNone) {
  std::mt19937_64 random(1);
  EXPECT_EQ(mutant_of_protobuf("\x0a\x05"
                               "ab",
                               "", random),
            "");                                          // shorter than it says
  EXPECT_EQ(mutant_of_protobuf("\x0b", "", random), "");  // a group
  EXPECT_EQ(mutant_of_protobuf(std::string(1, '\0'), "", random), "");
}

TEST(FuzzMutants, KeepTheLetterBeforeWhatHasAForm) {
  std::mt19937_64 random(1);
  int kept = 0;
  for (int i = 0; i < 400; ++i) {
    const std::string text = mutant(R"(C[{"ph":"X"},{"ph":"B"}])", R"(C[1])", random);
    kept += text.starts_with("C[") && nlohmann::json::accept(text.substr(1)) ? 1 : 0;
  }
  EXPECT_GT(kept, 200);
}

}  // namespace
}  // namespace npuscope::fuzz
