// Packed texts (base/packed_text.hpp), unpacked by an obvious reader of base64 and zlib's own of
// gzip.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <string_view>

namespace npuscope::test_support {

inline std::string from_base64(std::string_view text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    if (c == '=') continue;
    const std::size_t value = digits.find(c);
    EXPECT_NE(value, digits.npos) << c;
    bits = bits << 6 | std::uint32_t(value & 63);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += char(bits >> held);
  }
  return bytes;
}

inline std::string unpacked_text(std::string_view text) {
  std::string bytes = from_base64(text), out;
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = uInt(bytes.size());
  int state = Z_OK;
  while (state == Z_OK) {
    std::string piece(1 << 16, '\0');
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = uInt(piece.size());
    state = inflate(&stream, Z_NO_FLUSH);
    out.append(piece, 0, piece.size() - stream.avail_out);
  }
  EXPECT_EQ(state, Z_STREAM_END);
  inflateEnd(&stream);
  return out;
}

// The text of a script of a page: of "npuscope-report" and its like, packed.
inline std::string script_of(std::string_view html, const std::string& id) {
  const std::string mark = "id=\"" + id + "\">";
  const std::size_t at = html.find(mark);
  if (at == html.npos) return {};
  const std::size_t begin = at + mark.size();
  return std::string(html.substr(begin, html.find("</script>", begin) - begin));
}

}  // namespace npuscope::test_support
