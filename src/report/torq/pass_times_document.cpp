#include "report/torq/pass_times_document.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/document/document_value.hpp"

namespace npuscope::report {
namespace {

const char* name_of(torq::PassReport::Form form) {
  constexpr const char* names[] = {"--mlir-timing, tree", "--mlir-timing, list",
                                   "--profile-actions-to"};
  return names[std::size_t(form)];
}

// The pass that runs pipelines over operations, which no user has heard of.
constexpr std::string_view adaptor = "mlir::detail::OpToOpPassAdaptor";
constexpr std::string_view adaptor_name = "(pipelines of passes)";

constexpr double worth_saying = 0.05;

double sum_of(const torq::PassReport& report) {
  double sum = 0;
  for (const torq::PassTime& pass : report.passes) sum += pass.own_seconds.value_or(0);
  return sum;
}

// What the sums of the rows must be read with.
std::string caution_of(const torq::PassReport& report) {
  const double sum = sum_of(report), beyond = sum - report.wall_seconds;
  if (beyond < worth_saying * report.wall_seconds) return {};
  if (report.form == torq::PassReport::Form::actions) {
    return fmt::format("Passes ran on {} threads: their times add up to {}, more than the wall.",
                       report.threads, seconds_text(sum));
  }
  return fmt::format(
      "The passes add up to {} more than the wall: some run at once on several threads, and a pass "
      "that runs a pipeline of its own counts with it although the pipeline has rows too. "
      "--profile-actions-to tells them apart.",
      seconds_text(beyond));
}

Section section_of(const std::string& file, const torq::PassReport& report, std::size_t top) {
  // Of a tree; an action's time is its own, whatever else ran at once.
  const bool counts_twice = report.form == torq::PassReport::Form::timing_tree &&
                            sum_of(report) > (1 + worth_saying) * report.wall_seconds;
  const bool is_list = report.form == torq::PassReport::Form::timing_list;
  Section section{.key = "compile_time", .title = "COMPILE TIME, by pass"};
  section.in_list = true;
  section.facts = {{{"file", "file", Format::name}, file},
                   {{"source", "from", Format::name}, name_of(report.form)},
                   {{"wall_seconds", "wall", Format::seconds}, report.wall_seconds},
                   {{"threads", "", Format::count}, report.threads},
                   {{"rest_seconds", "in no pass", Format::seconds},
                    report.rest_seconds.value_or(0) > 0 ? Value(*report.rest_seconds) : Value()},
                   {{"left_out", "left out", Format::count}, if_positive(report.left_out)}};
  section.table.fields = {
      {"pass", "pass", Format::name},
      {"runs", "runs", Format::count, true, true},
      {"own_seconds", counts_twice ? "time, at most" : "own time", Format::seconds, true, true},
      {"own_share_of_wall", "of wall", Format::share, true, true},
      {"whole_seconds", "with what it runs", Format::seconds}};
  for (std::size_t i = 0; i < std::min(top, report.passes.size()); ++i) {
    const torq::PassTime& pass = report.passes[i];
    const bool has_share = pass.own_seconds && report.wall_seconds > 0;
    section.table.rows.push_back(
        {pass.name == adaptor ? adaptor_name : std::string_view(pass.name),
         is_list ? Value() : Value(pass.runs), pass.own_seconds,
         has_share ? Value(*pass.own_seconds / report.wall_seconds) : Value(), pass.whole_seconds});
  }
  section.table.row_count = report.passes.size();
  if (is_list) {
    section.remarks = {
        "A list has no time of a pass alone: a pass counts with the passes that it runs, so rows "
        "do "
        "not add up. --mlir-timing-display=tree tells them apart."};
  } else if (const std::string caution = caution_of(report); !caution.empty()) {
    section.remarks = {caution};
  }
  const bool has_adaptor = std::any_of(report.passes.begin(), report.passes.end(),
                                       [](const auto& pass) { return pass.name == adaptor; });
  if (has_adaptor) {
    section.remarks.push_back(fmt::format(
        "{} is what runs between passes, and waiting for passes on other threads.", adaptor_name));
  }
  return section;
}

}  // namespace

Document pass_times_document(const std::vector<PassTimesOfFile>& files, std::size_t top) {
  Document document;
  for (const PassTimesOfFile& each : files) {
    std::vector<const torq::PassReport*> longest;
    for (const torq::PassReport& report : each.reports) longest.push_back(&report);
    std::stable_sort(longest.begin(), longest.end(), [](const auto* a, const auto* b) {
      return a->wall_seconds > b->wall_seconds;
    });
    for (const torq::PassReport* report : longest) {
      document.sections.push_back(section_of(each.file, *report, top));
    }
    if (longest.size() < 2) continue;
    document.sections.back().remarks.push_back(
        "A report of each pass manager of the compiler, the longest first: a shorter one may have "
        "run within a pass of a longer one, so they do not add up.");
  }
  return document;
}

}  // namespace npuscope::report
