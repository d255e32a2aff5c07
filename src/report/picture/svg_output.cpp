#include "report/picture/svg_output.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace npuscope::report {

std::string svg_escaped(std::string_view text) {
  std::string out;
  const std::string shown = printable(text);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    // U+FFFE and U+FFFF are no characters of XML.
    if (shown.compare(i, 2, "\xEF\xBF") == 0 && i + 2 < shown.size() &&
        static_cast<unsigned char>(shown[i + 2]) >= 0xBE) {
      out += "\xEF\xBF\xBD";
      i += 2;
      continue;
    }
    switch (shown[i]) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += shown[i];
    }
  }
  return out;
}

std::string svg_number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

}  // namespace npuscope::report
