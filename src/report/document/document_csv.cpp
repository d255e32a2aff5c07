#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <functional>

#include "base/near_names.hpp"
#include "profile/csv_output.hpp"
#include "report/document/document.hpp"
#include "report/document/provenance.hpp"

namespace npuscope::report {
namespace {

struct NamedTable {
  std::string key;
  const Table* table = nullptr;
};

void add_tables(const std::vector<Section>& sections, std::vector<NamedTable>& tables) {
  for (const Section& section : sections) {
    if (!section.key.empty() && !section.table.fields.empty())
      tables.push_back({section.key, &section.table});
    add_tables(section.parts, tables);
  }
}

void add(Csv& csv, const Value& value) {
  struct Write {
    Csv& csv;
    void operator()(std::monostate) const { csv.nothing(); }
    void operator()(const std::string& text) const { csv.text(text); }
    void operator()(const std::vector<std::string>& texts) const {
      std::string all;
      for (const std::string& text : texts) all += (all.empty() ? "" : ";") + text;
      csv.text(all);
    }
    void operator()(bool truth) const { csv.text(truth ? "true" : "false"); }
    void operator()(std::int64_t number) const { csv.number(number); }
    void operator()(const std::vector<std::int64_t>& numbers) const {
      csv.text(fmt::format("{}", fmt::join(numbers, ";")));
    }
    void operator()(double number) const {
      std::isfinite(number) ? csv.number(number) : csv.nothing();
    }
  };
  std::visit(Write{csv}, value.held());
}

std::string names_of(const std::vector<NamedTable>& tables) {
  std::string names;
  for (const NamedTable& table : tables) {
    if (names.find(table.key) == names.npos) names += (names.empty() ? "" : ", ") + table.key;
  }
  return names.empty() ? "none" : names;
}

}  // namespace

Result<std::string> documents_csv(std::span<const Document> documents, std::string_view key) {
  std::string out;
  const std::function<void(std::string_view)> sink = [&](std::string_view text) { out += text; };
  TextOutput output(sink);
  Csv csv(output);
  bool has_header = false;
  std::vector<NamedTable> all;
  for (const Document& document : documents) {
    std::vector<NamedTable> tables;
    add_tables(document.sections, tables);
    for (const NamedTable& found : tables) {
      if (found.key != (key.empty() ? tables.front().key : key)) continue;
      if (!has_header) {
        if (documents.size() > 1) csv.text("profile");
        for (const Field& field : found.table->fields) {
          if (!field.key.empty()) csv.text(field.key);
        }
        csv.end_row();
        has_header = true;
      }
      for (const auto& row : found.table->rows) {
        if (documents.size() > 1) {
          csv.text(document.profile != nullptr ? files_text(*document.profile) : "");
        }
        for (std::size_t i = 0; i < row.size(); ++i) {
          if (!found.table->fields[i].key.empty()) add(csv, row[i]);
        }
        csv.end_row();
      }
    }
    all.insert(all.end(), tables.begin(), tables.end());
  }
  if (!has_header && !key.empty()) {
    return usage_error("unknown table '{}'{}; the tables are: {}", key,
                       did_you_mean(names_of(all), key), names_of(all));
  }
  output.flush();
  return out;
}

}  // namespace npuscope::report
