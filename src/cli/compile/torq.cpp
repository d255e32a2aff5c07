// npuscope compile for Synaptics Torq: a program file, estimates, debug information.
#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/text.hpp"
#include "base/try.hpp"
#include "cli/architectures.hpp"
#include "cli/choices.hpp"
#include "cli/documents.hpp"
#include "npu/targets/torq/compile.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/base/progress.hpp"
#include "npuscope/npu/torq/build.hpp"
#include "report/torq/torq_documents.hpp"

namespace npuscope::cli {
namespace compile_command {

namespace fs = std::filesystem;

struct TorqArguments {
  bool profiling = false;
  std::string timeline;
  torq::TimelineVersion timeline_form = torq::TimelineVersion::task_id;
  std::string debug_folder, phase_folder;
  TopRows top;
};

Status make_folder(const fs::path& folder) {
  std::error_code failure, unknown;
  fs::create_directories(folder, failure);
  if (failure && !fs::is_directory(folder, unknown)) {
    return output_error("{}: cannot create the folder: {}; choose another", folder.string(),
                        failure.message());
  }
  return check_writable_folder(folder);
}

class TorqCompiler : public CompileArchitecture {
 public:
  explicit TorqCompiler(Command& command) {
    command.flag("--torq-enable-profiling", arguments_.profiling,
                 "estimate cycles; debug information has them");
    command.flag("--torq-dump-profiling", arguments_.timeline,
                 "write the estimated timeline (.csv)");
    using torq::TimelineVersion;
    add_choice<TimelineVersion>(
        command, "--torq-timeline-form", arguments_.timeline_form,
        {{"tasks", TimelineVersion::task_id}, {"ids", TimelineVersion::ids}},
        "its columns: tasks (the current), ids (ID, Start, End, Location, Op Type)");
    command.flag("--dump-compilation-phases-to", arguments_.phase_folder,
                 "folder for debug information as one text, as until 2026-02");
    command.flag("--torq-debug-info", arguments_.debug_folder,
                 "folder for debug information, a text a dispatch");
    arguments_.top.set(20, "dispatches");
    arguments_.top.add_option(command);
  }

  Status compile(const CompileArguments& common, const npu::TargetFile&) override {
    TRY(check(common));
    std::optional<BusySign> busy("compiling");
    const auto built = npu::torq::build(common.model, {common.target, common.import});
    busy.reset();
    if (!built) return tl::unexpected(built.error());
    TRY(write(common, *built));
    print_result(common, *built);
    return {};
  }

 private:
  Status check(const CompileArguments& common) const {
    if (common.output.empty())
      return usage_error("--output is required; name the program to write");
    if (!arguments_.timeline.empty() && !arguments_.profiling) {
      return usage_error("--torq-dump-profiling writes estimates; add --torq-enable-profiling");
    }
    for (const std::string& output : {common.output, arguments_.timeline}) {
      if (output.empty()) continue;
      const std::vector<std::string> inputs{common.model, common.target};
      TRY(check_output_is_no_input(inputs, output));
    }
    return {};
  }

  Status write(const CompileArguments& common, const npu::torq::BuildResult& built) const {
    const npu::torq::Compilation& compiled = *built.compilation;
    if (!arguments_.debug_folder.empty()) TRY(write_debug_info(compiled));
    if (!arguments_.phase_folder.empty()) {
      TRY(write_phase(compiled, fs::path(common.model).stem().string()));
    }
    if (!arguments_.timeline.empty()) {
      TRY(torq::write_timeline(npu::torq::timeline_of(compiled), arguments_.timeline,
                               arguments_.timeline_form));
    }
    return write_file_atomically(common.output, built.program);
  }

  Status write_source(const fs::path& folder, const npu::torq::Compilation& compiled) const {
    const fs::path source = folder / compiled.source_file;
    TRY(make_folder(source.parent_path()));
    return write_file_atomically(source, as_byte_span(compiled.source_text));
  }

  // All dispatches in one text, named as the vendor's compiler names the phase.
  Status write_phase(const npu::torq::Compilation& compiled, const std::string& model) const {
    const fs::path folder = arguments_.phase_folder;
    TRY(write_source(folder, compiled));
    const std::string text = npu::torq::phase_dump(compiled, arguments_.profiling);
    return write_file_atomically(folder / (model + ".9.executable-targets.mlir"),
                                 as_byte_span(text));
  }

  Status write_debug_info(const npu::torq::Compilation& compiled) const {
    const fs::path folder = arguments_.debug_folder;
    TRY(write_source(folder, compiled));
    for (std::size_t i = 0; i < compiled.program.dispatches.size(); ++i) {
      const fs::path path = folder / (compiled.program.dispatches[i].name + ".mlir");
      const std::string text = npu::torq::debug_info(compiled, i, arguments_.profiling);
      TRY(write_file_atomically(path, as_byte_span(text)));
    }
    return {};
  }

  void print_result(const CompileArguments& common, const npu::torq::BuildResult& built) const {
    print_warnings(built.warnings);
    const npu::torq::Compilation& compiled = *built.compilation;
    const auto document =
        report::torq_compilation_document(compiled, *built.target, arguments_.top.of(common.json));
    if (common.json) {
      print_json(stdout, report::document_json(document, {}));
    } else {
      print(stdout, "{}\nwrote {}\n", report::document_text(document, terminal_width()),
            printable(common.output));
    }
  }

  TorqArguments arguments_;
};

}  // namespace compile_command

std::unique_ptr<CompileArchitecture> add_torq_compilation(Command& command) {
  return std::make_unique<compile_command::TorqCompiler>(command);
}

}  // namespace npuscope::cli
