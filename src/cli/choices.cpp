#include "cli/choices.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "cli/suggestions.hpp"

namespace npuscope::cli {

std::string words_text(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, "|"));
}

Check one_of(const std::vector<std::string>& words, const std::vector<std::string>& old_words) {
  return [=](const std::string& word) -> std::string {
    const auto is_among = [&](const std::vector<std::string>& all) {
      return std::find(all.begin(), all.end(), word) != all.end();
    };
    if (is_among(words) || is_among(old_words)) return {};
    return fmt::format("'{}' is unknown{}; use {}", word, meant_name(words, word),
                       fmt::join(words, ", "));
  };
}

}  // namespace npuscope::cli
