// TOML files that are part of the program, by what they say: npuscope_embed_toml() parses them when
// npuscope is built, because doing so at each start takes as long as reading a small profile.
//
//   for (const EmbeddedToml& file : builtin_role_files) read(file.table(), file.name);
//
// They have values, lists of texts, and arrays of tables with such. A value is a line: what it is,
// its key, a tab, its text. Those of no table come first.
#pragma once

#include <toml++/toml.h>

#include <string_view>

#include "base/numbers.hpp"

namespace npuscope {

enum class EmbeddedValue : char {
  text = '=',
  boolean = '?',
  integer = '#',
  number = '.',
  item = '-',   // of the list `key`
  table = '[',  // the next one of the array `key`
};

struct EmbeddedToml {
  std::string_view name;
  std::string_view lines;

  // visit(EmbeddedValue, key, text)
  template <class Visit>
  constexpr void for_each(const Visit& visit) const {
    for (std::string_view rest = lines; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(line.size() + 1);
      const std::size_t tab = line.find('\t');
      visit(EmbeddedValue(line[0]), line.substr(1, tab - 1), line.substr(tab + 1));
    }
  }

  // As toml::parse() has the file, but for places in it.
  toml::table table() const {
    toml::table root;
    toml::table* at = &root;
    const auto list = [](toml::table& in, std::string_view key) -> toml::array& {
      return *in.insert(key, toml::array()).first->second.as_array();
    };
    for_each([&](EmbeddedValue is, std::string_view key, std::string_view text) {
      switch (is) {
        case EmbeddedValue::text: at->insert(key, text); break;
        case EmbeddedValue::boolean: at->insert(key, text == "1"); break;
        case EmbeddedValue::integer:
          at->insert(key, parse_number<std::int64_t>(text).value_or(0));
          break;
        case EmbeddedValue::number: at->insert(key, parse_number<double>(text).value_or(0)); break;
        case EmbeddedValue::item: list(*at, key).push_back(text); break;
        case EmbeddedValue::table:
          list(root, key).push_back(toml::table());
          at = list(root, key).back().as_table();
          break;
      }
    });
    return root;
  }
};

}  // namespace npuscope
