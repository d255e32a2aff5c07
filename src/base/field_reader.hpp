// Protobuf messages, read field by field.
//
//   FieldReader reader(message);
//   while (reader.next()) {
//     switch (reader.tag_and_type()) {
//       case varint_field(1): id = reader.get_uint64(); break;
//       case bytes_field(2): name = bytes_of(reader); break;
//       default: reader.skip();
//
// What protozero's pbf_reader does, for messages of which a trace has many millions: a tag and a
// number of one byte, as most are, are read where they lie. A field that no message can have is
// found when it is skipped, so every loop skips what it does not take.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <protozero/exception.hpp>
#include <protozero/types.hpp>
#include <protozero/varint.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "base/protobuf_fields.hpp"

namespace npuscope {

// Of a number of up to eight bytes, the first of them lowest in `word` and nothing above: whether
// it ends with its last byte, and the number, whose groups of 7 bits are moved together two by two.
constexpr std::uint64_t more_follow = 0x8080'8080'8080'8080;
constexpr bool is_varint(std::uint64_t word, std::size_t bytes) {
  return (word & more_follow) == (more_follow >> 8 * (8 - bytes)) >> 8;
}
constexpr std::uint64_t varint_of(std::uint64_t word) {
  word &= ~more_follow;
  word = (word & 0x007F'007F'007F'007F) | (word & 0x7F00'7F00'7F00'7F00) >> 1;
  word = (word & 0x0000'3FFF'0000'3FFF) | (word & 0x3FFF'0000'3FFF'0000) >> 2;
  return (word & 0x0000'0000'0FFF'FFFF) | (word & 0x0FFF'FFFF'0000'0000) >> 4;
}
static_assert(is_varint(0x02AC, 2) && varint_of(0x02AC) == 300);

// Throws protozero's exceptions where the message is broken.
class FieldReader {
 public:
  explicit FieldReader(std::string_view message)
      : at_(message.data()), end_(message.data() + message.size()) {}

  bool next() {
    if (at_ == end_) return false;
    tag_and_type_ = std::uint32_t(get_uint64());
    return true;
  }
  // The next eight bytes, the first lowest; 0 for those behind the end.
  std::uint64_t next_bytes() const {
    std::uint64_t bytes = 0;
    if (bytes_left() >= sizeof bytes) {
      std::memcpy(&bytes, at_, sizeof bytes);
      return bytes;
    }
    for (std::size_t i = bytes_left(); i > 0; --i) bytes = bytes << 8 | std::uint8_t(at_[i - 1]);
    return bytes;
  }
  // Takes so many bytes if they are these, as far as `mask` has bits.
  bool take_if_next(std::uint64_t expected, std::uint64_t mask, std::size_t bytes) {
    if ((next_bytes() & mask) != expected || bytes > bytes_left()) return false;
    at_ += bytes;
    return true;
  }
  bool at_end() const { return at_ == end_; }
  std::size_t bytes_left() const { return std::size_t(end_ - at_); }
  std::string_view rest() const { return {at_, bytes_left()}; }
  std::string_view take_rest() {
    const std::string_view all = rest();
    at_ = end_;
    return all;
  }
  std::uint32_t tag_and_type() const { return tag_and_type_; }
  std::uint32_t tag() const { return tag_and_type_ >> 3; }
  protozero::pbf_wire_type wire_type() const { return protozero::pbf_wire_type(tag_and_type_ & 7); }

  std::uint64_t get_uint64() {
    if (at_ != end_ && std::uint8_t(*at_) < 0x80) return std::uint8_t(*at_++);
    if (end_ - at_ >= 2 && std::uint8_t(at_[1]) < 0x80) {
      const std::uint64_t value =
          (std::uint8_t(at_[0]) & 0x7F) | std::uint64_t(std::uint8_t(at_[1])) << 7;
      at_ += 2;
      return value;
    }
    const Varint read = long_varint(at_, end_);
    at_ = read.end;
    return read.value;
  }
  std::uint32_t get_uint32() { return std::uint32_t(get_uint64()); }
  std::int64_t get_int64() { return std::int64_t(get_uint64()); }
  std::int32_t get_int32() { return std::int32_t(get_uint64()); }
  std::uint64_t get_fixed64() {
    std::uint64_t bits = 0;
    std::memcpy(&bits, take(sizeof bits), sizeof bits);
    return bits;
  }
  double get_double() { return std::bit_cast<double>(get_fixed64()); }
  std::string_view get_view() {
    const std::size_t size = get_uint32();
    return {take(size), size};
  }
  // This field, which has bytes, and those of the same tag that follow it, with their tags and
  // lengths; false, and nothing is taken, where the tag is not written in one byte.
  bool get_run(std::string_view& fields) {
    const char* const begin = at_ - 1;
    const char tag = *begin;
    if (std::uint8_t(tag) != tag_and_type_) return false;
    for (;;) {
      get_view();
      if (at_ == end_ || *at_ != tag) break;
      ++at_;
    }
    fields = {begin, std::size_t(at_ - begin)};
    return true;
  }
  void skip();
  void skip_bytes(std::size_t count) { take(count); }

 private:
  struct Varint {
    std::uint64_t value;
    const char* end;
  };
  static Varint long_varint(const char* at, const char* end);

  const char* take(std::size_t size) {
    if (size > std::size_t(end_ - at_)) throw protozero::end_of_buffer_exception();
    return std::exchange(at_, at_ + size);
  }

  const char* at_;
  const char* end_;
  std::uint32_t tag_and_type_ = 0;
};
static_assert(std::endian::native == std::endian::little);

inline std::string_view bytes_of(FieldReader& reader) { return reader.get_view(); }

// A repeated varint field, packed or not; other wire types are skipped.
template <class Integer>
void append_varints(FieldReader& reader, std::vector<Integer>& values) {
  switch (reader.wire_type()) {
    case protozero::pbf_wire_type::varint: values.push_back(Integer(reader.get_uint64())); break;
    case protozero::pbf_wire_type::length_delimited: {
      FieldReader packed(reader.get_view());
      while (!packed.at_end()) values.push_back(Integer(packed.get_uint64()));
      break;
    }
    default: reader.skip();
  }
}

// The same of a repeated fixed64 or double field.
inline void append_fixed64(FieldReader& reader, std::vector<std::uint64_t>& values) {
  switch (reader.wire_type()) {
    case protozero::pbf_wire_type::fixed64: values.push_back(reader.get_fixed64()); break;
    case protozero::pbf_wire_type::length_delimited: {
      FieldReader packed(reader.get_view());
      while (!packed.at_end()) values.push_back(packed.get_fixed64());
      break;
    }
    default: reader.skip();
  }
}

}  // namespace npuscope
