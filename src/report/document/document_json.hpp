// What JSON has of sections: members under their keys.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.hpp"
#include "npuscope/profile/profile.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

// JSON as every command writes it: indented by two, a line break at the end. Names are data: bytes
// that are not UTF-8 become U+FFFD.
//
//   json_text([&](Json& json) { json.member("busy", 0.5); })       {\n  "busy": 0.5\n}\n

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

// But for those of the key `left_out`.
void write_sections(Json& json, const std::vector<Section>& sections,
                    std::string_view left_out = {});

// What JSON says of a profile wherever it prints of one. Of an object that is begun, the members.

// Its files, format and clock, whether it is whole, and what of it is meant (both empty: all of
// it).
void write_profile_head(Json& json, const Profile& profile, std::string_view scope = {},
                        std::string_view selection = {});
void write_notes(Json& json, std::span<const Note> notes);         // "notes"
void write_clock(Json& json, const Profile& profile, ClockId id);  // the value

// What every JSON of npuscope begins with, whatever the command:
//
//   {
//     "schema_version": 1,
//     "npuscope": "0.1.0",
//     "command": "torq overview",
//     …
//
// docs/cli.md says what the number promises; docs/schema has the keys of each command.

inline constexpr int json_schema_version = 1;

// Everything up to the first member that is the command's own: the brace and the comma, too.
std::string json_head(std::string_view command);

// `object`, the text of an object with members, after the head.
std::string with_json_head(std::string_view command, std::string_view object);

}  // namespace npuscope::report
