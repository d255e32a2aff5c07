// npuscope run: execute programs on the reference NPU and collect profiling files.
#include "cli/command.hpp"

#include <filesystem>
#include <ranges>

#include "cli/run/architecture.hpp"

namespace npuscope::cli {
namespace run_command {

// An architecture and the flags that it added to the command.
struct JoinedRunner {
  const char* title;  // of its flags in the help
  std::unique_ptr<RunArchitecture> runner;
  std::vector<const Flag*> flags;
};

struct Execution {
  RunArguments arguments;
  std::vector<JoinedRunner> architectures;
};

using JoinRunner = std::unique_ptr<RunArchitecture>(Command&);

void join(Command& command, Execution& execution, const char* title, JoinRunner* add) {
  const std::size_t before = command.flags.size();
  command.begin_group(title);
  JoinedRunner joined{title, add(command), {}};
  for (const Flag& flag : command.flags | std::views::drop(before)) joined.flags.push_back(&flag);
  execution.architectures.push_back(std::move(joined));
}

// By the content of the file. The first architecture says what is wrong with a file that none
// recognises, and takes folders.
Result<const JoinedRunner*> architecture_of(const Execution& execution) {
  const std::string& file = execution.arguments.file;
  std::error_code unknown;
  if (!file.empty() && !std::filesystem::is_directory(file, unknown)) {
    const auto mapped = MappedFile::open(file);
    if (!mapped) return tl::unexpected(mapped.error());
    for (const JoinedRunner& joined : execution.architectures) {
      if (joined.runner->recognises(mapped->bytes())) return &joined;
    }
  }
  return &execution.architectures.front();
}

Status run(const Execution& execution) {
  const std::string& file = execution.arguments.file;
  const auto found = architecture_of(execution);
  if (!found) return tl::unexpected(found.error());
  const JoinedRunner& chosen = **found;
  for (const JoinedRunner& joined : execution.architectures) {
    if (&joined == &chosen) continue;
    for (const Flag* flag : joined.flags) {
      if (!flag->is_given) continue;
      if (file.empty()) {
        return usage_error("{} is for programs of {}: name such a file, or leave the flag out",
                           flag->name(), joined.title);
      }
      return usage_error("{} is for programs of {}; {} is one of {}: leave the flag out",
                         flag->name(), joined.title, file, chosen.title);
    }
  }
  return chosen.runner->run(execution.arguments);
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
  join(command, *execution, "Cloud AI 100 and Hexagon", add_nsp_run);
  join(command, *execution, "SigmaStar IPU", add_ipu_run);
  join(command, *execution, "Synaptics Torq", add_torq_run);
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
