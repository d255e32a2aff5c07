#include "report/document/terminal_text.hpp"

#include <utility>

namespace npuscope::report {

std::string painted(std::string text, Style style, Colour colour) {
  if (colour == Colour::none || style == Style::plain || text.empty()) return text;
  const char* codes[] = {"", "1", "2", "36", "33", "32", "31"};
  return "\x1b[" + std::string(codes[std::size_t(style)]) + "m" + std::move(text) + "\x1b[0m";
}

std::string ascii_marks(std::string_view text) {
  constexpr std::pair<std::string_view, char> marks[] = {
      {"…", '~'}, {"▁", '.'}, {"▂", ':'}, {"▃", '-'}, {"▄", '='}, {"▅", '+'},
      {"▆", '*'}, {"▇", '#'}, {"█", '@'}, {"▏", '.'}, {"▎", '.'}, {"▍", ':'},
      {"▌", '-'}, {"▋", '='}, {"▊", '+'}, {"▉", '#'}, {"·", '-'}};
  std::string ascii;
  ascii.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::pair<std::string_view, char>* found = nullptr;
    for (const auto& mark : marks) {
      if (text.substr(i, mark.first.size()) == mark.first) found = &mark;
    }
    ascii += found != nullptr ? found->second : text[i];
    i += found != nullptr ? found->first.size() : 1;
  }
  return ascii;
}

}  // namespace npuscope::report
