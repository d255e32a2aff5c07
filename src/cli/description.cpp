#include "cli/description.hpp"

#include <algorithm>

namespace npuscope::cli {
namespace {

// Still understood, shown nowhere.
bool is_old(const std::string& path, const std::string& name) {
  if (path == "npuscope torq timeline") return name == "--to";
  return name == "--until" || name == "--max-rows" || name == "--colors";
}

FlagDescription describe(const Flag& declared, const std::string& path,
                         const std::vector<std::string>& common) {
  FlagDescription flag;
  for (const std::string& name : declared.names) {
    if (name.starts_with('-') && !is_old(path, name)) flag.names.push_back(name);
  }
  std::stable_partition(flag.names.begin(), flag.names.end(),
                        [](const std::string& name) { return !name.starts_with("--"); });
  flag.is_place = declared.name() == declared.place();
  if (flag.is_place) {
    flag.names = {declared.name()};
    std::replace(flag.names[0].begin(), flag.names[0].end(), '_', '-');
  }
  flag.value = value_of(declared);
  flag.about = declared.about;
  flag.usual = declared.usual;
  flag.group = declared.group;
  flag.is_required = declared.is_required;
  flag.repeats = declared.is_list();
  flag.is_common =
      flag.is_place || std::any_of(flag.names.begin(), flag.names.end(), [&](auto& name) {
        return std::find(common.begin(), common.end(), name) != common.end();
      });
  return flag;
}

}  // namespace

CommandDescription describe(const Command& command) {
  CommandDescription described;
  described.name = command.name;
  described.path = command.path();
  described.about = command.about;
  described.group = command.group;
  const CommandExamples& texts = examples_of(described.path);
  described.examples = texts.examples;
  for (const Flag& flag : command.flags) {
    if (flag.group.empty()) continue;
    described.flags.push_back(describe(flag, described.path, texts.common_flags));
    const bool stands_twice = !flag.place().empty() && !described.flags.back().is_place;
    if (!stands_twice) continue;
    FlagDescription place = described.flags.back();  // MODEL or --model MODEL
    place.is_place = place.is_common = true;
    place.names = {place.names.back().substr(place.names.back().find_first_not_of('-'))};
    described.flags.push_back(std::move(place));
  }
  for (const Command& each : command.commands) described.commands.push_back(describe(each));
  return described;
}

}  // namespace npuscope::cli
