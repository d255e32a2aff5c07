// npuscope torq: the steps of Synaptics Torq's profiling.
#include <memory>

#include "base/text.hpp"
#include "cli/choices.hpp"
#include "cli/documents.hpp"
#include "cli/environment.hpp"
#include "jobs/torq/torq_annotate.hpp"
#include "jobs/torq/torq_times.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/base/progress.hpp"
#include "report/torq/pass_times_document.hpp"
#include "report/torq/torq_documents.hpp"

namespace npuscope::cli {
namespace {

constexpr double min_mhz = 0.001, max_mhz = 100'000;

// --- annotate ---

ExitStatus annotate(const jobs::TorqAnnotateRequest& request) {
  Result<jobs::TorqAnnotateOutcome> outcome;
  {
    ProgressBar bar("annotating");
    outcome = run_torq_annotate(
        request, [&](std::uint64_t done, std::uint64_t total) { bar.update(done, total); });
  }
  if (!outcome) return report(outcome.error());
  print_notes(outcome->notes);
  if (!outcome->coverage.empty()) print(stdout, "partial: {}\n", outcome->coverage);
  const bool has_clock = request.output.ends_with(".pb");  // of the estimates that a trace draws
  print(stdout, "wrote {} ({} rows{})\n", printable(request.output), thousands(outcome->rows),
        has_clock ? fmt::format("; estimates drawn at {} MHz, --mhz", request.mhz) : "");
  return ExitStatus::done;
}

void add_torq_annotate(Command& torq) {
  auto request = std::make_shared<jobs::TorqAnnotateRequest>();
  Command& command = torq.command("annotate", "Join a runtime log with debug information");
  command.flag("debug", request->debug, "folder or file of debug information, as MLIR text")
      .required();
  command.flag("runtime", request->runtime, "the runtime log").required();
  command.flag("output", request->output, "what to write: OUT.csv, OUT.xlsx or OUT.pb").required();
  command.flag("--source", request->sources, "folder to look for the model's source in")
      .one_each()
      .called("DIR");
  add_choice<std::optional<torq::OlderForm>>(
      command, "--format", request->older,
      {{"current", std::nullopt},
       {"old-host", torq::OlderForm::host},
       {"nss", torq::OlderForm::nss}},
      "columns of a .csv: old-host are those of 2026-01, nss of 2025-10");
  command.flag("--mhz", request->mhz, "clock of the estimates in a .pb")
      .check(real_number(min_mhz, max_mhz))
      .shows_usual();
  command.flag("--keep-going", request->keep_going,
               "leave the rows of dispatches out that have no debug information");
  command.action = [request] { return annotate(*request); };
}

// --- overview ---

struct TorqOverviewOptions {
  std::vector<std::string> files;
  std::optional<std::string> wall_time;
  std::string upstream;  // empty: as documented
  bool explain = false;
  PageOptions form;
};

torq::OverviewStyle style_of(const std::string& upstream) {
  if (upstream.empty()) return torq::OverviewStyle::documented;
  return upstream == "scrape" ? torq::OverviewStyle::scrape : torq::OverviewStyle::metrics;
}

ExitStatus overview(const TorqOverviewOptions& options) {
  const auto files = jobs::sort_torq_files(options.files);
  if (!files) return report(files.error());
  const torq::OverviewStyle style = style_of(options.upstream);
  const auto overviews = jobs::torq_overviews(*files, options.wall_time, style);
  if (!overviews) return report(overviews.error());
  if (!options.form.is_text() || options.form.top.asked()) {
    const ExitStatus printed = print_answer(
        options.form, report::overview_document(overviews->overviews, style), overviews->notes);
    return printed == ExitStatus::done ? status_of({}, overviews->notes) : printed;
  }
  print_notes(overviews->notes);
  print(stdout, "{}", without_job_commands(torq::print_overview(overviews->overviews, style)));
  if (options.explain) print(stdout, "{}", report::overview_meanings(overviews->overviews, style));
  return status_of({}, overviews->notes);
}

void add_torq_overview(Command& torq) {
  auto options = std::make_shared<TorqOverviewOptions>();
  Command& command = torq.command("overview", "Where the time of a run went, in rows");
  command
      .flag("files", options->files,
            "runtime logs with their debug information, annotated .csv, or .pb traces")
      .required();
  command.flag("--wall-time", options->wall_time, "file with the seconds of the whole run")
      .called("FILE");
  const auto take = [options](const std::vector<std::string>& words) {
    options->upstream = words.empty() ? "metrics" : words.front();
    return options->upstream == "metrics" || options->upstream == "scrape";
  };
  command
      .add("--upstream", take, "as the vendor's tools print it: metrics (the default), or scrape")
      .values(0, 1)
      .called("[metrics|scrape]");
  command.flag("--explain", options->explain, "say what each row means");
  options->form.top.cut_when_printed();
  add_page_options(command, options->form);
  command.action = [options] { return overview(*options); };
}

// --- timeline ---

struct TorqTimelineOptions {
  std::vector<std::string> files;
  std::string format, output;
  std::optional<double> mhz;
  PageOptions form;
};

ExitStatus write_trace(const TorqTimelineOptions& options, const jobs::TorqTimeline& timeline) {
  if (const auto usable = check_output_is_no_input(options.files, options.output); !usable) {
    return report(usable.error());
  }
  const double mhz = options.mhz.value_or(torq::compile_clock_mhz);
  const auto written = jobs::write_timeline_trace(timeline, mhz, options.output);
  if (!written) return report(written.error());
  print(stderr, "wrote {}{}\n", printable(options.output),
        options.mhz ? "" : fmt::format(" (estimates at {} MHz; --mhz names another clock)", mhz));
  return ExitStatus::done;
}

ExitStatus timeline(const TorqTimelineOptions& options) {
  if (options.format.empty() != options.output.empty()) {
    return report(
        Error{ErrorKind::usage, "--format perfetto and -o FILE belong together; give both"});
  }
  const auto files = jobs::sort_torq_files(options.files);
  if (!files) return report(files.error());
  auto answer = jobs::torq_timeline(*files, options.mhz.value_or(torq::compile_clock_mhz));
  if (!answer) return report(answer.error());
  if (!options.output.empty()) {
    const ExitStatus written = write_trace(options, *answer);
    if (written != ExitStatus::done) return written;
  }
  const ExitStatus printed = print_answer(
      options.form,
      report::torq_timeline_document(std::move(answer->answer), {options.mhz, options.form.rows()}),
      answer->notes);
  return printed == ExitStatus::done ? status_of({}, answer->notes) : printed;
}

void add_torq_timeline(Command& torq) {
  auto options = std::make_shared<TorqTimelineOptions>();
  Command& command = torq.command("timeline", "The compiler's estimates against what was measured");
  command
      .flag("files", options->files,
            "timelines of the compiler, debug information, runtime logs; several at once")
      .required();
  command.flag("--format,--to", options->format, "also write a trace: perfetto")
      .check(one_of({"perfetto"}))
      .called("perfetto");
  command.flag("-o,--output", options->output, "the trace").called("FILE");
  command.flag("--mhz", options->mhz, "the NPU's clock: times next to the estimated cycles")
      .check(real_number(min_mhz, max_mhz));
  options->form.top.set(20, "programs");
  add_page_options(command, options->form);
  command.action = [options] { return timeline(*options); };
}

// --- passes ---

struct TorqPassesOptions {
  std::vector<std::string> files;
  PageOptions form;
};

ExitStatus passes(const TorqPassesOptions& options) {
  const auto found = jobs::torq_passes(options.files);
  if (!found) return report(found.error());
  const ExitStatus printed = print_answer(
      options.form, report::pass_times_document(found->files, options.form.rows()), found->notes);
  return printed == ExitStatus::done ? status_of({}, found->notes) : printed;
}

void add_torq_passes(Command& torq) {
  auto options = std::make_shared<TorqPassesOptions>();
  Command& command = torq.command("passes", "Where the compiler's own time went, by pass");
  command
      .flag("files", options->files,
            "what torq-compile prints with --mlir-timing, or writes with --profile-actions-to")
      .required();
  options->form.top.set(15, "passes");
  add_page_options(command, options->form);
  command.action = [options] { return passes(*options); };
}

}  // namespace

void add_torq_command(Command& program) {
  Command& command =
      program.command("torq", "Synaptics Torq: annotate, overview, timeline, passes");
  add_torq_annotate(command);
  add_torq_overview(command);
  add_torq_timeline(command);
  add_torq_passes(command);
}

}  // namespace npuscope::cli
