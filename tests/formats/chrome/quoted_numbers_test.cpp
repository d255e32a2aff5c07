#include <gmock/gmock.h>

#include "formats/chrome/events.hpp"

namespace npuscope::chrome::quoted_numbers_test {
namespace {

// "integer 7", "number 0.5", "text 007".
std::string argument_of(const std::string& quoted, bool quoted_numbers) {
  const std::string json =
      R"([{"name": "a", "ph": "X", "ts": 0, "dur": 1, "args": {"key": ")" + quoted + R"("}}])";
  const auto source = open_byte_source(json, "trace.json");
  ReadOptions options;
  options.quoted_numbers = quoted_numbers;
  const auto events = read_events(**source, options);
  if (!events) return events.error().message;
  const Argument argument = events->slices.arguments.at(0, 0);
  switch (argument.key.type) {
    case ArgumentType::integer: return fmt::format("integer {}", argument.integer());
    case ArgumentType::number: return fmt::format("number {}", argument.number());
    case ArgumentType::text: return fmt::format("text {}", events->strings[argument.text()]);
    default: return "?";
  }
}

TEST(QuotedNumbers, AreTextsUnlessAskedFor) {
  EXPECT_EQ(argument_of("2606", false), "text 2606");
  EXPECT_EQ(argument_of("2606", true), "integer 2606");
  EXPECT_EQ(argument_of("1450.248350", true), "number 1450.24835");
  EXPECT_EQ(argument_of("0", true), "integer 0");
  EXPECT_EQ(argument_of("0.000000", true), "number 0");
  EXPECT_EQ(argument_of("123456789012345", true), "integer 123456789012345");
  EXPECT_EQ(argument_of("12345678901234.5", true), "number 12345678901234.5");
}

TEST(QuotedNumbers, StayTextsInAnyOtherForm) {
  for (const std::string text :
       {"", "-1", "007", "00.5", "1.", ".5", "1.2.3", "1e3", "0x1", " 1", "1 ", "1234567890123456",
        "123456789012345.6", "12345678901234567890", "/layer.0", "NaN", "."}) {
    EXPECT_EQ(argument_of(text, true), "text " + text);
  }
}

}  // namespace
}  // namespace npuscope::chrome::quoted_numbers_test
