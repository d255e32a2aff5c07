#include "cli/compared_sides.hpp"

#include <algorithm>
#include <fstream>

#include "base/text.hpp"
#include "base/try.hpp"
#include "cli/choices.hpp"
#include "cli/environment.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/base/progress.hpp"
#include "report/compare/gate_text.hpp"
#include "report/compare/judgement.hpp"

namespace npuscope::cli {

Result<RunSide> open_side(ProfileOptions options, const std::vector<std::string>& files) {
  options.files = files;
  options.takes_snapshots = true;
  options.joins_runs = false;  // each run is a sample, and says itself whether it is cold
  TRY_AS(selected, open_selected(options));
  return RunSide{profiles_of(std::move(selected->parts)), std::move(selected->notes)};
}

void add_side_options(Command& command, SideFiles& files) {
  command.flag("--a", files.a, "the runs of A, each a file or folder");
  command.flag("--b", files.b, "the runs of B");
  command.flag("--graph", files.graph,
               "compare runs of this graph, where the files are of several");
}

Status check_sides(const SideFiles& sides, const std::vector<std::string>& files) {
  if (sides.a.empty() != sides.b.empty()) {
    return usage_error("{} has no other side; give both --a and --b",
                       sides.a.empty() ? "--b" : "--a");
  }
  if (sides.a.empty() || files.empty()) return {};
  return usage_error("{}: is it of A or of B? name files behind --a and --b only", files.front());
}

Result<std::unique_ptr<ComparedSides>> compare_sides(const ProfileOptions& options,
                                                     const SideFiles& files) {
  auto made = std::make_unique<ComparedSides>();
  TRY_AS(side_a, open_side(options, files.a));
  made->a = std::move(*side_a);
  TRY_AS(side_b, open_side(options, files.b));
  made->b = std::move(*side_b);
  const auto runs = report::runs_of_sides(made->a.profiles, made->b.profiles, files.graph);
  if (!runs) return tl::unexpected(runs.error());
  const BusySign busy("analysing");
  auto compared = report::compare_runs(runs->a, runs->b);
  if (!compared) return tl::unexpected(compared.error());
  made->compared = std::move(*compared);
  made->compared->diff.selection = selection_text(options.selection);
  made->notes = made->a.notes;
  made->notes.insert(made->notes.end(), made->b.notes.begin(), made->b.notes.end());
  return made;
}

namespace {

using report::Inconclusive;
using report::JudgedGate;

// GitHub gives a job the file that its summary comes from.
Status add_github_summary(const std::string& summary) {
  const std::string path = environment("GITHUB_STEP_SUMMARY");
  if (path.empty()) return {};
  std::ofstream file(path, std::ios::app | std::ios::binary);
  file << summary << '\n' << std::flush;
  if (!file) return output_error("{}: cannot write; check GITHUB_STEP_SUMMARY", path);
  return {};
}

void print_sentences(const report::Judgement& judgement) {
  for (const JudgedGate& judged : judgement.gates) {
    using analysis::GateOutcome;
    const bool is_silent = judged.result.outcome == GateOutcome::passed ||
                           (judged.result.outcome == GateOutcome::inconclusive &&
                            judged.inconclusive == Inconclusive::pass);
    if (!is_silent) print(stderr, "npuscope: {}\n", printable(report::gate_sentence(judged)));
  }
  for (const report::UnjudgedGate& unjudged : judgement.unjudged) {
    print(stderr, "npuscope: {}\n", printable(unjudged.sentence));
  }
}

}  // namespace

void add_gate_options(Command& command, GateOptions& options, const std::string& example) {
  options.github = is_github_job();
  command.flag("--fail-if", options.fail_if, "end with status 1 if this holds: " + example)
      .one_each();
  command.flag("--require", options.require, "end with status 1 unless this holds").one_each();
  command.flag("--gates", options.file,
               "a .toml file of gates, each with fail_if or require, name and reason");
  add_choice<std::optional<Inconclusive>>(
      command, "--inconclusive", options.inconclusive,
      {{"fail", Inconclusive::fail}, {"warn", Inconclusive::warn}, {"pass", Inconclusive::pass}},
      "outcome of a gate with too few samples; warn passes it with a warning")
      .shows_usual("fail");
  command.flag("--allow-partial", options.allow_partial,
               "pass gates although records of a run's files are missing");
  command.flag("--github", options.github,
               "annotations of the gates and a job summary; by itself in a GitHub job");
  for (const char* flag : {"--allow-partial", "--inconclusive"}) {
    command.matters_with(flag, {"--fail-if", "--require", "--gates"});
  }
}

Result<std::vector<JudgedGate>> read_gates(const GateOptions& options) {
  std::vector<JudgedGate> gates;
  using report::GateForm;
  const auto add = [&](const std::vector<std::string>& texts, GateForm form,
                       const char* flag) -> Status {
    for (const std::string& text : texts) {
      TRY_AS(gate, report::read_gate(text, form, flag));
      gates.push_back({std::move(*gate), {}, options.inconclusive.value_or(Inconclusive::fail)});
    }
    return {};
  };
  Status added = add(options.fail_if, GateForm::fail_if, "--fail-if");
  if (added) added = add(options.require, GateForm::require, "--require");
  if (!added) return tl::unexpected(added.error());
  if (options.file.empty()) return gates;
  TRY_AS(text, MappedFile::open(options.file));
  auto file = report::read_gate_file(as_text(text->bytes()), options.file);
  if (!file) return tl::unexpected(file.error());
  // What a gate says itself, then the command line, then the file.
  const auto usual = options.inconclusive ? options.inconclusive : file->inconclusive;
  for (report::GateFile::Entry& entry : file->gates) {
    const auto own = entry.inconclusive ? entry.inconclusive : usual;
    gates.push_back({std::move(entry.gate), {}, own.value_or(Inconclusive::fail)});
  }
  return gates;
}

ExitStatus judge_status(const GateOptions& options, const report::Diff& diff,
                        const std::string& summary, ExitStatus status) {
  if (options.github) {
    if (const Status added = add_github_summary(summary); !added) status = report(added.error());
    for (const std::string& line : report::github_annotations(diff)) print(stderr, "{}\n", line);
  } else {
    print_sentences(diff);
  }
  if (report::any_gate_failed(diff)) return ExitStatus::gate_failed;
  if (!diff.unjudged.empty()) return ExitStatus::usage;
  if (options.allow_partial) return status;
  if (const Status whole = report::check_gates_are_of_whole_runs(diff); !whole) {
    return report(whole.error());
  }
  return status;
}

}  // namespace npuscope::cli
