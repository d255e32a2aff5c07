#include "formats/parquet/run_lengths.hpp"

#include <algorithm>
#include <vector>

#include "formats/parquet/compact_protocol.hpp"

namespace npuscope::parquet {
namespace {

constexpr std::size_t group = 8;  // values that are packed together

void append_repeated(std::string& to, std::uint32_t value, std::size_t times, int bits) {
  append_varint(to, std::uint64_t(times) << 1);
  for (int written = 0; written < bits; written += 8) to += char(value >> written);
}

// In whole groups: the last is filled up with zeros, which readers leave out by the count of
// values.
void append_packed(std::string& to, std::span<const std::uint32_t> values, int bits) {
  if (values.empty()) return;
  const std::size_t groups = (values.size() + group - 1) / group;
  append_varint(to, std::uint64_t(groups) << 1 | 1);
  const std::size_t end = to.size() + groups * std::size_t(bits);
  std::uint64_t word = 0;
  int filled = 0;
  for (const std::uint32_t value : values) {
    word |= std::uint64_t(value) << filled;
    for (filled += bits; filled >= 8; filled -= 8, word >>= 8) to += char(word);
  }
  if (filled > 0) to += char(word);
  to.resize(end, '\0');
}

}  // namespace

void append_run_lengths(std::string& to, std::span<const std::uint32_t> values, int bits) {
  std::size_t packed_from = 0;
  for (std::size_t at = 0; at < values.size();) {
    std::size_t end = at + 1;
    while (end < values.size() && values[end] == values[at]) ++end;
    // Values before a run are whole groups: the run gives what they lack.
    const std::size_t lacking = (group - (at - packed_from) % group) % group;
    if (end - at >= lacking + group) {
      append_packed(to, values.subspan(packed_from, at + lacking - packed_from), bits);
      append_repeated(to, values[at], end - at - lacking, bits);
      packed_from = end;
    }
    at = end;
  }
  append_packed(to, values.subspan(packed_from), bits);
}

}  // namespace npuscope::parquet
