// npuscope compile: ONNX to an instrumented program.
#include "cli/command.hpp"

#include <ranges>

#include "base/try.hpp"
#include "cli/architectures.hpp"
#include "cli/file_choices.hpp"
#include "npu/core/target_file.hpp"
#include "npu/graph/import_onnx.hpp"

namespace npuscope::cli {
namespace compile_command {

constexpr std::uint64_t max_batch = 1 << 30;

using Architectures = std::vector<Joined<CompileArchitecture>>;

struct Compilation {
  CompileArguments arguments;
  std::vector<std::string> symbols;
  Architectures architectures;
};

Status compile(Compilation& compilation) {
  CompileArguments& arguments = compilation.arguments;
  TRY(npu::parse_symbols(compilation.symbols, arguments.import));
  if (arguments.target.empty()) {
    TRY_AS(remembered, npu::remembered_target());
    arguments.target = remembered->empty() ? "aic100" : *remembered;
  }
  TRY_AS(target, npu::find_target_file(arguments.target));
  CompileArchitecture* chosen = nullptr;
  for (const auto& joined : compilation.architectures) {
    if (joined.architecture == target->architecture) {
      chosen = joined.does.get();
    } else if (const Flag* flag = joined.given_flag()) {
      return usage_error("{} is for a {}; {} is a {}: leave it out, or choose another --target",
                         flag->name(), npu::family_of(joined.architecture), arguments.target,
                         npu::family_of(target->architecture));
    }
  }
  if (chosen == nullptr) {
    return usage_error("{} describes a {}, for which this version cannot compile; use one of: {}",
                       target->name, npu::family_of(target->architecture),
                       npu::builtin_target_names(npu::TargetArchitecture::nsp));
  }
  return chosen->compile(arguments, *target);
}

void add_common_flags(Command& command, Compilation& compilation) {
  CompileArguments& arguments = compilation.arguments;
  command.flag("-m,--model,model_file", arguments.model, "the ONNX file").required();
  command
      .flag("--target", arguments.target,
            npu::builtin_target_names() +
                " or a .toml file; default: NPUSCOPE_TARGET, else the configuration file's, else "
                "aic100")
      .offers(target_names());
  command.flag("--onnx-define-symbol", compilation.symbols,
               "value of a symbolic dimension, or of an input that is one number: "
               "name,value (repeatable)");
  command
      .flag("--batchsize", arguments.import.batch,
            "batch of the model, symbolic or another than it has")
      .check(whole_number(1, max_batch));
  command.flag("--allow-unknown", arguments.import.allow_unknown,
               "treat unsupported operators as elementwise instead of failing");
  command.flag("-o,--output", arguments.output,
               "the program, of targets whose program is one file");
  command.flag("--json", arguments.json, "print what was compiled as JSON");
}

}  // namespace compile_command

void add_compile_command(Command& program) {
  using namespace compile_command;
  auto compilation = std::make_shared<Compilation>();
  Command& command =
      program.command("compile", "Compile an ONNX model into an instrumented program for a target");
  add_common_flags(command, *compilation);
  compilation->architectures =
      join_architectures(command, add_nsp_compilation, add_ipu_compilation, add_torq_compilation);
  command.matters_with("--torq-timeline-form", {"--torq-dump-profiling"});
  command.action = [compilation] {
    const Status done = compile(*compilation);
    return done ? ExitStatus::done : report(done.error());
  };
}

}  // namespace npuscope::cli
