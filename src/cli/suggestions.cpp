#include "cli/suggestions.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/near_names.hpp"

namespace npuscope::cli {

std::string meant_name(const std::vector<std::string>& names, const std::string& word) {
  const std::vector<std::string_view> all(names.begin(), names.end());
  return did_you_mean(all, word);
}

std::string meant_command(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return meant_name(names, word);
}

std::string meant_flag(const CLI::App& command, const std::string& flag) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return meant_name(names, flag.substr(0, flag.find('=')));
}

}  // namespace npuscope::cli
