#include "report/programs/table_documents.hpp"

#include "report/document/document_value.hpp"

namespace npuscope::report {
namespace {

using tables::TableDescription;

std::vector<std::string> heads_of(const TableDescription& description) {
  std::vector<std::string> heads;
  for (const tables::TableColumn& column : description.columns) {
    if (heads.empty() || heads.back() != column.head) heads.push_back(column.head);
  }
  return heads;
}

const char* reads(const TableDescription& description) {
  if (!description.refuses.empty()) return "nothing";
  using Rows = tables::TableDescription::Rows;
  if (description.columns.empty()) return "numbers";
  return description.rows_are == Rows::layers       ? "ops"
         : description.rows_are == Rows::inferences ? "inferences"
                                                    : "networks";
}

}  // namespace

Document descriptions_document(const std::vector<TableDescription>& descriptions) {
  Section section{.key = "descriptions", .title = "DESCRIPTIONS"};
  section.table.fields = {{"file", "file"},   {"name", "name"},     {"reads", "reads"},
                          {"times", "times"}, {"layout", "layout"}, {"heads", "", Format::names}};
  for (const TableDescription& each : descriptions) {
    section.table.rows.push_back({each.file, each.name, reads(each), stable_name(each.origin),
                                  tables::word_of(each.layout), heads_of(each)});
  }
  Document document;
  document.sections = {std::move(section)};
  return document;
}

Document checked_document(const std::vector<CheckedDescription>& checked) {
  Section section{.key = "files", .title = "DESCRIPTIONS"};
  section.table.fields = {{"file", "file"},
                          {"valid", "valid", Format::truth},
                          {"name", "name", Format::name, true, true},
                          {"columns", "columns", Format::count, true, true},
                          {"problem", "note", Format::name, true, true}};
  for (const CheckedDescription& each : checked) {
    section.table.rows.push_back(
        {each.file, each.description.has_value(),
         each.description ? Value(each.description->name) : Value(),
         each.description ? Value(each.description->columns.size()) : Value(),
         if_any(each.problem)});
  }
  Document document;
  document.sections = {std::move(section)};
  return document;
}

Document draft_document(const tables::Draft& draft) {
  Section table{.key = "table", .title = "TABLE"};
  table.facts = {{{"file", "file"}, draft.file},
                 {{"rows", "rows", Format::count}, draft.rows},
                 {{"toml", ""}, tables::description_text(draft)}};
  Section columns{.key = "columns", .title = "COLUMNS"};
  columns.table.fields = {{"head", "head"},
                          {"is", "is"},
                          {"unit", "unit"},
                          {"is_unit_guessed", "unit guessed", Format::truth},
                          {"example", "example"}};
  for (const tables::DraftColumn& each : draft.columns) {
    columns.table.rows.push_back({each.column.head, tables::word_of(each.column.is),
                                  tables::word_of(each.column.unit), each.is_unit_guessed,
                                  each.example});
  }
  Document document;
  document.sections = {std::move(table), std::move(columns)};
  return document;
}

}  // namespace npuscope::report
