// The answers about a fleet: its runs, their latency, ops and findings.
#include "report/fleet/fleet_document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "fleet/tags.hpp"

namespace npuscope::report {

Section fleet_head(const FleetHead& head, std::uint64_t runs,
                   const std::vector<std::string>& remarks) {
  Section section{.key = "fleet"};
  section.facts = {{{"store", "store"}, head.store},
                   {{"where", "where"}, if_any(head.where)},
                   {{"runs", "runs", Format::count}, runs}};
  section.remarks = remarks;
  return section;
}

// A tag's number is a real one; most are whole.
Value cell_of(const fleet::Value& value) {
  struct Cell {
    Value operator()(std::monostate) const { return {}; }
    Value operator()(std::int64_t number) const { return number; }
    Value operator()(double number) const {
      constexpr double exact = 9e15;
      const bool is_whole = std::floor(number) == number && std::abs(number) < exact;
      return is_whole ? Value(std::int64_t(number)) : Value(number);
    }
    Value operator()(const std::string& text) const { return text; }
  };
  return std::visit(Cell{}, value);
}

// A tag may be called like a column of the page.
void add_group_fields(Table& table, const std::vector<std::string>& by) {
  for (const std::string& name : by) table.fields.push_back({"by_" + name, name, Format::name});
}

// As text, so that a build is "1200" and not "1,200"; what is not known is a word.
std::vector<Value> group_cells(const std::vector<fleet::Value>& by) {
  std::vector<Value> cells;
  for (const fleet::Value& value : by) {
    const Value cell = cell_of(value);
    if (const auto* whole = std::get_if<std::int64_t>(&cell.held())) {
      cells.emplace_back(fmt::format("{}", *whole));
    } else if (const auto* real = std::get_if<double>(&cell.held())) {
      cells.emplace_back(fmt::format("{}", *real));
    } else {
      cells.push_back(cell.known() ? cell : Value("(none)"));
    }
  }
  return cells;
}

std::string by_text(const std::vector<std::string>& by) {
  return by.empty() ? "" : fmt::format(" by {}", fmt::join(by, ", "));
}

std::string how_to_open(const fleet::MedianRun& run, const std::vector<fleet::Value>& by) {
  std::string files, of;
  for (std::string_view rest = run.files; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    files += " " + shell_word(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (const Value& cell : group_cells(by)) {
    of += (of.empty() ? "" : ", ") + std::get<std::string>(cell.held());
  }
  return fmt::format("the median run{}: npuscope show{}", of.empty() ? "" : " of " + of, files);
}

std::string first_file(const fleet::MedianRun& run) {
  return run.files.substr(0, run.files.find('\n'));
}

Format format_of(fleet::CommonClock::Unit unit) {
  return unit == fleet::CommonClock::Unit::seconds ? Format::seconds : Format::number;
}

Value time_value(const std::optional<std::int64_t>& seconds) {
  return seconds ? Value(fleet::time_text(*seconds)) : Value();
}

namespace {

Section totals_section(const fleet::FleetListing& listing) {
  Section section{.key = "contents", .title = "CONTENTS"};
  section.facts = {{{"devices", "devices", Format::count}, listing.all.devices},
                   {{"models", "models", Format::count}, listing.all.models},
                   {{"damaged", "damaged runs", Format::count}, listing.all.damaged},
                   {{"op_runs", "op runs", Format::count}, listing.op_runs},
                   {{"ops", "ops", Format::count}, listing.ops},
                   {{"first", "first run"}, time_value(listing.all.first)},
                   {{"last", "last run"}, time_value(listing.all.last)}};
  return section;
}

Section tags_section(const fleet::FleetListing& listing) {
  Section section{.key = "tags", .title = "TAGS"};
  section.table.fields = {{"tag", "tag"},
                          {"runs", "runs", Format::count},
                          {"values", "values", Format::count},
                          {"is_number", "numbers", Format::truth}};
  for (const fleet::TagKey& tag : listing.tags) {
    section.table.rows.push_back({tag.key, tag.runs, tag.values, tag.is_number});
  }
  return section;
}

Value known_text(const std::optional<std::string>& text) { return text ? Value(*text) : Value(); }

Section runs_section(const fleet::FleetListing& listing) {
  Section section{.key = "newest", .title = "RUNS"};
  Table& table = section.table;
  table.fields = {{"run", "run", Format::name},
                  {"time", "time"},
                  {"model", "model", Format::name, true, true},
                  {"device", "device", Format::name, true, true},
                  {"soc", "soc", Format::name, true, true},
                  {"sdk", "sdk", Format::name, false, true},
                  {"temperature", "temperature", Format::name, false, true},
                  {"inferences", "inferences", Format::count},
                  {"damaged", "", Format::truth},
                  {"tags", "tags", Format::name, false, true},
                  {"format", "format", Format::name, false, true},
                  {"files", "files", Format::names, false}};
  for (const fleet::ListedRun& run : listing.newest) {
    std::vector<std::string> files;
    for (std::size_t at = 0; at < run.files.size();) {
      const std::size_t end = std::min(run.files.find('\n', at), run.files.size());
      files.push_back(run.files.substr(at, end - at));
      at = end + 1;
    }
    table.rows.push_back({fmt::format("{}", run.run), fleet::time_text(run.time),
                          known_text(run.model), known_text(run.device), known_text(run.soc),
                          known_text(run.sdk), run.temperature, run.inferences, run.damaged,
                          if_any(run.tags), run.format, std::move(files)});
  }
  table.row_count = listing.runs;
  return section;
}

Section groups_section(const fleet::FleetListing& listing) {
  Section section{.key = "groups", .title = "RUNS" + by_text(listing.by)};
  Table& table = section.table;
  add_group_fields(table, listing.by);
  const Field more[] = {{"runs", "runs", Format::count},
                        {"damaged", "damaged", Format::count},
                        {"devices", "devices", Format::count},
                        {"models", "models", Format::count},
                        {"first", "first run"},
                        {"last", "last run"}};
  table.fields.insert(table.fields.end(), std::begin(more), std::end(more));
  for (const fleet::ListedGroup& group : listing.groups) {
    std::vector<Value> row = group_cells(group.by);
    append<Value>(row, {group.runs, group.damaged, group.devices, group.models,
                        time_value(group.first), time_value(group.last)});
    table.rows.push_back(std::move(row));
  }
  return section;
}

}  // namespace

Document fleet_listing_document(const FleetHead& head, const fleet::FleetListing& listing) {
  Document document;
  document.sections = {fleet_head(head, listing.runs, listing.remarks), totals_section(listing)};
  document.sections.push_back(listing.by.empty() ? runs_section(listing) : groups_section(listing));
  if (!listing.tags.empty()) document.sections.push_back(tags_section(listing));
  return document;
}

namespace {

// Latency, ops and findings of a fleet.

const char* warmth_text(bool cold_only) {
  return cold_only ? "cold inferences" : "warm inferences";
}

}  // namespace

Document fleet_latency_document(const FleetHead& head, const fleet::FleetLatency& latency) {
  Section section{.key = "latency"};
  section.title = fmt::format("LATENCY{}: {} of {}", by_text(latency.by), latency.measure,
                              warmth_text(latency.cold_only));
  const Format time = latency.in_ticks ? Format::number : Format::seconds;
  Table& table = section.table;
  add_group_fields(table, latency.by);
  const Field more[] = {{"runs", "runs", Format::count},
                        {"inferences", "inferences", Format::count},
                        {"p50", "50 %", time},
                        {"p90", "90 %", time},
                        {"p99", "99 %", time},
                        {"min", "min", time, false},
                        {"max", "max", time, false},
                        {"cold_inferences", "", Format::count},
                        {"cold_p50", "cold 50 %", time, true, true},
                        {"cold_p90", "cold 90 %", time, false, true},
                        {"clock_hertz", "clock", Format::hertz, true, true},
                        {"median_run", "", Format::name},
                        {"median_file", "file of the median run", Format::name, false, true}};
  table.fields.insert(table.fields.end(), std::begin(more), std::end(more));
  for (const fleet::LatencyGroup& group : latency.groups) {
    std::vector<Value> row = group_cells(group.by);
    const std::string file = group.median_run ? first_file(*group.median_run) : "";
    append<Value>(
        row, {group.runs, group.inferences, group.p50, group.p90, group.p99, group.min, group.max,
              group.cold_inferences, group.cold_p50, group.cold_p90, group.clock_hertz,
              group.median_run ? Value(fmt::format("{}", group.median_run->run)) : Value(),
              if_any(file)});
    table.rows.push_back(std::move(row));
  }
  if (!latency.groups.empty() && latency.groups.front().median_run) {
    const fleet::LatencyGroup& slowest = latency.groups.front();
    section.remarks.push_back(how_to_open(*slowest.median_run, slowest.by));
  }
  Section fleet = fleet_head(head, latency.runs, latency.remarks);
  fleet.facts.push_back({{"measure"}, latency.measure});
  fleet.facts.push_back({{"unit"}, latency.in_ticks ? "ticks" : "seconds"});
  fleet.facts.push_back({{"cold", "", Format::truth}, latency.cold_only});
  Document document;
  document.sections = {std::move(fleet), std::move(section)};
  return document;
}

Document fleet_ops_document(const FleetHead& head, const fleet::FleetOps& ops) {
  const char* unit = name_of(ops.clock.unit);
  Section section{.key = "ops"};
  section.title = fmt::format("OPS{}: {} in {}, {}", by_text(ops.by), ops.measure, unit,
                              warmth_text(ops.cold_only));
  const Format time = format_of(ops.clock.unit);
  Table& table = section.table;
  add_group_fields(table, ops.by);
  const Field more[] = {{"op", "", Format::name},
                        {"name", "op"},
                        {"kind", "kind", Format::name, true, true},
                        {"runs", "runs", Format::count},
                        {"inferences", "", Format::count},
                        {"p50", "50 %", time},
                        {"p95", "95 %", time},
                        {"total", "", time},
                        {"share", "of all ops", Format::share},
                        {"active_p50", "active", time, false, true},
                        {"waiting_p50", "waiting", time, false, true},
                        {"dominant_path_p50", "dominant path", time, false, true},
                        {"ddr_bytes_p50", "DDR", Format::bytes, false, true}};
  table.names = ops.by.size() + 1;
  table.fields.insert(table.fields.end(), std::begin(more), std::end(more));
  for (const fleet::FleetOp& op : ops.rows) {
    std::vector<Value> row = group_cells(op.by);
    append<Value>(row,
                  {fmt::format("{}", op.op), op.name.empty() ? Value("(no op)") : Value(op.name),
                   if_any(op.kind), op.runs, op.inferences, op.p50, op.p95, op.total, op.share,
                   op.active_p50, op.waiting_p50, op.path_p50, op.ddr_bytes_p50});
    table.rows.push_back(std::move(row));
  }
  table.row_count = ops.row_count;
  Section fleet = fleet_head(head, ops.runs, ops.remarks);
  fleet.facts.push_back({{"measure"}, ops.measure});
  fleet.facts.push_back({{"unit"}, unit});
  fleet.facts.push_back({{"cold", "", Format::truth}, ops.cold_only});
  Document document;
  document.sections = {std::move(fleet), std::move(section)};
  return document;
}

Document fleet_findings_document(const FleetHead& head, const fleet::FleetFindings& findings) {
  Section rules{.key = "findings", .title = "FINDINGS" + by_text(findings.by)};
  add_group_fields(rules.table, findings.by);
  const Field more[] = {{"rule", "rule"},
                        {"share", "of runs", Format::share},
                        {"found", "found", Format::count},
                        {"tried", "tried", Format::count},
                        {"untried", "untried", Format::count},
                        {"gain_p50", "gain, 50 %", Format::share, true, true}};
  rules.table.fields.insert(rules.table.fields.end(), std::begin(more), std::end(more));
  for (const fleet::FleetFinding& each : findings.rows) {
    std::vector<Value> row = group_cells(each.by);
    append<Value>(row, {each.rule, each.tried > 0 ? Value(each.share()) : Value(), each.found,
                        each.tried, each.untried, each.gain_p50});
    rules.table.rows.push_back(std::move(row));
  }
  Section losses{.key = "losses", .title = "LOSSES" + by_text(findings.by)};
  add_group_fields(losses.table, findings.by);
  const Field lost[] = {{"runs", "runs", Format::count},
                        {"damaged", "damaged", Format::count},
                        {"damaged_share", "of runs", Format::share},
                        {"with_warnings", "with warnings", Format::count},
                        {"with_failed_checks", "with failed checks", Format::count}};
  losses.table.fields.insert(losses.table.fields.end(), std::begin(lost), std::end(lost));
  for (const fleet::FleetLosses& each : findings.losses) {
    std::vector<Value> row = group_cells(each.by);
    append<Value>(row, {each.runs, each.damaged,
                        each.runs > 0 ? Value(double(each.damaged) / double(each.runs)) : Value(),
                        each.with_warnings, each.with_failed_checks});
    losses.table.rows.push_back(std::move(row));
  }
  Section messages{.key = "messages", .title = "WARNINGS AND ERRORS"};
  messages.table.fields = {{"severity", "severity"},
                           {"message", "message"},
                           {"runs", "runs", Format::count},
                           {"count", "records", Format::count}};
  for (const fleet::LossMessage& each : findings.messages) {
    messages.table.rows.push_back({each.severity, each.message, each.runs, each.count});
  }
  Document document;
  document.sections = {fleet_head(head, findings.runs, findings.remarks), std::move(rules),
                       std::move(losses)};
  if (!findings.messages.empty()) document.sections.push_back(std::move(messages));
  return document;
}

Document fleet_added_document(const FleetAdded& what) {
  Section section{.key = "added", .title = "ADDED"};
  section.facts = {{{"store", "store"}, what.store},
                   {{"runs", "runs added", Format::count}, what.added.runs},
                   {{"known", "known runs", Format::count}, what.added.known},
                   {{"op_runs", "op runs added", Format::count}, what.added.op_runs},
                   {{"damaged", "damaged runs", Format::count}, what.damaged},
                   {{"sets", "sets of files", Format::count}, what.sets},
                   {{"unopened", "sets without a profile", Format::count}, what.unopened},
                   {{"other_tags", "", Format::count}, what.added.other_tags.size()}};
  if (!what.added.other_tags.empty()) {
    section.remarks.push_back(
        counted(what.added.other_tags.size(), "run was", "runs were") +
        " known with other tags, which stay: a run is known by the content of its files");
  }
  Document document;
  document.sections = {std::move(section)};
  return document;
}

Document fleet_removed_document(const FleetRemoved& what) {
  Section section{.key = "removed", .title = what.is_dry_run ? "WOULD BE REMOVED" : "REMOVED"};
  section.facts = {{{"store", "store"}, what.store},
                   {{"before", "recorded before"}, fleet::time_text(what.before)},
                   {{"runs", "runs", Format::count}, what.removed.runs},
                   {{"op_runs", "op runs", Format::count},
                    what.is_dry_run ? Value() : Value(what.removed.op_runs)},
                   {{"dry_run", "", Format::truth}, what.is_dry_run}};
  Document document;
  document.sections = {std::move(section)};
  return document;
}

Document fleet_written_document(const FleetWritten& what) {
  Section section{.key = "written", .title = "WRITTEN"};
  section.facts = {{{"store", "store"}, what.store},
                   {{"output", "output"}, what.output},
                   {{"files", "files", Format::count}, what.files},
                   {{"bytes", "size", Format::bytes}, what.bytes}};
  Document document;
  document.sections = {std::move(section)};
  return document;
}

}  // namespace npuscope::report
