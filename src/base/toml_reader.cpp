#include "base/toml_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/near_names.hpp"

namespace npuscope {

Result<toml::table> parse_toml(std::string_view text, const std::string& file, ErrorKind error) {
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& wrong) {
    return tl::unexpected(
        Error{error, fmt::format("{}:{}: {}; correct the line", file, wrong.source().begin.line,
                                 wrong.description())});
  }
}

void TomlReader::text(std::string_view key, std::string& out, Needed needed) {
  const toml::node* const node = take(key, needed);
  if (node == nullptr) return;
  const auto value = node->value_exact<std::string>();
  if (!value || value->empty()) return fail(key, "'{}' must be a text in quotes", key);
  out = *value;
}

void TomlReader::texts(std::string_view key, std::vector<std::string>& out, Needed needed) {
  const toml::node* const node = take(key, needed);
  if (node == nullptr) return;
  std::vector<std::string> read;
  const auto take_one = [&](const toml::node& each) {
    auto value = each.value_exact<std::string>();
    if (value) read.push_back(std::move(*value));
  };
  const toml::array* const list = node->as_array();
  if (list == nullptr) take_one(*node);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) take_one((*list)[i]);
  if (read.size() != (list != nullptr ? list->size() : 1)) {
    return fail(key, "'{}' must be a text or a list of texts", key);
  }
  out = std::move(read);
}

void TomlReader::pattern(std::string_view key, std::optional<Pattern>& out,
                         Pattern::Groups groups) {
  std::string value;
  text(key, value);
  if (value.empty()) return;
  if (auto made = compiled(key, value, groups)) out = std::move(*made);
}

void TomlReader::patterns(std::string_view key, std::vector<Pattern>& out) {
  std::vector<std::string> values;
  texts(key, values);
  for (const std::string& value : values) {
    if (auto made = compiled(key, value, Pattern::Groups::forgotten)) {
      out.push_back(std::move(*made));
    }
  }
}

std::optional<Pattern> TomlReader::compiled(std::string_view key, std::string_view text,
                                            Pattern::Groups groups) {
  if (is_builtin()) return Pattern::builtin(text, groups);
  auto made = Pattern::compile(fmt::format("{}: {}", place_of(key), key), text, groups);
  if (made) return std::move(*made);
  keep({file_.error, std::move(made.error().message)});
  return std::nullopt;
}

void TomlReader::yes_or_no(std::string_view key, bool& out, Needed needed) {
  const toml::node* const node = take(key, needed);
  if (node == nullptr) return;
  const auto value = node->value_exact<bool>();
  if (!value) return fail(key, "'{}' must be true or false", key);
  out = *value;
}

void TomlReader::number(std::string_view key, double& out, double min, double max, Needed needed) {
  const toml::node* const node = take(key, needed);
  if (node == nullptr) return;
  const auto value = node->value<double>();  // true would be 1
  if (!value || node->is_boolean() || !(*value >= min) || !(*value <= max)) {
    return fail(key, "'{}' must be a number from {} to {}", key, min, max);
  }
  out = *value;
}

std::optional<std::int64_t> TomlReader::whole_number(std::string_view key, std::int64_t min,
                                                     std::int64_t max, Needed needed) {
  const toml::node* const node = take(key, needed);
  if (node == nullptr) return std::nullopt;
  const auto value = node->value_exact<std::int64_t>();
  if (value && *value >= min && *value <= max) return *value;
  fail(key, "'{}' must be a whole number from {} to {}", key, min, max);
  return std::nullopt;
}

void TomlReader::whole_numbers(std::string_view key, std::vector<std::uint64_t>& out,
                               std::int64_t max, Needed needed) {
  const toml::node* const node = take(key, needed);
  if (node == nullptr) return;
  const auto take_one = [&](const toml::node& each) {
    const auto value = each.value_exact<std::int64_t>();
    if (!value || *value < 0 || *value > max) {
      return fail(key, "'{}' must be a number from 0 to {}, or a list of them", key, max);
    }
    out.push_back(std::uint64_t(*value));
  };
  if (const toml::array* const list = node->as_array()) {
    for (const toml::node& each : *list) take_one(each);
  } else {
    take_one(*node);
  }
}

const toml::array& TomlReader::tables_of(std::string_view key, Needed needed, std::size_t max) {
  static const toml::array none;
  const toml::node* const node = take(key, Needed::no);
  if (node == nullptr) {
    if (needed == Needed::yes) {
      keep({file_.error, fmt::format("{}: [[{}]] is missing; add one", file_.name, key)});
    }
    return none;
  }
  const toml::array* const list = node->as_array();
  const bool has_only_tables =
      list != nullptr && std::all_of(list->begin(), list->end(),
                                     [](const toml::node& each) { return each.is_table(); });
  if (!has_only_tables) {
    fail(key, "'{0}' must be tables; begin each with [[{0}]]", key);
    return none;
  }
  if (list->size() > max) {
    fail(key, "{} of '{}' are more than {}; keep those that matter", list->size(), key, max);
    return none;
  }
  return *list;
}

Status TomlReader::finish() {
  std::vector<std::string_view> names(known_.begin(), known_.end());
  for (const auto& [key, node] : table_) {
    if (allows_others_ || is_builtin()) break;
    const bool is_known = std::any_of(names.begin(), names.end(), [&](std::string_view name) {
      return name.substr(0, name.find('.')) == key.str();
    });
    if (is_known) continue;
    error_.reset();
    fail(key.str(), "'{}' is unknown{}; {} {}", key.str(), did_you_mean(names, key.str()),
         names.size() == 1 ? "the only key here is" : "the keys here are", fmt::join(names, ", "));
    break;
  }
  if (error_) return tl::unexpected(*error_);
  return {};
}

std::string TomlReader::place_of(std::string_view key) const {
  const toml::node* const node = find(key);
  const toml::source_region& source = (node != nullptr ? *node : table_).source();
  return fmt::format("{}:{}", file_.name, source.begin.line);
}

const toml::node* TomlReader::find(std::string_view key) const {
  if (key.find('.') != key.npos) return table_.at_path(key).node();
  for (const auto& [name, node] : table_) {  // of few: a rule has three keys of two dozen
    if (name.str() == key) return &node;
  }
  return nullptr;
}

const toml::node* TomlReader::take(std::string_view key, Needed needed) {
  if (!is_builtin()) known_.emplace_back(key);
  const toml::node* const node = find(key);
  if (node == nullptr && needed == Needed::yes) fail(key, "'{}' is missing", key);
  return node;
}

void TomlReader::keep(std::string_view key, std::string_view what) {
  keep({file_.error, fmt::format("{}: {}", place_of(key), what)});
}

}  // namespace npuscope
