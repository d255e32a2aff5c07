#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "npuscope/base/text.hpp"
#include "npuscope/report/show.hpp"
#include "report/names.hpp"
#include "report/quantity.hpp"
#include "report/text_table.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;
using Align = TextColumn::Align;

constexpr std::size_t narrowest = 60;

// "1 op", "3 ops"; empty for none.
std::string counted(std::uint64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", thousands(count), count == 1 ? one : many);
}

std::string file_name(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return name.empty() ? path : name;
}

class PageText {
 public:
  PageText(const Page& page, std::size_t width)
      : page_(page), profile_(*page.profile), width_(std::max(width, narrowest)) {}

  std::string print();

 private:
  void heading(std::string_view text) { out_ += fmt::format("\n{}\n", text); }
  void line(std::string_view label, std::string_view text);
  void table(const TextTable& rows) { out_ += rows.print(width_); }
  std::string base(double ticks) const { return ticks_text(profile_, profile_.base_clock, ticks); }
  std::string base_with_unit(double ticks) const;
  void print_files();
  void print_identity();
  void print_contents();
  void print_wall();
  void print_phases();
  void print_ops(const OpTable& ops, const char* title, const char* one, bool with_kind);
  void print_engines();
  void print_units();
  void print_traffic();
  void print_numbers();
  void print_numbers_of_parts();
  void print_counters();
  void print_checks();
  void print_notes();
  std::string heading_of(const OpTable& ops, std::size_t place) const;
  std::string more(std::uint64_t shown, std::uint64_t all) const;
  std::string value_text(const OpColumn& column, const std::optional<double>& value) const;
  std::string number_of(const NumberRow& row, double value) const;

  const Page& page_;
  const Profile& profile_;
  std::size_t width_;
  std::string out_;
};

// A label and what it says, over as many lines as it needs.
void PageText::line(std::string_view label, std::string_view text) {
  constexpr std::size_t label_width = 12;
  std::string words = printable(text);
  std::string start = fmt::format("  {:<{}}", label, label_width);
  const std::size_t room = width_ - label_width - 2;
  while (columns_of(words) > room) {
    std::size_t cut = words.rfind(' ', room);
    if (cut == std::string::npos || cut == 0) break;
    out_ += start + words.substr(0, cut) + "\n";
    words.erase(0, cut + 1);
    start = std::string(label_width + 2, ' ');
  }
  out_ += start + shortened(words, room) + "\n";
}

std::string PageText::base_with_unit(double ticks) const {
  const std::string text = base(ticks);
  return shows_time(profile_, profile_.base_clock)
             ? text
             : text + " " + unit_of(profile_, profile_.base_clock);
}

std::string PageText::more(std::uint64_t shown, std::uint64_t all) const {
  if (shown >= all) return thousands(all);
  return fmt::format("{} of {}", thousands(shown), thousands(all));
}

// One file by its path; several by their folder, if they share it, and their names.
void PageText::print_files() {
  constexpr std::size_t most_named = 8;
  const auto& files = profile_.provenance.files;
  if (files.size() < 2) {
    out_ += shortened(printable(files.empty() ? "(no file)" : files.front()), width_) + "\n";
    return;
  }
  const auto folder_of = [](const std::string& file) {
    return std::filesystem::path(file).parent_path().string();
  };
  const std::string folder = folder_of(files.front());
  const bool share = std::all_of(files.begin(), files.end(), [&](const std::string& file) {
    return folder_of(file) == folder;
  });
  std::string names;
  for (std::size_t i = 0; i < std::min(files.size(), most_named); ++i) {
    names += (i > 0 ? ", " : "") + (share ? file_name(files[i]) : files[i]);
  }
  if (files.size() > most_named) {
    names += fmt::format(" and {} more", files.size() - most_named);
  }
  const std::string title = share && !folder.empty() ? folder : file_name(files.front());
  out_ += shortened(printable(title), width_) + "\n";
  line("files", names);
}

void PageText::print_identity() {
  const Provenance& from = profile_.provenance;
  print_files();
  line("format", from.format.empty()    ? "unknown"
                 : from.version.empty() ? from.format
                                        : from.format + ", " + from.version);
  if (!from.device.empty()) line("device", from.device);
  if (!from.graph.empty()) line("graph", from.graph);
  constexpr const char* temperatures[] = {"", "cold", "warm", "the first cold, then warm"};
  std::string runs;
  if (from.inferences > 0) runs = thousands(from.inferences);
  const std::string temperature = temperatures[std::size_t(from.temperature)];
  if (!temperature.empty()) runs += (runs.empty() ? "" : ", ") + temperature;
  if (!from.instrumentation.empty()) {
    runs += (runs.empty() ? "instrumented: " : "; instrumented: ") + from.instrumentation;
  }
  if (!runs.empty()) line("inferences", runs);
  if (!page_.selection.empty()) line("selection", page_.selection);
  if (page_.structure_only) {
    line("caution",
         "structure only: the ops are of one cold inference, slowed by its own recording; "
         "read what runs beside what, not utilisation or wall");
  }
}

void PageText::print_contents() {
  std::string all;
  const auto add = [&](std::uint64_t count, const char* one, const char* many) {
    if (count > 0) all += (all.empty() ? "" : ", ") + counted(count, one, many);
  };
  add(profile_.spans.size(), "span", "spans");
  add(profile_.ops.size(), "op", "ops");
  add(profile_.units.size(), "unit", "units");
  add(profile_.phases.size(), "phase", "phases");
  add(profile_.counters.size(), "counter sample", "counter samples");
  add(profile_.flows.size(), "flow", "flows");
  add(profile_.edges.size(), "dependency", "dependencies");
  add(profile_.tensors.size(), "tensor", "tensors");
  add(profile_.measures.size(), "number", "numbers");
  line("holds", all.empty() ? "nothing" : all);
  const std::size_t base = index_of(profile_.base_clock);
  if (profile_.spans.size() == 0 || base >= profile_.clocks.size()) return;
  const Clock& clock = profile_.clocks[base];
  std::string text =
      fmt::format("{} ({})", profile_.text(clock.name), unit_of(profile_, profile_.base_clock));
  if (clock.rate.value > 0) {
    if (unit_of(profile_, profile_.base_clock) != "ns") {
      text += ", " + hertz_text(clock.rate.value);
    }
  } else if (page_.rate) {
    text += fmt::format(", {} during this phase", hertz_text(page_.rate->value));
  } else {
    text += ", rate unknown: no times in seconds";
  }
  line("clock", text);
}

// On average while any is; work does not say it where spans of one unit overlap.
double units_at_work(const Concurrency& concurrency) {
  double any = 0, sum = 0;
  for (std::size_t units = 1; units <= concurrency.most(); ++units) {
    any += double(concurrency.time_at[units]);
    sum += double(units) * double(concurrency.time_at[units]);
  }
  return any > 0 ? sum / any : 0;
}

void PageText::print_wall() {
  const Coarse& coarse = page_.coarse;
  if (coarse.wall == 0) return;
  const auto wall = double(coarse.wall);
  std::string title = "WALL  " + base_with_unit(wall);
  const bool in_time = shows_time(profile_, profile_.base_clock);
  if (!in_time && page_.rate) {
    title += fmt::format(" = {}", seconds_text(wall / page_.rate->value));
  }
  const bool has_parts = coarse.active > 0 || coarse.parts[std::size_t(Part::waiting)] > 0;
  if (!has_parts) title += "  of inferences; what ran in them has no timeline here";
  heading(title);
  constexpr std::size_t bar_width = 30;
  TextTable parts({{"part", Align::left},
                   {in_time ? "time" : unit_of(profile_, profile_.base_clock)},
                   {"share"},
                   {"", Align::left, false}});
  for (std::size_t i = 0; i < part_count; ++i) {
    const auto part = double(coarse.parts[i]);
    if (part <= 0) continue;
    const auto bar = std::size_t(part / wall * double(bar_width) + 0.5);
    const bool may_be_left_out = Part(i) == Part::idle && page_.leaves_out_rows;
    parts.add({may_be_left_out ? "not selected or idle" : name_of(Part(i)), base(part),
               percent_text(part, wall), std::string(std::min(bar, bar_width), '#')});
  }
  if (has_parts) table(parts);
  std::string side = fmt::format("work {}", base_with_unit(double(coarse.work)));
  if (coarse.active > 0) {
    side += fmt::format("; {:.2f} units at work on average while any is, {} at most",
                        units_at_work(coarse.concurrency), coarse.concurrency.most());
  }
  if (coarse.gaps > 0) {
    side += fmt::format("; {}, the longest {}", counted(coarse.gaps, "gap", "gaps"),
                        base_with_unit(double(coarse.longest_gap)));
  }
  if (has_parts) line("overall", side);
  const Spread& runs = coarse.inferences;
  if (runs.count > 1) {
    line("inference", fmt::format("first {}, median of the other {} {}, from {} to {}",
                                  base_with_unit(runs.first), runs.count - 1,
                                  base_with_unit(runs.median_of_rest), base_with_unit(runs.least),
                                  base_with_unit(runs.most)));
  }
}

void PageText::print_phases() {
  if (page_.phases.empty()) return;
  const bool in_time = shows_time(profile_, profile_.base_clock);
  const bool any_timed = std::any_of(page_.phases.begin(), page_.phases.end(),
                                     [](const PhaseRow& row) { return row.microseconds.count; });
  const bool several = std::any_of(page_.phases.begin(), page_.phases.end(),
                                   [](const PhaseRow& row) { return row.ticks.count > 1; });
  const std::string unit = in_time ? "" : " " + unit_of(profile_, profile_.base_clock);
  heading(fmt::format("PHASES ({})",
                      more(std::min(page_.top, page_.phases.size()), page_.phases.size())));
  TextTable rows({{"phase", Align::left},
                  {"runs"},
                  {"first" + unit},
                  {any_timed && !in_time ? "first time" : ""},
                  {several ? "median of rest" : "", Align::right, false},
                  {"self, first", Align::right, false},
                  {any_timed && !in_time ? "rate" : "", Align::right, false}});
  for (std::size_t i = 0; i < std::min(page_.top, page_.phases.size()); ++i) {
    const PhaseRow& row = page_.phases[i];
    const bool timed = row.microseconds.count > 0;
    const auto time = [](const Spread& spread, double value) {
      return spread.count > 0 ? seconds_text(value * 1e-6) : std::string();
    };
    rows.add({std::string(2 * std::min<std::size_t>(row.depth, 8), ' ') +
                  std::string(profile_.text(row.name)),
              thousands(row.ticks.count), base(row.ticks.first),
              in_time ? "" : time(row.microseconds, row.microseconds.first),
              row.ticks.count < 2 ? ""
              : in_time || !timed ? base(row.ticks.median_of_rest)
                                  : time(row.microseconds, row.microseconds.median_of_rest),
              in_time || !timed ? base(row.self_ticks.first)
                                : time(row.self_microseconds, row.self_microseconds.first),
              row.hertz.count > 0 && !in_time ? hertz_text(row.hertz.first) : ""});
  }
  table(rows);
}

std::string PageText::value_text(const OpColumn& column, const std::optional<double>& value) const {
  if (!value) return "";
  if (column.kind != MeasureKind::count) return ticks_text(profile_, column.clock, *value);
  return column.name.find("byte") != std::string::npos ? bytes_text(*value) : number_text(*value);
}

// What the page shows beside the column that ranks: times of the spans, else what there is.
std::vector<std::size_t> columns_shown(const OpTable& ops) {
  constexpr std::size_t most = 5;
  std::vector<std::size_t> shown{ops.ranked_by};
  const auto add = [&](std::size_t place) {
    if (std::find(shown.begin(), shown.end(), place) == shown.end()) shown.push_back(place);
  };
  for (const char* name : {"work", "issue", "waiting", "active", "span"}) {
    if (const auto place = ops.place_of(name)) add(*place);
  }
  for (std::size_t i = 0; i < ops.columns.size(); ++i) {
    if (!ops.columns[i].of_base_clock && shown.size() < most) add(i);
  }
  return shown;
}

// Cycles of two cores are two numbers: their clocks tell them apart.
std::string PageText::heading_of(const OpTable& ops, std::size_t place) const {
  const OpColumn& column = ops.columns[place];
  const auto same = std::count_if(ops.columns.begin(), ops.columns.end(),
                                  [&](const OpColumn& other) { return other.name == column.name; });
  if (same < 2 || column.kind == MeasureKind::count ||
      index_of(column.clock) >= profile_.clocks.size()) {
    return column.name;
  }
  return fmt::format("{}, {}", column.name,
                     profile_.text(profile_.clocks[index_of(column.clock)].name));
}

// "HVX x4" on four units, "HVX+DMA" where it used both.
std::string engines_text(const OpRow& row) {
  std::string text;
  for (const Engine engine : row.engines)
    text += (text.empty() ? "" : "+") + std::string(name_of(engine));
  if (row.engines.size() == 1 && row.units > 1) text += fmt::format(" x{}", row.units);
  return text;
}

// Nobody should take a sum over threads for a length of time.
bool sums_over_units(const OpTable& ops) {
  return ops.place_of("work") && std::any_of(ops.rows.begin(), ops.rows.end(),
                                             [](const OpRow& row) { return row.units > 1; });
}

void PageText::print_ops(const OpTable& ops, const char* title, const char* one, bool with_kind) {
  if (ops.rows.empty()) return;
  const OpColumn& ranked = ops.columns[ops.ranked_by];
  const auto shown = columns_shown(ops);
  const bool work_is_sum = sums_over_units(ops);
  const bool in_time = shows_time(profile_, profile_.base_clock);
  heading(fmt::format(
      "{} ({}), by {}{}{}{}{}{}", title, more(ops.rows.size(), ops.row_count),
      printable(ranked.name), work_is_sum && ranked.name == "work" ? " (sum over units)" : "",
      ranked.per_inference ? ", median of the inferences after the first" : "",
      in_time || ranked.kind == MeasureKind::count ? "" : ", in " + unit_of(profile_, ranked.clock),
      ranked.whole && *ranked.whole > ranked.total
          ? fmt::format("; share of the run's {}", value_text(ranked, ranked.whole))
          : "",
      work_is_sum && ranked.name != "work" ? "; work is a sum over units" : ""));
  const bool ran = std::any_of(ops.rows.begin(), ops.rows.end(),
                               [](const OpRow& row) { return row.instances > 0; });
  const bool any_kind = with_kind && std::any_of(ops.rows.begin(), ops.rows.end(), [&](auto& row) {
                          return row.kind != StringId::empty && row.kind != row.label;
                        });
  std::vector<TextColumn> columns{{one, Align::left}};
  if (any_kind) columns.push_back({"kind", Align::left, false});
  if (ran) columns.push_back({"on", Align::left, false});
  columns.push_back({ran ? "runs" : "ops"});
  for (const std::size_t place : shown) {
    columns.push_back(
        {shortened(printable(heading_of(ops, place)), 24), Align::right, place == ops.ranked_by});
    if (place == ops.ranked_by) columns.push_back({"share"});
  }
  TextTable rows(std::move(columns));
  for (const OpRow& row : ops.rows) {
    const std::string label(profile_.text(row.label));
    std::vector<std::string> cells{
        label.empty() ? fmt::format("(no {})", with_kind ? "name" : "kind") : label};
    if (any_kind) {
      cells.push_back(shortened(
          row.kinds > 1 ? counted(row.kinds, "kind", "kinds") : printable(profile_.text(row.kind)),
          28));
    }
    if (ran) {
      cells.push_back(engines_text(row));
    }
    cells.push_back(ran && row.instances == 0 ? "" : thousands(ran ? row.runs : row.ops));
    for (const std::size_t place : shown) {
      cells.push_back(value_text(ops.columns[place], row.values[place]));
      if (place != ops.ranked_by) continue;
      const OpColumn& column = ops.columns[place];
      cells.push_back(
          percent_text(row.values[place].value_or(0), column.whole.value_or(column.total)));
    }
    rows.add(std::move(cells));
  }
  table(rows);
}

void PageText::print_engines() {
  const bool is_hardware =
      std::any_of(page_.units.engines.begin(), page_.units.engines.end(),
                  [](const EngineRow& row) { return domain_of(row.engine) != Domain::other; });
  if (!is_hardware) return;
  const auto wall = double(page_.units.wall);
  heading("HARDWARE  the busiest unit of a class bounds it, not their sum");
  TextTable rows({{"class", Align::left},
                  {"units"},
                  {"busiest unit"},
                  {"of wall"},
                  {"any active"},
                  {"work", Align::right, false},
                  {"which", Align::left, false}});
  for (const EngineRow& row : page_.units.engines) {
    rows.add({name_of(row.engine), thousands(row.units), base(double(row.domain)),
              percent_text(double(row.domain), wall), base(double(row.active)),
              base(double(row.work)), shortened(printable(path_of(profile_, row.busiest)), 32)});
  }
  table(rows);
}

void PageText::print_units() {
  const auto& units = page_.units.units;
  if (units.empty()) return;
  std::vector<std::size_t> order(units.size());
  std::iota(order.begin(), order.end(), 0);
  const std::size_t kept = std::min(page_.top, order.size());
  if (kept < order.size()) {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return units[a].busy > units[b].busy; });
  }
  order.resize(kept);
  const auto any = [&](auto has) { return std::any_of(units.begin(), units.end(), has); };
  const bool path = any([](const UnitRow& row) { return bool(row.dominant_path); });
  const bool waits = any([](const UnitRow& row) { return row.waiting > 0; });
  struct Moved {
    const char* name;
    Memory memory;
    Direction direction;
  };
  std::vector<Moved> moved{{"DDR read", Memory::ddr, Direction::read},
                           {"DDR write", Memory::ddr, Direction::write},
                           {"VTCM read", Memory::vtcm, Direction::read},
                           {"VTCM write", Memory::vtcm, Direction::write}};
  std::erase_if(moved, [&](const Moved& bytes) {
    return !any(
        [&](const UnitRow& row) { return bool(row.traffic.of(bytes.memory, bytes.direction)); });
  });
  heading(fmt::format("UNITS ({}{})", more(kept, units.size()),
                      kept < units.size() ? ", the busiest" : ""));
  std::vector<TextColumn> columns{{"unit", Align::left}, {"spans"}, {"busy"}, {"of wall"}};
  if (waits) columns.push_back({"waiting", Align::right, false});
  if (path) columns.push_back({"dominant path", Align::right, false});
  for (const Moved& bytes : moved) columns.push_back({bytes.name, Align::right, false});
  TextTable rows(std::move(columns));
  for (const std::size_t i : order) {
    const UnitRow& row = units[i];
    std::vector<std::string> cells{path_of(profile_, row.unit), thousands(row.spans),
                                   base(double(row.busy)),
                                   percent_text(double(row.busy), double(page_.units.wall))};
    if (waits) cells.push_back(base(double(row.waiting)));
    if (path) cells.push_back(row.dominant_path ? base(*row.dominant_path) : "");
    for (const Moved& bytes : moved) {
      const auto value = row.traffic.of(bytes.memory, bytes.direction);
      cells.push_back(value ? bytes_text(*value) : "");
    }
    rows.add(std::move(cells));
  }
  table(rows);
}

void PageText::print_traffic() {
  const Traffic& traffic = page_.units.traffic;
  if (!traffic.known()) return;
  heading(fmt::format("MEMORY TRAFFIC  summed over {}", page_.units.traffic_source));
  const auto wall = double(page_.units.wall);
  std::optional<double> seconds;
  if (wall > 0 && page_.rate) seconds = wall / page_.rate->value;
  const bool per_cycle = wall > 0 && !shows_time(profile_, profile_.base_clock);
  std::vector<TextColumn> columns{{"memory", Align::left}, {"bytes"}};
  if (per_cycle) columns.push_back({"bytes a " + std::string("cycle of wall")});
  if (seconds) columns.push_back({"average"});
  TextTable rows(std::move(columns));
  for (const Memory memory : {Memory::ddr, Memory::vtcm}) {
    for (const Direction direction : {Direction::read, Direction::write}) {
      const auto bytes = traffic.of(memory, direction);
      if (!bytes) continue;
      std::vector<std::string> cells{fmt::format("{} {}", memory == Memory::ddr ? "DDR" : "VTCM",
                                                 direction == Direction::read ? "read" : "write"),
                                     bytes_text(*bytes)};
      if (per_cycle) cells.push_back(fmt::format("{:.2f}", *bytes / wall));
      if (seconds) cells.push_back(fmt::format("{:.2f} GB/s", *bytes / *seconds / 1e9));
      rows.add(std::move(cells));
    }
  }
  table(rows);
}

std::string PageText::number_of(const NumberRow& row, double value) const {
  if (row.kind != MeasureKind::count) {
    const std::string text = ticks_text(profile_, row.clock, value);
    return shows_time(profile_, row.clock) ? text : text + " " + unit_of(profile_, row.clock);
  }
  return number_text(value);
}

// Numbers of the run: over the inferences, of which the first is cold.
void PageText::print_numbers() {
  std::vector<const NumberRow*> rows;
  for (const NumberRow& row : page_.numbers) {
    if (row.subject == Measure::Subject::profile) rows.push_back(&row);
  }
  if (rows.empty()) return;
  const std::size_t kept = std::min(page_.top, rows.size());
  heading(fmt::format("NUMBERS OF THE RUN ({})", more(kept, rows.size())));
  const bool several = std::any_of(rows.begin(), rows.end(),
                                   [](const NumberRow* row) { return row->values.count > 1; });
  TextTable table_rows({{"number", Align::left},
                        {several ? "values" : "", Align::right, false},
                        {several ? "first" : "value"},
                        {several ? "median of rest" : ""},
                        {several ? "most" : "", Align::right, false},
                        {"origin", Align::left, false}});
  for (std::size_t i = 0; i < kept; ++i) {
    const NumberRow& row = *rows[i];
    const bool many = row.values.count > 1;
    table_rows.add({std::string(profile_.text(row.what)),
                    several ? thousands(row.values.count) : "", number_of(row, row.values.first),
                    many ? number_of(row, row.values.median_of_rest) : "",
                    many ? number_of(row, row.values.most) : "", stable_name(row.origin)});
  }
  table(table_rows);
}

void PageText::print_numbers_of_parts() {
  std::vector<const NumberRow*> rows;
  for (const NumberRow& row : page_.numbers) {
    if (row.subject != Measure::Subject::profile) rows.push_back(&row);
  }
  if (rows.empty()) return;
  const std::size_t kept = std::min(page_.top, rows.size());
  heading(fmt::format("NUMBERS OF UNITS, SPANS AND PHASES ({})", more(kept, rows.size())));
  TextTable table_rows({{"number", Align::left},
                        {"of", Align::left, false},
                        {"least"},
                        {"median"},
                        {"most"},
                        {"origin", Align::left, false}});
  for (std::size_t i = 0; i < kept; ++i) {
    const NumberRow& row = *rows[i];
    const char* one = row.subject == Measure::Subject::unit   ? "unit"
                      : row.subject == Measure::Subject::span ? "span"
                                                              : "phase";
    table_rows.add({std::string(profile_.text(row.what)),
                    counted(row.values.count, one, (one + std::string("s")).c_str()),
                    number_of(row, row.values.least), number_of(row, row.values.median),
                    number_of(row, row.values.most), stable_name(row.origin)});
  }
  table(table_rows);
}

void PageText::print_counters() {
  if (page_.counters.empty()) return;
  const std::size_t kept = std::min(page_.top, page_.counters.size());
  heading(fmt::format("COUNTERS ({})", more(kept, page_.counters.size())));
  TextTable rows({{"counter", Align::left},
                  {"of", Align::left, false},
                  {"samples", Align::right, false},
                  {"least"},
                  {"mean"},
                  {"most"}});
  for (std::size_t i = 0; i < kept; ++i) {
    const CounterRow& row = page_.counters[i];
    const CounterSeries& series = profile_.counters.series[row.series];
    std::string name(profile_.text(series.name));
    if (series.part != StringId::empty) name += fmt::format(": {}", profile_.text(series.part));
    const bool bytes = profile_.text(series.quantity) == "bytes";
    const auto number = [&](double value) {
      return bytes ? bytes_text(value) : number_text(value);
    };
    rows.add({name,
              series.unit == UnitId::none
                  ? ""
                  : shortened(printable(path_of(profile_, series.unit)), 28),
              thousands(row.samples), number(row.least), number(row.mean), number(row.most)});
  }
  table(rows);
}

void PageText::print_checks() {
  if (profile_.checks.empty()) return;
  std::size_t of_outcome[3] = {};
  for (const Check& check : profile_.checks) of_outcome[std::size_t(check.outcome)] += 1;
  std::string title = fmt::format("CHECKS  {} passed", of_outcome[0]);
  if (of_outcome[1] > 0) title += fmt::format(", {} FAILED", of_outcome[1]);
  if (of_outcome[2] > 0) title += fmt::format(", {} impossible here", of_outcome[2]);
  heading(title);
  for (const auto outcome : {Check::Outcome::failed, Check::Outcome::impossible}) {
    for (const Check& check : profile_.checks) {
      if (check.outcome != outcome) continue;
      line(outcome == Check::Outcome::failed ? "FAILED" : "impossible",
           check.detail.empty() ? check.name : check.name + ": " + check.detail);
    }
  }
}

void PageText::print_notes() {
  if (profile_.notes.empty()) return;
  std::vector<const Note*> notes;
  for (const Note& note : profile_.notes) notes.push_back(&note);
  std::stable_sort(notes.begin(), notes.end(),
                   [](const Note* a, const Note* b) { return a->severity > b->severity; });
  const std::size_t kept = std::min(page_.top, notes.size());
  heading(fmt::format("NOTES ({})", more(kept, notes.size())));
  for (std::size_t i = 0; i < kept; ++i) {
    Note rest = *notes[i];
    const auto& files = profile_.provenance.files;
    rest.file = files.size() == 1 && files.front() == rest.file ? "" : file_name(rest.file);
    const std::string text = note_text(rest);
    line(stable_name(rest.severity), text.substr(text.find(' ') + 1));
  }
}

std::string PageText::print() {
  print_identity();
  print_contents();
  print_wall();
  print_phases();
  print_ops(page_.ops, "OPS", "op", true);
  print_ops(page_.kinds, "KINDS", "kind", false);
  print_engines();
  print_units();
  print_traffic();
  print_numbers();
  print_numbers_of_parts();
  print_counters();
  print_checks();
  print_notes();
  return std::move(out_);
}

}  // namespace

std::string note_text(const Note& note) {
  std::string text = fmt::format("{}: ", stable_name(note.severity));
  if (!note.file.empty()) text += note.file + ": ";
  text += note.message;
  if (note.offset > 0) text += fmt::format(" (byte {})", note.offset);
  if (note.count > 1) text += fmt::format(" ({} times)", thousands(note.count));
  return text;
}

std::string page_text(const Page& page, std::size_t width) { return PageText(page, width).print(); }

}  // namespace npuscope::report
