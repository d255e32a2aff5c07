// Damaged copies of a small file, for tests that demand: a clear error or a sound result, never a
// crash. Every truncation, every byte with every bit flipped in turn, every byte zeroed and set.
#pragma once

#include <cstddef>
#include <vector>

#include "npuscope/base/files.hpp"

namespace npuscope::test {

template <class Check>
void for_each_truncation(ByteSpan whole, Check check) {
  for (std::size_t size = 0; size < whole.size(); ++size) {
    // A copy of its own, so that a sanitizer sees a read past its end.
    check(std::vector<std::byte>(whole.begin(), whole.begin() + std::ptrdiff_t(size)), size);
  }
}

template <class Check>
void for_each_damaged_byte(ByteSpan whole, Check check) {
  std::vector<std::byte> bytes(whole.begin(), whole.end());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const std::byte original = bytes[at];
    for (int bit = 0; bit < 8; ++bit) {
      bytes[at] = original ^ std::byte(1 << bit);
      check(bytes, at);
    }
    for (const std::byte value : {std::byte{0x00}, std::byte{0xFF}}) {
      bytes[at] = value;
      if (value != original) check(bytes, at);
    }
    bytes[at] = original;
  }
}

}  // namespace npuscope::test
