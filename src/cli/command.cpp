#include "cli/command.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <optional>

#include "base/memory_use.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "cli/choices.hpp"
#include "cli/description.hpp"
#include "cli/flag_values.hpp"
#include "cli/parser/parser.hpp"
#include "cli/standard_input.hpp"
#include "cli/version/version.hpp"
#include "npuscope/base/files.hpp"
#include "report/document/document_json.hpp"

namespace npuscope::cli {
namespace {

const char* program_name = "npuscope";
const Command* running = nullptr;

}  // namespace

ExitStatus exit_status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage: return ExitStatus::usage;
    case ErrorKind::input: return ExitStatus::input;
    case ErrorKind::output: return ExitStatus::output;
  }
  return ExitStatus::input;
}

ExitStatus report(const Error& error) {
  std::fflush(stdout);  // what was printed before the error comes before it
  print(stderr, "{}: {}\n", program_name, printable(with_standard_input_named(error.message)));
  return exit_status_of(error.kind);
}

void print_json(std::FILE* stream, std::string_view object) {
  const std::string text = report::with_json_head(running_command(), object);
  std::fwrite(text.data(), 1, text.size(), stream);
}

std::vector<std::string> normalize_arguments(int argc, char** argv) {
  std::vector<std::string> arguments;
  bool flags_ended = false;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    flags_ended = flags_ended || argument == "--";
    const bool one_dash_long = !flags_ended && argument.size() > 2 && argument[0] == '-' &&
                               is_letter(argument[1]) && is_letter(argument[2]);
    const bool short_with_value = !flags_ended && argument.size() > 2 && argument[0] == '-' &&
                                  is_letter(argument[1]) && argument[2] == '=';
    if (short_with_value) {  // -m=model.onnx; the value alone would begin with "="
      arguments.push_back(argument.substr(0, 2));
      arguments.push_back(argument.substr(3));
    } else {
      arguments.push_back(one_dash_long ? "-" + argument : argument);
    }
  }
  return arguments;
}

namespace {

void note_idle_flags(const Command& command) {
  for (const IdleFlag& idle : command.idle_flags) {
    if (!command.has(idle.flag)) continue;
    const auto given = std::find_if(idle.others.begin(), idle.others.end(),
                                    [&](const auto& other) { return command.has(other); });
    if ((given != idle.others.end()) != idle.is_beside) continue;
    const std::string others =
        idle.is_beside ? *given : fmt::format("{}", fmt::join(idle.others, " or "));
    print(stderr, "{}: note: {} has no effect {} {}\n", program_name, idle.flag,
          idle.is_beside ? "with" : "without", others);
  }
}

// What the parser cannot say well: an unknown command, a flag whose value was lost
// ("--model=$UNSET" would take the next flag as its value).
std::string usage_problem(const Command& program, const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (argument.size() > 3 && argument.starts_with("--") &&
        argument.find('=') == argument.size() - 1) {
      return fmt::format("{} has no value", argument);
    }
  }
  const Command* command = &program;
  for (const std::string& argument : arguments) {
    if (command->commands.empty() || argument.starts_with("-")) break;
    const Command* named = command->find_command(argument);
    if (named == nullptr && command == &program && argument.find_first_of("./") != argument.npos) {
      return fmt::format("'{}' is neither a file that is there nor a command", argument);
    }
    if (named == nullptr) {
      return fmt::format("unknown command '{}'{}", argument, meant_command(*command, argument));
    }
    command = named;
  }
  return {};
}

}  // namespace

std::string running_command() {
  const std::string path = running->path();
  return path.substr(path.find(' ') + 1);
}

namespace {

// What was meant by the first flag that the command does not have.
std::string meant_by(const Command& command, const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (!argument.starts_with("--")) continue;
    const std::string flag = argument.substr(0, argument.find('='));
    if (command.find_flag(flag) == nullptr) return meant_flag(command, flag);
  }
  return {};
}

// "help diff" is "diff --help", "help" alone "--help".
void take_help(std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != "help") return;
  arguments.erase(arguments.begin());
  arguments.push_back("--help");
}

// As far as the words name commands.
const Command& named_command(const Command& program, const std::vector<std::string>& arguments) {
  const Command* command = &program;
  for (const std::string& argument : arguments) {
    const Command* named = command->find_command(argument);
    if (named == nullptr) break;
    command = named;
  }
  return *command;
}

// -h and --help, wherever they stand; none: help is not asked for.
std::optional<HelpLength> wanted_help(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (argument == "-h") return HelpLength::brief;
    if (argument == "--help") return HelpLength::full;
  }
  return std::nullopt;
}

// All users of the machine see the arguments of its processes: user and password of a URL, once
// they are read, are x there.
void hide_passwords(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const std::size_t scheme = argument.find("://"), end = argument.rfind('@');
    if (scheme == argument.npos || end == argument.npos || end < scheme) continue;
    std::fill(argv[i] + scheme + 3, argv[i] + end, 'x');
  }
}

// "trace.json" is "show trace.json", where no command has that name.
void take_file(const Command& program, std::vector<std::string>& arguments) {
  if (program.find_command("show") == nullptr || arguments.empty()) return;
  const std::string& word = arguments.front();
  const bool is_other = word.starts_with("-") || program.find_command(word) != nullptr;
  std::error_code none;
  if (word == "-" || (!is_other && std::filesystem::exists(word, none)))
    arguments.insert(arguments.begin(), "show");
}

// Reads the arguments and does what they ask for. What is wrong with them is usage.
ExitStatus run_arguments(Command& program, std::vector<std::string> arguments) {
  take_help(arguments);
  take_file(program, arguments);
  if (const std::string problem = usage_problem(program, arguments); !problem.empty()) {
    return report(Error{ErrorKind::usage, fmt::format("{}; see {} --help", problem, program.name)});
  }
  if (const auto length = wanted_help(arguments)) {
    const CommandDescription command = describe(named_command(program, arguments));
    print(stdout, "{}", help_text(command, *length, help_width()));
    return ExitStatus::done;
  }
  const ParsedLine line = parse_line(program, arguments);
  const Command& command = *line.command;
  if (line.answer) {
    print(stdout, "{}", *line.answer);
    return ExitStatus::done;
  }
  if (!line.problem.empty()) {
    const std::string meant = line.is_unknown_word ? meant_by(command, arguments) : "";
    return report(Error{ErrorKind::usage,
                        fmt::format("{}{}; see {} --help", line.problem, meant, command.path())});
  }
  running = &command;
  const ExitStatus status = command.action();
  std::fflush(stdout);
  note_idle_flags(command);
  return status;
}

// Without an allocation: there is no memory for one.
ExitStatus say_out_of_memory() {
  std::fflush(stdout);
  for (const char* part : {program_name, ": not enough memory; use a smaller input, free some or ",
                           "raise the limit (ulimit -v)\n"}) {
    std::fputs(part, stderr);
  }
  return ExitStatus::input;
}

// Whatever a library throws, as a status.
template <class Action>
ExitStatus guarded(const Action& action) {
  try {
    try {
      return action();
    } catch (const std::bad_alloc&) {
      return say_out_of_memory();
    } catch (const std::exception& error) {  // such as a thread that the system refuses
      return report(
          Error{ErrorKind::input,
                fmt::format("cannot go on: {}; raise the limits (ulimit)", error.what())});
    }
  } catch (const std::bad_alloc&) {  // in saying so
    return say_out_of_memory();
  }
}

// Ends the program as the signal would have, without the files it was writing.
void end_tidily_by_signal(int signal) {
  remove_temporary_files();
  end_by_signal(signal);
}

// A mapped input that shrinks while it is read (files.hpp).
void end_by_shrunk_input(int) {
  remove_temporary_files();
  constexpr std::string_view text =
      "npuscope: an input file was cut short while it was read; try again when it is complete\n";
  write_at_once(StandardStream::error, text);
  end_at_once(int(ExitStatus::input));
}

std::atomic<bool> has_refused_memory{false};

void refuse_memory() {
  has_refused_memory = true;
  throw std::bad_alloc();
}

// An allocation that fails where a library lets nothing be thrown, such as the parser of toml++ or
// a directory_iterator, of which no exception is left that could be asked.
[[noreturn]] void end_by_exception() {
  remove_temporary_files();
  if (!std::current_exception() && has_refused_memory) end_at_once(int(say_out_of_memory()));
  try {
    if (const auto thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    end_at_once(int(say_out_of_memory()));
  } catch (...) {
  }
  std::abort();
}

}  // namespace

int run_program(const ProgramText& text, AddCommands add, int argc, char** argv) {
  occupy_closed_streams();
  program_name = text.name;
  limit_memory();
  handle_signals(end_tidily_by_signal, end_by_shrunk_input);
  prepare_unwinding();
  std::set_terminate(end_by_exception);
  std::set_new_handler(refuse_memory);
  const ExitStatus status = guarded([&] {
    Command program(text.name, text.about);
    program.add("-V,--version", Answer{[&] { return version_text(text.name); }},
                "version, commit and what it was built with");
    const std::string_view first_word = argc > 1 ? argv[1] : "";
    const bool asks_for_version = argc == 2 && (first_word == "-V" || first_word == "--version");
    if (!asks_for_version) add(program, first_word);
    name_values(program);
    const auto arguments = normalize_arguments(argc, argv);
    hide_passwords(argc, argv);
    try {
      return run_arguments(program, arguments);
    } catch (const Error& error) {  // of standard input
      return report(error);
    }
  });
  std::cout.flush();
  if ((std::fflush(stdout) != 0 || std::ferror(stdout)) && status == ExitStatus::done) {
    return int(report(Error{ErrorKind::output, "standard output: cannot write; check the disk"}));
  }
  return int(status);
}

}  // namespace npuscope::cli
