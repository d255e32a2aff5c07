// npuscope diff: what changed between two profiles, or two sets of them, and gates on it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "analysis/choose_runs.hpp"
#include "analysis/latency.hpp"
#include "base/text.hpp"
#include "cli/documents.hpp"
#include "report/compare/diff_document.hpp"
#include "report/compare/gate_text.hpp"
#include "report/document/damage.hpp"

namespace npuscope::cli {
namespace {

struct DiffOptions : DocumentOptions {
  std::vector<std::string> a, b;
  std::vector<std::string> gates;
  std::string graph;
  std::size_t top = 20;
  bool top_given = false;
  bool markdown = false;
  bool allow_partial = false;
  report::Inconclusive inconclusive = report::Inconclusive::fail;
};

// The two sides as the command line names them.
Status name_sides(DiffOptions& options) {
  if (options.a.empty() != options.b.empty()) {
    return usage_error("{} has no other side; give both --a and --b",
                       options.a.empty() ? "--b" : "--a");
  }
  if (!options.a.empty()) {
    if (options.files.empty()) return {};
    return usage_error("{}: is it of A or of B? name files behind --a and --b only",
                       options.files.front());
  }
  if (options.files.size() != 2) {
    return usage_error("diff takes two profiles, not {}; of several each use --a FILES --b FILES",
                       options.files.size());
  }
  options.a = {options.files[0]};
  options.b = {options.files[1]};
  return {};
}

struct Side {
  std::vector<Profile> profiles;
  std::vector<Note> notes;
};

Result<Side> open_side(const DiffOptions& options, const std::vector<std::string>& files) {
  ProfileOptions side;
  side.files = files;
  side.selection = options.selection;
  side.roles = options.roles;
  side.keep_going = options.keep_going;
  auto selected = open_selected(side);
  if (!selected) return tl::unexpected(selected.error());
  return Side{profiles_of(std::move(selected->parts)), std::move(selected->notes)};
}

std::vector<const Profile*> these(const std::vector<Profile>& profiles,
                                  const std::vector<std::size_t>& chosen) {
  std::vector<const Profile*> runs;
  for (const std::size_t i : chosen) runs.push_back(&profiles[i]);
  return runs;
}

// What else there is of the same runs: latency files, and logs, which have no ops.
std::vector<const Profile*> beside(const std::vector<Profile>& profiles,
                                   const std::vector<std::size_t>& chosen) {
  std::vector<const Profile*> others;
  const std::string& graph = profiles[chosen.front()].provenance.graph;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const std::string& of = profiles[i].provenance.graph;
    const bool is_chosen = std::find(chosen.begin(), chosen.end(), i) != chosen.end();
    const bool is_same_graph = of.empty() || graph.empty() || of == graph;
    if (is_chosen || !is_same_graph) continue;
    const bool is_of_calls =
        profiles[i].ops.empty() || !analysis::analyse_latency(profiles[i]).rows.empty();
    if (is_of_calls) others.push_back(&profiles[i]);
  }
  return others;
}

// Each, whatever becomes of the others.
void judge_gates(std::vector<analysis::Gate> gates, const analysis::Comparer& comparer,
                 report::Diff& diff) {
  for (analysis::Gate& gate : gates) {
    auto judged = analysis::judge(gate, comparer);
    if (judged) {
      diff.gates.push_back({std::move(gate), std::move(*judged)});
    } else {
      diff.unjudged.push_back(
          {gate.text, fmt::format("gate '{}' not judged: {}", gate.text, judged.error().message)});
    }
  }
}

bool is_any_damaged(const report::Diff& diff) {
  const auto is_damaged = [](const Profile* run) { return report::is_damaged(*run); };
  return std::ranges::any_of(diff.a, is_damaged) || std::ranges::any_of(diff.b, is_damaged);
}

// The gates that did not pass, on standard error; `status` where there is none.
ExitStatus judge_status(const DiffOptions& options, const report::Diff& diff, ExitStatus status) {
  using analysis::GateOutcome;
  for (const report::JudgedGate& judged : diff.gates) {
    const bool is_silent = judged.result.outcome == GateOutcome::passed ||
                           (judged.result.outcome == GateOutcome::inconclusive &&
                            diff.inconclusive == report::Inconclusive::pass);
    if (!is_silent) print(stderr, "npuscope: {}\n", printable(report::gate_sentence(judged)));
  }
  for (const report::UnjudgedGate& unjudged : diff.unjudged) {
    print(stderr, "npuscope: {}\n", printable(unjudged.sentence));
  }
  if (report::any_gate_failed(diff)) return ExitStatus::gate_failed;
  if (!diff.unjudged.empty()) return ExitStatus::usage;
  if (!options.allow_partial && !diff.gates.empty() && is_any_damaged(diff)) {
    return report(
        Error{ErrorKind::input,
              "no gate is passed on a damaged profile; copy its file again, or judge what "
              "could be read with --allow-partial"});
  }
  return status;
}

ExitStatus print_diff(const DiffOptions& options, const report::Diff& diff,
                      const std::vector<Note>& notes) {
  ExitStatus status = status_of(options, notes);
  if (options.markdown) {
    print(stdout, "{}", report::diff_markdown(diff));
    print_notes(notes);
  } else if (options.json) {
    print(stdout, "{}", report::document_json(report::diff_document(diff), notes));
  } else {
    DocumentOptions how = options;
    if (how.csv && how.table.empty()) how.table = "ops";
    const report::Document document = report::diff_document(diff);
    status = print_documents(how, {&document, 1}, notes);
  }
  if (status != ExitStatus::done && status != ExitStatus::input) return status;
  std::fflush(stdout);
  return judge_status(options, diff, status);
}

ExitStatus diff(DiffOptions options) {
  if (const Status named = name_sides(options); !named) return report(named.error());
  std::vector<analysis::Gate> gates;
  for (const std::string& text : options.gates) {
    auto gate = report::read_gate(text);
    if (!gate) return report(gate.error());
    gates.push_back(std::move(*gate));
  }
  auto opened_a = open_side(options, options.a);
  if (!opened_a) return report(opened_a.error());
  auto opened_b = open_side(options, options.b);
  if (!opened_b) return report(opened_b.error());
  const auto chosen = analysis::choose_runs(opened_a->profiles, opened_b->profiles, options.graph);
  if (!chosen) return report(chosen.error());
  report::Diff result;
  result.a = these(opened_a->profiles, chosen->a);
  result.b = these(opened_b->profiles, chosen->b);
  const std::vector<const Profile*> runs[] = {result.a, result.b,
                                              beside(opened_a->profiles, chosen->a),
                                              beside(opened_b->profiles, chosen->b)};
  std::vector<analysis::RunSamples> samples[4];
  for (std::size_t i = 0; i < 4; ++i) samples[i] = analysis::samples_of(runs[i]);
  const auto comparer = analysis::Comparer::make(samples[0], samples[1], samples[2], samples[3]);
  if (!comparer) return report(comparer.error());
  result.inconclusive = options.inconclusive;
  judge_gates(std::move(gates), *comparer, result);
  const bool all_rows = options.csv && !options.top_given;
  result.comparison = comparer->compare({all_rows ? ~std::size_t{0} : options.top, options.csv});
  result.left_out[0] = chosen->left_out[0];
  result.left_out[1] = chosen->left_out[1];
  result.selection = selection_text(options.selection);
  std::vector<Note> notes = std::move(opened_a->notes);
  notes.insert(notes.end(), opened_b->notes.begin(), opened_b->notes.end());
  return print_diff(options, result, notes);
}

}  // namespace

void add_diff_command(CLI::App& program, ExitStatus& status) {
  CLI::App* command = program.add_subcommand(
      "diff", "What changed between two profiles or sets of profiles; gates for CI");
  const auto options = std::make_shared<DiffOptions>();
  add_document_options(*command, *options);
  command->get_option("files")->required(false)->description(
      "A and B: a file or folder each, of any format");
  command->add_option("--a", options->a, "the runs of A, each a file or folder");
  command->add_option("--b", options->b, "the runs of B");
  command->add_option("--graph", options->graph,
                      "compare runs of this graph, where the files are of several");
  command
      ->add_option("--fail-if", options->gates,
                   "end with status 1 if this holds: 'latency > +3%', 'p95 > 5ms', "
                   "\"op('MatMul') > +5%\", 'findings(high) > 0'")
      ->allow_extra_args(false);
  const std::map<std::string, report::Inconclusive> outcomes{{"fail", report::Inconclusive::fail},
                                                             {"warn", report::Inconclusive::warn},
                                                             {"pass", report::Inconclusive::pass}};
  command
      ->add_option("--inconclusive", options->inconclusive,
                   "outcome of a gate with too few samples: fail (default), warn (pass, with a "
                   "warning) or pass")
      ->transform(CLI::CheckedTransformer(outcomes).description("fail|warn|pass"));
  command->add_flag("--allow-partial", options->allow_partial,
                    "pass gates although records of a run's files are missing");
  CLI::Option* top =
      command->add_option("--top", options->top, "rows of the table of ops; CSV: all")
          ->check(whole_number(1, 10'000'000))
          ->capture_default_str();
  CLI::Option* markdown =
      command->add_flag("--markdown", options->markdown, "print a comment for a pull request");
  markdown->excludes(command->get_option("--json"))->excludes(command->get_option("--csv"));
  command->callback([options, top, &status] {
    options->top_given = top->count() > 0;
    status = diff(*options);
  });
}

}  // namespace npuscope::cli
