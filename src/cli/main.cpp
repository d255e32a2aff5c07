#include "cli/command.hpp"
#include "npuscope/base/freed_memory.hpp"

int main(int argc, char** argv) {
  using namespace npuscope::cli;
  npuscope::keep_freed_memory();
  CLI::App program("npuscope: the inference profiler for NPUs", "npuscope");
  program.set_version_flag("--version", NPUSCOPE_VERSION);
  program.require_subcommand(1);
  ExitStatus status = ExitStatus::done;
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
  add_validate_command(program, status);
  return run_program(program, argc, argv, status);
}
