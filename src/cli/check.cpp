// npuscope check: whether runs keep limits that need no baseline.
#include <memory>
#include <optional>

#include "cli/compared_sides.hpp"
#include "cli/documents.hpp"
#include "cli/environment.hpp"
#include "npuscope/base/progress.hpp"
#include "report/compare/compared_runs.hpp"
#include "report/compare/expected_provider.hpp"

namespace npuscope::cli {
namespace {

struct CheckOptions : DocumentOptions, GateOptions {
  std::string graph;
  std::optional<std::string> expected_provider;
};

ExitStatus check(const CheckOptions& options) {
  if (options.expected_provider && options.expected_provider->empty()) {
    const Status refused = usage_error("--expect-provider needs a name, such as QNN or OpenVINO");
    return report(refused.error());
  }
  auto gates = read_gates(options);
  if (!gates) return report(gates.error());
  const auto side = open_side(options, options.files);
  if (!side) return report(side.error());
  const auto runs = report::runs_of_side(side->profiles, options.graph);
  if (!runs) return report(runs.error());
  report::Diff result;
  result.b = runs->runs;
  std::optional<BusySign> busy("analysing");
  const std::vector<analysis::RunSamples> samples = analysis::samples_of(result.b);
  const std::vector<analysis::RunSamples> beside = analysis::samples_of(runs->beside);
  const auto comparer = analysis::Comparer::alone(samples, beside);
  busy.reset();
  if (!comparer) return report(comparer.error());
  report::judge_gates(std::move(*gates), *comparer, result);
  if (options.expected_provider) report::expect_provider(*options.expected_provider, result);
  result.comparison = comparer->compare({});
  result.left_out[1] = runs->left_out;
  result.selection = selection_text(options.selection);
  ExitStatus status = status_of(options, side->notes);
  if (options.markdown) {
    print(stdout, "{}", without_job_commands(report::diff_markdown(result)));
    print_notes(side->notes);
  } else {
    status = print_answer(options, report::check_document(result), side->notes);
    if (status == ExitStatus::done) status = status_of(options, side->notes);
  }
  if (status != ExitStatus::done && status != ExitStatus::input) return status;
  std::fflush(stdout);
  return judge_status(options, result, report::diff_markdown(result), status);
}

}  // namespace

void add_check_command(Command& program) {
  Command& command =
      program.command("check", "Whether runs keep limits that need no baseline; gates for CI");
  const auto options = std::make_shared<CheckOptions>();
  options->top.cut_when_printed();
  add_document_options(command, *options);
  command.flag("--graph", options->graph,
               "judge runs of this graph, where the files are of several");
  add_gate_options(command, *options,
                   "'latency > 3ms', \"op('MatMul').work > 1ms\", 'share(DMA) > 10%'");
  command.flag("--expect-provider", options->expected_provider,
               "end with status 1 unless all nodes ran on this execution provider (ONNX Runtime): "
               "QNN, OpenVINO");
  command.flag("--markdown").describe("print a comment for a pull request");
  command.action = [options] { return check(*options); };
}

}  // namespace npuscope::cli
