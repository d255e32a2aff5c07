#include "report/document/document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <functional>

#include "base/near_names.hpp"
#include "base/text.hpp"
#include "profile/csv_output.hpp"
#include "report/document/document_value.hpp"
#include "report/document/provenance.hpp"
#include "report/document/text_table.hpp"

namespace npuscope::report {
namespace {

using Align = TextColumn::Align;

constexpr std::size_t narrowest = 60;
constexpr std::size_t min_label_width = 12, max_label_width = 36;

class DocumentText {
 public:
  DocumentText(const Document& document, std::size_t width, Colour colour)
      : document_(document), width_(std::max(width, narrowest)), colour_(colour) {}

  std::string print() {
    print_head();
    for (const Section& section : document_.sections) print(section);
    print_left_out();
    return std::move(out_);
  }

 private:
  void print_head();
  void print(const Section& section);
  void print(const Table& table, std::string_view title);
  void print_left_out();
  void line(std::string_view label, std::string_view text, std::size_t label_width,
            Style style = Style::plain);
  std::string text_of(const Field& field, const Value& value) const {
    return value_text(document_.profile, field, value);
  }

  const Document& document_;
  std::size_t width_;
  Colour colour_;
  std::string out_;
  std::string left_out_;        // titles of tables that left columns out
  std::size_t full_width_ = 0;  // at which none would
};

void DocumentText::print_head() {
  if (document_.profile == nullptr) return;
  // Names of files are typed again: they stay whole, and what they are goes below them.
  const std::string files = printable(files_text(*document_.profile));
  const std::string about = printable(document_.about);
  const bool is_one_line = columns_of(files) + 3 + columns_of(about) <= width_;
  const bool has_about = !about.empty();
  out_ += painted(has_about && is_one_line ? files + " · " + about : files, Style::title, colour_);
  out_ += "\n";
  if (has_about && !is_one_line) line("", about, 0, Style::title);
  if (is_damaged(*document_.profile)) {
    line("warning", damage_text(*document_.profile), min_label_width, Style::caution);
  }
  if (!document_.selection.empty()) line("selection", document_.selection, min_label_width);
  if (!document_.scope.empty()) line("scope", document_.scope, min_label_width);
  for (const std::string& caution : cautions_of(*document_.profile)) {
    line("warning", caution, min_label_width, Style::caution);
  }
  const bool lists_notes =
      std::any_of(document_.sections.begin(), document_.sections.end(),
                  [](const Section& section) { return section.key == "notes"; });
  if (lists_notes) return;
  if (const std::string warnings = warnings_text(*document_.profile); !warnings.empty()) {
    line("notes", warnings + "; npuscope show --full lists them", min_label_width);
  }
}

// A label and what it says, over as many lines as it needs.
void DocumentText::line(std::string_view label, std::string_view text, std::size_t label_width,
                        Style style) {
  std::string start = "  " + shortened(printable(label), label_width);
  const std::size_t room = width_ - (label_width > 0 ? label_width + 3 : 2);
  if (label_width > 0) start += std::string(label_width + 3 - columns_of(start), ' ');
  const std::string rest_start(width_ - room, ' ');
  for (const std::string& words : wrapped(printable(text), room)) {
    out_ += start + painted(words, style, colour_) + "\n";
    start = rest_start;
  }
}

void DocumentText::print(const Section& section) {
  std::vector<const Fact*> facts;
  std::size_t label_width = min_label_width - 1;
  for (const Fact& fact : section.facts) {
    if (fact.field.label.empty() || !fact.value.known()) continue;
    facts.push_back(&fact);
    label_width = std::max(label_width, columns_of(fact.field.label));
  }
  label_width = std::min(label_width, max_label_width);
  if (!section.title.empty()) {
    const Table& table = section.table;
    const auto shown = std::uint64_t(table.rows.size());
    std::string title = printable(section.title);
    if (table.row_count > shown) {
      title += fmt::format(" ({} of {})", thousands(shown), thousands(table.row_count));
    }
    out_ += (out_.empty() ? "" : "\n") + painted(title, Style::title, colour_) + "\n";
  }
  for (const Fact* fact : facts) {
    line(fact->field.label, text_of(fact->field, fact->value), label_width);
  }
  print(section.table, section.title);
  if (shows_none(section)) out_ += "  none\n";
  for (const std::string& drawn : section.drawing) out_ += drawn + "\n";
  for (const std::string& remark : section.remarks) line("", remark, 0, Style::dim);
  for (const Section& part : section.parts) print(part);
}

// Once, at the end: which tables have columns that JSON and CSV have and this width has not.
void DocumentText::print_left_out() {
  constexpr std::size_t widest = 1'000;
  if (left_out_.empty()) return;
  const std::string how =
      full_width_ <= widest ? fmt::format("--width {} shows all", full_width_) : "--csv has all";
  out_ += "\n";
  line("", fmt::format("some columns hidden in {}; {}", left_out_, how), 0);
}

void DocumentText::print(const Table& table, std::string_view title) {
  std::vector<std::size_t> shown;
  std::vector<TextColumn> columns;
  for (std::size_t i = 0; i < table.fields.size(); ++i) {
    const Field& field = table.fields[i];
    if (field.label.empty()) continue;
    const bool any = std::any_of(table.rows.begin(), table.rows.end(),
                                 [&](const auto& row) { return row[i].known(); });
    if (field.only_if_known && !any) continue;
    shown.push_back(i);
    columns.push_back({field.label, stands_left(field) ? Align::left : Align::right, field.needed,
                       field.format == Format::bar ? Style::bar : Style::plain, field.is_bound,
                       field.is_path});
  }
  if (table.rows.empty() || columns.empty()) return;
  // Columns without a key are in text only: no other output has them either.
  const bool gives_way = std::any_of(shown.begin(), shown.end(), [&](std::size_t i) {
    return i != table.names && !table.fields[i].needed && !table.fields[i].key.empty();
  });
  const auto names = std::find(shown.begin(), shown.end(), table.names);
  TextTable text(std::move(columns), names == shown.end() ? 0 : std::size_t(names - shown.begin()));
  for (std::size_t at = 0; at < table.rows.size(); ++at) {
    const auto& row = table.rows[at];
    std::vector<std::string> cells;
    for (const std::size_t i : shown) cells.push_back(text_of(table.fields[i], row[i]));
    text.add(std::move(cells), at < table.bounds.size() ? table.bounds[at] : Style::plain);
  }
  out_ += text.print(width_, colour_);
  if (!gives_way || text.full_width() <= width_) return;
  full_width_ = std::max(full_width_, text.full_width());
  left_out_ += (left_out_.empty() ? "" : ", ") + std::string(title.substr(0, title.find(',')));
}

}  // namespace

std::string document_text(const Document& document, std::size_t width, Colour colour) {
  return DocumentText(document, width, colour).print();
}

void cut_tables(std::vector<Section>& sections, std::size_t rows) {
  for (Section& section : sections) {
    Table& table = section.table;
    if (table.rows.size() > rows) {
      table.row_count = std::max<std::uint64_t>(table.row_count, table.rows.size());
      table.rows.resize(rows);
    }
    cut_tables(section.parts, rows);
  }
}

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
