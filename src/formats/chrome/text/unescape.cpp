#include "formats/chrome/text/unescape.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/numbers.hpp"

namespace npuscope::chrome {
namespace {

constexpr std::uint32_t replacement_character = 0xfffd;

void append_utf8(std::uint32_t code_point, std::string& out) {
  if (code_point < 0x80) {
    out += char(code_point);
  } else if (code_point < 0x800) {
    out += char(0xc0 | code_point >> 6);
    out += char(0x80 | (code_point & 0x3f));
  } else if (code_point < 0x10000) {
    out += char(0xe0 | code_point >> 12);
    out += char(0x80 | (code_point >> 6 & 0x3f));
    out += char(0x80 | (code_point & 0x3f));
  } else {
    out += char(0xf0 | code_point >> 18);
    out += char(0x80 | (code_point >> 12 & 0x3f));
    out += char(0x80 | (code_point >> 6 & 0x3f));
    out += char(0x80 | (code_point & 0x3f));
  }
}

// \uXXXX at the beginning of `raw`.
std::optional<std::uint32_t> code_unit(std::string_view raw) {
  if (raw.size() < 6 || !raw.starts_with("\\u")) return std::nullopt;
  return parse_number<std::uint32_t>(raw.substr(2, 4), 16);
}

// Takes the escape at the beginning of `raw` away. False when it was replaced.
bool unescape_unicode(std::string_view& raw, std::string& out) {
  const auto unit = code_unit(raw);
  raw.remove_prefix(unit ? 6 : std::min<std::size_t>(raw.size(), 2));
  std::uint32_t code_point = unit.value_or(replacement_character);
  bool whole = unit.has_value();
  if (code_point >= 0xd800 && code_point < 0xe000) {
    const auto low = code_unit(raw);
    whole = code_point < 0xdc00 && low && *low >= 0xdc00 && *low < 0xe000;
    if (whole) {
      code_point = 0x10000 + ((code_point - 0xd800) << 10) + (*low - 0xdc00);
      raw.remove_prefix(6);
    } else {
      code_point = replacement_character;
    }
  }
  append_utf8(code_point, out);
  return whole;
}

}  // namespace

bool unescape(std::string_view raw, std::string& out) {
  constexpr std::string_view letters = "\"\\/bfnrt";
  constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  bool whole = true;
  while (!raw.empty()) {
    const std::size_t plain = std::min(raw.find('\\'), raw.size());
    out.append(raw, 0, plain);
    raw.remove_prefix(plain);
    if (raw.empty()) break;
    const std::size_t letter = raw.size() > 1 ? letters.find(raw[1]) : std::string_view::npos;
    if (letter == std::string_view::npos) {
      whole = unescape_unicode(raw, out) && whole;
    } else {
      out += meanings[letter];
      raw.remove_prefix(2);
    }
  }
  return whole;
}

}  // namespace npuscope::chrome
