#include "report/document/colour.hpp"

namespace npuscope::report {

std::string painted(std::string text, Style style, Colour colour) {
  if (colour == Colour::none || style == Style::plain || text.empty()) return text;
  const char* codes[] = {"", "1", "2", "36", "33", "32", "31"};
  return "\x1b[" + std::string(codes[std::size_t(style)]) + "m" + std::move(text) + "\x1b[0m";
}

}  // namespace npuscope::report
