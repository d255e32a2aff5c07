// Flags that take one of a few words. --by is one of them: docs/cli.md has its words, and each
// means the same in every command.
//
//   add_choice(command, "--by", request.by, {{"unit", UnitsBy::unit}, {"core", UnitsBy::core}},
//              "rows of units");
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/flags.hpp"

namespace npuscope::cli {

// What may have been meant by a word of the command line that is not there.
//
//   meant_command(program, "shwo")     " (did you mean 'show'?)"
//   meant_flag(show, "--ful")          " (did you mean '--full'?)"
//   meant_flag(show, "--wat")          ""
//   meant_name({"wall", "work"}, "wal")  " (did you mean 'wall'?)"

std::string meant_name(const std::vector<std::string>& names, const std::string& word);
std::string meant_command(const Command& command, const std::string& word);
std::string meant_flag(const Command& command, const std::string& flag);

enum class WordAge : std::uint8_t { current, old };  // old: still understood, shown nowhere

template <class Meaning>
struct Choice {
  std::string word;
  Meaning meaning;
  WordAge age = WordAge::current;
};

// The words, for help and completion: "unit|core".
std::string words_text(const std::vector<std::string>& words);

// That a word is one of them; the error lists them and says which may be meant.
Check one_of(const std::vector<std::string>& words, const std::vector<std::string>& old_words = {});

template <class Meaning>
Flag& add_choice(Command& command, const std::string& names, Meaning& value,
                 const std::vector<Choice<Meaning>>& choices, const std::string& description) {
  std::vector<std::string> words, old_words;
  std::string chosen;
  for (const Choice<Meaning>& choice : choices) {
    (choice.age == WordAge::old ? old_words : words).push_back(choice.word);
    if (chosen.empty() && choice.meaning == value) chosen = choice.word;
  }
  const auto take = [&value, choices](const std::vector<std::string>& word) {
    for (const Choice<Meaning>& choice : choices) {
      if (choice.word == word.front()) value = choice.meaning;
    }
    return true;
  };
  return command.add(names, take, description)
      .check(one_of(words, old_words))
      .called(words_text(words))
      .shows_usual(chosen);
}

}  // namespace npuscope::cli
