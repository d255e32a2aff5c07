#include "report/html/column_bytes.hpp"

#include <bit>
#include <cstring>

namespace npuscope::report {
namespace {

void add_varint(std::string& out, std::int64_t value) {
  std::uint64_t bits = std::uint64_t(value) << 1 ^ std::uint64_t(value >> 63);  // zigzag
  while (bits >= 0x80) {
    out += char(bits | 0x80);
    bits >>= 7;
  }
  out += char(bits);
}

}  // namespace

void ColumnBytes::add_head(std::string_view name, const char* encoding, Delta delta,
                           std::size_t count, std::size_t begin) {
  heads_.push_back({std::string(name), encoding, delta == Delta::yes, count, first_offset_ + begin,
                    bytes_.size() - begin});
}

void ColumnBytes::add(std::string_view name, std::span<const std::int64_t> values, Delta delta) {
  const std::size_t begin = bytes_.size();
  std::int64_t before = 0;
  for (const std::int64_t value : values) {
    add_varint(bytes_, std::int64_t(std::uint64_t(value) - std::uint64_t(before)));
    if (delta == Delta::yes) before = value;
  }
  add_head(name, "varint", delta, values.size(), begin);
}

void ColumnBytes::add_numbers(std::string_view name, std::span<const double> values) {
  static_assert(std::endian::native == std::endian::little);
  const std::size_t begin = bytes_.size();
  bytes_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  add_head(name, "f64", Delta::no, values.size(), begin);
}

void ColumnBytes::write_heads(Json& json) const {
  json.array(heads_, [&](const Head& head) {
    json.object([&] {
      json.member("name", head.name);
      json.member("encoding", head.encoding);
      json.member("delta", head.delta);
      json.member("count", head.count);
      json.member("offset", head.offset);
      json.member("bytes", head.bytes);
    });
  });
}

}  // namespace npuscope::report
