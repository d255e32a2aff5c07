#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analysis/ops/model_parts.hpp"
#include "analysis/ops/op_bounds.hpp"
#include "base/sort_rows.hpp"
#include "base/text.hpp"
#include "npuscope/analysis/units.hpp"
#include "report/document/document_value.hpp"
#include "report/document/provenance.hpp"
#include "report/document/text_table.hpp"
#include "report/ops/ops_document.hpp"
#include "report/ops/ops_table.hpp"
#include "report/show/show.hpp"
#include "report/show/show_sections.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;

constexpr std::size_t max_strips = 4;
constexpr std::size_t max_ops = 5, min_ops = 4;  // of a page of the least height
constexpr std::size_t least_height = 30;

// A taller page has more of them.
std::size_t ops_of(const FirstPageRequest& request) {
  return request.ops.value_or(max_ops + std::max(request.height, least_height) - least_height);
}

// "compute ██████ 65 %   data movement ██ 22 %", over as many lines as it needs.
std::vector<std::string> parts_of_wall(const Coarse& coarse, std::size_t width,
                                       bool leaves_out_rows) {
  constexpr std::size_t bars = 24;
  constexpr double notable = 0.005;
  std::vector<std::string> lines{" "};
  for (std::size_t i = 0; i < part_count; ++i) {
    const double share = double(coarse.parts[i]) / double(coarse.wall);
    if (share < notable) continue;
    const std::string part =
        fmt::format("{} {} {:.0f} %", short_name_of(coarse, Part(i), leaves_out_rows),
                    bar_text(share, bars), 100 * share);
    if (columns_of(lines.back()) + 2 + columns_of(part) > width) lines.push_back(" ");
    lines.back() += (lines.back() == " " ? " " : "  ") + part;
  }
  return lines;
}

// Busy columns of the classes of hardware with most work; of units where nothing says what they
// are.
std::vector<std::string> strips(const Analysis& analysis, std::size_t width) {
  const bool by_engine =
      std::any_of(analysis.units().engines.begin(), analysis.units().engines.end(),
                  [](const EngineRow& row) { return domain_of(row.engine) != Domain::other; });
  TimelineRequest request;
  request.by = by_engine ? RowsBy::engine : RowsBy::unit;
  request.top = max_strips;
  request.only_rows = true;
  const TimelineRows rows = analysis.timeline(request);
  if (rows.wall <= 0 || rows.rows.empty()) return {};
  constexpr std::size_t share_width = 7, max_columns = 60, min_columns = 40, around = 6;
  constexpr std::size_t taken = share_width + min_columns + around;
  const std::size_t max_label = std::clamp<std::size_t>(std::max(width, taken) - taken, 24, 60);
  constexpr double notable = 0.001;
  std::vector<std::size_t> drawn;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    if (double(rows.rows[i].busy) >= notable * double(rows.wall)) drawn.push_back(i);
  }
  std::vector<std::string> labels;
  for (const std::size_t i : drawn) labels.push_back(printable(rows.rows[i].label));
  labels = shortened_apart(labels, max_label);
  std::size_t label_width = 0;
  for (const std::string& label : labels) label_width = std::max(label_width, columns_of(label));
  const std::size_t columns = std::min(max_columns, width - label_width - share_width - around);
  const TimelineCells cells = analysis.cells(rows, {.columns = columns});
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < drawn.size(); ++at) {
    const std::size_t i = drawn[at];
    std::vector<double> shares;
    for (std::size_t column = 0; column < columns; ++column) {
      const std::size_t of = column * cells.columns.count() / columns;
      const std::int64_t length = cells.columns.length_of(of);
      shares.push_back(length > 0 ? double(cells.rows[i][of].busy) / double(length) : 0);
    }
    const std::string blanks(label_width - columns_of(labels[at]), ' ');
    lines.push_back(fmt::format("  {}{}  {}  {:>{}}", labels[at], blanks, strip_text(shares),
                                percent_text(double(rows.rows[i].busy), double(rows.wall)),
                                share_width));
  }
  return lines;
}

Section where_section(const Analysis& analysis, const FirstPageRequest& request) {
  const Coarse& coarse = analysis.coarse();
  // Samples of whole inferences have no timeline, and no wall together.
  const bool is_of_samples =
      analysis.profile().spans.measure(NumberRole::host_round_trip) != nullptr;
  if (coarse.wall <= 0 || is_of_samples) return {};
  Section section{.key = "where"};
  section.title = "WHERE THE TIME GOES  wall " + wall_text(analysis);
  if (!coarse.has_parts()) {
    section.remarks = {"Of inferences; no timeline of what ran in them."};
    return section;
  }
  section.drawing = parts_of_wall(coarse, request.width, request.leaves_out_rows);
  for (std::string& line : strips(analysis, request.width)) {
    section.drawing.push_back(std::move(line));
  }
  return section;
}

// Of a summary in cycles alone: how long the graph is, and what part of it no lane works.
Section graph_section(const Analysis& analysis) {
  const NumberRow *wall = nullptr, *busy = nullptr;
  for (const NumberRow& row : analysis.numbers()) {
    if (row.subject != Measure::Subject::profile || row.values.count != 1) continue;
    if (row.meaning.role == NumberRole::graph_wall) wall = &row;
    if (row.meaning.role == NumberRole::busy) busy = &row;
  }
  if (analysis.coarse().wall > 0 || wall == nullptr || !(wall->values.first > 0)) return {};
  const Profile& profile = analysis.profile();
  Section section{.key = "where"};
  section.title =
      "WHERE THE TIME GOES  graph " + ticks_text(profile, wall->clock, wall->values.first);
  if (!shows_time(profile, wall->clock)) {
    section.title += " " + unit_of(profile, wall->clock);
    const Hertz rate = profile.clocks[index_of(wall->clock)].rate;
    if (rate.value > 0) section.title += " = " + seconds_text(wall->values.first / rate.value);
  }
  if (busy == nullptr || busy->clock != wall->clock) return section;
  constexpr std::size_t bars = 24;
  const double share = std::min(1.0, busy->values.first / wall->values.first);
  section.drawing = {fmt::format("  any lane busy {} {:.0f} %  idle {} {:.0f} %",
                                 bar_text(share, bars), 100 * share, bar_text(1 - share, bars),
                                 100 * (1 - share))};
  return section;
}

// "MLP projections 37 %, attention projections 33 %, lm head 22 %, other 8 %", as many as fit a
// line, or two where one says less than most; the rest is other, so that they add up.
std::string parts_text(const ModelParts& parts, std::size_t width) {
  constexpr double notable = 0.005;
  constexpr std::size_t for_other = sizeof(", other 100 %") - 1;
  constexpr double mostly = 0.8;  // below, they go on in a second line
  std::string text;
  double told = 0;
  for (const ModelPart& part : parts.parts) {
    if (part.share < notable || part.name == "other") break;
    const std::string next = fmt::format("{} {:.0f} %", part.name, 100 * part.share);
    const std::size_t room = told < mostly ? 2 * width : width;
    if (columns_of(text) + columns_of(next) + 2 + for_other > room) break;
    text += (text.empty() ? "" : ", ") + next;
    told += part.share;
  }
  if (1 - told < notable) return text;
  return text + fmt::format("{}other {:.0f} %", text.empty() ? "" : ", ", 100 * (1 - told));
}

// What bounds each row; of very many spans it takes longer than a page may.
std::vector<OpBound> bounds_of(const Analysis& analysis, const OpTable& ops, const PeakText& text) {
  std::vector<OpBound> bounds(ops.rows.size());
  if (analysis.profile().spans.size() > max_spans_for_bounds) return bounds;
  MemoryOptions memory;
  if (const auto found = find_peaks(analysis.profile(), text)) {
    memory.peaks = found->peaks;
    memory.rate = found->clock;
  }
  return op_bounds(analysis, ops, Grouping::op, memory);
}

Section ops_section(const Analysis& analysis, OpTable ops, const FirstPageRequest& request) {
  const Profile& profile = analysis.profile();
  if (ops.rows.empty() || ops.columns.empty()) return {};
  const OpColumn& column = ops.columns[ops.ranked_by];
  const double whole = column.whole.value_or(column.total);
  Section section{.key = "ops", .title = "OPS, by " + ops.ranked_by_name};
  std::size_t rows = ops_of(request);
  if (const auto parts = model_parts(profile, ops)) {
    constexpr std::size_t label = 15;
    section.facts = {{{"", "parts"}, parts_text(*parts, request.width - label)}};
    rows -= !request.ops && rows > min_ops;  // for this line
  }
  ops.rows.resize(std::min(ops.rows.size(), rows));
  const bool is_time = column.kind != MeasureKind::count;
  if (is_time && !shows_time(profile, column.clock)) {
    section.title += ", in " + unit_of(profile, column.clock);
  }
  if (column.per_inference) section.title += ", median of an inference after the first";
  section.table.fields = {{"", "op"},
                          {"", " ", Format::bar, false},
                          {"", "share", Format::share},
                          {"", ops.ranked_by_name, is_time ? Format::ticks : Format::number},
                          {.key = "", .label = "bound", .only_if_known = true, .is_bound = true},
                          {"", "mostly", Format::name, false, true},
                          {"", "on", Format::name, false, true}};
  section.table.fields[3].clock = column.clock;
  const auto warm = std::find_if(ops.columns.begin(), ops.columns.end(), [&](const OpColumn& each) {
    return is_beside_timeline(profile, each);
  });
  if (warm != ops.columns.end()) {
    Field field{"", "node, " + inferences_text(profile, *warm, true), Format::ticks, false, true};
    field.clock = warm->clock;
    section.table.fields.insert(section.table.fields.begin() + 4, std::move(field));
  }
  section.table.fields.insert(
      section.table.fields.begin() + 1,
      {{"", "layers", Format::count, false, true}, {"", "ops", Format::count, false, true}});
  section.table.row_count = ops.row_count;
  const std::vector<OpBound> bounds = bounds_of(analysis, ops, request.peaks);
  for (std::size_t i = 0; i < ops.rows.size(); ++i) {
    const OpRow& row = ops.rows[i];
    const char* bound = name_of(bounds[i]);
    section.table.bounds.push_back(style_of(bounds[i]));
    const auto value = row.values[ops.ranked_by];
    Value share;
    if (value && whole > 0) share = *value / whole;
    const auto of_one_name = layers_of_one_name(profile, ops, row);
    section.table.rows.push_back({row.name, row.layers > 1 ? Value(row.layers) : Value(),
                                  of_one_name && row.layers <= 1 ? Value(*of_one_name) : Value(),
                                  share, share, value, *bound == '\0' ? Value() : Value(bound),
                                  main_kernel(profile, row), engines_of(row)});
    if (warm == ops.columns.end()) continue;
    auto& cells = section.table.rows.back();
    cells.insert(cells.begin() + 6, row.values[std::size_t(warm - ops.columns.begin())]);
  }
  return section;
}

// Ops as they ran, with what bounds each.
Section ops_in_order(const Analysis& analysis, const FirstPageRequest& request) {
  constexpr std::size_t least = 20;  // a few of the first tell nothing
  OpsRequest ops{.grouping = Grouping::node, .sort = "start"};
  ops.top = request.ops.value_or(std::max(least, ops_of(request)));
  ops.peaks = request.peaks;
  auto document = ops_document(analysis, ops);
  if (!document || document->sections.empty()) return {};
  Section section = std::move(document->sections.front());
  section.key = "ops_in_order";
  for (Field& field : section.table.fields) field.key.clear();  // it is in text only
  section.facts.clear();
  section.remarks.clear();
  return section;
}

// As many columns as fit any page.
Section first_unit_numbers(const Analysis& analysis) {
  constexpr std::size_t max_columns = 4;
  const std::size_t rows = analysis.profile().ops.empty() ? max_ops : 2;
  Section section = unit_numbers_section(analysis, rows);
  section.remarks.clear();
  if (section.table.fields.size() <= max_columns) return section;
  section.table.fields.resize(max_columns);
  for (auto& row : section.table.rows) row.resize(max_columns);
  return section;
}

// Of a summary without a timeline: what the file says of its kernels.
Section kernels_section(const Analysis& analysis) {
  const Profile& profile = analysis.profile();
  constexpr std::size_t max_kernels = 3;
  Section section{.key = "kernels", .title = "KERNELS, by dominant path, as the file has them"};
  double whole = 0;
  std::vector<const NumberRow*> rows;
  for (const NumberRow& row : analysis.numbers()) {
    if (row.meaning.role == NumberRole::busy && row.subject == Measure::Subject::profile) {
      whole = row.values.first;
    }
    if (row.meaning.role == NumberRole::kernel_dominant_path) rows.push_back(&row);
  }
  if (rows.empty() || profile.spans.size() > 0) return {};
  sort_rows(rows.begin(), rows.end(), [](const NumberRow* a, const NumberRow* b) {
    return a->values.first > b->values.first;
  });
  section.table.row_count = rows.size();
  rows.resize(std::min(rows.size(), max_kernels));
  section.table.fields = {{"", "kernel"},
                          {"", " ", Format::bar, false},
                          {"", "share", Format::share, true, true},
                          {"", "dominant path", Format::ticks}};
  section.table.fields.back().clock = rows.front()->clock;
  for (const NumberRow* row : rows) {
    Value share;
    if (whole > 0) share = row->values.first / whole;
    section.table.rows.push_back(
        {std::string(profile.text(row->what)), share, share, row->values.first});
  }
  return section;
}

Section next_section(const Analysis& analysis, const FirstPageRequest& request) {
  const std::string full = fmt::format("npuscope show {} --full", request.files);
  std::string text;
  for (const char* command : {"diagnose", "timeline", "path"}) {
    if (!analysis.coarse().has_parts() && command != std::string_view("diagnose")) continue;
    const std::string more = fmt::format("npuscope {} {} · ", command, request.files);
    if (columns_of(text + more + full) + 6 > request.width) break;
    text += more;
  }
  return {.key = "next", .title = "NEXT  " + text + full};
}

// Ops give way, the last first; before there are few of them, the strips of hardware with least
// work, findings after the second, what the file says of kernels and units, the second finding.
void fit(Document& document, const FirstPageRequest& request) {
  std::optional<std::size_t> counted;  // until the page changes
  const auto lines = [&] {
    if (counted) return *counted;
    const std::string text = document_text(document, request.width);
    return *(counted = std::size_t(std::count(text.begin(), text.end(), '\n')));
  };
  const std::size_t height = std::max(request.height, least_height);
  const auto shorten = [&](std::string_view key, std::size_t least, auto rows_of) {
    const auto section = std::ranges::find(document.sections, key, &Section::key);
    if (section == document.sections.end()) return;
    auto& rows = rows_of(*section);
    for (; rows.size() > least && lines() > height; counted.reset()) rows.pop_back();
  };
  constexpr std::size_t least_drawn = 2;
  const auto rows_of_table = [](Section& section) -> auto& { return section.table.rows; };
  const auto rows_of_drawing = [](Section& section) -> auto& { return section.drawing; };
  if (!request.ops) shorten("ops", min_ops, rows_of_table);
  shorten("where", least_drawn, rows_of_drawing);
  const auto keep_findings = [&](std::size_t least) {
    const auto findings = std::ranges::find(document.sections, "findings", &Section::key);
    if (findings == document.sections.end() || findings->parts.empty()) return;
    auto& shown = findings->parts.front().table.rows;
    if (shown.size() <= least || lines() <= height) return;
    shown.resize(least);
    counted.reset();
    findings->title = findings_title(shown.size(), findings->table.rows.size());
  };
  keep_findings(2);
  constexpr std::string_view as_in_file[] = {"unit_numbers", "kernels"};
  for (const std::string_view key : as_in_file) shorten(key, 1, rows_of_table);
  keep_findings(1);
  for (const std::string_view key : as_in_file) {
    if (request.ops || lines() <= height) break;
    std::erase_if(document.sections, [&](const Section& section) { return section.key == key; });
    counted.reset();
  }
  if (!request.ops) shorten("ops", 1, rows_of_table);
}

}  // namespace

Document first_page(const Analysis& analysis, const FirstPageRequest& request) {
  const Profile& profile = analysis.profile();
  // Held for the findings too. Of so many spans that there are none, first of all: it takes most
  // memory, which the others can have afterwards.
  std::shared_ptr<const OpSpansInGroups> spans_by_op = analysis.spans_by_op();
  OpTable ops = analysis.ops(options_of_parts());
  if (profile.spans.size() > max_spans_for_findings) spans_by_op.reset();
  Document document{.profile = &profile};
  document.about = what_was_profiled(profile);
  document.scope = scope_of_all(profile);
  const auto add = [&](Section section) {
    if (!section.key.empty()) document.sections.push_back(std::move(section));
  };
  Section latency = request.is_part ? Section{} : latency_section(latency_of(analysis));
  if (!latency.key.empty()) latency.table.fields.back().label.clear();
  const bool has_latency = !latency.key.empty();
  Section tokens = request.is_part ? Section{} : tokens_section(analysis);
  const bool has_tokens = !tokens.key.empty();
  add(has_tokens ? std::move(tokens) : std::move(latency));
  Section estimate = request.is_part ? Section{} : estimate_section(analysis);
  const bool has_estimate = !estimate.key.empty();
  add(std::move(estimate));
  if (!request.is_part) add(throughput_section(profile, request.peaks));
  add(where_section(analysis, request));
  if (!request.is_part && !has_latency && !has_estimate) add(graph_section(analysis));
  add(first_findings_section(analysis, request.leaves_out_rows, request.peaks));
  add(request.in_order ? ops_in_order(analysis, request)
                       : ops_section(analysis, std::move(ops), request));
  add(kernels_section(analysis));
  const bool has_timeline = analysis.coarse().wall > 0;
  if (profile.ops.empty() || !has_timeline) add(first_unit_numbers(analysis));
  if (profile.ops.empty()) add(counters_section(profile, max_ops));
  // Of a file of numbers alone, or of inferences without what ran in them.
  const bool has_only_findings = document.sections.size() == 1 && profile.spans.size() == 0;
  const bool has_only_inferences = profile.ops.empty() && profile.spans.size() > 0 &&
                                   std::ranges::all_of(profile.spans.kind, [](SpanKind kind) {
                                     return kind == SpanKind::inference;
                                   });
  if (has_only_findings || has_only_inferences) {
    add(run_numbers_section(analysis, 2 * max_ops));
    add(notes_section(profile, max_ops));  // there is room
  }
  add(next_section(analysis, request));
  fit(document, request);
  return document;
}

Document profiles_document(const std::vector<const Analysis*>& all) {
  Document document;
  Section section{.key = "profiles", .title = fmt::format("PROFILES ({})", all.size())};
  section.table.fields = {{.key = "", .label = "profile", .is_path = true},
                          {"", "format"},
                          {"", "graph", Format::name, true, true},
                          {"", "warm", Format::seconds, true, true},
                          {"", "cold", Format::seconds, true, true},
                          {"", "time", Format::seconds, true, true},
                          {"", "ops", Format::count},
                          {"", "notes", Format::name, false, true}};
  for (const Analysis* analysis : all) {
    const Profile& profile = analysis->profile();
    const LatencyOfCall latency = latency_of(*analysis);
    const LatencyRow row = latency.rows.empty() ? LatencyRow{} : latency.rows.front();
    const std::string notes = warnings_text(profile);
    const std::string& graph = profile.provenance.graph;
    section.table.rows.push_back({files_text(profile), profile.provenance.format, if_any(graph),
                                  row.warm_seconds, row.cold_seconds, row.seconds,
                                  profile.ops.size(), if_any(notes)});
  }
  document.sections.push_back(std::move(section));
  return document;
}

}  // namespace npuscope::report
