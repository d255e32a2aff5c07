// Small additions to protozero for the messages of a trace.
#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <vector>

#include "base/protobuf_fields.hpp"

namespace npuscope::perfetto {

// A repeated varint field, packed or not; other wire types are skipped.
template <class Integer>
void append_varints(protozero::pbf_reader& reader, std::vector<Integer>& values) {
  switch (reader.wire_type()) {
    case protozero::pbf_wire_type::varint: values.push_back(Integer(reader.get_uint64())); break;
    case protozero::pbf_wire_type::length_delimited:
      for (const std::uint64_t value : reader.get_packed_uint64()) values.push_back(Integer(value));
      break;
    default: reader.skip();
  }
}

// The same of a repeated fixed64 or double field.
inline void append_fixed64(protozero::pbf_reader& reader, std::vector<std::uint64_t>& values) {
  switch (reader.wire_type()) {
    case protozero::pbf_wire_type::fixed64: values.push_back(reader.get_fixed64()); break;
    case protozero::pbf_wire_type::length_delimited:
      for (const std::uint64_t value : reader.get_packed_fixed64()) values.push_back(value);
      break;
    default: reader.skip();
  }
}

}  // namespace npuscope::perfetto
