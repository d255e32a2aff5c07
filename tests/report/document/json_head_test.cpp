#include "report/document/document_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace npuscope::report::json_head_test {
namespace {

TEST(JsonHead, StandsBeforeTheMembersOfAnObject) {
  const std::string text = with_json_head("torq overview", "{\n  \"models\": []\n}\n");
  const auto json = nlohmann::ordered_json::parse(text);
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"schema_version", "npuscope", "command", "models"}));
  EXPECT_EQ(json.at("schema_version"), json_schema_version);
  EXPECT_EQ(json.at("command"), "torq overview");
}

}  // namespace
}  // namespace npuscope::report::json_head_test
