// What flags take: help, man pages and completion call a value TIME, REGEX, FILE, N, ... A flag has
// one meaning, so that its name says it, whichever command it belongs to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.hpp"

namespace npuscope::cli {

// What completion offers for a value.
enum class ValueKind : std::uint8_t { none, text, words, file, folder };

struct FlagValue {
  ValueKind kind = ValueKind::none;
  std::string word = {};                // FILE, TIME, N; of words their own: a|b
  std::vector<std::string> words = {};  // those that it takes
};

FlagValue value_of(const Flag& flag);

// Names the values of all flags of the program. Where a file is read, "-" is standard input.
void name_values(Command& program);

}  // namespace npuscope::cli
