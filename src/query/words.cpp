#include "query/words.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace npuscope::query {

Words words_of(std::string_view sql) {
  Words words;
  for (auto at = sql.begin(); at != sql.end();) {
    const auto begin = std::find_if(at, sql.end(), is_of_word);
    at = std::find_if_not(begin, sql.end(), is_of_word);
    if (begin != at) words.insert(in_small_letters({begin, at}));
  }
  return words;
}

}  // namespace npuscope::query
