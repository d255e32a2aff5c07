#include "base/print_text.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>
#include <string>

namespace npuscope::print_text_test {
namespace {

std::string printed(auto number) {
  char text[max_number_size];
  if constexpr (std::integral<decltype(number)>) return {text, print_integer(text, number)};
  if constexpr (std::floating_point<decltype(number)>) return {text, print_shortest(text, number)};
}

std::string of_library(auto number) {
  char text[max_number_size];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

TEST(PrintText, CopiesTextsOfEveryLengthAndNothingElse) {
  std::string source;
  for (int i = 0; i < 200; ++i) source += char('!' + i % 90);
  for (std::size_t size = 0; size <= source.size(); ++size) {
    std::string buffer(size + 1, '\0');
    const std::string exact(source, 0, size);  // so that a sanitizer sees a byte too much
    char* const end = print_text(buffer.data(), exact);
    EXPECT_EQ(std::size_t(end - buffer.data()), size);
    EXPECT_EQ(buffer, exact + '\0');
  }
}

TEST(PrintText, PrintsIntegersOfEveryLengthLikeTheLibrary) {
  for (std::uint64_t power = 1;; power *= 10) {
    for (const std::uint64_t number : {power - 1, power, power + 1, 9 * power, 12345 * power}) {
      EXPECT_EQ(printed(number), of_library(number));
      EXPECT_EQ(printed(std::int64_t(number)), of_library(std::int64_t(number)));
      EXPECT_EQ(printed(-std::int64_t(number)), of_library(-std::int64_t(number)));
      EXPECT_EQ(printed(std::uint8_t(number)), of_library(std::uint8_t(number)));
      EXPECT_EQ(printed(std::int32_t(number)), of_library(std::int32_t(number)));
    }
    if (power > std::numeric_limits<std::uint64_t>::max() / 10) break;
  }
  EXPECT_EQ(printed(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(printed(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
}

TEST(PrintText, PrintsIntegersBelow100MillionLikeTheLibrary) {
  for (std::uint32_t number = 0; number < 100'000'000; number += 1 + number / 5'000) {
    ASSERT_EQ(printed(number), of_library(number));
    ASSERT_EQ(printed(std::uint64_t(number) * 100'000'000 + number),
              of_library(std::uint64_t(number) * 100'000'000 + number));
  }
}

TEST(PrintText, PrintsDoublesAsShortAsTheLibrary) {
  for (const double number : {0.0,
                              -0.0,
                              1.0,
                              -2.0,
                              0.5,
                              0.1,
                              0.001,
                              0.0011,
                              0.00099,
                              1e-5,
                              99'999.0,
                              99'999.999,
                              1e5,
                              110'000.0,
                              100'000.5,
                              1.2e6,
                              1.23e6,
                              999'999'999'999.999,
                              1e12,
                              1e15,
                              123'456.789,
                              0.3,
                              0.1 + 0.2,
                              1.0 / 3,
                              1450.248,
                              2.000000001,
                              1e300,
                              5e-324,
                              std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::max()}) {
    EXPECT_EQ(printed(number), of_library(number));
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t bits = random();
    const double decimals = std::pow(10.0, double(bits % 12));
    for (const double number :
         {std::bit_cast<double>(bits), double(bits >> 40) / decimals, double(bits >> 30) / decimals,
          std::nextafter(double(bits >> 40) / decimals, 0.0), double(bits >> 52) * decimals,
          double(bits >> 20), double(bits >> 16) / 1'000}) {
      ASSERT_EQ(printed(number), of_library(number));
    }
  }
}

TEST(PrintText, SaysThatAWholeDoubleIsOne) {
  const auto with_point = [](double number) {
    char text[max_number_size];
    return std::string(text, print_shortest_with_point(text, number));
  };
  EXPECT_EQ(with_point(2), "2.0");
  EXPECT_EQ(with_point(-2), "-2.0");
  EXPECT_EQ(with_point(0), "0.0");
  EXPECT_EQ(with_point(-0.0), "-0.0");
  EXPECT_EQ(with_point(0.25), "0.25");
  EXPECT_EQ(with_point(100'000), "1e+05");
  EXPECT_EQ(with_point(123'456'789), "123456789.0");
}

}  // namespace
}  // namespace npuscope::print_text_test
