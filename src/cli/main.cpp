#include "base/freed_memory.hpp"
#include "cli/command.hpp"

namespace npuscope::cli {
namespace {

void add_commands(CLI::App& program, ExitStatus& status) {
  program.require_subcommand(1);
  add_compile_command(program, status);
  add_run_command(program, status);
  add_opstats_command(program, status);
  add_show_command(program, status);
  add_timeline_command(program, status);
  add_path_command(program, status);
  add_memory_command(program, status);
  add_graph_command(program, status);
  add_convert_command(program, status);
  add_diff_command(program, status);
  add_query_command(program, status);
  add_ops_command(program, status);
  add_units_command(program, status);
  add_latency_command(program, status);
  add_diagnose_command(program, status);
  add_qpc_command(program, status);
  add_torq_command(program, status);
  add_ipu_command(program, status);
}

}  // namespace
}  // namespace npuscope::cli

int main(int argc, char** argv) {
  using namespace npuscope::cli;
  npuscope::disable_malloc_trim();
  return run_program({"npuscope", "npuscope: the inference profiler for NPUs"}, add_commands, argc,
                     argv);
}
