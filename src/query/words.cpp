#include "query/words.hpp"

#include <algorithm>
#include <cctype>

namespace npuscope::query {

std::string in_small_letters(std::string_view text) {
  std::string lowered(text);
  std::transform(lowered.begin(), lowered.end(), lowered.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  return lowered;
}

Words words_of(std::string_view sql) {
  const auto is_of_word = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  Words words;
  for (auto at = sql.begin(); at != sql.end();) {
    const auto begin = std::find_if(at, sql.end(), is_of_word);
    at = std::find_if_not(begin, sql.end(), is_of_word);
    if (begin != at) words.insert(in_small_letters({begin, at}));
  }
  return words;
}

}  // namespace npuscope::query
