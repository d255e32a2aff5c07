// Numbers of a protobuf message as its bytes, also in more bytes than they take.
//
//   varint(300)        "\xAC\x02"
//   varint(1, 2)       "\x81\x00", which every reader takes for 1
#pragma once

#include <cstdint>
#include <string>

namespace npuscope::perfetto::test {

inline std::string varint(std::uint64_t value, std::size_t bytes = 1) {
  std::string text;
  for (; value >= 0x80 || text.size() + 1 < bytes; value >>= 7) text += char(value | 0x80);
  return text + char(value);
}

}  // namespace npuscope::perfetto::test
