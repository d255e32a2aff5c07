// The commands as they describe themselves, from the flags that they declared and the examples in
// examples.cpp: what help, completion and man pages are made of.
//
//   const CommandDescription all = describe(program);
//   help_text(all, HelpLength::full, 100)
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/flag_values.hpp"

namespace npuscope::cli {

struct Example {
  std::string line;
  std::string about = {};
};

struct FlagDescription {
  std::vector<std::string> names;  // -o, --output; of a place on the line, its name alone
  FlagValue value = {};
  std::string about = {};
  std::string usual = {};  // the value that it has when it is not given
  std::string group = {};
  bool is_place = false;  // stands without a flag
  bool is_required = false;
  bool repeats = false;
  bool is_common = false;  // in the short help too
};

struct CommandDescription {
  std::string path;  // "npuscope qpc list"
  std::string name;
  std::string about;
  std::string group;
  std::vector<Example> examples;
  std::vector<FlagDescription> flags;
  std::vector<CommandDescription> commands;
};

CommandDescription describe(const Command& command);

// Of a path; a test says that every command has two.
struct CommandExamples {
  std::vector<Example> examples;
  std::vector<std::string> common_flags;
};
const CommandExamples& examples_of(const std::string& path);

// Broken at blanks into lines of at most `width` columns; a longer word stands alone.
std::vector<std::string> lines_of(const std::string& text, std::size_t width);

enum class HelpLength : std::uint8_t { brief, full };

std::string help_text(const CommandDescription& command, HelpLength length, std::size_t width);

// COLUMNS, else of the terminal, from 80 to 120; 100 where there is none.
std::size_t help_width();

std::string bash_completion(const CommandDescription& program);
std::string zsh_completion(const CommandDescription& program);
std::string fish_completion(const CommandDescription& program);

// Section 1, in the man macros.
std::string man_page(const CommandDescription& command, const std::string& version);

}  // namespace npuscope::cli
