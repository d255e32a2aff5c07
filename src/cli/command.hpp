// How a subcommand joins the program: one file per subcommand defines an add_..._command that
// declares its flags (flags.hpp) and an action that calls the library, prints, and returns the exit
// status.
#pragma once

#include <fmt/format.h>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.hpp"
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

// JSON, the text of an object with members: its first ones say what it is
// (report/document/document_json.hpp).
void print_json(std::FILE* stream, std::string_view object);
// The running command, "torq overview", as JSON names it.
std::string running_command();

// The vendors' one-dash long flags (-stats-level=70) as two-dash ones; short flags, negative
// numbers, "-" and everything after "--" stay as they are.
std::vector<std::string> normalize_arguments(int argc, char** argv);

void add_compile_command(Command& program);
void add_run_command(Command& program);
void add_tune_command(Command& program);
void add_conversation_command(Command& program);
void add_opstats_command(Command& program);
void add_qpc_command(Command& program);
void add_show_command(Command& program);
void add_report_command(Command& program);
void add_timeline_command(Command& program);
void add_memory_command(Command& program);
void add_graph_command(Command& program);
void add_convert_command(Command& program);
void add_diff_command(Command& program);
void add_fleet_command(Command& program);
void add_check_command(Command& program);
void add_snapshot_command(Command& program);
void add_ops_command(Command& program);
void add_units_command(Command& program);
void add_latency_command(Command& program);
void add_path_command(Command& program);
void add_diagnose_command(Command& program);
void add_query_command(Command& program);
void add_tables_command(Command& program);
void add_torq_command(Command& program);
void add_ipu_command(Command& program);
void add_explain_command(Command& program);
void add_record_help_command(Command& program);
void add_completion_command(Command& program);

// What a program is, for its command line.
struct ProgramText {
  const char* name;
  const char* about;
};

// Declares what the command line may hold. `first_word` is its first argument: where that names a
// command, the others' flags are not needed.
using AddCommands = void (*)(Command& program, std::string_view first_word);

// Sets up the command line by `add`, parses and runs; used by every program's main. Wherever in
// that memory is lacking, one sentence says so.
int run_program(const ProgramText& text, AddCommands add, int argc, char** argv);

}  // namespace npuscope::cli
