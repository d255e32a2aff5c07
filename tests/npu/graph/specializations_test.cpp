#include <gmock/gmock.h>

#include "npu/graph/import_onnx.hpp"

namespace npuscope::npu::specializations_test {
namespace {

Result<std::vector<Symbols>> read(std::string_view json) {
  return read_specializations(as_byte_span(json), "s.json");
}

std::string error_of(std::string_view json) {
  const auto result = read(json);
  return result ? "no error" : result.error().message;
}

const std::string form =
    "; write {\"specializations\": [{\"batch_size\": \"1\", \"seq_len\": \"32\"}]}";

TEST(Specializations, ReadNumbersAndDecimalStrings) {
  const auto list = read(R"({
        "specializations": [
                {"batch_size": "1", "seq_len": "32", "ctx_len": "128"},
                {"batch_size": 4, "seq_len": 1, "past_len": 0}
        ]
})");
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_THAT(*list,
              testing::ElementsAre(Symbols{{"batch_size", 1}, {"ctx_len", 128}, {"seq_len", 32}},
                                   Symbols{{"batch_size", 4}, {"past_len", 0}, {"seq_len", 1}}));
}

TEST(Specializations, AreReadStrictly) {
  EXPECT_THAT(error_of("{"), testing::StartsWith("s.json: not JSON ("));
  EXPECT_THAT(error_of(""), testing::StartsWith("s.json: not JSON ("));
  EXPECT_EQ(error_of("[]"), "s.json: not an object" + form);
  EXPECT_EQ(error_of("{}"), "s.json: has no list of specializations" + form);
  EXPECT_EQ(error_of(R"({"specialisations": []})"),
            "s.json: 'specialisations' is not known here" + form);
  EXPECT_EQ(error_of(R"({"specializations": []})"),
            "s.json: its list of specializations is empty" + form);
  EXPECT_EQ(error_of(R"({"specializations": [{"a": 1}, 2]})"),
            "s.json: specialization 1 is not an object" + form);
  EXPECT_EQ(error_of(R"({"specializations": [{}]})"),
            "s.json: specialization 0 gives no values" + form);
  EXPECT_EQ(error_of(R"({"specializations": [{"a": 1, "a": 2}]})"),
            "s.json: specialization 0 gives 'a' twice; remove one");
  EXPECT_EQ(error_of(R"({"specializations": [{"a": 1}], "specializations": [{"a": 2}]})"),
            "s.json: gives 'specializations' 2 times; make one list of them");
  for (const std::string value :
       {"\"\"", "\"32 \"", "\"0x20\"", "-1", "1.5", "null", "[1]", "\"99999999999999999999\""}) {
    EXPECT_EQ(error_of("{\"specializations\": [{\"a\": " + value + "}]}"),
              "s.json: 'a' of specialization 0 is not a whole number from 0 on" + form)
        << value;
  }
}

TEST(ParseSymbols, TakeNamesAndValues) {
  ImportOptions sizes, truths, refused;
  ASSERT_TRUE(parse_symbols({"batch_size,4", "seq_len,32", "batch_size,4"}, sizes));
  EXPECT_EQ(sizes.symbols, (Symbols{{"batch_size", 4}, {"seq_len", 32}}));
  EXPECT_TRUE(sizes.truths.empty());
  ASSERT_TRUE(parse_symbols({"yes,true", "no,false"}, truths));
  EXPECT_EQ(truths.symbols, (Symbols{{"no", 0}, {"yes", 1}}));
  EXPECT_THAT(truths.truths, testing::ElementsAre("no", "yes"));
  EXPECT_FALSE(parse_symbols({"a,1", "a,2"}, refused));
  for (const char* bad :
       {"", "batch", ",4", "a,0", "a,-1", "a,4x", "a,", "a,99999999999999999999"}) {
    EXPECT_FALSE(parse_symbols({bad}, refused)) << bad;
  }
}

}  // namespace
}  // namespace npuscope::npu::specializations_test
