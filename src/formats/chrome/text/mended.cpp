#include "formats/chrome/text/mended.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>

#include "formats/chrome/text/separators.hpp"

namespace npuscope::chrome {
namespace {

bool ends_container(std::string_view behind_comma) {
  while (!behind_comma.empty() && is_json_space(behind_comma[0])) behind_comma.remove_prefix(1);
  return behind_comma.starts_with('}') || behind_comma.starts_with(']');
}

}  // namespace

std::string mended(std::string_view value) {
  std::string out;
  bool in_text = false, escaped = false;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const char byte = value[i];
    if (in_text && static_cast<unsigned char>(byte) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", unsigned(byte));
    } else if (in_text || byte != ',' || !ends_container(value.substr(i + 1))) {
      out += byte;
    }
    if (byte == '"' && !escaped) in_text = !in_text;
    escaped = in_text && byte == '\\' && !escaped;
  }
  return out;
}

}  // namespace npuscope::chrome
