// npuscope run: execute programs on the reference NPU and collect profiling files.
#include "cli/command.hpp"

#include <filesystem>
#include <ranges>

#include "base/try.hpp"
#include "cli/architectures.hpp"

namespace npuscope::cli {
namespace run_command {

using JoinedRunner = Joined<RunArchitecture>;

struct Execution {
  RunArguments arguments;
  std::vector<JoinedRunner> architectures;
};

// By the content of the file. The first architecture says what is wrong with a file that none
// recognises, and takes folders.
Result<const JoinedRunner*> architecture_of(const Execution& execution) {
  const std::string& file = execution.arguments.file;
  std::error_code unknown;
  if (!file.empty() && !std::filesystem::is_directory(file, unknown)) {
    TRY_AS(mapped, MappedFile::open(file));
    for (const JoinedRunner& joined : execution.architectures) {
      if (joined.does->recognises(mapped->bytes())) return &joined;
    }
  }
  return &execution.architectures.front();
}

Status run(const Execution& execution) {
  const std::string& file = execution.arguments.file;
  TRY_AS(found, architecture_of(execution));
  const JoinedRunner& chosen = **found;
  for (const JoinedRunner& joined : execution.architectures) {
    const Flag* flag = &joined == &chosen ? nullptr : joined.given_flag();
    if (flag == nullptr) continue;
    if (file.empty()) {
      return usage_error("{} is for programs of {}: name such a file, or leave the flag out",
                         flag->name(), joined.title);
    }
    return usage_error("{} is for programs of {}; {} is one of {}: leave the flag out",
                       flag->name(), joined.title, file, chosen.title);
  }
  return chosen.does->run(execution.arguments);
}

void add_common_flags(Command& command, RunArguments& arguments) {
  command.flag("-m,--model,--module,program_file", arguments.file, "what `npuscope compile` wrote");
  command
      .flag("-n,--num-iter", arguments.inferences,
            "inferences (of each activation); default 40, of a Torq 1")
      .check(whole_number());
  command.flag("-v,--verbose", arguments.verbose, "name each program before its results");
  command.flag("--json", arguments.json, "print the results as JSON");
}

}  // namespace run_command

void add_run_command(Command& program) {
  using namespace run_command;
  auto execution = std::make_shared<Execution>();
  Command& command = program.command(
      "run",
      "Execute a program on the reference NPU; statistics buffers, summaries, traces, latency");
  add_common_flags(command, execution->arguments);
  execution->architectures = join_architectures(command, add_nsp_run, add_ipu_run, add_torq_run);
  for (const char* flag : {"--aic-profiling-out-dir", "--aic-profiling-num-samples",
                           "--aic-profiling-start-iter", "--aic-profiling-start-delay"}) {
    command.matters_with(flag, {"--aic-profiling-type", "--emit"});
  }
  for (const char* flag : {"--write-output-num-samples", "--write-output-start-iter"}) {
    command.matters_with(flag, {"--write-output-dir"});
  }
  command.matters_with("--ipu_log_size", {"--ipu_log"});
  command.action = [execution] {
    const Status done = run(*execution);
    return done ? ExitStatus::done : report(done.error());
  };
}

}  // namespace npuscope::cli
