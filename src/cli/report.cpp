// npuscope report: everything that npuscope says of some profiles as one HTML file.
#include <memory>
#include <optional>

#include "cli/compared_sides.hpp"
#include "cli/documents.hpp"
#include "cli/file_choices.hpp"
#include "cli/fleet_part.hpp"
#include "npuscope/analysis/run_sets.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/base/progress.hpp"
#include "report/document/document_value.hpp"
#include "report/html/report_page.hpp"

namespace npuscope::cli {
namespace {

struct ReportOptions : ProfileOptions, GateOptions {
  FleetTabOptions fleet;
  std::vector<std::string> stores;
  SideFiles sides;
  report::ReportRequest request;
  std::string output = usual_output;
  TopRows top;
  bool json = false;
  bool report_data = false;

  static constexpr const char* usual_output = "report.html";
  bool scrub = false;
};

// A tab for each profile.
ExitStatus add_profiles(const ReportOptions& options, report::ReportPage& page) {
  auto selected = open_selected(options);
  if (!selected) return report(selected.error());
  if (options.scrub) {
    if (const Status done = scrub_names(selected->parts, options.output); !done) {
      return report(done.error());
    }
  }
  for (const report::ProfilePart& part : selected->parts) page.expect(part.profile);
  for (const report::ProfilePart& part : selected->parts) {
    const auto& inputs = part.profile.provenance.files;
    if (auto usable = check_output_is_no_input(inputs, options.output); !usable) {
      return report(usable.error());
    }
    const BusySign busy("analysing");
    page.add(analysis::Analysis(part.profile), {part.text, options.selection.leaves_out_rows()});
  }
  if (!options.scrub) page.add_notes(selected->notes);
  print_notes(selected->notes);
  return status_of(options, selected->notes);
}

// A tab for the comparison, and one for the run of each side that is nearest to its median.
ExitStatus add_comparison(const ReportOptions& options, report::ReportPage& page) {
  auto gates = read_gates(options);
  if (!gates) return report(gates.error());
  const auto compared = compare_sides(options, options.sides);
  if (!compared) return report(compared.error());
  report::Diff& diff = (*compared)->compared->diff;
  const analysis::Comparer& comparer = *(*compared)->compared->comparer;
  std::optional<BusySign> busy("analysing");
  report::judge_gates(std::move(*gates), comparer, diff);
  const bool all = options.request.top == 0;
  diff.comparison = comparer.compare({all ? ~std::size_t{0} : options.request.top, false});
  page.set_comparison(report::diff_document(diff));
  busy.reset();
  std::vector<const Profile*> shown;
  for (const auto* runs : {&diff.a, &diff.b}) {
    for (const Profile* run : *runs) {
      if (auto usable = check_output_is_no_input(run->provenance.files, options.output); !usable) {
        return report(usable.error());
      }
    }
    shown.push_back((*runs)[analysis::run_sets(*runs).front().nearest_median]);
    page.expect(*shown.back());
  }
  for (const Profile* run : shown) {
    const BusySign analysing("analysing");
    page.add(analysis::Analysis(*run), {diff.selection, options.selection.leaves_out_rows()});
  }
  page.add_notes((*compared)->notes);
  print_notes((*compared)->notes);
  return judge_status(options, diff, options.github ? report::diff_markdown(diff) : "",
                      status_of(options, (*compared)->notes));
}

ExitStatus add_tabs(const ReportOptions& options, report::ReportPage& page) {
  if (!options.sides.a.empty()) return add_comparison(options, page);
  return options.files.empty() ? ExitStatus::done : add_profiles(options, page);
}

ExitStatus write_report(ReportOptions options) {
  if (options.output.empty()) {
    return report(Error{ErrorKind::usage, "-o: names no file; give it a name"});
  }
  if (Status checked = check_sides(options.sides, options.files); !checked) {
    return report(checked.error());
  }
  const bool compares = !options.sides.a.empty();
  options.stores = take_stores(options.files);
  if (!compares && options.files.empty() && options.stores.empty()) {
    return report(
        Error{ErrorKind::usage, "no file is named; name profiles, a store, or --a and --b"});
  }
  if (Status checked = check_fleet_tab(options.fleet, options.stores); !checked) {
    return report(checked.error());
  }
  if (!compares && options.has_gates()) {
    return report(Error{ErrorKind::usage,
                        "gates need two sides; name --a and --b, or judge runs by themselves with "
                        "npuscope check"});
  }
  if (options.scrub && (compares || !options.stores.empty())) {
    return report(Error{ErrorKind::usage,
                        "--scrub is of profiles alone; scrub each with npuscope convert --scrub, "
                        "and compare what that wrote"});
  }
  if (options.output == "-") options.output = "/dev/stdout";
  if (options.report_data && options.output == ReportOptions::usual_output) {
    options.output = "report_data.json";
  }
  options.request.top = options.top.of(false);
  if (const Status chosen = choose_target(options.request.peaks); !chosen) {
    return report(chosen.error());
  }
  for (const auto* inputs : {&options.files, &options.stores, &options.sides.a, &options.sides.b}) {
    if (auto usable = check_output_is_no_input(*inputs, options.output); !usable) {
      return report(usable.error());
    }
  }
  report::ReportPage page(options.request);
  if (!options.stores.empty()) {
    const Status added = add_fleet_tab(options.fleet, options.stores[0], options.request.top, page);
    if (!added) return report(added.error());
  }
  const ExitStatus status = add_tabs(options, page);
  if (page.empty()) return status;
  if (options.json) {
    print_json(stdout, page.json());
    return status;
  }
  std::optional<BusySign> busy("writing");
  const std::string made = options.report_data ? page.report_data() : page.html();
  busy.reset();
  if (const Status written = write_file_atomically(options.output, as_byte_span(made)); !written) {
    return report(written.error());
  }
  print(options.output == "/dev/stdout" ? stderr : stdout, "{}: {}; {}\n", options.output,
        report::bytes_text(double(made.size())),
        options.report_data ? "drop it on the page of any report" : "open it in a browser");
  return status;
}

}  // namespace

void add_report_command(Command& program) {
  Command& command = program.command(
      "report", "One HTML file with everything: timeline, findings, ops, path, memory, graph");
  const auto options = std::make_shared<ReportOptions>();
  add_profile_options(command, *options);
  command.flag("files").required(false);  // --a and --b name theirs
  add_side_options(command, options->sides);
  add_gate_options(command, *options, "'latency > +3%', 'p95 > 5ms'");
  command.flag("--to,--until", options->selection.until, "end of the window");
  add_part_options(command, *options);
  add_fleet_tab_options(command, options->fleet);
  add_target_option(command, options->request.peaks);
  options->joins_runs = true;
  command.flag("-o,--output", options->output, "the file").shows_usual();
  command
      .flag("--max-spans", options->request.limits.max_spans,
            "spans of a profile's timeline; of more, short ones are merged")
      .check(whole_number(1'000, 20'000'000))
      .shows_usual();
  options->top.set(options->request.top, "rows of each table");
  options->top.add_option(command);
  command.flag("--scrub", options->scrub,
               "stand-ins for names of models, ops, tensors, files, processes and threads, so that "
               "it can be shown to others");
  command.flag("--report-data", options->report_data,
               "write the data of the page without the page (report_data.json), to drop on the "
               "page of any report");
  command.flag("--json", options->json, "print as JSON what the page shows, and write nothing");
  for (const char* flag : {"--graph", "--github"}) command.matters_with(flag, {"--a"});
  command.idle_beside("--output", {"--json"});
  command.idle_beside("--report-data", {"--json"});
  command.action = [options] {
    options->request.arguments = {"npuscope", "report"};
    if (options->scrub) {
      options->request.arguments.emplace_back("--scrub");
      return write_report(*options);
    }
    for (const auto& [flag, files] :
         {std::pair{"", &options->files}, std::pair{"--a", &options->sides.a},
          std::pair{"--b", &options->sides.b}}) {
      std::vector<std::string>& words = options->request.arguments;
      if (*flag != '\0' && !files->empty()) words.emplace_back(flag);
      words.insert(words.end(), files->begin(), files->end());
    }
    return write_report(*options);
  };
}

}  // namespace npuscope::cli
