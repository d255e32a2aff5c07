#include "formats/tables/read_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/has_text.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "formats/tables/records.hpp"
#include "formats/tables/table_profile.hpp"

namespace npuscope::tables {
namespace {

constexpr std::size_t max_tables = 64;  // of a file, a profile each

// The tables of a file, one below the other, and the lines between them.
class TableFile {
 public:
  TableFile(const TableDescription& description, CountedNotes& losses)
      : description_(description), losses_(losses) {}

  void take(const Records& record) {
    const Fields& fields = record.fields();
    const std::uint64_t offset = record.offset();
    if (auto places = places_in(description_, fields)) {
      places_ = *places;
      return begin(std::move(*places), offset);
    }
    const bool is_blank =
        std::ranges::all_of(fields, [](const auto& field) { return trimmed(field).empty(); });
    if (is_blank) {
      if (ends_at_blank()) goes_on_ = false;
      return;
    }
    if (goes_on_ && rows_are_networks_ && !tables_.back().profile.is_empty()) {
      begin(std::vector(places_), offset);
    }
    if (goes_on_ && (fields.size() > 1 || description_.layout == TableLayout::csv)) {
      if (tables_.back().profile.take(fields, offset)) return;
    }
    if (!has_lines()) return;
    line_ = record.line();
    if (line_.empty()) {
      for (const std::string_view field : fields) {
        if (!line_.empty()) line_ += description_.delimiter;
        line_ += field;
      }
    }
    if (!description_.heads.empty() && line_.find(description_.title) != line_.npos) {
      const Fields heads(description_.heads.begin(), description_.heads.end());
      if (auto places = places_in(description_, heads)) return begin(std::move(*places), offset);
    }
    take_line(offset);
  }

  // Empty where a table has numbers, or lacks nothing.
  std::string why_no_number() const {
    std::string why;
    for (const Table& table : tables_) {
      if (table.profile.ops() == 0) continue;
      why = table.profile.why_no_number();
      if (why.empty()) return "";
    }
    return why;
  }

  std::vector<Profile> finish() {
    std::vector<Profile> profiles;
    std::vector<std::uint64_t> seen;
    std::vector<std::string> names;
    if (description_.columns.empty() && lines_only_ && !lines_only_->is_empty()) {
      profiles.push_back(lines_only_->finish());
    }
    if (tables_.empty() && !description_.heads.empty() && !lines_of_run_.empty()) {
      TableProfile run(description_, {}, losses_);  // recorded without its layers
      for (const std::string& line : lines_of_run_) run.take_line(line);
      profiles.push_back(run.finish());
    }
    for (Table& table : tables_) {
      if (!table.profile.has_rows()) continue;
      if (is_before_the_last(table)) {
        losses_.add(Severity::info, 0, "tables before the last; left out");
        continue;
      }
      const std::uint64_t rows = table.profile.rows();
      if (rows != 0 && std::ranges::find(seen, rows) != seen.end()) {
        losses_.add(Severity::info, 0, "tables that repeat another row by row; left out");
        continue;
      }
      seen.push_back(rows);
      names.push_back(table.name);
      profiles.push_back(table.profile.finish());
      if (rows_are_networks_) names.back() = profiles.back().provenance.graph;
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!names[i].empty()) {
        profiles[i].provenance.graph = names[i];
      } else if (names.size() > 1 && std::ranges::all_of(names, &std::string::empty)) {
        profiles[i].provenance.graph = fmt::format("{} {}", description_.block, i + 1);
        profiles[i].provenance.graph_is_numbered = true;
      }
    }
    return profiles;
  }

 private:
  struct Table {
    std::string name;
    TableProfile profile;
  };

  // Of those with rows, where the last counts.
  bool is_before_the_last(const Table& table) const {
    return description_.blocks == TableDescription::Blocks::last &&
           std::any_of(&table + 1, tables_.data() + tables_.size(),
                       [](const Table& later) { return later.profile.ops() > 0; });
  }

  // Tables with a title, and those of logs, have text around them.
  bool ends_at_blank() const {
    return !description_.title.empty() || description_.layout == TableLayout::left ||
           description_.layout == TableLayout::right;
  }

  bool has_lines() const { return !description_.lines.empty() || !description_.title.empty(); }

  void begin(std::vector<std::size_t> places, std::uint64_t offset) {
    goes_on_ = false;
    if (!description_.title.empty() && line_.find(description_.title) == line_.npos) return;
    if (is_skipped_) return;
    if (description_.blocks == TableDescription::Blocks::parts && !tables_.empty()) {
      losses_.add(Severity::warning, offset,
                  "headers below rows: what ran between the parts is not in the file");
      goes_on_ = true;
      return tables_.back().profile.go_on(std::move(places));
    }
    if (tables_.size() == max_tables) {
      losses_.add(Severity::warning, offset, "tables after the first 64; left out");
      return;
    }
    goes_on_ = true;
    tables_.push_back({name_, {description_, std::move(places), losses_}});
    for (const std::string& line : lines_of_run_) tables_.back().profile.take_line(line);
  }

  void take_line(std::uint64_t offset) {
    for (const TableLine& line : description_.lines) {
      if (line.is > TableLine::Is::remark || !line.matches->found_in(line_)) continue;
      if (line.is == TableLine::Is::remark) {
        losses_.add(Severity::warning, offset, line.says);
        continue;
      }
      is_skipped_ = line.is == TableLine::Is::skipped;
      goes_on_ = false;
      name_ = line.matches->has_group() ? valid_utf8(line.matches->group_in(line_)) : line.name;
      if (!line.says.empty()) losses_.add(Severity::info, offset, line.says);
      return;
    }
    if (description_.columns.empty()) {
      if (!lines_only_) lines_only_.emplace(description_, std::vector<std::size_t>(), losses_);
      lines_only_->take_line(line_);
    } else if (is_skipped_) {
      return;
    } else if (!tables_.empty()) {
      tables_.back().profile.take_line(line_);
    } else if (lines_of_run_.size() < max_tables && is_wanted()) {
      lines_of_run_.push_back(line_);  // above all tables: of each
    }
  }
  bool is_wanted() const {
    return std::ranges::any_of(description_.lines, [&](const TableLine& line) {
      return line.is > TableLine::Is::remark && line.matches->found_in(line_);
    });
  }

  const TableDescription& description_;
  const bool rows_are_networks_ = description_.rows_are == TableDescription::Rows::networks;
  CountedNotes& losses_;
  std::vector<Table> tables_;
  std::vector<std::size_t> places_;  // of the last header's columns
  std::optional<TableProfile> lines_only_;
  std::string line_;  // the last outside the rows
  std::string name_;  // of the tables that follow
  std::vector<std::string> lines_of_run_;
  bool goes_on_ = false;  // rows belong to the last table
  bool is_skipped_ = false;
};

bool has_heads(const TableDescription& description, std::string_view head) {
  if (!description.heads.empty()) return true;  // its marks tell
  if (description.layout == TableLayout::json) {
    head = without_byte_order_mark(head);
    const auto first = head.find_first_not_of(" \t\r\n");
    if (first == head.npos || (head[first] != '{' && head[first] != '[')) return false;
    return std::ranges::all_of(description.columns, [&](const TableColumn& column) {
      return column.optional || has_text(head, '"' + column.head + '"');
    });
  }
  if (!has_text(head, description.columns.front().head)) return false;
  const std::size_t max_records = description.title.empty() ? 256 : head.size();
  auto source = open_byte_source(head, "");
  if (!source) return false;
  CountedNotes losses;
  const auto records = open_records(**source, description, losses);
  for (std::size_t i = 0; records && i < max_records && (*records)->next(); ++i) {
    if (places_in(description, (*records)->fields())) return true;
  }
  return false;
}

}  // namespace

std::optional<std::size_t> recognise_table(std::string_view head,
                                           std::span<const TableDescription> descriptions) {
  std::optional<std::size_t> best;
  std::size_t most = 0;
  for (std::size_t place = 0; place < descriptions.size(); ++place) {
    const TableDescription& each = descriptions[place];
    const std::size_t asks_for =
        each.marks.size() +
        std::size_t(std::ranges::count_if(each.columns, [](const TableColumn& column) {
          return !column.optional && column.part < 2;
        }));
    if (asks_for <= most) continue;
    const bool is_marked =
        std::ranges::all_of(each.marks, [&](const Pattern& mark) { return mark.found_in(head); });
    if (!is_marked || (!each.columns.empty() && !has_heads(each, head))) continue;
    best = place;
    most = asks_for;
  }
  return best;
}

std::string why_it_does_not_fit(std::string_view head, const TableDescription& description) {
  constexpr std::size_t max_named = 3;
  if (!std::ranges::all_of(description.marks,
                           [&](const Pattern& mark) { return mark.found_in(head); })) {
    return "not all of its marks are in the first 64 KiB";
  }
  std::optional<std::vector<std::string_view>> fewest;  // of the line that has most heads
  for (std::size_t at = 0; at < head.size();) {
    const std::size_t end = std::min(head.find('\n', at), head.size());
    std::vector<std::string_view> missing;
    for (const TableColumn& column : description.columns) {
      const bool is_there = head.substr(at, end - at).find(column.head) != head.npos;
      if (!is_there && !column.optional) missing.push_back(column.head);
    }
    if (!fewest || missing.size() < fewest->size()) fewest = std::move(missing);
    at = end + 1;
  }
  if (!fewest || fewest->empty()) return "the heads stand in a line, but not as its fields";
  std::string names;
  for (std::size_t i = 0; i < std::min(fewest->size(), max_named); ++i) {
    names += fmt::format("{}'{}'", i > 0 ? ", " : "", printable((*fewest)[i]));
  }
  if (fewest->size() > max_named) names += fmt::format(" and {} more", fewest->size() - max_named);
  return "no line has the heads " + names;
}

Result<std::vector<Profile>> read_table(ByteSource& source, const TableDescription& description) {
  if (!description.refuses.empty()) {
    return input_error("{}: {}: {}", source.name(), description.name, description.refuses);
  }
  CountedNotes losses(source.name());
  TRY_AS(records, open_records(source, description, losses));
  TableFile file(description, losses);
  while ((*records)->next()) file.take(**records);
  if (const std::string why = file.why_no_number(); !why.empty()) {
    return input_error(
        "{}: is a table of {}, but {}, and no other cell is a number; write them "
        "as 1234.5",
        source.name(), description.name, printable(why));
  }
  std::vector<Profile> profiles = file.finish();
  if (profiles.empty()) {
    const auto* error = (*records)->error();
    if (error != nullptr && *error) return tl::unexpected(**error);
    return input_error("{}: is a table of {}, but has no row below its header; write it again",
                       source.name(), description.name);
  }
  for (Profile& profile : profiles) {
    profile.provenance.files = {source.name()};
    losses.append_to(profile.notes);
  }
  return profiles;
}

}  // namespace npuscope::tables
