// One profile in all forms that it is exported to, which must say the same: SQLite, JSON, CSV and
// the tables of `npuscope query`. The first byte says where the profile comes from and what is
// asked:
//
//   r  a random profile; the next bytes are its seed, the rest ends with it
//   t  a Chrome trace, the text that follows
//   g  a fixed profile, and a question in SQL that the bytes decide, to its tables and to its file
#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "choices.hpp"
#include "formats/chrome/trace_text.hpp"
#include "fuzz/fuzzing.hpp"
#include "query/exported_file.hpp"
#include "query/random_profile.hpp"
#include "query/schema.hpp"

namespace npuscope::fuzz {
namespace {

using test::Choices;
using test_support::ExportedFile;
using test_support::Rows;
using Table = std::vector<std::vector<std::string>>;  // rows of cells

const std::string null = "NULL";

// As all forms can say it: bytes that are not UTF-8 stay what they are in SQL alone, and integers
// from 2^63 on are less by 2^64 there.
Table as_all_say(Table table) {
  for (auto& row : table) {
    for (std::string& cell : row) {
      std::uint64_t number = 0;
      const auto end = std::from_chars(cell.data(), cell.data() + cell.size(), number);
      const bool is_large = end.ec == std::errc() && end.ptr == cell.data() + cell.size() &&
                            number > std::uint64_t(std::numeric_limits<std::int64_t>::max());
      cell = is_large ? std::to_string(std::int64_t(number)) : valid_utf8(cell);
    }
  }
  return table;
}

void require_equal(const Table& made_as_it_is, const Table& expected_as_it_is,
                   const std::string& what) {
  const Table made = as_all_say(made_as_it_is), expected = as_all_say(expected_as_it_is);
  if (made == expected) return;
  fmt::print(stderr, "{}: {} rows, expected {}\n", what, made.size(), expected.size());
  for (std::size_t row = 0; row < std::min(made.size(), expected.size()); ++row) {
    if (made[row] == expected[row]) continue;
    fmt::print(stderr, "row {}: {}\nexpected: {}\n", row, fmt::join(made[row], "|"),
               fmt::join(expected[row], "|"));
    break;
  }
  __builtin_trap();
}

std::string number_text(double number) {
  return std::isfinite(number) ? fmt::format("{}", number) : null;
}

// Cells in one spelling, whatever they are held in.
struct Spelled : query::RowSink {
  Table table;
  void columns(const std::vector<std::string>&) override {}
  bool row(std::span<const query::Cell> cells) override {
    std::vector<std::string> row;
    for (const query::Cell& cell : cells) {
      if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
        row.push_back(fmt::format("{}", *whole));
      } else if (const auto* number = std::get_if<double>(&cell)) {
        row.push_back(number_text(*number));
      } else if (const auto* text = std::get_if<std::string_view>(&cell)) {
        row.emplace_back(*text);
      } else {
        row.push_back(null);
      }
    }
    table.push_back(std::move(row));
    return true;
  }
};

query::Database database_of(const Profile& profile) {
  const query::NamedProfile named{"a", &profile};
  auto database = query::Database::open({&named, 1}, {});
  if (!is_read(database)) __builtin_trap();
  return std::move(*database);
}

// --- whole tables ---

std::vector<const query::ColumnInfo*> columns_of(const query::TableInfo& table, bool with_names) {
  std::vector<const query::ColumnInfo*> columns;
  for (const query::ColumnInfo& column : table.columns) {
    if (column.held_by == schema::HeldBy::all ||
        (with_names && column.held_by == schema::HeldBy::names)) {
      columns.push_back(&column);
    }
  }
  return columns;
}

std::string select(const query::TableInfo& table, bool with_names) {
  std::string names;
  for (const auto* column : columns_of(table, with_names)) {
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", column->name);
  }
  return fmt::format("SELECT {} FROM {}", names, table.name);
}

Table of_json(const nlohmann::json& json, const query::TableInfo& table, std::size_t rows) {
  Table made(rows);
  for (const auto* column : columns_of(table, false)) {
    for (std::size_t row = 0; row < rows; ++row) {
      if (column->name == "id") {  // an array's index
        made[row].push_back(std::to_string(row));
        continue;
      }
      // Columns that no row has anything in may be absent.
      const bool is_held = json.contains(column->name);
      const nlohmann::json value = is_held ? json[column->name].at(row) : nlohmann::json();
      made[row].push_back(value.is_null()          ? null
                          : value.is_string()      ? value.get<std::string>()
                          : value.is_boolean()     ? std::to_string(int(value.get<bool>()))
                          : column->type == "REAL" ? number_text(value.get<double>())
                                                   : value.dump());
    }
  }
  return made;
}

// As RFC 4180 has it.
Table csv_table(const std::string& text) {
  Table table(1);
  std::string cell;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c != '"') cell += c;
      if (c == '"' && at + 1 < text.size() && text[at + 1] == '"')
        cell += text[++at];
      else if (c == '"')
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',' || c == '\n') {
      table.back().push_back(std::move(cell));
      cell.clear();
      if (c == '\n') table.emplace_back();
    } else {
      cell += c;
    }
  }
  table.pop_back();
  return table;
}

// A cell as CSV has it: nothing for NULL, an apostrophe before what a spreadsheet would compute.
std::string csv_cell(const std::string& cell, const query::ColumnInfo& column) {
  if (cell == null) return "";
  const bool is_text = column.type != "INTEGER" && column.type != "REAL";
  const bool formula = is_text && !cell.empty() &&
                       std::string_view("=+-@\t\r").find(cell[0]) != std::string_view::npos;
  return (formula ? "'" : "") + cell;
}

void compare_csv(Table asked, const query::TableInfo& table, const std::string& text) {
  const Table lines = csv_table(text);
  const std::vector<std::string>& names = lines.at(0);
  const auto columns = columns_of(table, true);
  Table csv;
  for (std::size_t line = 1; line < lines.size(); ++line) {
    csv.emplace_back();
    for (const auto* column : columns) {
      const auto place = std::size_t(std::ranges::find(names, column->name) - names.begin());
      // Columns that no row has anything in may be absent.
      std::string cell = place < names.size() ? lines[line].at(place) : std::string();
      if (column->type == "REAL" && !cell.empty()) {
        cell = number_text(std::strtod(cell.c_str(), nullptr));
      }
      csv.back().push_back(cell == null ? "" : cell);
    }
  }
  for (auto& row : asked) {
    for (std::size_t i = 0; i < columns.size(); ++i) row[i] = csv_cell(row[i], *columns[i]);
  }
  require_equal(csv, asked, table.name + ".csv");
}

void compare_exports(const Profile& profile) {
  const ScratchFolder folder;
  const ExportedFile file(profile);
  if (!is_read(jobs::write_json(profile, folder.file("p.json")))) __builtin_trap();
  if (!is_read(jobs::write_csv(profile, folder.file("csv/")))) __builtin_trap();
  const auto json = nlohmann::json::parse(contents(folder.file("p.json")));
  query::Database database = database_of(profile);
  for (const query::TableInfo& table : query::schema()) {
    if (!table.view_of.empty() || table.name == "unit_times") continue;
    const std::string sql = select(table, false);
    Spelled asked, with_names;
    if (!is_read(database.run(sql, asked))) __builtin_trap();
    if (!is_read(database.run(select(table, true), with_names))) __builtin_trap();
    Rows rows;
    if (!is_read(database.run(sql, rows))) __builtin_trap();
    if (file.rows(sql).rows != rows.rows) require_equal({{"SQLite"}}, {{"query"}}, sql);
    if (json.contains(table.name) && json[table.name].is_object()) {
      require_equal(of_json(json[table.name], table, asked.table.size()), asked.table, table.name);
    }
    const auto csv = folder.file("csv/" + table.name + ".csv");
    if (std::filesystem::exists(csv)) compare_csv(with_names.table, table, contents(csv));
  }
}

// --- questions ---

// SELECTs whose answer does not depend on the order in which SQLite goes through a table.
class Question {
 public:
  explicit Question(Choices& choices) : choices_(choices) {}

  std::string make() {
    std::vector<const query::TableInfo*> tables;
    for (const query::TableInfo& table : query::schema()) {
      if (table.view_of.empty() && table.name != "unit_times") tables.push_back(&table);
    }
    table_ = tables[choices_.below(std::uint32_t(tables.size()))];
    std::string sql = choices_.below(3) == 0 ? grouped() : plain();
    return sql;
  }

 private:
  std::string column() {
    const auto columns = columns_of(*table_, false);
    return '"' + columns[choices_.below(std::uint32_t(columns.size()))]->name + '"';
  }
  std::string literal() {
    static const char* const literals[] = {"0",
                                           "1",
                                           "2",
                                           "3",
                                           "-1",
                                           "40",
                                           "100",
                                           "99.5",
                                           "1e300",
                                           "4294967295",
                                           "NULL",
                                           "''",
                                           "'op'",
                                           "'sync'",
                                           "'op_3'",
                                           "'3'",
                                           "'unit_1'",
                                           "9223372036854775807",
                                           "-9223372036854775808",
                                           "x'61'",
                                           "2.0",
                                           "'OP'"};
    return literals[choices_.below(std::uint32_t(std::size(literals)))];
  }
  std::string condition(int depth = 0) {
    const std::string what = column();
    switch (choices_.below(depth > 2 ? 6 : 9)) {
      case 0: return fmt::format("{} = {}", what, literal());
      case 1: return fmt::format("{} {} {}", what, order(), literal());
      case 2: return fmt::format("{} IS {}NULL", what, choices_.below(2) == 0 ? "" : "NOT ");
      case 3: return fmt::format("{} IN ({}, {}, {})", what, literal(), literal(), literal());
      case 4: return fmt::format("{} BETWEEN {} AND {}", what, literal(), literal());
      case 5: return fmt::format("{} {} {}", what, order(), column());
      case 6: return fmt::format("({} AND {})", condition(depth + 1), condition(depth + 1));
      case 7: return fmt::format("({} OR {})", condition(depth + 1), condition(depth + 1));
      default: return fmt::format("NOT {}", condition(depth + 1));
    }
  }
  const char* order() {
    static const char* const orders[] = {"<", "<=", ">", ">=", "<>", "IS", "IS NOT", "LIKE"};
    return orders[choices_.below(std::uint32_t(std::size(orders)))];
  }
  std::string where() { return choices_.below(4) == 0 ? "" : " WHERE " + condition(); }
  std::string plain() {
    const std::string a = column(), b = column();
    return fmt::format("SELECT {}{}, {} FROM {}{} ORDER BY {}{}, {}", distinct(), a, b,
                       table_->name, where(), a, choices_.below(2) == 0 ? "" : " DESC", b);
  }
  std::string grouped() {
    const std::string a = column(), b = column();
    return fmt::format(
        "SELECT {0}, count(*), count(DISTINCT {1}), min({1}), max({1}) FROM {2}{3}"
        " GROUP BY {0} ORDER BY {0}",
        a, b, table_->name, where());
  }
  std::string distinct() { return choices_.below(3) == 0 ? "DISTINCT " : ""; }

  Choices& choices_;
  const query::TableInfo* table_ = nullptr;
};

void compare_answers(Choices choices) {
  static const Profile profile = test_support::random_profile(6, 240);
  static const ExportedFile file(profile);
  static query::Database database = database_of(profile);
  const std::string sql = Question(choices).make();
  Rows rows;
  if (!is_read(database.run(sql, rows))) __builtin_trap();
  if (rows.rows == file.rows(sql).rows) return;
  fmt::print(stderr, "query:\n{}\nSQLite:\n{}\n", fmt::join(rows.rows, "\n"),
             fmt::join(file.rows(sql).rows, "\n"));
  require_equal({{"SQLite"}}, {{"query"}}, sql);
}

void run(std::string input) {
  const char letter = input[0];
  input.erase(0, 1);
  if (letter == 'r') {
    std::uint64_t seed = 0;
    for (const char c : input.substr(0, 8)) seed = seed * 256 + std::uint8_t(c);
    Profile profile = test_support::random_profile(seed, seed % 90);
    for (auto& shape : profile.spans.arguments.shapes) {  // readers make sure that it is JSON
      for (ArgumentKey& key : shape) {
        if (key.type == ArgumentType::json) key.type = ArgumentType::text;
      }
    }
    compare_exports(profile);
  } else if (letter == 't') {
    auto events = chrome::test_support::try_read(input);
    if (is_read(events)) compare_exports(chrome::make_profile(std::move(*events)));
  } else if (letter == 'g') {
    compare_answers(Choices(input));
  }
}

}  // namespace

std::vector<std::string> good_inputs() {
  std::vector<std::string> inputs{
      "r", "r\1", "r\7\2",
      "t" + contents(std::filesystem::path(NPUSCOPE_SOURCE_DIR) / "tests/data/chrome/mtia.json")};
  Choices choices(1u);
  for (int i = 0; i < 20; ++i) {
    std::string input = "g";
    while (input.size() < 40) input += char(choices.below(256));
    inputs.push_back(input);
  }
  return inputs;
}

}  // namespace npuscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size > 0) npuscope::fuzz::run({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
