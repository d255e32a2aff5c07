#include "cli/description.hpp"

#include <algorithm>

namespace npuscope::cli {
namespace {

// Still understood, shown nowhere.
bool is_old(const std::string& path, const std::string& name) {
  if (path == "npuscope torq timeline") return name == "to";
  return name == "until" || name == "max-rows" || name == "colors";
}

FlagDescription describe(const CLI::Option& option, const std::string& path,
                         const std::vector<std::string>& common) {
  FlagDescription flag;
  flag.is_place = option.get_lnames().empty() && option.get_snames().empty();
  if (flag.is_place) {
    flag.names = {option.get_single_name()};
    std::replace(flag.names[0].begin(), flag.names[0].end(), '_', '-');
  }
  for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) {
    if (!is_old(path, name)) flag.names.push_back("--" + name);
  }
  flag.value = value_of(option);
  flag.about = option.get_description();
  flag.usual = option.get_default_str();
  flag.group = option.get_group();
  flag.is_required = option.get_required();
  flag.repeats = option.get_items_expected_max() > 1;
  flag.is_common =
      flag.is_place || std::any_of(flag.names.begin(), flag.names.end(), [&](auto& name) {
        return std::find(common.begin(), common.end(), name) != common.end();
      });
  return flag;
}

}  // namespace

CommandDescription describe(const CLI::App& command) {
  CommandDescription described;
  described.name = command.get_name();
  described.path = described.name;
  for (const CLI::App* above = command.get_parent(); above; above = above->get_parent()) {
    described.path = above->get_name() + " " + described.path;
  }
  described.about = command.get_description();
  described.group = command.get_group();
  const CommandExamples& texts = examples_of(described.path);
  described.examples = texts.examples;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    described.flags.push_back(describe(*option, described.path, texts.common_flags));
    const bool stands_twice = option->get_positional() && !described.flags.back().is_place;
    if (!stands_twice) continue;
    FlagDescription place = described.flags.back();  // MODEL or --model MODEL
    place.is_place = place.is_common = true;
    place.names = {place.names.back().substr(place.names.back().find_first_not_of('-'))};
    described.flags.push_back(std::move(place));
  }
  for (const CLI::App* each : command.get_subcommands([](const CLI::App*) { return true; })) {
    if (!each->get_group().empty()) described.commands.push_back(describe(*each));
  }
  return described;
}

}  // namespace npuscope::cli
