#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "npuscope/analysis/units.hpp"
#include "report/document/bars.hpp"
#include "report/document/provenance.hpp"
#include "report/document/quantity.hpp"
#include "report/document/scope.hpp"
#include "report/document/text_table.hpp"
#include "report/ops/op_column_name.hpp"
#include "report/show/show.hpp"
#include "report/show/show_sections.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;

constexpr std::size_t max_strips = 4;
constexpr std::size_t max_ops = 5;

// "QNN HTP optrace set · model_encoded · 3 inferences, the first cold"
std::string about_text(const Profile& profile) {
  using Temperature = Provenance::Temperature;
  const Provenance& from = profile.provenance;
  std::string text = from.format.empty() ? "format unknown" : from.format;
  for (const std::string& part : {from.device, from.graph}) {
    if (!part.empty() && from.format.find(part) == std::string::npos) text += " · " + part;
  }
  if (from.inferences > 0) {
    text += fmt::format(" · {} inference{}", thousands(from.inferences),
                        from.inferences == 1 ? "" : "s");
    if (from.temperature == Temperature::cold) text += ", cold";
    if (from.temperature == Temperature::warm) text += ", warm";
    if (from.temperature == Temperature::cold_then_warm) text += ", the first cold";
  }
  return text;
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
  request.gaps = 0;
  const TimelineRows rows = analysis.timeline(request);
  if (rows.wall <= 0 || rows.rows.empty()) return {};
  constexpr std::size_t max_label = 24, share_width = 7, max_columns = 60;
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
  const std::size_t columns = std::min(max_columns, width - label_width - share_width - 6);
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
  if (coarse.wall <= 0) return {};
  Section section{.key = "where"};
  section.title = "WHERE THE TIME GOES  wall " + wall_text(analysis);
  if (!coarse.has_parts()) {
    section.title += ", of inferences; what ran in them has no timeline here";
    return section;
  }
  section.drawing = parts_of_wall(coarse, request.width, request.leaves_out_rows);
  for (std::string& line : strips(analysis, request.width)) {
    section.drawing.push_back(std::move(line));
  }
  return section;
}

std::string engines_of(const OpRow& row) {
  std::string text;
  for (const Engine engine : row.engines) {
    text += (text.empty() ? "" : "+") + std::string(name_of(engine));
  }
  return text;
}

// "q::ForceFormat_Crouton 74 %"; of one kernel alone its name.
Value mostly(const Profile& profile, const OpRow& row) {
  if (row.kinds == 1 && row.kind != row.label) return profile.text(row.kind);
  if (row.main_kind == StringId::empty || row.kinds < 2) return {};
  const std::string kind(profile.text(row.main_kind));
  constexpr double nearly_all = 0.995;
  return row.main_share >= nearly_all ? kind
                                      : fmt::format("{} {:.0f} %", kind, 100 * row.main_share);
}

Section ops_section(const Analysis& analysis) {
  const Profile& profile = analysis.profile();
  const OpTable ops = analysis.ops({.top = max_ops, .count_runs = false, .per_inference = true});
  if (ops.rows.empty() || ops.columns.empty()) return {};
  const OpColumn& column = ops.columns[ops.ranked_by];
  const double whole = column.whole.value_or(column.total);
  Section section{.key = "ops", .title = "OPS, by " + ops.ranked_by_name};
  const bool is_time = column.kind != MeasureKind::count;
  if (is_time && !shows_time(profile, column.clock)) {
    section.title += ", in " + unit_of(profile, column.clock);
  }
  if (column.per_inference) section.title += ", median of an inference after the first";
  section.table.fields = {{"", "op"},
                          {"", " ", Format::bar, false},
                          {"", "share", Format::share},
                          {"", ops.ranked_by_name, is_time ? Format::ticks : Format::number},
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
  section.table.fields.insert(section.table.fields.begin() + 1,
                              {"", "layers", Format::count, false, true});
  section.table.row_count = ops.row_count;
  for (const OpRow& row : ops.rows) {
    const auto value = row.values[ops.ranked_by];
    Value share;
    if (value && whole > 0) share = *value / whole;
    const std::string on = engines_of(row);
    section.table.rows.push_back({row.name, row.layers > 1 ? Value(row.layers) : Value(), share,
                                  share, value, mostly(profile, row),
                                  on.empty() ? Value() : Value(on)});
    if (warm == ops.columns.end()) continue;
    auto& cells = section.table.rows.back();
    cells.insert(cells.begin() + 5, row.values[std::size_t(warm - ops.columns.begin())]);
  }
  return section;
}

// As many columns as fit any page.
Section first_unit_numbers(const Analysis& analysis) {
  constexpr std::size_t max_columns = 4;
  Section section = unit_numbers_section(analysis, max_ops);
  section.remarks.clear();
  if (section.table.fields.size() <= max_columns) return section;
  section.table.fields.resize(max_columns);
  for (auto& row : section.table.rows) row.resize(max_columns);
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

}  // namespace

Document first_page(const Analysis& analysis, const FirstPageRequest& request) {
  const Profile& profile = analysis.profile();
  Document document{.profile = &profile};
  document.about = about_text(profile);
  document.scope = scope_of_all(profile);
  const auto add = [&](Section section) {
    if (!section.key.empty()) document.sections.push_back(std::move(section));
  };
  Section latency = request.is_part ? Section{} : latency_section(latency_of(analysis));
  if (!latency.key.empty()) latency.table.fields.back().label.clear();
  add(std::move(latency));
  if (!request.is_part) add(throughput_section(profile));
  add(where_section(analysis, request));
  add(first_findings_section(analysis, request.leaves_out_rows));
  add(ops_section(analysis));
  if (profile.ops.empty()) add(first_unit_numbers(analysis));
  if (profile.ops.empty()) add(counters_section(profile, max_ops));
  add(next_section(analysis, request));
  return document;
}

Document profiles_document(const std::vector<const Analysis*>& all) {
  Document document;
  Section section{.key = "profiles", .title = fmt::format("PROFILES ({})", all.size())};
  section.table.fields = {{"", "profile"},
                          {"", "format"},
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
    section.table.rows.push_back({files_text(profile), profile.provenance.format, row.warm_seconds,
                                  row.cold_seconds, row.seconds, profile.ops.size(),
                                  notes.empty() ? Value() : Value(notes)});
  }
  document.sections.push_back(std::move(section));
  return document;
}

}  // namespace npuscope::report
