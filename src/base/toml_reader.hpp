// How the project's own TOML files are read: keys are asked for with what they must be, and what
// was not asked for is unknown. The first error stays, with its file and line.
//
//   TRY_AS(root, parse_toml(text, "mine.toml", ErrorKind::usage));
//   TomlReader in(*root, {"mine.toml", ErrorKind::usage});
//   in.text("name", made.name, Needed::yes);
//   in.tables("column", [&](TomlReader& each) { each.word("unit", unit_words, column.unit); });
//   TRY(in.finish());   // "mine.toml:6: 'units' is unknown (did you mean 'unit'?); the keys here
//   …"
//
// A key may be a path, "record.bytes".
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "npuscope/base/pattern.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope {

enum class Needed : bool { no, yes };

struct TomlFile {
  std::string name;
  ErrorKind error = ErrorKind::usage;  // of all that is wrong with it
  bool is_builtin = false;             // tests have tried its patterns (Pattern::builtin) and keys
};

Result<toml::table> parse_toml(std::string_view text, const std::string& file, ErrorKind error);

class TomlReader {
 public:
  TomlReader(const toml::table& table, const TomlFile& file) : table_(table), file_(file) {}

  // What lacks or is wrong leaves `out` as it is. No text that is given is empty.
  void text(std::string_view key, std::string& out, Needed needed = Needed::no);
  // One text, or a list of them.
  void texts(std::string_view key, std::vector<std::string>& out, Needed needed = Needed::no);
  void pattern(std::string_view key, std::optional<Pattern>& out,
               Pattern::Groups groups = Pattern::Groups::forgotten);
  void patterns(std::string_view key, std::vector<Pattern>& out);
  void yes_or_no(std::string_view key, bool& out, Needed needed = Needed::no);
  void number(std::string_view key, double& out, double min, double max,
              Needed needed = Needed::no);
  template <class Integer>
  void whole(std::string_view key, Integer& out, std::int64_t min, std::int64_t max,
             Needed needed = Needed::no) {
    if (const auto value = whole_number(key, min, max, needed)) out = Integer(*value);
  }
  // A number or a list of them.
  void whole_numbers(std::string_view key, std::vector<std::uint64_t>& out, std::int64_t max,
                     Needed needed = Needed::no);

  // `words`: pairs of a word and its value.
  template <class Words, class Value>
  void word(std::string_view key, const Words& words, Value& out, Needed needed = Needed::no) {
    std::string value;
    text(key, value, needed);
    if (value.empty()) return;
    std::string names;
    for (const auto& [name, meant] : words) {
      if (name == value) {
        out = meant;
        return;
      }
      names.append(names.empty() ? "" : ", ").append(name);
    }
    fail(key, "'{}' must be one of: {}", key, names);
  }

  // Tables of the list [[key]], in their order; take_one(TomlReader&).
  template <class Take>
  void tables(std::string_view key, const Take& take_one, Needed needed = Needed::no,
              std::size_t max = 100'000) {
    for (const toml::node& each : tables_of(key, needed, max)) {
      TomlReader reader(*each.as_table(), file_);
      take_one(reader);
      if (const Status done = reader.finish(); !done) keep(done.error());
    }
  }

  bool has(std::string_view key) const { return find(key) != nullptr; }
  // The table may have more keys than these.
  void allow_others() { allows_others_ = true; }
  // "mine.toml:6", of a key, or of the table where it has none such.
  std::string place_of(std::string_view key = {}) const;

  template <class... Arguments>
  void fail(std::string_view key, fmt::format_string<Arguments...> format,
            Arguments&&... arguments) {
    if (!error_) keep(key, fmt::format(format, std::forward<Arguments>(arguments)...));
  }
  // An error that somebody else found, with its place in it.
  void keep(Error error) {
    if (!error_) error_ = std::move(error);
  }
  bool is_builtin() const { return file_.is_builtin; }

  // Before what the values mean together is looked at: a key that is misspelt lacks, too. May be
  // asked for again.
  Status finish();

 private:
  const toml::node* find(std::string_view key) const;
  const toml::node* take(std::string_view key, Needed needed);
  std::optional<std::int64_t> whole_number(std::string_view key, std::int64_t min, std::int64_t max,
                                           Needed needed);
  const toml::array& tables_of(std::string_view key, Needed needed, std::size_t max);
  std::optional<Pattern> compiled(std::string_view key, std::string_view text,
                                  Pattern::Groups groups);
  void keep(std::string_view key, std::string_view what);

  const toml::table& table_;
  const TomlFile& file_;
  std::vector<std::string> known_;
  std::optional<Error> error_;
  bool allows_others_ = false;
};

}  // namespace npuscope
