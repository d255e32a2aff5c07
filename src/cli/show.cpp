// npuscope show: a page for each profile.
#include <memory>

#include "cli/profiles.hpp"
#include "report/show/show.hpp"

namespace npuscope::cli {
namespace {

struct ShowOptions : ProfileOptions {
  std::size_t top = 10;
  std::size_t width = 0;  // 0: of the terminal
  bool json = false;
};

ExitStatus show(const ShowOptions& options) {
  const auto selected = open_selected(options);
  if (!selected) return report(selected.error());
  std::vector<report::Page> pages;
  for (const report::ProfilePart& part : selected->parts) {
    pages.push_back(
        report::make_page(analysis::Analysis(part.profile),
                          {options.top, part.text, options.selection.leaves_out_rows()}));
  }
  if (options.json) {
    print(stdout, "{}", report::pages_json(pages, selected->notes));
    return status_of(options, selected->notes);
  }
  const std::size_t width = options.width > 0 ? options.width : terminal_width();
  for (std::size_t i = 0; i < pages.size(); ++i) {
    print(stdout, "{}{}", i > 0 ? "\n\n" : "", report::page_text(pages[i], width));
  }
  print_notes(selected->notes);
  return status_of(options, selected->notes);
}

}  // namespace

void add_show_command(CLI::App& program, ExitStatus& status) {
  CLI::App* command =
      program.add_subcommand("show", "One page for any profile: wall, phases, ops, units, notes");
  const auto options = std::make_shared<ShowOptions>();
  add_profile_options(*command, *options);
  add_part_options(*command, *options);
  options->joins_runs = true;
  command->add_option("--until,--to", options->selection.until, "end of the window");
  command->add_option("--top", options->top, "rows of each table")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--width", options->width, "columns of the page; default: the terminal's")
      ->check(whole_number(60, 1'000));
  command->add_flag("--json", options->json, "print JSON");
  command->callback([options, &status] { status = show(*options); });
}

}  // namespace npuscope::cli
