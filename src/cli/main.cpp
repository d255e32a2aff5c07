#include <vector>

#include "base/freed_memory.hpp"
#include "cli/command.hpp"

namespace npuscope::cli {
namespace {

struct CommandGroup {
  const char* title;  // in the help
  std::vector<void (*)(CLI::App& program, ExitStatus& status)> add;
};

void add_commands(CLI::App& program, ExitStatus& status) {
  program.require_subcommand(1);
  const CommandGroup groups[] = {
      {"Look", {add_show_command, add_diagnose_command, add_timeline_command, add_report_command}},
      {"Dig",
       {add_ops_command, add_units_command, add_memory_command, add_path_command, add_graph_command,
        add_latency_command, add_query_command}},
      {"Compare", {add_diff_command, add_check_command, add_snapshot_command}},
      {"Many runs", {add_fleet_command}},
      {"Convert", {add_convert_command}},
      {"Without hardware", {add_compile_command, add_run_command, add_opstats_command}},
      {"Vendors' files", {add_qpc_command, add_torq_command, add_ipu_command}},
      {"Learn", {add_explain_command, add_record_help_command}},
      {"Set up", {add_completion_command}}};
  for (const CommandGroup& group : groups) {
    for (const auto& add : group.add) {
      add(program, status);
      program.get_subcommands([](const CLI::App*) { return true; }).back()->group(group.title);
    }
  }
}

}  // namespace
}  // namespace npuscope::cli

int main(int argc, char** argv) {
  using namespace npuscope::cli;
  npuscope::disable_malloc_trim();
  return run_program({"npuscope", "npuscope: the inference profiler for NPUs"}, add_commands, argc,
                     argv);
}
