// npuscope ops: what each operator, kernel, layer, core or rule costs.
#include <map>
#include <memory>

#include "cli/documents.hpp"
#include "npuscope/base/files.hpp"
#include "report/ops/ops_document.hpp"

namespace npuscope::cli {
namespace {

using analysis::Grouping;

struct OpsOptions : DocumentOptions {
  report::OpsRequest request;
  TopRows top;
  std::string by = "op";
  std::string rules;
  double min_percent = 0;
};

const std::map<std::string, Grouping> op_groupings{
    {"op", Grouping::op},         {"part", Grouping::part}, {"kind", Grouping::kind},
    {"name", Grouping::name},     {"node", Grouping::node}, {"layer", Grouping::layer},
    {"memory", Grouping::memory}, {"rule", Grouping::rule}, {"core", Grouping::core},
    {"device", Grouping::device}, {"unit", Grouping::unit}};

Result<analysis::Rules> read_rules(const std::string& name) {
  if (analysis::Rules::is_builtin(name)) return analysis::Rules::builtin(name);
  if (!name.ends_with(".toml")) return analysis::Rules::builtin(name);  // the error lists them
  const auto text = MappedFile::open(name);
  if (!text) return tl::unexpected(text.error());
  return analysis::Rules::parse(as_text(text->bytes()), name);
}

ExitStatus ops(OpsOptions options, bool by_given) {
  report::OpsRequest& request = options.request;
  request.grouping = op_groupings.at(options.by);
  request.top = options.top.of(options);
  request.min_share = options.min_percent / 100;
  if (!options.rules.empty() && !by_given) request.grouping = Grouping::rule;
  if (options.rules.empty() && request.grouping == Grouping::rule) options.rules = "transformer";
  if (!options.rules.empty() && request.grouping != Grouping::rule) {
    return report(Error{ErrorKind::usage, "--rules groups ops by rules; leave out --by"});
  }
  Result<analysis::Rules> rules = analysis::Rules();
  if (!options.rules.empty()) {
    rules = read_rules(options.rules);
    if (!rules) return report(rules.error());
    request.rules = &*rules;
  }
  return print_documents(options,
                         [&](const analysis::Analysis& analysis, const report::ProfilePart&) {
                           return report::ops_document(analysis, request);
                         });
}

// "0.5%" or "0.5".
CLI::Validator percent() {
  return CLI::Validator(
      [](std::string& text) {
        if (text.ends_with('%')) text.pop_back();
        return real_number(0, 100)(text);
      },
      "PERCENT");
}

}  // namespace

void add_ops_command(CLI::App& program, ExitStatus& status) {
  CLI::App* command =
      program.add_subcommand("ops", "What each operator, kernel, layer, core or rule costs");
  const auto options = std::make_shared<OpsOptions>();
  report::OpsRequest& request = options->request;
  add_document_options(*command, *options);
  options->joins_runs = true;
  CLI::Option* by =
      command->add_option("--by", options->by,
                          "group by: op (node, else name; repeated layers as one), part, node, "
                          "kind, name, layer, "
                          "core, device, unit, memory, rule");
  by->check(CLI::IsMember(&op_groupings));
  command->add_option("--rules", options->rules,
                      "group by rules: a .toml file, or transformer, kernels, bookkeeping");
  command->add_option("--sort", request.sort, "the column to sort by; default: what decides most");
  command->add_option("--columns", request.columns, "only these columns, a,b,c")->delimiter(',');
  options->top.add_option(*command, request.top, "rows");
  command
      ->add_option("--min-share", options->min_percent,
                   "only rows with at least this share of the column sorted by, 0.5%")
      ->transform(percent());
  command->add_flag("--fold-bookkeeping", request.fold_bookkeeping,
                    "ops that only route, describe or keep step as one row");
  command->add_flag("--owners-as-written", request.owners_as_written,
                    "leave HMX ops with the reshape that the files give them to");
  add_part_options(*command, *options);
  command->callback([options, by, &status] { status = ops(*options, by->count() > 0); });
}

}  // namespace npuscope::cli
