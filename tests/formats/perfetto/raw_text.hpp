// Any protobuf message as text, without knowing its schema, the way `protoc --decode_raw` shows it:
//
//   1 {
//     8: 100
//     11 {
//       9: 1
//
// The slow and obvious twin of what the writer does.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>

namespace npuscope::perfetto::test {

inline std::optional<std::string> raw_text(std::string_view message, int depth = 0) {
  const std::string indent(std::size_t(depth) * 2, ' ');
  std::string text;
  try {
    protozero::pbf_reader reader(message.data(), message.size());
    while (reader.next()) {
      const auto field = reader.tag();
      switch (reader.wire_type()) {
        case protozero::pbf_wire_type::varint:
          text += fmt::format("{}{}: {}\n", indent, field, reader.get_uint64());
          break;
        case protozero::pbf_wire_type::fixed64:
          text += fmt::format("{}{}: 0x{:016x}\n", indent, field, reader.get_fixed64());
          break;
        case protozero::pbf_wire_type::fixed32:
          text += fmt::format("{}{}: 0x{:08x}\n", indent, field, reader.get_fixed32());
          break;
        default: {
          const auto view = reader.get_view();
          const std::string_view bytes(view.data(), view.size());
          const bool is_text = bytes.find_first_not_of(
                                   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789 ._,:/{}[]\"'()-") == std::string_view::npos;
          const auto inner = is_text ? std::nullopt : raw_text(bytes, depth + 1);
          text += inner ? fmt::format("{}{} {{\n{}{}}}\n", indent, field, *inner, indent)
                        : fmt::format("{}{}: \"{}\"\n", indent, field, bytes);
        }
      }
    }
  } catch (const protozero::exception&) {
    return std::nullopt;
  }
  return text;
}

}  // namespace npuscope::perfetto::test
