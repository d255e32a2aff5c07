// npuscope latency: percentiles of a runner's latency file, device against system throughput.
#include <memory>

#include "cli/documents.hpp"
#include "report/latency_document.hpp"

namespace npuscope::cli {

void add_latency_command(CLI::App& program, ExitStatus& status) {
  CLI::App* command = program.add_subcommand(
      "latency", "Percentiles of a runner's latency file; device against system throughput");
  const auto options = std::make_shared<DocumentOptions>();
  options->top.cut_when_printed();
  add_document_options(*command, *options);
  command->callback([options, &status] {
    status = print_documents(*options,
                             [](const analysis::Analysis& analysis, const report::ProfilePart&) {
                               return report::latency_document(analysis);
                             });
  });
}

}  // namespace npuscope::cli
