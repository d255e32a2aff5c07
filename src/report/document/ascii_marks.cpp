#include "report/document/ascii_marks.hpp"

#include <utility>

namespace npuscope::report {

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
