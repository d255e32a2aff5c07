// npuscope qpc list|extract|validate: look inside a program container.
#include <memory>

#include "cli/documents.hpp"
#include "report/programs/qpc_documents.hpp"

namespace npuscope::cli {
namespace {

struct QpcOptions {
  std::string file;
  PageOptions page;
  std::string output_dir;
  std::vector<std::string> globs;
};

// Tells what was found wrong with parts of the file; the page goes on standard output before.
ExitStatus print_with(const std::vector<Error>& problems, const QpcOptions& options,
                      const report::Document& document) {
  ExitStatus status = print_answer(options.page, document, {});
  for (const Error& problem : problems) status = report(problem);
  return status;
}

ExitStatus list(const QpcOptions& options, ByteSpan bytes) {
  const auto listing = qaic::list_qpc(bytes, options.file);
  if (!listing) return report(listing.error());
  return print_with(listing->problems, options, report::qpc_listing_document(*listing));
}

ExitStatus extract(const QpcOptions& options, ByteSpan bytes) {
  const auto extraction = qaic::plan_qpc_extraction(bytes, options.file, options.globs);
  if (!extraction) return report(extraction.error());
  if (auto written = qaic::write_qpc_extraction(*extraction, options.output_dir); !written) {
    return report(written.error());
  }
  return print_with(extraction->problems, options, report::qpc_extraction_document(*extraction));
}

ExitStatus validate(const QpcOptions& options, ByteSpan bytes) {
  const auto validation = qaic::validate_qpc(bytes, options.file);
  const ExitStatus printed =
      print_answer(options.page, report::qpc_validation_document(validation), {});
  return printed == ExitStatus::done && !validation.valid() ? ExitStatus::input : printed;
}

using Action = ExitStatus (*)(const QpcOptions&, ByteSpan);

Command& add_action(Command& parent, const std::string& name, const std::string& description,
                    std::shared_ptr<QpcOptions> options, Action action) {
  Command& command = parent.command(name, description);
  command.flag("file,--qpc,-i,--input", options->file, "the container, e.g. programqpc.bin")
      .required();
  options->page.top.cut_when_printed();
  add_page_options(command, options->page);
  command.action = [options, action] {
    const auto file = MappedFile::open(options->file);
    return file ? action(*options, file->bytes()) : report(file.error());
  };
  return command;
}

}  // namespace

void add_qpc_command(Command& program) {
  Command& qpc = program.command("qpc", "Look inside a program container (QPC)");
  const auto options = [] { return std::make_shared<QpcOptions>(); };
  add_action(qpc, "list", "List the segments, those of nested containers too", options(), list);
  const auto to_extract = options();
  Command& extraction =
      add_action(qpc, "extract", "Write the segments as files", to_extract, extract);
  extraction
      .flag("--output-dir,-o", to_extract->output_dir, "folder for the files; made if missing")
      .required();
  extraction
      .flag("-s,--segments", to_extract->globs,
            "only segments whose name or path matches, e.g. '*networkdesc.bin'; repeatable")
      .one_each();
  add_action(qpc, "validate", "Check the container, its segments, and that they fit each other",
             options(), validate);
}

}  // namespace npuscope::cli
