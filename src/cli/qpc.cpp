// npuscope qpc list|extract|validate: look inside a program container.
#include <cstdio>
#include <memory>

#include "cli/command.hpp"
#include "report/jobs/qpc_report.hpp"

namespace npuscope::cli {
namespace {

struct QpcOptions {
  std::string file;
  bool json = false;
  std::string output_dir;
  std::vector<std::string> globs;
};

// Prints what was found wrong with parts of a file, and gives the exit status for it.
ExitStatus report_all(const std::vector<Error>& problems) {
  ExitStatus status = ExitStatus::done;
  for (const Error& problem : problems) status = report(problem);
  return status;
}

ExitStatus list(const QpcOptions& options, ByteSpan bytes) {
  const auto listing = qaic::list_qpc(bytes, options.file);
  if (!listing) return report(listing.error());
  print(stdout, "{}",
        options.json ? report::qpc_listing_json(*listing) : report::qpc_listing_text(*listing));
  return report_all(listing->problems);
}

ExitStatus extract(const QpcOptions& options, ByteSpan bytes) {
  const auto extraction = qaic::plan_qpc_extraction(bytes, options.file, options.globs);
  if (!extraction) return report(extraction.error());
  if (auto written = qaic::write_qpc_extraction(*extraction, options.output_dir); !written) {
    return report(written.error());
  }
  print(stdout, "{}",
        options.json ? report::qpc_extraction_json(*extraction)
                     : report::qpc_extraction_text(*extraction));
  return report_all(extraction->problems);
}

ExitStatus validate(const QpcOptions& options, ByteSpan bytes) {
  const auto validation = qaic::validate_qpc(bytes, options.file);
  print(stdout, "{}",
        options.json ? report::qpc_validation_json(validation)
                     : report::qpc_validation_text(validation));
  return validation.valid() ? ExitStatus::done : ExitStatus::input;
}

using Action = ExitStatus (*)(const QpcOptions&, ByteSpan);

CLI::App* add_action(CLI::App& parent, const std::string& name, const std::string& description,
                     std::shared_ptr<QpcOptions> options, Action action, ExitStatus& status) {
  CLI::App* command = parent.add_subcommand(name, description);
  command->add_option("file,--qpc,-i,--input", options->file, "the container, e.g. programqpc.bin")
      ->required();
  command->add_flag("--json", options->json, "print JSON");
  command->callback([options, action, &status] {
    const auto file = MappedFile::open(options->file);
    status = file ? action(*options, file->bytes()) : report(file.error());
  });
  return command;
}

}  // namespace

void add_qpc_command(CLI::App& program, ExitStatus& status) {
  CLI::App* qpc = program.add_subcommand("qpc", "Look inside a program container (QPC)");
  qpc->require_subcommand(1);
  const auto options = std::make_shared<QpcOptions>();
  add_action(*qpc, "list", "List the segments, those of nested containers too", options, list,
             status);
  CLI::App* extraction =
      add_action(*qpc, "extract", "Write the segments as files", options, extract, status);
  extraction
      ->add_option("--output-dir,-o", options->output_dir, "folder for the files; made if missing")
      ->required();
  extraction
      ->add_option("-s,--segments", options->globs,
                   "only segments whose name or path matches, e.g. '*networkdesc.bin'; repeatable")
      ->allow_extra_args(false);
  add_action(*qpc, "validate", "Check the container, its segments, and that they fit each other",
             options, validate, status);
}

}  // namespace npuscope::cli
