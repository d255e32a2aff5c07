// How a subcommand joins the program: one file per subcommand defines an add_..._command that
// registers its flags; its callback parses, calls the library, prints, and sets the exit status.
#pragma once

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/result.hpp"

namespace npuscope::cli {

enum class ExitStatus : int {
  done = 0,
  gate_failed = 1,
  usage = 2,
  input = 3,
  output = 4,
};

ExitStatus exit_status_of(ErrorKind kind);

// Prints "npuscope: <message>" (the program's name) to stderr and returns the status for its kind.
// Control characters in the message are escaped.
ExitStatus report(const Error& error);

// fmt::print that does not throw: the stream keeps the error, and run_program reports it.
template <class... Args>
void print(std::FILE* stream, fmt::format_string<Args...> text, Args&&... args) {
  const std::string formatted = fmt::format(text, std::forward<Args>(args)...);
  std::fwrite(formatted.data(), 1, formatted.size(), stream);
}

// JSON, the text of an object with members: its first ones say what it is (json_head.hpp).
void print_json(std::FILE* stream, std::string_view object);
// The running command, "torq overview", as JSON names it.
std::string running_command();

// The vendors' one-dash long flags (-stats-level=70) as two-dash ones; short flags, negative
// numbers, "-" and everything after "--" stay as they are.
std::vector<std::string> normalize_arguments(int argc, char** argv);

// Checks of numbers, which say in words what was expected: CLI11's own take "nan" and numbers too
// large for 64 bits, and print bounds of 300 digits.
CLI::Validator whole_number(std::uint64_t min = 0,
                            std::uint64_t max = std::numeric_limits<std::uint64_t>::max());
CLI::Validator real_number(double min, double max);

// The flag has an effect only where one of the others is given too; without them a note says so.
void matters_with(const std::string& flag, const std::vector<std::string>& others,
                  const CLI::App& command);
// Likewise, where one of the others is given.
void idle_beside(const std::string& flag, const std::vector<std::string>& others,
                 const CLI::App& command);

void add_compile_command(CLI::App& program, ExitStatus& status);
void add_run_command(CLI::App& program, ExitStatus& status);
void add_opstats_command(CLI::App& program, ExitStatus& status);
void add_qpc_command(CLI::App& program, ExitStatus& status);
void add_show_command(CLI::App& program, ExitStatus& status);
void add_report_command(CLI::App& program, ExitStatus& status);
void add_timeline_command(CLI::App& program, ExitStatus& status);
void add_memory_command(CLI::App& program, ExitStatus& status);
void add_graph_command(CLI::App& program, ExitStatus& status);
void add_convert_command(CLI::App& program, ExitStatus& status);
void add_diff_command(CLI::App& program, ExitStatus& status);
void add_fleet_command(CLI::App& program, ExitStatus& status);
void add_check_command(CLI::App& program, ExitStatus& status);
void add_snapshot_command(CLI::App& program, ExitStatus& status);
void add_ops_command(CLI::App& program, ExitStatus& status);
void add_units_command(CLI::App& program, ExitStatus& status);
void add_latency_command(CLI::App& program, ExitStatus& status);
void add_path_command(CLI::App& program, ExitStatus& status);
void add_diagnose_command(CLI::App& program, ExitStatus& status);
void add_query_command(CLI::App& program, ExitStatus& status);
void add_torq_command(CLI::App& program, ExitStatus& status);
void add_ipu_command(CLI::App& program, ExitStatus& status);
void add_explain_command(CLI::App& program, ExitStatus& status);
void add_record_help_command(CLI::App& program, ExitStatus& status);
void add_completion_command(CLI::App& program, ExitStatus& status);

// What a program is, for its command line.
struct ProgramText {
  const char* name;
  const char* about;
};

// Adds what the command line may hold. `first_word` is its first argument: where that names a
// command, the others' flags are not needed.
using AddCommands = void (*)(CLI::App& program, ExitStatus& status, std::string_view first_word);

// Sets up the command line by `add`, parses and runs; used by every program's main. Wherever in
// that memory is lacking, one sentence says so.
int run_program(const ProgramText& text, AddCommands add, int argc, char** argv);

}  // namespace npuscope::cli
