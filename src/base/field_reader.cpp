#include "base/field_reader.hpp"

namespace npuscope {

// Eight bytes at once: the first whose upper bit is clear is the last of the number.
FieldReader::Varint FieldReader::long_varint(const char* at, const char* end) {
  std::uint64_t word = 0;
  if (std::size_t(end - at) >= sizeof word) {
    std::memcpy(&word, at, sizeof word);
    const std::uint64_t last = ~word & more_follow;
    if (last != 0) {
      const auto bytes = std::countr_zero(last) / 8 + 1;
      return {varint_of(word & (last ^ (last - 1))), at + bytes};
    }
  }
  const std::uint64_t value = protozero::decode_varint(&at, end);
  return {value, at};
}

void FieldReader::skip() {
  constexpr std::uint32_t first_reserved = 19'000, last_reserved = 19'999;
  if (tag() == 0 || (tag() >= first_reserved && tag() <= last_reserved)) {
    throw protozero::invalid_tag_exception();
  }
  switch (wire_type()) {
    case protozero::pbf_wire_type::varint: get_uint64(); return;
    case protozero::pbf_wire_type::fixed64: take(8); return;
    case protozero::pbf_wire_type::length_delimited: get_view(); return;
    case protozero::pbf_wire_type::fixed32: take(4); return;
    default: throw protozero::unknown_pbf_wire_type_exception();
  }
}

}  // namespace npuscope
