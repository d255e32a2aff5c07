// What may have been meant by a word of the command line that is not there.
//
//   meant_command(program, "shwo")     " (did you mean 'show'?)"
//   meant_flag(show, "--ful")          " (did you mean '--full'?)"
//   meant_flag(show, "--wat")          ""
//   meant_name({"wall", "work"}, "wal")  " (did you mean 'wall'?)"
#pragma once

#include <string>
#include <vector>

#include "cli/flags.hpp"

namespace npuscope::cli {

std::string meant_name(const std::vector<std::string>& names, const std::string& word);
std::string meant_command(const Command& command, const std::string& word);
std::string meant_flag(const Command& command, const std::string& flag);

}  // namespace npuscope::cli
