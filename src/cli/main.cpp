#include <filesystem>
#include <string_view>
#include <vector>

#include "base/memory_use.hpp"
#include "cli/command.hpp"
#include "cli/fleet_part.hpp"

namespace npuscope::cli {
namespace {

struct NamedCommand {
  std::string_view name;
  void (*add)(Command& program);
};

struct CommandGroup {
  const char* title;  // in the help
  std::vector<NamedCommand> commands;
};

std::vector<CommandGroup> command_groups() {
  return {{"Look",
           {{"show", add_show_command},
            {"diagnose", add_diagnose_command},
            {"timeline", add_timeline_command},
            {"report", add_report_command}}},
          {"Dig",
           {{"ops", add_ops_command},
            {"units", add_units_command},
            {"memory", add_memory_command},
            {"path", add_path_command},
            {"graph", add_graph_command},
            {"latency", add_latency_command},
            {"query", add_query_command}}},
          {"Compare",
           {{"diff", add_diff_command},
            {"check", add_check_command},
            {"snapshot", add_snapshot_command}}},
          {"Many runs", {{"fleet", add_fleet_command}}},
          {"Convert", {{"convert", add_convert_command}}},
          {"Without hardware",
           {{"compile", add_compile_command},
            {"run", add_run_command},
            {"tune", add_tune_command},
            {"conversation", add_conversation_command},
            {"opstats", add_opstats_command}}},
          {"Vendors' files",
           {{"tables", add_tables_command},
            {"qpc", add_qpc_command},
            {"torq", add_torq_command},
            {"ipu", add_ipu_command}}},
          {"Learn", {{"explain", add_explain_command}, {"record-help", add_record_help_command}}},
          {"Set up", {{"completion", add_completion_command}}}};
}

// The flags of all commands take as long to set up as a small profile to open. Empty: all commands.
std::string_view only_command(const std::vector<CommandGroup>& groups,
                              std::string_view first_word) {
  if (first_word == "completion") return {};  // which completes the others
  for (const CommandGroup& group : groups) {
    for (const NamedCommand& command : group.commands) {
      if (command.name == first_word) return command.name;
    }
  }
  std::error_code none;
  const bool is_file = first_word == "-" ||
                       (!first_word.starts_with('-') && std::filesystem::exists(first_word, none));
  return is_file ? "show" : "";
}

void add_commands(Command& program, std::string_view first_word) {
  const std::vector<CommandGroup> groups = command_groups();
  const std::string_view only = only_command(groups, first_word);
  for (const CommandGroup& group : groups) {
    program.begin_group(group.title);
    for (const NamedCommand& command : group.commands) {
      if (only.empty() || command.name == only) command.add(program);
    }
  }
}

}  // namespace
}  // namespace npuscope::cli

int main(int argc, char** argv) {
  using namespace npuscope::cli;
  npuscope::disable_malloc_trim();
  if (const auto status = hand_over_to_fleet(argc, argv)) return int(*status);
  return run_program({"npuscope", "npuscope: the inference profiler for NPUs"}, add_commands, argc,
                     argv);
}
