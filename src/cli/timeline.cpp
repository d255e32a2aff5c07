// npuscope timeline: what ran when, drawn as text or as a figure.
#include <memory>

#include "cli/choices.hpp"
#include "cli/documents.hpp"
#include "npuscope/base/files.hpp"
#include "report/timeline/timeline_document.hpp"
#include "report/timeline/timeline_svg.hpp"

namespace npuscope::cli {
namespace {

using analysis::RowOrder;
using analysis::RowsBy;

constexpr std::size_t max_rows = 10'000;

struct TimelineOptions : DocumentOptions {
  RowsBy by = RowsBy::unit;
  std::optional<RowOrder> order;  // none: what fits the rows
  std::optional<RowsBy> letters;  // none: blocks
  std::size_t gaps = 5;
  bool ascii = false, blocks = false;
  std::string svg;  // empty: no figure
  double svg_width = 960;
  RowsBy colours = RowsBy::engine;
};

const std::vector<Choice<RowsBy>> row_groupings{{"unit", RowsBy::unit},
                                                {"engine", RowsBy::engine},
                                                {"layer", RowsBy::stage},
                                                {"node", RowsBy::node},
                                                {"kind", RowsBy::kind},
                                                {"name", RowsBy::op},
                                                {"stage", RowsBy::stage, WordAge::old},
                                                {"op", RowsBy::op, WordAge::old}};

// The same, where the flag may not be given.
const std::vector<Choice<std::optional<RowsBy>>>& optional_groupings() {
  static const auto choices = [] {
    std::vector<Choice<std::optional<RowsBy>>> all;
    for (const auto& each : row_groupings) all.push_back({each.word, each.meaning, each.age});
    return all;
  }();
  return choices;
}

report::TimelineView view_of(const TimelineOptions& options, std::int64_t origin) {
  return {.width = options.width > 0 ? options.width : terminal_width(),
          .origin = origin,
          .blocks = !options.ascii && (options.blocks || shows_unicode()),
          .of_ops = !options.selection.op.empty(),
          .of_part = options.selection.leaves_out_rows(),
          .fill = options.letters};
}

Status write_svg(const analysis::Analysis& analysis, const analysis::TimelineRows& rows,
                 const report::ProfilePart& part, const TimelineOptions& options) {
  const std::string file = options.svg == "-" ? "/dev/stdout" : options.svg;
  for (const auto& inputs : {options.files, analysis.profile().provenance.files}) {
    if (auto usable = check_output_is_no_input(inputs, file); !usable) return usable;
  }
  const report::SvgView view{.width = options.svg_width,
                             .origin = part.origin,
                             .fill = options.colours,
                             .scope = part.text};
  const auto cells =
      analysis.cells(rows, {.columns = report::svg_columns(analysis.profile(), rows, view),
                            .fill = options.colours,
                            .fills = report::svg_fills});
  return write_file_atomically(
      file, as_byte_span(report::timeline_svg(analysis.profile(), rows, cells, view)));
}

Result<report::Document> timeline_of(const analysis::Analysis& analysis,
                                     const report::ProfilePart& part,
                                     const TimelineOptions& options) {
  const RowsBy by = options.by;
  const bool of_units = by == RowsBy::unit || by == RowsBy::engine;
  const auto rows = analysis.timeline(
      {.by = by,
       .order = options.order.value_or(of_units ? RowOrder::profile : RowOrder::start),
       .top = std::min(options.rows(), max_rows),
       .gaps = options.gaps,
       .window = part.window});
  if (!options.svg.empty()) {
    if (auto done = write_svg(analysis, rows, part, options); !done) {
      return tl::unexpected(done.error());
    }
  }
  const report::TimelineView view = view_of(options, part.origin);
  const auto cells = analysis.cells(
      rows, {.columns = report::timeline_columns(rows, view), .fill = view.fill, .fills = 25});
  return report::make_timeline_document(analysis.profile(), rows, cells, view);
}

ExitStatus timeline(const TimelineOptions& options) {
  const auto selected = open_selected(options, {.needs_timeline = true});
  if (!selected) return report(selected.error());
  if (!options.svg.empty() && selected->parts.size() != 1) {
    return report(Error{ErrorKind::usage,
                        fmt::format("--svg {}: a figure is of one profile, and these are {}; name "
                                    "the files of one",
                                    options.svg, selected->parts.size())});
  }
  const auto make = [&](const analysis::Analysis& analysis, const report::ProfilePart& part) {
    return timeline_of(analysis, part, options);
  };
  if (options.svg != "-") return print_documents(options, *selected, make);
  const report::ProfilePart& part = selected->parts.front();
  const auto made = make(analysis::Analysis(part.profile), part);
  return made ? ExitStatus::done : report(made.error());
}

}  // namespace

void add_timeline_command(CLI::App& program, ExitStatus& status) {
  CLI::App* command = program.add_subcommand(
      "timeline", "What ran when: a row per unit or group of ops, gaps, overlap, concurrency");
  const auto options = std::make_shared<TimelineOptions>();
  options->top.set(40, "rows drawn, those with most work");
  add_document_options(*command, *options);
  options->joins_runs = true;
  add_choice(*command, "--by", options->by, row_groupings, "what a row is of");
  add_choice<std::optional<RowOrder>>(
      *command, "--order", options->order,
      {{"profile", RowOrder::profile}, {"start", RowOrder::start}, {"work", RowOrder::work}},
      "order of the rows; default: what fits them");
  add_choice(*command, "--letters", options->letters, optional_groupings(),
             "draw letters: of what most of a column was");
  command->add_option("--gaps", options->gaps, "idle intervals listed, the longest")
      ->check(whole_number(0, 10'000))
      ->capture_default_str();
  add_part_options(*command, *options);
  CLI::Option* ascii = command->add_flag("--ascii", options->ascii, "draw with ASCII only");
  command->add_flag("--blocks", options->blocks, "draw with block characters, also into a file")
      ->excludes(ascii);
  command
      ->add_option("--svg", options->svg,
                   "write a figure too; - for only the figure, on standard output")
      ->check(CLI::Validator(
          [](std::string& name) {
            return name.empty() ? std::string("a file needs a name") : std::string();
          },
          ""));
  add_choice(*command, "--colours,--colors", options->colours, row_groupings,
             "what the colours of the figure tell apart");
  command->add_option("--svg-width", options->svg_width, "width of the picture in pixels")
      ->check(real_number(150, 5'000))
      ->capture_default_str();
  for (const char* flag : {"--colours", "--svg-width"}) matters_with(flag, {"--svg"}, *command);
  for (const char* flag : {"--ascii", "--blocks"}) idle_beside(flag, {"--json", "--csv"}, *command);
  command->callback([options, &status] { status = timeline(*options); });
}

}  // namespace npuscope::cli
