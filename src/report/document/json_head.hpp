// What every JSON of npuscope begins with, whatever the command:
//
//   {
//     "schema_version": 1,
//     "npuscope": "0.1.0",
//     "command": "torq overview",
//     …
//
// docs/cli.md says what the number promises; docs/schema has the keys of each command.
#pragma once

#include <string>
#include <string_view>

namespace npuscope::report {

inline constexpr int json_schema_version = 1;

// Everything up to the first member that is the command's own: the brace and the comma, too.
std::string json_head(std::string_view command);

// `object`, the text of an object with members, after the head.
std::string with_json_head(std::string_view command, std::string_view object);

}  // namespace npuscope::report
