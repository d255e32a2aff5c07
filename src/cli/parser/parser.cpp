#include "cli/parser/parser.hpp"

#include <CLI/CLI.hpp>

namespace npuscope::cli {
namespace {

struct Adder {
  CLI::App& app;
  const std::string& names;

  CLI::Option* operator()(bool* value) const { return app.add_flag(names, *value); }

  CLI::Option* operator()(std::optional<bool>* value) const {
    return app.add_flag_function(names, [value](std::int64_t count) { *value = count > 0; });
  }

  // A flag that stands alone has an empty word, or "{}".
  CLI::Option* operator()(const Take& take) const {
    return app.add_option(names, [&take](const std::vector<std::string>& words) {
      const bool stands_alone = words.size() == 1 && (words[0].empty() || words[0] == "{}");
      return take(stands_alone ? std::vector<std::string>() : words);
    });
  }

  CLI::Option* operator()(const Answer& answer) const {
    return app.add_flag_callback(names, [&answer] { throw CLI::CallForVersion(answer.text(), 0); });
  }

  CLI::Option* operator()(const Refusal& refusal) const {
    const auto refuse = [&refusal](const CLI::results_t&) -> bool {
      throw CLI::ValidationError(refusal.reason);
    };
    return app.add_option(names, CLI::callback_t(refuse))->expected(0, 1);
  }

  template <class T>
  CLI::Option* operator()(T* value) const {
    return app.add_option(names, *value);
  }
};

CLI::Option* add_flag(CLI::App& app, const Flag& flag) {
  CLI::Option* option = std::visit(Adder{app, flag.declared}, flag.variable);
  option->group(flag.group)->required(flag.is_required);
  if (!flag.takes_value()) return option;
  option->type_name(flag.value_word);
  if (flag.separator != '\0') option->delimiter(flag.separator);
  if (flag.takes_every) option->take_all();
  if (flag.takes_one_each) option->allow_extra_args(false);
  if (flag.value_count) option->expected(flag.value_count->first, flag.value_count->second);
  // In their order: each is put before those that are there.
  for (auto check = flag.checks.rbegin(); check != flag.checks.rend(); ++check) {
    option->transform(CLI::Validator(*check, ""));
  }
  return option;
}

// A command as the library has it.
struct Mirror {
  Command* command;
  CLI::App* app;
  std::vector<std::pair<Flag*, CLI::Option*>> flags = {};
};

void mirror(Command& command, CLI::App& app, std::vector<Mirror>& mirrors) {
  Mirror made{&command, &app};
  for (Flag& flag : command.flags) made.flags.emplace_back(&flag, add_flag(app, flag));
  for (const auto& [flag, option] : made.flags) {
    for (const std::string& other : flag->excluded) option->excludes(app.get_option(other));
    for (const std::string& other : flag->needed) option->needs(app.get_option(other));
  }
  // One that does something alone need not have a command below.
  if (!command.commands.empty() && !command.action) app.require_subcommand(1);
  mirrors.push_back(std::move(made));
  for (Command& below : command.commands) mirror(below, *app.add_subcommand(below.name), mirrors);
}

// As far as the command line got.
const Mirror& last_of(const std::vector<Mirror>& mirrors) {
  const CLI::App* app = mirrors.front().app;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return *std::find_if(mirrors.begin(), mirrors.end(),
                       [&](const Mirror& each) { return each.app == app; });
}

// CLI11's sentences begin with a capital, and count "files" as one.
std::string in_our_words(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"A subcommand is required", "no command is named"},
      {"The following argument was not expected: ", "not expected: "},
      {"The following arguments were not expected: ", "not expected: "},
      {"files is required", "no file is named"}};
  for (const auto& [theirs, ours] : words) {
    if (text.starts_with(theirs)) return text.replace(0, theirs.size(), ours);
  }
  return text;
}

}  // namespace

Check size_in_bytes() {
  return [size = CLI::AsSizeValue(false)](std::string& text) { return size(text); };
}

ParsedLine parse_line(Command& program, const std::vector<std::string>& arguments) {
  CLI::App app("", program.name);
  app.set_help_flag();  // help is made of the declarations
  std::vector<Mirror> mirrors;
  mirror(program, app, mirrors);
  ParsedLine line;
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // the last first
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      line.answer = error.what();
    } else {
      line.problem = in_our_words(error.what());
      line.is_unknown_word = error.get_exit_code() == int(CLI::ExitCodes::ExtrasError);
    }
  }
  const Mirror& last = last_of(mirrors);
  line.command = last.command;
  for (const auto& [flag, option] : last.flags) flag->is_given = option->count() > 0;
  return line;
}

}  // namespace npuscope::cli
