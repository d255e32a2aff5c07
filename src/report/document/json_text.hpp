// JSON as every command writes it: indented by two, a line break at the end. Names are data: bytes
// that are not UTF-8 become U+FFFD.
//
//   json_text([&](Json& json) { json.member("busy", 0.5); })       {\n  "busy": 0.5\n}\n
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json_writer.hpp"

namespace npuscope::report {

using Json = JsonWriter<std::string>;

// Doubles have a point or an exponent, this from 1e+15 on and below 0.0001.
JsonLayout compact_layout();
JsonLayout indented_layout();

// fill(json) writes the members of an object.
template <class Fill>
std::string json_text(Fill fill) {
  std::string text;
  Json json(text, indented_layout());
  json.object([&] { fill(json); });
  return text += '\n';
}

// An empty text is null.
inline std::optional<std::string_view> or_null(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace npuscope::report
