// npuscope ops: what each operator, kernel, layer, core or rule costs.
#include <memory>

#include "cli/choices.hpp"
#include "cli/documents.hpp"
#include "cli/file_choices.hpp"
#include "report/memory/memory_document.hpp"
#include "report/ops/ops_document.hpp"

namespace npuscope::cli {
namespace {

using analysis::Grouping;

struct OpsOptions : DocumentOptions {
  report::OpsRequest request;
  std::string rules;
  std::string model;
  std::vector<std::string> symbols;
  double min_percent = 0;
};

const std::vector<Choice<Grouping>> op_groupings{
    {"op", Grouping::op},         {"part", Grouping::part}, {"kind", Grouping::kind},
    {"name", Grouping::name},     {"node", Grouping::node}, {"layer", Grouping::layer},
    {"memory", Grouping::memory}, {"rule", Grouping::rule}, {"core", Grouping::core},
    {"device", Grouping::device}, {"unit", Grouping::unit}};

ExitStatus ops(OpsOptions options, bool by_given) {
  report::OpsRequest& request = options.request;
  request.top = options.rows();
  request.min_share = options.min_percent / 100;
  const auto rules = chosen_rules(options.rules, by_given, request.grouping);
  if (!rules) return report(rules.error());
  // Layers that are one row have no place in the order of execution.
  const bool is_in_order = request.sort == "start" && !by_given && options.rules.empty();
  if (is_in_order) request.grouping = Grouping::node;
  if (const Status chosen = choose_target(request.peaks); !chosen) return report(chosen.error());
  if (*rules) request.rules = &**rules;
  if (!options.model.empty()) {
    auto model = report::macs_of_model(options.model, options.symbols);
    if (!model) return report(model.error());
    request.model = std::move(*model);
  }
  return print_documents(options,
                         [&](const analysis::Analysis& analysis, const report::ProfilePart&) {
                           return report::ops_document(analysis, request);
                         });
}

// "0.5%" or "0.5".
Check percent() {
  return [](std::string& text) {
    if (text.ends_with('%')) text.pop_back();
    return real_number(0, 100)(text);
  };
}

}  // namespace

void add_ops_command(Command& program) {
  Command& command =
      program.command("ops", "What each operator, kernel, layer, core or rule costs");
  const auto options = std::make_shared<OpsOptions>();
  report::OpsRequest& request = options->request;
  options->top.set(request.top, "rows");
  add_document_options(command, *options);
  options->joins_runs = true;
  const Flag& by = add_choice(command, "--by", request.grouping, op_groupings, "what a row is of");
  add_rules_option(command, options->rules);
  command.flag("--sort", request.sort,
               "the column to sort by; start: in order of execution; default: what "
               "decides most");
  command.flag("--columns", request.columns, "only these columns, a,b,c").separated_by(',');
  command
      .flag("--min-share", options->min_percent,
            "only rows with at least this share of the column sorted by, 0.5%")
      .check(percent());
  command.flag("--fold-bookkeeping", request.fold_bookkeeping,
               "ops that only route, describe or keep step as one row");
  command.flag("--owners-as-written", request.owners_as_written,
               "leave HMX ops with the reshape that the files give them to");
  command.flag("--model", options->model, "ONNX file: MACs of ops by their name, and by cycle");
  command
      .flag("--onnx-define-symbol", options->symbols,
            "value of a symbolic dimension of the model, or of an input that is one number: "
            "name,value")
      .one_each()
      .needs("--model");
  add_part_options(command, *options);
  add_target_option(command, request.peaks);
  command.action = [options, &by] { return ops(*options, by.is_given); };
}

}  // namespace npuscope::cli
