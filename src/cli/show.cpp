// npuscope show: the first page of each profile, the full one, or sections of it.
#include <algorithm>
#include <deque>
#include <memory>
#include <optional>

#include "cli/documents.hpp"
#include "cli/file_choices.hpp"
#include "cli/standard_input.hpp"
#include "npuscope/base/progress.hpp"
#include "report/compare/diff_document.hpp"
#include "report/show/show.hpp"

namespace npuscope::cli {
namespace {

struct ShowOptions : DocumentOptions {
  report::ShowRequest request;
  bool full = false;
  bool in_order = false;
};

constexpr std::size_t max_pages = 4;  // of several profiles; the others have a line in the table

// As they can be typed again: one by its name, several as what they are.
std::string files_of(const ShowOptions& options) {
  if (options.files.size() != 1) return "FILES";
  const std::string& file = options.files.front();
  if (file == standard_input_path) return "-";
  const bool is_plain = file.find_first_of(" '\"\\$`*?[]()<>|&;!#~") == std::string::npos;
  return is_plain ? file : "'" + file + "'";
}

ExitStatus show_first_pages(const ShowOptions& options, const Selected& selected) {
  std::deque<analysis::Analysis> all;
  for (const report::ProfilePart& part : selected.parts) all.emplace_back(part.profile);
  std::vector<report::Document> documents;
  std::optional<BusySign> busy("analysing");
  if (all.size() > 1) {
    std::vector<const analysis::Analysis*> each;
    for (const analysis::Analysis& analysis : all) each.push_back(&analysis);
    documents.push_back(report::profiles_document(each));
    if (all.size() > max_pages) {
      documents.back().sections.back().remarks = {fmt::format(
          "Pages of the first {} follow; --full has all, and a file's own name its own.",
          max_pages)};
    }
  }
  const std::optional<std::size_t> wanted =
      options.top.asked() ? std::optional(options.rows()) : std::nullopt;
  for (std::size_t i = 0; i < std::min(all.size(), max_pages); ++i) {
    documents.push_back(report::first_page(
        all[i], {width_of(options), all.size() > 1 ? 0 : terminal_height(), wanted,
                 options.in_order, options.selection.leaves_out_rows(), !options.selection.empty(),
                 all.size() > 1 ? all[i].profile().provenance.files.front() : files_of(options),
                 options.request.peaks}));
    documents.back().selection = selected.parts[i].text;
  }
  busy.reset();
  return print_documents(options, documents, selected.notes);
}

ExitStatus show(ShowOptions options) {
  options.request.top = options.rows();
  options.request.leaves_out_rows = options.selection.leaves_out_rows();
  options.request.is_part = !options.selection.empty();
  if (const Status chosen = choose_target(options.request.peaks); !chosen) {
    return report(chosen.error());
  }
  const auto selected = open_selected(options);
  if (!selected) return report(selected.error());
  const bool has_snapshot = std::ranges::any_of(
      selected->parts,
      [](const report::ProfilePart& part) { return part.profile.numbers != nullptr; });
  const bool is_full = options.full || options.json || options.csv || has_snapshot ||
                       !options.request.sections.empty();
  if (!is_full) return show_first_pages(options, *selected);
  return print_documents(options, *selected,
                         [&](const analysis::Analysis& analysis,
                             const report::ProfilePart& part) -> Result<report::Document> {
                           if (part.profile.numbers) return report::snapshot_document(part.profile);
                           return report::show_document(analysis, options.request);
                         });
}

}  // namespace

void add_show_command(Command& program) {
  Command& command = program.command(
      "show", "The first page of any profile: latency, where the time goes, findings, ops");
  const auto options = std::make_shared<ShowOptions>();
  options->top.set(
      10, "rows of each table of the full page; of the first page: ops, whatever its height");
  add_document_options(command, *options);
  add_part_options(command, *options);
  add_target_option(command, options->request.peaks);
  options->joins_runs = true;
  options->takes_snapshots = true;
  command.flag("--full", options->full, "every section, not only the first page");
  command.flag("--order", options->in_order,
               "ops of the first page in the order in which they ran, with what bounds each");
  command
      .flag("--section", options->request.sections, "sections of the full page: ops,units,counters")
      .separated_by(',');
  command.idle_beside("--full", {"--json", "--csv"});
  command.idle_beside("--order", {"--full", "--section", "--json", "--csv"});
  command.action = [options] { return show(*options); };
}

}  // namespace npuscope::cli
