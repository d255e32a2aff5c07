// npuscope torq: the steps of Synaptics Torq's profiling.
#include <memory>

#include "base/text.hpp"
#include "cli/documents.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/base/progress.hpp"
#include "report/torq/torq_job.hpp"

namespace npuscope::cli {
namespace {

constexpr double min_mhz = 0.001, max_mhz = 100'000;

// One answer of all files together, not of one profile.
ExitStatus print_answer(const DocumentOptions& form, const report::Document& document,
                        const std::vector<Note>& notes) {
  if (!form.json) return print_documents(form, std::span(&document, 1), notes);
  print(stdout, "{}", report::document_json(document, notes));
  return ExitStatus::done;
}

// --- annotate ---

ExitStatus annotate(const report::TorqAnnotateRequest& request) {
  Result<report::TorqAnnotateOutcome> outcome;
  {
    ProgressBar bar("annotating");
    outcome = run_torq_annotate(
        request, [&](std::uint64_t done, std::uint64_t total) { bar.update(done, total); });
  }
  if (!outcome) return report(outcome.error());
  print_notes(outcome->notes);
  if (!outcome->coverage.empty()) print(stdout, "partial: {}\n", outcome->coverage);
  print(stdout, "wrote {} ({} rows)\n", printable(request.output), thousands(outcome->rows));
  return ExitStatus::done;
}

void add_torq_annotate(CLI::App& torq, ExitStatus& status) {
  auto request = std::make_shared<report::TorqAnnotateRequest>();
  CLI::App* command = torq.add_subcommand("annotate", "Join a runtime log with debug information");
  command->add_option("debug", request->debug, "folder or file of debug information, as MLIR text")
      ->required();
  command->add_option("runtime", request->runtime, "the runtime log")->required();
  command->add_option("output", request->output, "what to write: OUT.csv, OUT.xlsx or OUT.pb")
      ->required();
  command->add_option("--source", request->sources, "folder to look for the model's source in")
      ->allow_extra_args(false)
      ->type_name("DIR");
  const auto form = std::make_shared<std::string>("current");
  command
      ->add_option("--format", *form,
                   "columns of a .csv: current, old-host (of 2026-01), nss (of 2025-10)")
      ->check(CLI::IsMember({"current", "old-host", "nss"}))
      ->capture_default_str();
  command->add_option("--mhz", request->mhz, "clock of the estimates in a .pb")
      ->check(real_number(min_mhz, max_mhz))
      ->capture_default_str();
  command->add_flag("--keep-going", request->keep_going,
                    "leave the rows of dispatches out that have no debug information");
  command->callback([request, form, &status] {
    if (*form == "old-host") request->older = torq::OlderForm::host;
    if (*form == "nss") request->older = torq::OlderForm::nss;
    status = annotate(*request);
  });
}

// --- overview ---

struct TorqOverviewOptions {
  std::vector<std::string> files;
  std::optional<std::string> wall_time;
  std::string upstream;  // empty: as documented
  bool explain = false;
  DocumentOptions form;
};

torq::OverviewStyle style_of(const std::string& upstream) {
  if (upstream.empty()) return torq::OverviewStyle::documented;
  return upstream == "scrape" ? torq::OverviewStyle::scrape : torq::OverviewStyle::metrics;
}

ExitStatus overview(const TorqOverviewOptions& options) {
  const auto files = report::sort_torq_files(options.files);
  if (!files) return report(files.error());
  const torq::OverviewStyle style = style_of(options.upstream);
  const auto overviews = report::torq_overviews(*files, options.wall_time, style);
  if (!overviews) return report(overviews.error());
  if (options.form.json || options.form.csv) {
    return print_answer(options.form, report::overview_document(*overviews, style),
                        overviews->notes);
  }
  print_notes(overviews->notes);
  print(stdout, "{}", torq::print_overview(overviews->overviews, style));
  if (options.explain) print(stdout, "{}", report::overview_meanings(*overviews, style));
  return ExitStatus::done;
}

void add_torq_overview(CLI::App& torq, ExitStatus& status) {
  auto options = std::make_shared<TorqOverviewOptions>();
  CLI::App* command = torq.add_subcommand("overview", "Where the time of a run went, in rows");
  command
      ->add_option("files", options->files,
                   "runtime logs with their debug information, annotated .csv, or .pb traces")
      ->required();
  command->add_option("--wall-time", options->wall_time, "file with the seconds of the whole run")
      ->type_name("FILE");
  const auto take = [options](const CLI::results_t& words) {
    options->upstream =
        words.empty() || words[0].empty() || words[0] == "{}" ? "metrics" : words[0];
    return options->upstream == "metrics" || options->upstream == "scrape";
  };
  command
      ->add_option("--upstream", take,
                   "as the vendor's tools print it: metrics (the default), or scrape")
      ->expected(0, 1)
      ->type_name("[metrics|scrape]");
  command->add_flag("--explain", options->explain, "say what each row means");
  CLI::Option* json = command->add_flag("--json", options->form.json, "print JSON");
  command->add_flag("--csv", options->form.csv, "print a table as CSV")->excludes(json);
  command->callback([options, &status] { status = overview(*options); });
}

// --- timeline ---

struct TorqTimelineOptions {
  std::vector<std::string> files;
  std::string to, output;
  double mhz = torq::compile_clock_mhz;
  std::size_t top = 20;
  DocumentOptions form;
};

ExitStatus write_trace(const TorqTimelineOptions& options, const report::TorqTimeline& timeline) {
  if (const auto usable = check_output_is_no_input(options.files, options.output); !usable) {
    return report(usable.error());
  }
  const auto written = report::write_timeline_trace(timeline, options.mhz, options.output);
  if (!written) return report(written.error());
  print(stderr, "wrote {}\n", printable(options.output));
  return ExitStatus::done;
}

ExitStatus timeline(const TorqTimelineOptions& options) {
  if (options.to.empty() != options.output.empty()) {
    return report(Error{ErrorKind::usage, "--to perfetto and -o FILE belong together; give both"});
  }
  const auto files = report::sort_torq_files(options.files);
  if (!files) return report(files.error());
  const auto answer = report::torq_timeline(*files, options.mhz, options.top);
  if (!answer) return report(answer.error());
  if (!options.output.empty()) {
    const ExitStatus written = write_trace(options, *answer);
    if (written != ExitStatus::done) return written;
  }
  return print_answer(options.form, answer->document, answer->notes);
}

void add_torq_timeline(CLI::App& torq, ExitStatus& status) {
  auto options = std::make_shared<TorqTimelineOptions>();
  CLI::App* command =
      torq.add_subcommand("timeline", "The compiler's estimates against what was measured");
  command
      ->add_option("files", options->files,
                   "timelines of the compiler, debug information, runtime logs; several at once")
      ->required();
  command->add_option("--to", options->to, "also write a trace: perfetto")
      ->check(CLI::IsMember({"perfetto"}));
  command->add_option("-o,--output", options->output, "the trace")->type_name("FILE");
  command->add_option("--mhz", options->mhz, "clock that the estimates are taken at")
      ->check(real_number(min_mhz, max_mhz))
      ->capture_default_str();
  command->add_option("--top", options->top, "programs to print")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  CLI::Option* json = command->add_flag("--json", options->form.json, "print JSON");
  CLI::Option* csv = command->add_flag("--csv", options->form.csv, "print a table as CSV");
  csv->excludes(json);
  command->add_option("--table", options->form.table, "which table; default: the first")
      ->needs(csv);
  command
      ->add_option("--width", options->form.width, "columns of the text; default: the terminal's")
      ->check(whole_number(60, 1'000));
  command->callback([options, &status] { status = timeline(*options); });
}

}  // namespace

void add_torq_command(CLI::App& program, ExitStatus& status) {
  CLI::App* command =
      program.add_subcommand("torq", "Synaptics Torq: annotate, overview, timeline");
  command->require_subcommand(1);
  add_torq_annotate(*command, status);
  add_torq_overview(*command, status);
  add_torq_timeline(*command, status);
}

}  // namespace npuscope::cli
