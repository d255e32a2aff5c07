#include "cli/suggestions.hpp"

#include <fmt/format.h>

#include <vector>

#include "analysis/near_names.hpp"

namespace npuscope::cli {
namespace {

std::string meant(const std::vector<std::string>& names, const std::string& word) {
  const std::vector<std::string_view> all(names.begin(), names.end());
  const auto name = analysis::likely_name(all, word);
  return name ? fmt::format(" (did you mean '{}'?)", *name) : std::string();
}

}  // namespace

std::string meant_command(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return meant(names, word);
}

std::string meant_flag(const CLI::App& command, const std::string& flag) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return meant(names, flag.substr(0, flag.find('=')));
}

}  // namespace npuscope::cli
