// Packed texts, unpacked by an obvious reader of base64 and zlib's own of gzip.
#include <gtest/gtest.h>
#include <zlib.h>

#include <random>

#include "base/packed_text.hpp"

namespace npuscope::packed_text_test {
namespace {

std::string from_base64(std::string_view text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bits, bytes;
  for (const char c : text) {
    if (c == '=') continue;
    const std::size_t value = digits.find(c);
    EXPECT_NE(value, digits.npos) << c;
    for (int bit = 5; bit >= 0; --bit) bits += char('0' + (value >> bit & 1));
  }
  for (std::size_t i = 0; i + 8 <= bits.size(); i += 8) {
    bytes += char(std::stoi(bits.substr(i, 8), nullptr, 2));
  }
  return bytes;
}

std::string unzipped(std::string bytes, std::size_t size) {
  std::string out(size + 1, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = uInt(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = uInt(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

TEST(PackedText, IsWhatItWasOfAnyLength) {
  std::mt19937 random(7);
  for (const std::size_t size : {0, 1, 2, 3, 4, 5, 100, 65535, 65536, 300'000}) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = char(random());
    const std::string packed = packed_text(bytes);
    EXPECT_EQ(packed.size() % 4, 0u);
    EXPECT_EQ(unzipped(from_base64(packed), size), bytes) << size;
  }
}

TEST(PackedText, SaysNothingOfTheDay) {
  EXPECT_EQ(packed_text("abc"), packed_text("abc"));
  EXPECT_EQ(packed_text("").substr(0, 10), "H4sIAAAAAA");  // no flags, no name, no time
}

}  // namespace
}  // namespace npuscope::packed_text_test
