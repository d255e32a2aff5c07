#include "jobs/torq/torq_annotate.hpp"

#include "base/text.hpp"
#include "base/try.hpp"
#include "jobs/torq/annotated_xlsx.hpp"
#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::jobs {
namespace {

// Which rows the table would lack, and why.
Error lacks_rows(const torq::Annotation& annotation, const torq::DebugInfo& debug) {
  const std::vector<std::string>& missing = annotation.pairing.missing;
  std::string why;
  for (const Note& note : debug.notes) {
    if (why.empty()) why = fmt::format(" ({}: {})", note.file, note.message);
  }
  return Error{
      ErrorKind::input,
      fmt::format("{}: {}; the rows of {} would be missing{}{}: name the whole folder, or "
                  "add --keep-going",
                  annotation.log_name, torq::coverage_text(annotation.pairing),
                  printable(missing.front()),
                  missing.size() > 1 ? fmt::format(" and {} more", missing.size() - 1) : "", why)};
}

}  // namespace

Result<TorqAnnotateOutcome> run_torq_annotate(const TorqAnnotateRequest& request,
                                              const ProgressReport& progress) {
  const std::filesystem::path output = request.output;
  const std::string ending = output.extension().string();
  if (ending != ".csv" && ending != ".xlsx" && ending != ".pb") {
    return usage_error("{}: an annotated run is written as .csv, .xlsx or .pb; name such a file",
                       request.output);
  }
  if (request.older && ending != ".csv") {
    return usage_error("{}: the older forms are tables; name a .csv file, or leave out --format",
                       request.output);
  }
  const std::string inputs[] = {request.runtime, request.debug};
  TRY(check_output_is_no_input(inputs, output));
  std::vector<std::filesystem::path> sources(request.sources.begin(), request.sources.end());
  const std::filesystem::path runtime = request.runtime;
  sources.push_back(runtime.parent_path());
  TRY_AS(debug, torq::load_debug_info(std::filesystem::path(request.debug), sources));
  TRY_AS(source, open_byte_source(runtime));
  torq::RuntimeLog log;  // held where more of it is needed than the annotation
  if (request.older) {
    TRY_AS(read, torq::read_log(**source, progress));
    log = std::move(*read);
  }
  const auto annotation =
      request.older ? torq::annotate(log, *debug) : torq::annotate(**source, *debug, progress);
  if (!annotation) return tl::unexpected(annotation.error());
  TorqAnnotateOutcome outcome;
  outcome.coverage = torq::coverage_text(annotation->pairing);
  if (!outcome.coverage.empty() && !request.keep_going) {
    return tl::unexpected(lacks_rows(*annotation, *debug));
  }
  outcome.rows = annotation->begin_us.size() + annotation->hal.size();
  if (request.older) {
    TRY_AS(rows, torq::write_older_csv(*annotation, log, *request.older, output));
    outcome.rows = *rows;
  }
  TRY(request.older       ? Status{}
      : ending == ".csv"  ? torq::write_annotated_csv(*annotation, output)
      : ending == ".xlsx" ? write_annotated_xlsx(*annotation, output)
                          : torq::write_annotated_trace(*annotation, output, request.mhz));
  outcome.notes = annotation->notes;
  outcome.notes.insert(outcome.notes.end(), debug->notes.begin(), debug->notes.end());
  const std::vector<Note>& unreadable = debug->sources->unreadable();
  outcome.notes.insert(outcome.notes.end(), unreadable.begin(), unreadable.end());
  if (debug->sources->missing_files() > 0) {
    outcome.notes.push_back({Severity::warning, request.debug, 0,
                             "source files that locations name and that are not there, so that "
                             "operators are missing; --source names more folders",
                             debug->sources->missing_files()});
  }
  if (debug->sources->missing_lines() > 0) {
    outcome.notes.push_back({Severity::warning, request.debug, 0,
                             "locations beyond the end of their source file; was it changed?",
                             debug->sources->missing_lines()});
  }
  return outcome;
}

}  // namespace npuscope::jobs
