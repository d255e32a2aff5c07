// npuscope memory: traffic between DDR and VTCM, bandwidth, roofline, spill.
#include <memory>

#include "cli/choices.hpp"
#include "cli/documents.hpp"
#include "cli/file_choices.hpp"
#include "report/memory/memory_document.hpp"

namespace npuscope::cli {
namespace {

struct MemoryCommandOptions : DocumentOptions {
  report::MemoryRequest request;
  std::string model;
  std::vector<std::string> symbols;
  PictureOptions picture;
  std::size_t buckets = 0;  // 0: as many as fit the width
};

ExitStatus memory(MemoryCommandOptions options) {
  report::MemoryRequest request = options.request;
  if (const Status chosen = choose_target(request.peaks); !chosen) return report(chosen.error());
  request.width = options.width > 0 ? options.width : terminal_width();
  request.buckets = options.buckets > 0 ? options.buckets : report::buckets_that_fit(request.width);
  request.top = options.rows();
  request.is_part = options.selection.leaves_out_rows();
  if (!options.model.empty()) {
    auto model = report::macs_of_model(options.model, options.symbols);
    if (!model) return report(model.error());
    request.model = std::move(*model);
  }
  return print_with_picture(
      options, options.picture,
      [&](const analysis::Analysis& analysis, const report::ProfilePart& part) {
        return report::memory_svg(analysis, request, {options.picture.width, part.text});
      },
      [&](const analysis::Analysis& analysis, const report::ProfilePart&) {
        return report::make_memory_document(analysis, request);
      });
}

}  // namespace

void add_memory_command(Command& program) {
  Command& command = program.command(
      "memory", "DDR and VTCM traffic by op and over time, roofline verdict, spill");
  const auto options = std::make_shared<MemoryCommandOptions>();
  options->top.set(options->request.top);
  add_document_options(command, *options);
  options->joins_runs = true;
  report::PeakText& peaks = options->request.peaks;
  add_target_option(command, peaks);
  command.flag("--ddr-peak", peaks.ddr, "of the device: 137GB/s");
  command.flag("--vtcm-peak", peaks.vtcm, "of one core: 1TB/s");
  command.flag("--mac-peak", peaks.macs, "of the device: 8.2TMAC/s, 16.4TOPS");
  command.flag("--clock", peaks.clock,
               "rate of a clock of cycles that the profile does not tell: 1.8GHz");
  command.flag("--model", options->model, "ONNX file: MACs of ops by their name");
  command
      .flag("--onnx-define-symbol", options->symbols,
            "value of a symbolic dimension of the model, or of an input that is one number: "
            "name,value")
      .one_each()
      .needs("--model");
  using analysis::MemoryGrouping;
  add_choice<MemoryGrouping>(
      command, "--by", options->request.grouping,
      {{"op", MemoryGrouping::op}, {"node", MemoryGrouping::node}, {"kind", MemoryGrouping::kind}},
      "what a row is of");
  command.flag("--buckets", options->buckets, "of time; default: as many as fit the width")
      .check(whole_number(1, 100'000));
  add_part_options(command, *options);
  add_picture_options(command, options->picture);
  command.action = [options] { return memory(*options); };
}

}  // namespace npuscope::cli
