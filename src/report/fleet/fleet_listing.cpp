#include <fmt/format.h>

#include "report/fleet/fleet_sections.hpp"

namespace npuscope::report {
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
                          run.tags.empty() ? Value() : Value(run.tags), run.format,
                          std::move(files)});
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

}  // namespace npuscope::report
