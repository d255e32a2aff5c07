// Tables of the descriptions that come with npuscope, opened from their text, and what they say.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "formats/tables/read_table.hpp"

namespace npuscope::tables::test {

inline Result<std::vector<Profile>> open(const std::string& text) {
  const auto place = recognise_table(text);
  if (!place) return input_error("no table");
  auto source = open_byte_source(text, "table.csv");
  return read_table(**source, builtin_descriptions()[*place]);
}

// "conv1: op cycles=14283", of each op its numbers.
inline std::string numbers_of(const Profile& profile) {
  std::string text;
  for (std::uint32_t op = 0; op < profile.ops.size(); ++op) {
    text += fmt::format("{}:", profile.text(profile.ops[op].name));
    for (const Measure& measure : profile.measures) {
      if (measure.subject != Measure::Subject::op || measure.subject_id != op) continue;
      text += fmt::format(" {}={:.10g}", profile.text(measure.what), measure.value);
    }
    text += '\n';
  }
  return text;
}

}  // namespace npuscope::tables::test
