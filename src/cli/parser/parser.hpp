// Reads a command line as flags.hpp declares it. parser.cpp alone knows the library that does so:
// its headers take seconds to compile.
//
//   const ParsedLine line = parse_line(program, {"copy", "--depth", "2", "a.txt"});
//   line.command->path()     // "npuscope copy"; options->depth is 2
//   line.problem             // empty
#pragma once

#include "cli/flags.hpp"

namespace npuscope::cli {

// Any of "8GiB", "500M", "1000" as a number of bytes.
Check size_in_bytes();

struct ParsedLine {
  const Command* command = nullptr;        // the last one that was named
  std::string problem = {};                // with the line; empty: the variables are set
  bool is_unknown_word = false;            // that is the problem
  std::optional<std::string> answer = {};  // of a flag that asks a question
};

ParsedLine parse_line(Command& program, const std::vector<std::string>& arguments);

}  // namespace npuscope::cli
