#include "report/show/show_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "analysis/units/unit_numbers.hpp"
#include "base/text.hpp"
#include "report/document/names.hpp"
#include "report/document/pmu_section.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;

// "utilization percent" fits as "utilization %", and a unit is in the numbers or the heading.
std::string column_heading(const Profile& profile, const UnitNumberColumn& column) {
  constexpr std::size_t max_columns = 30;
  std::string name = printable(column.name);
  for (const auto& [words, sign] : {std::pair{" percent", " %"}, {" (Hz)", ""}}) {
    const std::size_t place = name.find(words);
    if (place != std::string::npos) name.replace(place, std::string_view(words).size(), sign);
  }
  const bool is_time = column.kind != MeasureKind::count && !shows_time(profile, column.clock);
  if (is_time) name += ", " + unit_of(profile, column.clock);
  return shortened(name, max_columns);
}

}  // namespace

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
  heading(fmt::format("UNITS ({}{}){}", more(kept, units.size()),
                      kept < units.size() ? ", the busiest" : "",
                      waits ? ", busy without waits" : ""));
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

std::string PageText::number_of(const UnitNumberColumn& column, double value) const {
  switch (column.quantity()) {
    case NumberQuantity::time: return ticks_text(profile_, column.clock, value);
    case NumberQuantity::bytes: return bytes_text(value);
    case NumberQuantity::hertz: return hertz_text(value);
    case NumberQuantity::count: break;
  }
  return number_text(value);
}

// What the file says of the units itself, where it has no timeline of their work.
void PageText::print_unit_numbers() {
  const UnitNumbers& table = page_.unit_numbers;
  if (!page_.units.units.empty() || table.row_count() == 0) return;
  const std::size_t kept = std::min(page_.top, table.row_count());
  heading(fmt::format("UNITS ({}), as the file has them", more(kept, table.row_count())));
  std::vector<TextColumn> columns{{"unit", Align::left}};
  for (const UnitNumberColumn& column : table.columns) {
    columns.push_back({column_heading(profile_, column), Align::right, columns.size() < 3});
  }
  TextTable rows(std::move(columns));
  for (std::size_t i = 0; i < kept; ++i) {
    std::vector<std::string> cells(table.columns.size() + 1);
    cells[0] = path_of(profile_, table.row(i).front().unit);
    for (const UnitNumber& each : table.row(i)) {
      cells[each.column + 1] = number_of(table.columns[each.column], each.value);
    }
    rows.add(std::move(cells));
  }
  this->table(rows);
  print_origins(table);
}

void PageText::print_origins(const UnitNumbers& table) {
  std::string text;
  for (const Origin origin :
       {Origin::measured, Origin::counter, Origin::estimated, Origin::simulated, Origin::derived}) {
    std::string names;
    for (const UnitNumberColumn& column : table.columns) {
      if (column.origin == origin) names += (names.empty() ? "" : ", ") + column.name;
    }
    if (names.empty()) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", stable_name(origin), names);
  }
  line("origin", text);
}

void PageText::print_pmu() {
  const Pmu& pmu = page_.pmu;
  if (pmu.rows.empty()) return;
  heading(pmu_title(pmu));
  const bool shares = std::any_of(pmu.rows.begin(), pmu.rows.end(),
                                  [](const PmuRow& row) { return row.value.share().has_value(); });
  TextTable rows({{"event", Align::left},
                  {"code", Align::left, false},
                  {"count"},
                  {"in", Align::left},
                  {shares ? "of cycles" : ""},
                  {"meaning", Align::left, false}});
  for (const PmuRow& row : pmu.rows) {
    const auto share = row.value.share();
    rows.add({pmu_name(row), pmu_code(row), thousands(std::uint64_t(row.value.count)),
              pmu_unit(row), share ? percent_text(*share, 1) : "", pmu_meaning(row)});
  }
  table(rows);
}

void PageText::print_traffic() {
  const Traffic& traffic = page_.units.traffic;
  if (!traffic.known()) return;
  heading(fmt::format("MEMORY TRAFFIC  summed over {}", page_.units.traffic_source));
  const auto wall = double(page_.units.wall);
  std::optional<double> seconds;
  if (wall > 0 && page_.rate) seconds = wall / page_.rate->rate.value;
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

// Both sides of each pair: where they differ, a device is missing.
void PageText::print_peers() {
  const Peers& peers = page_.peers;
  if (peers.rows.empty()) return;
  const std::size_t kept = std::min(page_.top, peers.rows.size());
  heading(fmt::format("BETWEEN DEVICES ({} pairs)", more(kept, peers.rows.size())));
  TextTable rows({{"from", Align::left},
                  {"to", Align::left},
                  {"transfers"},
                  {"sent"},
                  {"received"},
                  {"waited for, work", Align::right, false}});
  for (std::size_t i = 0; i < kept; ++i) {
    const PeerRow& row = peers.rows[i];
    rows.add({printable(row.from), printable(row.to), thousands(row.sent.transfers),
              bytes_text(double(row.sent.bytes)), bytes_text(double(row.received.bytes)),
              base(double(row.received.time))});
  }
  table(rows);
  if (peers.unpaired > 0) {
    line("unpaired",
         counted(peers.unpaired, "transfer has", "transfers have") +
             " one side only: the other device, or those operators, are not in the file");
  }
}

}  // namespace npuscope::report
