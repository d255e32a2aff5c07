// npuscope timeline: what ran when, drawn as text or as a figure.
#include <memory>

#include "cli/documents.hpp"
#include "npuscope/base/files.hpp"
#include "report/timeline/timeline_document.hpp"
#include "report/timeline/timeline_svg.hpp"

namespace npuscope::cli {
namespace {

using analysis::RowOrder;
using analysis::RowsBy;

struct TimelineOptions : DocumentOptions {
  std::string by = "unit", order, letters;  // of the words below
  std::size_t top = 40, gaps = 5;
  bool ascii = false, blocks = false;
  std::string svg;  // empty: no figure
  double svg_width = 252;
  std::string colours = "engine";
};

const std::vector<std::pair<std::string, RowsBy>> row_groupings{
    {"unit", RowsBy::unit}, {"engine", RowsBy::engine}, {"stage", RowsBy::stage},
    {"node", RowsBy::node}, {"kind", RowsBy::kind},     {"op", RowsBy::op}};
const std::vector<std::pair<std::string, RowOrder>> orders{
    {"profile", RowOrder::profile}, {"start", RowOrder::start}, {"work", RowOrder::work}};

template <class Meaning>
std::optional<Meaning> meaning_of(const std::string& word,
                                  const std::vector<std::pair<std::string, Meaning>>& words) {
  for (const auto& [known, meaning] : words) {
    if (known == word) return meaning;
  }
  return std::nullopt;
}

template <class Meaning>
CLI::IsMember one_of(const std::vector<std::pair<std::string, Meaning>>& words) {
  std::vector<std::string> known;
  for (const auto& [word, meaning] : words) known.push_back(word);
  return CLI::IsMember(known);
}

report::TimelineView view_of(const TimelineOptions& options, std::int64_t origin) {
  return {.width = options.width > 0 ? options.width : terminal_width(),
          .origin = origin,
          .blocks = !options.ascii && (options.blocks || shows_unicode()),
          .of_ops = !options.selection.op.empty(),
          .of_part = options.selection.leaves_out_rows(),
          .fill = meaning_of(options.letters, row_groupings)};
}

Status write_svg(const analysis::Analysis& analysis, const analysis::TimelineRows& rows,
                 std::int64_t origin, const TimelineOptions& options) {
  const std::string file = options.svg == "-" ? "/dev/stdout" : options.svg;
  for (const auto& inputs : {options.files, analysis.profile().provenance.files}) {
    if (auto usable = check_output_is_no_input(inputs, file); !usable) return usable;
  }
  const report::SvgView view{.width = options.svg_width, .origin = origin};
  const auto cells = analysis.cells(rows, {.columns = report::svg_columns(rows, view),
                                           .fill = meaning_of(options.colours, row_groupings),
                                           .fills = report::svg_fills});
  return write_file_atomically(
      file, as_byte_span(report::timeline_svg(analysis.profile(), rows, cells, view)));
}

Result<report::Document> timeline_of(const analysis::Analysis& analysis,
                                     const report::ProfilePart& part,
                                     const TimelineOptions& options) {
  const RowsBy by = meaning_of(options.by, row_groupings).value_or(RowsBy::unit);
  const bool of_units = by == RowsBy::unit || by == RowsBy::engine;
  const auto rows =
      analysis.timeline({.by = by,
                         .order = meaning_of(options.order, orders)
                                      .value_or(of_units ? RowOrder::profile : RowOrder::start),
                         .top = options.top == 0 ? std::size_t{10'000} : options.top,
                         .gaps = options.gaps,
                         .window = part.window});
  if (!options.svg.empty()) {
    if (auto done = write_svg(analysis, rows, part.origin, options); !done) {
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
  add_document_options(*command, *options);
  options->joins_runs = true;
  command->add_option("--by", options->by, "a row for each unit, engine, stage, node, kind or op")
      ->check(one_of(row_groupings))
      ->capture_default_str();
  command->add_option("--order", options->order, "order of the rows: profile, start or work")
      ->check(one_of(orders));
  command
      ->add_option("--letters", options->letters,
                   "draw letters: of which unit, engine, stage, node, kind or op most of a column "
                   "was")
      ->check(one_of(row_groupings));
  command->add_option("--top", options->top, "rows drawn, those with most work; 0: all")
      ->check(whole_number(0, 10'000))
      ->capture_default_str();
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
  command
      ->add_option("--colours,--colors", options->colours,
                   "what the colours of the figure tell apart")
      ->check(one_of(row_groupings))
      ->capture_default_str();
  command->add_option("--svg-width", options->svg_width, "width of the figure in points")
      ->check(real_number(150, 5'000))
      ->capture_default_str();
  command->callback([options, &status] { status = timeline(*options); });
}

}  // namespace npuscope::cli
