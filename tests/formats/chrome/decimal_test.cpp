// Numbers read eight digits at a time, against reading them digit by digit, and what is made of
// them against the general ways.
#include "formats/chrome/parse/decimal.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "base/text.hpp"
#include "formats/chrome/parse/event_form.hpp"
#include "formats/chrome/parse/event_values.hpp"

namespace npuscope::chrome::decimal_test {
namespace {

constexpr std::size_t readable = 64;

struct SlowDecimal {
  std::string digits;
  std::size_t before = 0;
  std::size_t size = 0;  // with sign and point; 0: no decimal
};

SlowDecimal slow_decimal(const std::string& text) {
  SlowDecimal slow;
  std::size_t at = text.starts_with('-') ? 1 : 0;
  for (; is_digit(text[at]); ++at) slow.digits += text[at];
  slow.before = slow.digits.size();
  if (text[at] == '.') {
    for (++at; is_digit(text[at]); ++at) slow.digits += text[at];
    if (slow.digits.size() == slow.before) return {};
  }
  if (slow.before == 0 || slow.digits.size() > Decimal::max_digits) return {};
  slow.size = at;
  return slow;
}

// Digits mostly, in runs of up to 30, and any byte after them.
std::string random_text(std::mt19937& random) {
  std::string text = random() % 4 == 0 ? "-" : "";
  const auto add_digits = [&] {
    for (std::size_t left = random() % (random() % 4 == 0 ? 30 : 11); left > 0; --left) {
      text += char('0' + random() % 10);
    }
  };
  add_digits();
  if (random() % 2 == 0) {
    text += '.';
    add_digits();
  }
  for (int i = 0; i < 3; ++i)
    text += random() % 2 == 0 ? ",e.\":/} "[random() % 8] : char(random());
  return text;
}

TEST(Decimal, ShortIntegersAreThoseOfSevenDigitsThatJsonAllows) {
  std::mt19937 random(7);
  std::size_t found = 0;
  for (int round = 0; round < 200'000; ++round) {
    const std::string text = random_text(random);
    const std::string padded = text + std::string(readable, ';');
    const std::size_t size = padded.find_first_not_of("0123456789");
    const bool is_short = size > 0 && size < 8 && !scalar_bytes[std::uint8_t(padded[size])] &&
                          (size == 1 || padded[0] != '0');
    std::uint64_t number = 0;
    ASSERT_EQ(short_integer(padded.data(), number), is_short ? size : 0) << text;
    if (is_short) {
      ASSERT_EQ(std::to_string(number), padded.substr(0, size));
    }
    found += is_short ? 1 : 0;
  }
  EXPECT_GT(found, 10'000u);
}

TEST(Decimal, IsTheSameAsReadDigitByDigit) {
  std::mt19937 random(5);
  for (int round = 0; round < 200'000; ++round) {
    const std::string text = random_text(random);
    const std::string padded = text + std::string(readable, char(random()));
    const SlowDecimal slow = slow_decimal(padded);
    Decimal decimal;
    const char* const end = take_decimal(padded.data(), decimal);
    ASSERT_EQ(end == nullptr ? 0 : std::size_t(end - padded.data()), slow.size) << padded;
    ASSERT_EQ(decimal.any(), slow.size > 0) << padded;
    if (slow.size == 0) continue;
    ASSERT_EQ(decimal.digits, std::stoull(slow.digits)) << padded;
    ASSERT_EQ(decimal.before, slow.before) << padded;
    ASSERT_EQ(decimal.before + decimal.after, slow.digits.size()) << padded;
    ASSERT_EQ(decimal.is_negative, text[0] == '-') << padded;
    ASSERT_EQ(decimal.is_padded, slow.before > 1 && slow.digits[0] == '0') << padded;
  }
}

TEST(Decimal, MeansWhatTheGeneralWaysRead) {
  std::mt19937 random(6);
  std::size_t times = 0, integers = 0, numbers = 0;
  for (int round = 0; round < 200'000; ++round) {
    const std::string text = random_text(random) + std::string(readable, ' ');
    Decimal decimal;
    const char* const end = take_decimal(text.data(), decimal);
    if (end == nullptr) continue;
    const std::string number(text.data(), end);
    if (const auto time = thousandths_of(decimal)) {
      ASSERT_EQ(time, parse_thousandths(number)) << number;
      ++times;
    }
    TypedValue typed;
    if (!type_decimal(decimal, typed)) continue;
    const auto json = nlohmann::json::parse(number);
    if (typed.type == ArgumentType::integer) {
      ASSERT_EQ(std::int64_t(typed.bits), json.get<std::int64_t>()) << number;
      ++integers;
    } else {
      ASSERT_TRUE(json.is_number_float()) << number;
      ASSERT_EQ(typed.bits, std::bit_cast<std::uint64_t>(json.get<double>())) << number;
      ++numbers;
    }
  }
  EXPECT_GT(times, 10'000u);
  EXPECT_GT(integers, 10'000u);
  EXPECT_GT(numbers, 10'000u);
}

TEST(Decimal, IsNoneWhereTheTextGoesOn) {
  for (const char* number : {"", "-", ".", "1.", ".5", "1e5", "1.2.3", "12x", "NaN", "1 ",
                             "1234567890123456789", "1.234567890123456789"}) {
    const std::string text = number + std::string(readable, '"');
    EXPECT_FALSE(decimal_in_place({text.data(), std::strlen(number)}).any()) << number;
  }
}

}  // namespace
}  // namespace npuscope::chrome::decimal_test
