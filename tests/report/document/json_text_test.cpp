// Numbers and blanks of every command's JSON, against the library that printed them before.
#include "report/document/document_json.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <nlohmann/json.hpp>
#include <random>

namespace npuscope::report::json_text_test {
namespace {

std::string compact(double number) {
  std::string text;
  Json(text, compact_layout()).value(number);
  return text;
}

TEST(JsonText, PrintsDoublesAsTheirLibraryDoes) {
  std::vector<double> numbers{0, -0.0, 1, 1e5, 1e14, 1e15, 1e16, 1e20, 0.0001, 0.00001, 5e-324};
  std::mt19937_64 random(5);
  for (int i = 0; i < 100'000; ++i) {
    numbers.push_back(std::bit_cast<double>(random()));
    numbers.push_back(double(random() % 1'000'000) / double(1 + random() % 1'000));
    numbers.push_back(double(random() >> random() % 64));
  }
  for (const double number : numbers) {
    ASSERT_EQ(compact(number), nlohmann::json(number).dump());
  }
  EXPECT_EQ(compact(1e5), "100000.0");
  EXPECT_EQ(compact(1e15), "1e+15");
}

TEST(JsonText, IsIndentedByTwoAndEndsItsLine) {
  const std::string text = json_text([](Json& json) {
    json.member("texts", std::vector<std::string>{"a", "b\xff"});
    json.member("none", std::vector<std::string>());
    json.member("known", std::optional(0.5f));
    json.member("unknown", or_null(""));
    json.object("empty", [] {});
  });
  EXPECT_EQ(text, R"({
  "texts": [
    "a",
    "b�"
  ],
  "none": [],
  "known": 0.5,
  "unknown": null,
  "empty": {}
}
)");
}

}  // namespace
}  // namespace npuscope::report::json_text_test
