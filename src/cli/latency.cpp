// npuscope latency: percentiles of a runner's latency file, device against system throughput.
#include <memory>

#include "cli/documents.hpp"
#include "report/latency/latency_document.hpp"

namespace npuscope::cli {
namespace {

struct LatencyOptions : DocumentOptions {
  PictureOptions picture;
};

}  // namespace

void add_latency_command(Command& program) {
  Command& command = program.command(
      "latency", "Percentiles of a runner's latency file; device against system throughput");
  const auto options = std::make_shared<LatencyOptions>();
  options->top.cut_when_printed();
  add_document_options(command, *options);
  add_picture_options(command, options->picture);
  command.action = [options] {
    return print_with_picture(
        *options, options->picture,
        [&](const analysis::Analysis& analysis, const report::ProfilePart& part) {
          return report::latency_svg(analysis, {options->picture.width, part.text});
        },
        [](const analysis::Analysis& analysis, const report::ProfilePart&) {
          return report::latency_document(analysis);
        });
  };
}

}  // namespace npuscope::cli
