#include "base/packed_text.hpp"

#include <gtest/gtest.h>

#include <random>

#include "base/unpacked_text.hpp"

namespace npuscope::packed_text_test {
namespace {

TEST(PackedText, IsWhatItWasOfAnyLength) {
  std::mt19937 random(7);
  for (const std::size_t size : {0, 1, 2, 3, 4, 5, 100, 65535, 65536, 300'000}) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = char(random());
    const std::string packed = packed_text(bytes);
    EXPECT_EQ(packed.size() % 4, 0u);
    EXPECT_EQ(test_support::unpacked_text(packed), bytes) << size;
  }
}

TEST(PackedText, SaysNothingOfTheDay) {
  EXPECT_EQ(packed_text("abc"), packed_text("abc"));
  EXPECT_EQ(packed_text("").substr(0, 10), "H4sIAAAAAA");  // no flags, no name, no time
}

}  // namespace
}  // namespace npuscope::packed_text_test
