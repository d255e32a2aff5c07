#include "cli/choices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <iterator>

#include "base/near_names.hpp"

namespace npuscope::cli {

std::string meant_name(const std::vector<std::string>& names, const std::string& word) {
  const std::vector<std::string_view> all(names.begin(), names.end());
  return did_you_mean(all, word);
}

std::string meant_command(const Command& command, const std::string& word) {
  std::vector<std::string> names;
  for (const Command& each : command.commands) names.push_back(each.name);
  return meant_name(names, word);
}

std::string meant_flag(const Command& command, const std::string& flag) {
  std::vector<std::string> names;
  for (const Flag& each : command.flags) {
    std::copy_if(each.names.begin(), each.names.end(), std::back_inserter(names),
                 [](const std::string& name) { return name.starts_with("--"); });
  }
  return meant_name(names, flag.substr(0, flag.find('=')));
}

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
