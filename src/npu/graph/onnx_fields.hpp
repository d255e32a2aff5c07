// Walking the fields of a protobuf message with a name for each wire type.
#pragma once

#include <protozero/pbf_reader.hpp>
#include <string_view>

#include "npu/graph/failure.hpp"

namespace npuscope::npu {

constexpr std::uint32_t integer_field(std::uint32_t number) {
  return protozero::tag_and_type(number, protozero::pbf_wire_type::varint);
}
constexpr std::uint32_t bytes_field(std::uint32_t number) {
  return protozero::tag_and_type(number, protozero::pbf_wire_type::length_delimited);
}
constexpr std::uint32_t float_field(std::uint32_t number) {
  return protozero::tag_and_type(number, protozero::pbf_wire_type::fixed32);
}
constexpr std::uint32_t double_field(std::uint32_t number) {
  return protozero::tag_and_type(number, protozero::pbf_wire_type::fixed64);
}

inline std::string_view bytes_of(protozero::pbf_reader& reader) {
  const protozero::data_view view = reader.get_view();
  return {view.data(), view.size()};
}

// Calls take(field, reader) for each field. `take` consumes the field and returns true, or returns
// false for a field that it does not know.
template <class Take>
void for_each_field(std::string_view message, std::string_view what, const Take& take) {
  try {
    protozero::pbf_reader reader(message.data(), message.size());
    while (reader.next()) {
      if (!take(reader.tag_and_type(), reader)) reader.skip();
    }
  } catch (const protozero::exception&) {
    fail_import("its {} is cut off or damaged; copy or export the file again", what);
  }
}

}  // namespace npuscope::npu
