// The fields of a protobuf message by number and wire type, as protozero's tag_and_type() tells
// them, for readers that switch over a message without its schema:
//
//   while (reader.next()) {
//     switch (reader.tag_and_type()) {
//       case varint_field(1): id = reader.get_uint64(); break;
//       case bytes_field(2): name = bytes_of(reader); break;
//       default: reader.skip();
#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string_view>

namespace npuscope {

constexpr std::uint32_t varint_field(std::uint32_t number) {
  return protozero::tag_and_type(number, protozero::pbf_wire_type::varint);
}
constexpr std::uint32_t fixed32_field(std::uint32_t number) {
  return protozero::tag_and_type(number, protozero::pbf_wire_type::fixed32);
}
constexpr std::uint32_t fixed64_field(std::uint32_t number) {
  return protozero::tag_and_type(number, protozero::pbf_wire_type::fixed64);
}
constexpr std::uint32_t bytes_field(std::uint32_t number) {
  return protozero::tag_and_type(number, protozero::pbf_wire_type::length_delimited);
}

// A string, message or packed list, where it lies.
inline std::string_view bytes_of(protozero::pbf_reader& reader) {
  const protozero::data_view view = reader.get_view();
  return {view.data(), view.size()};
}

}  // namespace npuscope
