#include "formats/tables/description.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/try.hpp"
#include "formats/tables/builtin_tables.hpp"
#include "profile/names.hpp"

namespace npuscope::tables {
namespace {

constexpr std::array<std::pair<std::string_view, TableUnit>, 9> unit_words{
    {{"cycles", TableUnit::cycles},
     {"ns", TableUnit::nanoseconds},
     {"us", TableUnit::microseconds},
     {"ms", TableUnit::milliseconds},
     {"s", TableUnit::seconds},
     {"bytes", TableUnit::bytes},
     {"count", TableUnit::count},
     {"macs", TableUnit::macs},
     {"percent", TableUnit::percent}}};
constexpr std::array<std::pair<std::string_view, TableColumn::Is>, 7> column_words{
    {{"op", TableColumn::Is::op},
     {"node", TableColumn::Is::node},
     {"kind", TableColumn::Is::kind},
     {"node_kind", TableColumn::Is::node_kind},
     {"time", TableColumn::Is::time},
     {"number", TableColumn::Is::number},
     {"key", TableColumn::Is::key}}};
constexpr std::array<std::pair<std::string_view, TableRow::Is>, 3> row_words{
    {{"skipped", TableRow::Is::skipped},
     {"unknown", TableRow::Is::unknown},
     {"total", TableRow::Is::total}}};
constexpr std::array<std::pair<std::string_view, Origin>, 3> origin_words{
    {{"measured", Origin::measured},
     {"estimated", Origin::estimated},
     {"simulated", Origin::simulated}}};
constexpr std::array<std::pair<std::string_view, Engine>, 6> engine_words{
    {{"compute", Engine::compute},
     {"hmx", Engine::hmx},
     {"hvx", Engine::hvx},
     {"dma", Engine::dma},
     {"host", Engine::host},
     {"other", Engine::other}}};

// Takes the keys of one table of the file; the first error stays.
class Keys {
 public:
  Keys(const toml::table& table, const std::string& file) : table_(table), file_(file) {}

  void text(std::string_view key, std::string& out, bool is_needed = false) {
    const toml::node* node = take(key, is_needed);
    if (node == nullptr) return;
    const auto value = node->value_exact<std::string>();
    if (!value || value->empty()) return fail(*node, "'{}' must be a text", key);
    out = *value;
  }
  void texts(std::string_view key, std::vector<std::string>& out, bool is_needed = false) {
    const toml::node* node = take(key, is_needed);
    if (node == nullptr) return;
    if (const auto one = node->value_exact<std::string>()) {
      out = {*one};
      return;
    }
    const toml::array* list = node->as_array();
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const auto value = list->get(i)->value_exact<std::string>();
      if (value) out.push_back(*value);
    }
    if (list == nullptr || out.size() != list->size() || out.empty()) {
      fail(*node, "'{}' must be a text or a list of texts", key);
    }
  }
  void number(std::string_view key, double& out) {
    const toml::node* node = take(key, false);
    if (node == nullptr) return;
    const auto value = node->value<double>();
    if (!value || !(*value >= 0)) return fail(*node, "'{}' must be a number of 0 or more", key);
    out = *value;
  }
  void yes_or_no(std::string_view key, bool& out) {
    const toml::node* node = take(key, false);
    if (node == nullptr) return;
    const auto value = node->value_exact<bool>();
    if (!value) return fail(*node, "'{}' must be true or false", key);
    out = *value;
  }
  template <class Value, std::size_t Count>
  void word(std::string_view key,
            const std::array<std::pair<std::string_view, Value>, Count>& words, Value& out,
            bool is_needed = false) {
    std::string value;
    text(key, value, is_needed);
    if (value.empty()) return;
    for (const auto& [name, of] : words) {
      if (name == value) {
        out = of;
        return;
      }
    }
    std::string names;
    for (const auto& each : words)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", each.first);
    fail(*table_.get(key), "'{}' must be one of: {}", key, names);
  }
  // Tables of the list [[key]], in their order.
  template <class Take>
  void tables(std::string_view key, const Take& take_one) {
    const toml::node* node = take(key, false);
    if (node == nullptr) return;
    if (!node->is_array_of_tables()) return fail(*node, "begin each '{0}' with [[{0}]]", key);
    for (const toml::node& each : *node->as_array()) {
      Keys keys(*each.as_table(), file_);
      take_one(keys);
      if (const Status done = keys.finish(); !done && !error_) error_ = done.error();
    }
  }

  template <class... Arguments>
  void fail(const toml::node& node, fmt::format_string<Arguments...> format,
            Arguments&&... arguments) {
    if (error_) return;
    error_ = Error{ErrorKind::usage,
                   fmt::format("{}:{}: {}", file_, node.source().begin.line,
                               fmt::format(format, std::forward<Arguments>(arguments)...))};
  }
  const toml::table& table() const { return table_; }

  Status finish() {
    for (const auto& [key, node] : table_) {
      const bool is_known = std::find(known_.begin(), known_.end(), key.str()) != known_.end();
      if (!is_known) fail(node, "'{}' is unknown; see docs/formats/tables.md", key.str());
    }
    if (error_) return tl::unexpected(*error_);
    return {};
  }

 private:
  const toml::node* take(std::string_view key, bool is_needed) {
    known_.push_back(key);
    const toml::node* node = table_.get(key);
    if (node == nullptr && is_needed) fail(table_, "'{}' is missing", key);
    return node;
  }

  const toml::table& table_;
  const std::string& file_;
  std::vector<std::string_view> known_;
  std::optional<Error> error_;
};

TableColumn read_column(Keys& keys, Origin origin) {
  TableColumn column;
  column.origin = origin;
  keys.text("head", column.head, true);
  keys.word("is", column_words, column.is, true);
  keys.word("unit", unit_words, column.unit);
  keys.word("origin", origin_words, column.origin);
  keys.text("name", column.name);
  keys.text("prefix", column.prefix);
  keys.yes_or_no("optional", column.optional);
  if (column.is == TableColumn::Is::time && !is_time(column.unit)) {
    keys.fail(keys.table(), "a time needs a 'unit' of time: cycles, ns, us, ms, s");
  }
  if (column.name.empty()) column.name = column.head;
  return column;
}

TableRow read_row(Keys& keys) {
  TableRow row;
  keys.text("head", row.head, true);
  keys.texts("equals", row.equals, true);
  keys.word("is", row_words, row.is, true);
  keys.text("says", row.says);
  keys.number("tolerance", row.tolerance);
  return row;
}

Status check(const TableDescription& description, const std::string& file) {
  const auto has = [&](TableColumn::Is is) {
    return std::any_of(description.columns.begin(), description.columns.end(),
                       [&](const TableColumn& column) { return column.is == is; });
  };
  if (!has(TableColumn::Is::op)) return usage_error("{}: no column is the op", file);
  if (!has(TableColumn::Is::time)) return usage_error("{}: no column is a time", file);
  const auto is_column = [&](const std::string& head) {
    return std::any_of(description.columns.begin(), description.columns.end(),
                       [&](const TableColumn& column) { return column.head == head; });
  };
  for (const TableRow& row : description.rows) {
    if (!is_column(row.head))
      return usage_error("{}: the '{}' of a row is not a column", file, row.head);
  }
  for (const TableEngine& engine : description.engines) {
    if (is_column(engine.head)) continue;
    return usage_error("{}: the '{}' of an engine is not a column", file, engine.head);
  }
  const bool any_must_be = std::any_of(description.columns.begin(), description.columns.end(),
                                       [](const TableColumn& column) { return !column.optional; });
  if (!any_must_be) return usage_error("{}: all columns are optional", file);
  return {};
}

}  // namespace

Result<TableDescription> parse_description(std::string_view text, const std::string& file) {
  toml::table root;
  try {
    root = toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    return usage_error("{}:{}: {}; correct the description", file, error.source().begin.line,
                       error.description());
  }
  Keys keys(root, file);
  TableDescription made;
  std::string delimiter = ",";
  keys.text("name", made.name, true);
  keys.text("device", made.device);
  keys.text("delimiter", delimiter);
  keys.word("origin", origin_words, made.origin, true);
  keys.texts("notes", made.notes);
  keys.yes_or_no("sum_is_inference", made.sum_is_inference);
  keys.text("block", made.block);
  keys.tables("column",
              [&](Keys& each) { made.columns.push_back(read_column(each, made.origin)); });
  keys.tables("row", [&](Keys& each) { made.rows.push_back(read_row(each)); });
  keys.tables("engine", [&](Keys& each) {
    TableEngine& engine = made.engines.emplace_back();
    each.text("head", engine.head, true);
    each.texts("equals", engine.equals, true);
    each.word("is", engine_words, engine.engine, true);
  });
  if (delimiter.size() != 1) keys.fail(root, "'delimiter' must be one character");
  TRY(keys.finish());
  made.delimiter = delimiter.front();
  TRY(check(made, file));
  return made;
}

const std::vector<TableDescription>& builtin_descriptions() {
  static const std::vector<TableDescription> all = [] {
    std::vector<TableDescription> made;
    for (const auto& [file, toml] : builtin_table_files) {
      auto description = parse_description(toml, fmt::format("tables/{}.toml", file));
      if (description) made.push_back(std::move(*description));  // the tests parse each
    }
    return made;
  }();
  return all;
}

}  // namespace npuscope::tables
