#include "base/packed_text.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <new>

namespace npuscope {
namespace {

// As `gzip` writes it, with no name and no time, so that the same bytes give the same text.
std::string gzip_of(std::string_view bytes) {
  constexpr int gzip_window = 15 + 16, memory_level = 9;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, memory_level,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::string out;
  std::array<char, 1 << 16> piece;
  std::size_t taken = 0;
  int state = Z_OK;
  while (state == Z_OK) {
    if (stream.avail_in == 0) {
      const auto next =
          std::min<std::size_t>(bytes.size() - taken, std::numeric_limits<uInt>::max());
      // zlib does not write to its input.
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + taken));
      stream.avail_in = uInt(next);
      taken += next;
    }
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = uInt(piece.size());
    state = deflate(&stream, taken == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    out.append(piece.data(), piece.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return out;
}

std::string base64_of(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto byte = [&](std::size_t i) -> std::uint32_t {
      return at + i < bytes.size() ? std::uint8_t(bytes[at + i]) : 0;
    };
    const std::uint32_t three = byte(0) << 16 | byte(1) << 8 | byte(2);
    out += digits[three >> 18];
    out += digits[three >> 12 & 63];
    out += at + 1 < bytes.size() ? digits[three >> 6 & 63] : '=';
    out += at + 2 < bytes.size() ? digits[three & 63] : '=';
  }
  return out;
}

}  // namespace

std::string packed_text(std::string_view bytes) { return base64_of(gzip_of(bytes)); }

}  // namespace npuscope
