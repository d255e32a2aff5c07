#include "formats/chrome/parse/value_scan.hpp"

#include <simdjson.h>

namespace npuscope::chrome {

const char* end_of_unusual_text(const char* begin, const char* at, const char* end) {
  bool is_ascii = true;
  for (; at != end; at = next_special(at, end)) {
    if (*at == '"') {
      return is_ascii || simdjson::validate_utf8(begin, std::size_t(at - begin)) ? at : nullptr;
    }
    if (*at == '\\') {
      if (end - at < 2 || std::uint8_t(at[1]) < 0x20 || std::uint8_t(at[1]) >= 0x80) return nullptr;
      at += 2;
    } else if (std::uint8_t(*at) < 0x20) {
      return nullptr;
    } else {
      is_ascii = false;
      ++at;
    }
  }
  return nullptr;
}

const char* container_end(const char* at, const char* end) {
  constexpr int deepest = 64;
  int depth = 0;
  if (at == end || (*at != '{' && *at != '[')) return nullptr;
  while (at < end) {
    switch (*at) {
      case '"': {
        at = next_special(at + 1, end);
        if (at == end || *at != '"') return nullptr;
        break;
      }
      case '{':
      case '[':
        if (++depth > deepest) return nullptr;
        break;
      case '}':
      case ']':
        if (--depth == 0) return at + 1;
        break;
      default:
        if (is_special(*at) && *at != '\n' && *at != '\r' && *at != '\t') return nullptr;
        break;
    }
    ++at;
  }
  return nullptr;
}

}  // namespace npuscope::chrome
