// npuscope diagnose: ranked findings with their evidence, gain and advice.
#include <memory>

#include "cli/documents.hpp"
#include "cli/file_choices.hpp"
#include "cli/flag_values.hpp"
#include "report/findings/findings_document.hpp"

namespace npuscope::cli {
namespace {

struct DiagnoseCommandOptions : DocumentOptions {
  report::FindingsRequest request;
  bool each = false;
  bool rules = false;
  std::string explain;
};

// Of files of one inference each, the one to look at.
ExitStatus diagnose_samples(const DiagnoseCommandOptions& options,
                            report::FindingsRequest request) {
  ProfileOptions opening = options;
  opening.joins_runs = options.selection.inference.has_value();  // which is then the one
  opening.picks_samples = true;
  const auto selected = open_selected(opening);
  if (!selected) return report(selected.error());
  return print_documents(options, *selected,
                         [&](const analysis::Analysis& analysis, const report::ProfilePart& part) {
                           const auto place = std::size_t(&part - selected->parts.data());
                           request.samples = &selected->samples[place];
                           return report::make_findings_document(analysis, request);
                         });
}

ExitStatus diagnose(const DiagnoseCommandOptions& options) {
  if (options.rules) {
    const report::Document document = report::rules_document();
    return print_documents(options, {&document, 1}, {});
  }
  if (!options.explain.empty()) {
    const auto document = report::rule_document(options.explain);
    if (!document) return report(document.error());
    return print_documents(options, {&*document, 1}, {});
  }
  if (options.files.empty()) {
    return report(Error{ErrorKind::usage,
                        "no file is named; name a profile, or ask for --rules or --explain RULE"});
  }
  report::FindingsRequest request = options.request;
  if (const Status chosen = choose_target(request.peaks); !chosen) return report(chosen.error());
  request.is_part = options.selection.leaves_out_rows();
  if (!options.each) return diagnose_samples(options, request);
  return print_documents(options,
                         [&](const analysis::Analysis& analysis, const report::ProfilePart&) {
                           return report::make_findings_document(analysis, request);
                         });
}

}  // namespace

void add_diagnose_command(Command& program) {
  Command& command = program.command(
      "diagnose", "Ranked findings: what costs time, what misleads, the evidence and the advice");
  const auto options = std::make_shared<DiagnoseCommandOptions>();
  options->top.cut_when_printed();
  add_document_options(command, *options);
  add_part_options(command, *options);
  command.flag("files").required(false);  // --rules and --explain need none
  report::FindingsRequest& request = options->request;
  const std::vector<std::string>& rules = analysis::finding_rules();
  command.flag("--rule", request.rule, "try this rule alone").offers(rules);
  command.flag("--all", request.with_rest,
               "also list the rules that found nothing, and what others lack");
  command.flag("--each", options->each,
               "every file of one inference, not only the one nearest their median");
  command.flag("--rules", options->rules, "list all rules and end");
  command.flag("--explain", options->explain, "say how a rule is computed and end")
      .excludes("--csv")
      .offers(rules);
  report::PeakText& peaks = request.peaks;
  add_target_option(command, peaks);
  command.flag("--ddr-peak", peaks.ddr, "of the device: 137GB/s");
  command.flag("--mac-peak", peaks.macs, "of the device: 8.2TMAC/s, 16.4TOPS");
  command.flag("--clock", peaks.clock,
               "rate of a clock of cycles that the profile does not tell: 1.8GHz");
  command.matters_with("--all", {"files"});
  command.action = [options] { return diagnose(*options); };
}

}  // namespace npuscope::cli
