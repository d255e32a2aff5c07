// What a command line may hold: commands, and flags that set variables. Each is declared once;
// parser/parser.hpp reads a command line by it, description.hpp makes help, completion and man
// pages of it.
//
//   struct CopyOptions {
//     std::vector<std::string> files;
//     std::size_t depth = 3;
//     bool json = false;
//   };
//
//   Command& command = program.command("copy", "Copy files");
//   const auto options = std::make_shared<CopyOptions>();
//   command.flag("files", options->files, "what to copy").required();
//   command.flag("-d,--depth", options->depth, "folders").check(whole_number(0, 9)).shows_usual();
//   command.flag("--json", options->json, "print JSON");
//   command.action = [options] { return copy(*options); };
//
// Its help says "-d, --depth N   folders [3]". A name without dashes is a place on the line, a bool
// a flag without a value, a vector one with several. Who runs the action sees `options` set.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace npuscope::cli {

enum class ExitStatus : int;

// What is wrong with the value of a flag; empty: nothing. A check may put another in its place:
// "5%" becomes "5".
using Check = std::function<std::string(std::string& value)>;

// Both say in words what was expected. "nan" is no real number.
Check whole_number(std::uint64_t min = 0,
                   std::uint64_t max = std::numeric_limits<std::uint64_t>::max());
Check real_number(double min, double max);

// Takes the words of a value, none where the flag stands alone; false: they mean nothing.
using Take = std::function<bool(const std::vector<std::string>& words)>;

// A flag that asks a question: the program prints the answer and does nothing else.
struct Answer {
  std::function<std::string()> text;
};

// A flag that scripts give and that cannot be obeyed.
struct Refusal {
  std::string reason;
};

// What a flag sets. An optional<bool> is one whose names may begin with "!": those set false. A
// pair is of two words: -c0 FILE, or -c 0 FILE.
using Variable =
    std::variant<bool*, std::optional<bool>*, std::string*, std::optional<std::string>*,
                 std::vector<std::string>*, std::filesystem::path*, std::uint32_t*, std::uint64_t*,
                 std::int64_t*, double*, std::optional<std::uint32_t>*,
                 std::optional<std::uint64_t>*, std::optional<std::int64_t>*,
                 std::optional<double>*, std::vector<std::uint32_t>*,
                 std::vector<std::pair<std::uint32_t, std::string>>*, Take, Answer, Refusal>;

struct Flag {
  Flag(const std::string& comma_names, Variable sets, std::string says, std::string under);

  Flag& required(bool is = true);
  Flag& describe(std::string says);
  Flag& check(Check test);
  Flag& called(std::string word);        // its value, in the help: FILE
  Flag& shows_usual();                   // the variable's value before it is set
  Flag& shows_usual(std::string value);  // another
  Flag& under(std::string title);        // in the help; empty: not there
  Flag& offers(std::vector<std::string> words);
  Flag& excludes(std::string other);
  Flag& needs(std::string other);
  // A list otherwise takes all words up to the next flag, each an element.
  Flag& separated_by(char separator);
  Flag& one_each();                   // one word each time that it is given
  Flag& values(int least, int most);  // so many
  Flag& takes_all();                  // however often it is given

  std::string name() const;   // the first long one, else the short one, else the place's
  std::string place() const;  // the name without dashes; empty: it stands nowhere on its own
  bool is_named(std::string_view wanted) const;
  bool takes_value() const;
  bool is_list() const;  // may take more than one

  std::string declared;            // "-m,--model,model_file"
  std::vector<std::string> names;  // -m, --model, model_file
  Variable variable;
  std::string about, group, value_word, usual;
  std::vector<std::string> offered;  // by completion, for a value that may be something else
  std::vector<Check> checks;         // in their order
  std::vector<std::string> excluded, needed;
  std::optional<std::pair<int, int>> value_count;
  char separator = '\0';
  bool is_required = false, takes_one_each = false, takes_every = false;
  bool is_given = false;  // on the command line that was read
};

// A flag that has no effect, which a note says.
struct IdleFlag {
  std::string flag;
  std::vector<std::string> others;
  bool is_beside = false;  // where one of them is given, not where none is
};

struct Command {
  Command(std::string called, std::string says) : name(std::move(called)), about(std::move(says)) {}
  Command(const Command&) = delete;  // those below know where it is
  Command& operator=(const Command&) = delete;

  // One that has commands needs one of them on its line.
  Command& command(std::string called, std::string says);

  template <class T>
  Flag& flag(const std::string& names, T& variable, std::string says) {
    return add(names, &variable, std::move(says));
  }
  Flag& add(const std::string& names, Variable variable, std::string says);

  // What is added from here on stands under this title in the help.
  void begin_group(std::string title) { next_group = std::move(title); }

  // A note says so where the flag is given and none of the others is, or one of them.
  void matters_with(std::string flag, std::vector<std::string> others);
  void idle_beside(std::string flag, std::vector<std::string> others);

  Flag& flag(std::string_view wanted);                   // one that it has
  const Flag* find_flag(std::string_view wanted) const;  // nullptr: it has none
  bool has(std::string_view wanted) const;               // on the command line that was read
  const Command* find_command(std::string_view wanted) const;
  std::string path() const;  // "npuscope qpc list"

  std::string name, about, group;
  std::list<Flag> flags;
  std::list<Command> commands;
  std::function<ExitStatus()> action;
  std::vector<IdleFlag> idle_flags;
  const Command* above = nullptr;
  std::string next_group;
};

}  // namespace npuscope::cli
