// What may stand between the events of a list.
#pragma once

#include <cstddef>
#include <string_view>

namespace npuscope::chrome {

inline bool is_json_space(char byte) {
  return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

// White space and commas at the beginning of a text.
inline std::size_t count_separators(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size() && (is_json_space(text[count]) || text[count] == ',')) ++count;
  return count;
}

}  // namespace npuscope::chrome
