#include "cli/command.hpp"

#include <cctype>
#include <cstdio>

#include "npuscope/base/text.hpp"

namespace npuscope::cli {

ExitStatus exit_status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage: return ExitStatus::usage;
    case ErrorKind::input: return ExitStatus::input;
    case ErrorKind::output: return ExitStatus::output;
  }
  return ExitStatus::input;
}

ExitStatus report(const Error& error) {
  fmt::print(stderr, "npuscope: {}\n", printable(error.message));
  return exit_status_of(error.kind);
}

std::vector<std::string> normalize_arguments(int argc, char** argv) {
  std::vector<std::string> arguments;
  bool flags_ended = false;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    flags_ended = flags_ended || argument == "--";
    const bool one_dash_long = !flags_ended && argument.size() > 2 && argument[0] == '-' &&
                               std::isalpha(static_cast<unsigned char>(argument[1])) &&
                               std::isalpha(static_cast<unsigned char>(argument[2]));
    arguments.push_back(one_dash_long ? "-" + argument : argument);
  }
  return arguments;
}

int run_program(CLI::App& program, int argc, char** argv, ExitStatus& status) {
  auto arguments = normalize_arguments(argc, argv);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 wants them last first
  try {
    program.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : int(ExitStatus::usage);
  }
  std::fflush(stdout);
  if (std::ferror(stdout) && status == ExitStatus::done) {
    return int(report(Error{ErrorKind::output, "standard output: cannot write; check the disk"}));
  }
  return int(status);
}

}  // namespace npuscope::cli
