// npuscope timeline: what ran when, drawn as text or as a picture.
#include <memory>

#include "cli/choices.hpp"
#include "cli/documents.hpp"
#include "report/timeline/timeline_document.hpp"

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
  PictureOptions picture;
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

analysis::TimelineRows rows_of(const analysis::Analysis& analysis, const report::ProfilePart& part,
                               const TimelineOptions& options) {
  const bool of_units = options.by == RowsBy::unit || options.by == RowsBy::engine;
  return analysis.timeline(
      {.by = options.by,
       .order = options.order.value_or(of_units ? RowOrder::profile : RowOrder::start),
       .top = std::min(options.rows(), max_rows),
       .gaps = options.gaps,
       .window = part.window});
}

std::string draw(const analysis::Analysis& analysis, const report::ProfilePart& part,
                 const TimelineOptions& options) {
  const analysis::TimelineRows rows = rows_of(analysis, part, options);
  const report::SvgView view{{options.picture.width, part.text}, part.origin, options.colours};
  const auto cells =
      analysis.cells(rows, {.columns = report::svg_columns(analysis.profile(), rows, view),
                            .fill = options.colours,
                            .fills = report::svg_fills});
  return report::timeline_svg(analysis.profile(), rows, cells, view);
}

report::Document document_of(const analysis::Analysis& analysis, const report::ProfilePart& part,
                             const TimelineOptions& options) {
  const analysis::TimelineRows rows = rows_of(analysis, part, options);
  const report::TimelineView view = view_of(options, part.origin);
  const auto cells = analysis.cells(
      rows, {.columns = report::timeline_columns(rows, view), .fill = view.fill, .fills = 25});
  return report::make_timeline_document(analysis.profile(), rows, cells, view);
}

ExitStatus timeline(const TimelineOptions& options) {
  using analysis::Analysis;
  using report::ProfilePart;
  return print_with_picture(
      options, options.picture,
      [&](const Analysis& of, const ProfilePart& part) { return draw(of, part, options); },
      [&](const Analysis& of, const ProfilePart& part) { return document_of(of, part, options); },
      {.needs_timeline = true});
}

}  // namespace

void add_timeline_command(Command& program) {
  Command& command = program.command(
      "timeline", "What ran when: a row per unit or group of ops, gaps, overlap, concurrency");
  const auto options = std::make_shared<TimelineOptions>();
  options->top.set(40, "rows drawn, those with most work");
  add_document_options(command, *options);
  options->joins_runs = true;
  add_choice(command, "--by", options->by, row_groupings, "what a row is of");
  add_choice<std::optional<RowOrder>>(
      command, "--order", options->order,
      {{"profile", RowOrder::profile}, {"start", RowOrder::start}, {"work", RowOrder::work}},
      "order of the rows; default: what fits them");
  add_choice(command, "--letters", options->letters, optional_groupings(),
             "draw letters: of what most of a column was");
  command.flag("--gaps", options->gaps, "idle intervals listed, the longest")
      .check(whole_number(0, 10'000))
      .shows_usual();
  add_part_options(command, *options);
  command.flag("--ascii", options->ascii, "draw with ASCII only");
  command.flag("--blocks", options->blocks, "draw with block characters, also into a file")
      .excludes("--ascii");
  add_picture_options(command, options->picture);
  add_choice(command, "--colours,--colors", options->colours, row_groupings,
             "what the colours of the picture tell apart");
  command.matters_with("--colours", {"--svg"});
  for (const char* flag : {"--ascii", "--blocks"}) command.idle_beside(flag, {"--json", "--csv"});
  command.action = [options] { return timeline(*options); };
}

}  // namespace npuscope::cli
