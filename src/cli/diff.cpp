// npuscope diff: what changed between two profiles, or two sets of them, and gates on it.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/choices.hpp"
#include "cli/compared_sides.hpp"
#include "cli/documents.hpp"
#include "cli/environment.hpp"
#include "cli/expected_model.hpp"
#include "cli/file_choices.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/base/progress.hpp"
#include "report/compare/across_document.hpp"
#include "report/compare/compared_runs.hpp"
#include "report/compare/diff_document.hpp"

namespace npuscope::cli {
namespace {

struct DiffOptions : DocumentOptions, GateOptions {
  analysis::Grouping grouping = analysis::Grouping::op;
  std::string rules;
  SideFiles sides;
  PictureOptions picture;
  bool across = false;
  ExpectedModel model;
};

// The two sides as the command line names them.
Status name_sides(DiffOptions& options) {
  if (Status checked = check_sides(options.sides, options.files); !checked) return checked;
  if (!options.sides.a.empty()) return {};
  if (options.files.size() != 2) {
    return usage_error("diff takes two profiles, not {}; of several each use --a FILES --b FILES",
                       options.files.size());
  }
  options.sides.a = {options.files[0]};
  options.sides.b = {options.files[1]};
  return {};
}

ExitStatus print_diff(const DiffOptions& options, const report::Diff& diff,
                      const std::vector<Note>& notes) {
  ExitStatus status = status_of(options, notes);
  if (options.markdown) {
    print(stdout, "{}", without_job_commands(report::diff_markdown(diff)));
    print_notes(notes);
  } else if (options.json) {
    print_json(stdout, report::document_json(report::diff_document(diff), notes));
    print_errors(notes);
  } else {
    DocumentOptions how = options;
    if (how.csv && how.table.empty()) how.table = "ops";
    const report::Document document = report::diff_document(diff);
    status = print_documents(how, {&document, 1}, notes);
  }
  std::fflush(stdout);
  return status;
}

// The comment, with regressions first among the ops that it has room for.
std::string comment_of(report::Diff& diff, const analysis::Comparer& comparer,
                       analysis::CompareOptions how) {
  how.regressions_first = true;
  diff.comparison = comparer.compare(how);
  return report::diff_markdown(diff);
}

// The waterfall, of all ops.
Status draw_waterfall(const DiffOptions& options, report::Diff& diff,
                      const analysis::Comparer& comparer, analysis::CompareOptions how) {
  for (const auto* files : {&options.sides.a, &options.sides.b}) {
    if (auto usable = check_picture(options.picture, *files); !usable) return usable;
  }
  for (const auto* runs : {&diff.a, &diff.b}) {
    for (const Profile* run : *runs) {
      auto usable = check_picture(options.picture, run->provenance.files);
      if (!usable) return usable;
    }
  }
  how.top = ~std::size_t{0};
  diff.comparison = comparer.compare(how);
  return write_picture(options.picture, report::diff_svg(diff, {.width = options.picture.width}));
}

// The nodes of one model on two NPUs or runtimes: of each side the first run that has any.
ExitStatus diff_across(const DiffOptions& options, bool by_given) {
  const bool has_gates =
      !options.fail_if.empty() || !options.require.empty() || !options.file.empty();
  if (has_gates || options.picture.wanted() || by_given || !options.rules.empty()) {
    const Status refused = usage_error("--across compares nodes only; leave out {}",
                                       has_gates                  ? "the gates"
                                       : options.picture.wanted() ? "--svg"
                                                                  : "--by and --rules");
    return report(refused.error());
  }
  Result<RunSide> sides[] = {open_side(options, options.sides.a),
                             open_side(options, options.sides.b)};
  const Profile* runs[2] = {};
  std::size_t counts[2] = {};
  std::vector<Note> notes;
  for (int i = 0; i < 2; ++i) {
    if (!sides[i]) return report(sides[i].error());
    auto chosen = report::runs_of_side(sides[i]->profiles, options.sides.graph);
    if (!chosen) chosen = report::runs_of_side(sides[i]->profiles, "");  // of the other side
    if (!chosen) return report(chosen.error());
    runs[i] = chosen->runs.front();
    counts[i] = chosen->runs.size();
    notes.insert(notes.end(), sides[i]->notes.begin(), sides[i]->notes.end());
  }
  std::optional<analysis::ExpectedGraph> model;
  if (!options.model.file.empty()) {
    auto loaded = load_expected(options.model);
    if (!loaded) return report(loaded.error());
    model = std::move(*loaded);
  }
  std::optional<BusySign> busy("analysing");
  auto across = analysis::compare_across(analysis::Analysis(*runs[0]), analysis::Analysis(*runs[1]),
                                         model ? &*model : nullptr);
  busy.reset();
  if (!across) return report(across.error());
  for (int i = 0; i < 2; ++i) across->sides[i].runs = counts[i];
  report::Document document = report::across_document(*runs[0], *runs[1], *across);
  report::cut_tables(document.sections, options.rows());
  if (options.json) return print_answer(options, document, notes);
  return print_documents(options, {&document, 1}, notes);
}

ExitStatus diff(DiffOptions options, bool by_given) {
  if (const Status named = name_sides(options); !named) return report(named.error());
  if (options.across) return diff_across(options, by_given);
  const auto rules = chosen_rules(options.rules, by_given, options.grouping);
  if (!rules) return report(rules.error());
  auto gates = read_gates(options);
  if (!gates) return report(gates.error());
  const auto compared = compare_sides(options, options.sides);
  if (!compared) return report(compared.error());
  report::Diff& result = (*compared)->compared->diff;
  const analysis::Comparer& comparer = *(*compared)->compared->comparer;
  report::judge_gates(std::move(*gates), comparer, result);
  const analysis::CompareOptions how{options.rows(), options.csv, options.markdown,
                                     options.grouping, *rules ? &**rules : nullptr};
  std::optional<BusySign> busy("analysing");
  if (options.picture.wanted()) {
    const Status drawn = draw_waterfall(options, result, comparer, how);
    if (!drawn) return report(drawn.error());
  }
  if (!options.picture.replaces_page()) result.comparison = comparer.compare(how);
  busy.reset();
  ExitStatus status = status_of(options, (*compared)->notes);
  if (options.picture.replaces_page()) {
    print_notes((*compared)->notes);
  } else {
    status = print_diff(options, result, (*compared)->notes);
  }
  if (status != ExitStatus::done && status != ExitStatus::input) return status;
  const std::string summary = options.github ? comment_of(result, comparer, how) : "";
  return judge_status(options, result, summary, status);
}

}  // namespace

void add_diff_command(Command& program) {
  Command& command = program.command(
      "diff", "What changed between two profiles or sets of profiles; gates for CI");
  const auto options = std::make_shared<DiffOptions>();
  options->top.set(20, "rows of the table of ops");
  add_document_options(command, *options);
  command.flag("files").required(false).describe(
      "A and B: a file or folder each, of any format; A may be a snapshot");
  add_side_options(command, options->sides);
  command.flag("--across", options->across,
               "the nodes of one model on two NPUs or runtimes, side by side, each in its unit");
  add_expected_model(command, options->model, "the ONNX model of both sides: joins by its nodes")
      .needs("--across");
  using analysis::Grouping;
  const Flag& by = add_choice<Grouping>(command, "--by", options->grouping,
                                        {{"op", Grouping::op},
                                         {"part", Grouping::part},
                                         {"node", Grouping::node},
                                         {"layer", Grouping::layer},
                                         {"kind", Grouping::kind},
                                         {"rule", Grouping::rule}},
                                        "rows of the table of ops");
  add_rules_option(command, options->rules);
  add_gate_options(command, *options,
                   "'latency > +3%', 'p95 > 5ms', \"op('MatMul') > +5%\", 'findings(high) > 0'");
  add_picture_options(command, options->picture);
  command.flag("--markdown").describe("print a comment for a pull request");
  command.action = [options, &by] { return diff(*options, by.is_given); };
}

}  // namespace npuscope::cli
