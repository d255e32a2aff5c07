// npuscope memory: traffic between DDR and VTCM, bandwidth, roofline, spill.
#include <memory>

#include "cli/documents.hpp"
#include "report/memory/memory_document.hpp"

namespace npuscope::cli {
namespace {

struct MemoryCommandOptions : DocumentOptions {
  report::MemoryRequest request;
  TopRows top;
  std::string by = "node";
  std::string model;
  std::vector<std::string> symbols;
  std::size_t buckets = 0;  // 0: as many as fit the width
};

ExitStatus memory(MemoryCommandOptions options) {
  report::MemoryRequest request = options.request;
  request.width = options.width > 0 ? options.width : terminal_width();
  request.buckets = options.buckets > 0 ? options.buckets : report::buckets_that_fit(request.width);
  request.top = options.top.of(options);
  request.is_part = options.selection.leaves_out_rows();
  request.grouping =
      options.by == "kind" ? analysis::MemoryGrouping::kind : analysis::MemoryGrouping::node;
  if (!options.model.empty()) {
    auto model = report::macs_of_model(options.model, options.symbols);
    if (!model) return report(model.error());
    request.model = std::move(*model);
  }
  return print_documents(options,
                         [&](const analysis::Analysis& analysis, const report::ProfilePart&) {
                           return report::make_memory_document(analysis, request);
                         });
}

}  // namespace

void add_memory_command(CLI::App& program, ExitStatus& status) {
  CLI::App* command = program.add_subcommand(
      "memory", "DDR and VTCM traffic by op and over time, roofline verdict, spill");
  const auto options = std::make_shared<MemoryCommandOptions>();
  add_document_options(*command, *options);
  options->joins_runs = true;
  report::PeakText& peaks = options->request.peaks;
  command->add_option(
      "--target", peaks.target,
      "whose peaks count: aic100, htp-v75, torq-sl2610, ipu-muffin, or a .toml file; "
      "default: by device");
  command->add_option("--ddr-peak", peaks.ddr, "of the device: 137GB/s");
  command->add_option("--vtcm-peak", peaks.vtcm, "of one core: 1TB/s");
  command->add_option("--mac-peak", peaks.macs, "of the device: 8.2TMAC/s, 16.4TOPS");
  command->add_option("--clock", peaks.clock,
                      "rate of a clock of cycles that the profile does not tell: 1.8GHz");
  CLI::Option* model =
      command->add_option("--model", options->model, "ONNX file: MACs of ops by their name");
  command
      ->add_option("--onnx-define-symbol", options->symbols,
                   "value of a symbolic dimension of the model: name,value")
      ->allow_extra_args(false)
      ->needs(model);
  command->add_option("--by", options->by, "a row is a node of the model, or a kind of kernel")
      ->check(CLI::IsMember({"node", "kind"}))
      ->capture_default_str();
  options->top.add_option(*command, options->request.top, "rows of each table");
  command->add_option("--buckets", options->buckets, "of time; default: as many as fit the width")
      ->check(whole_number(1, 100'000));
  add_part_options(*command, *options);
  command->callback([options, &status] { status = memory(*options); });
}

}  // namespace npuscope::cli
