// Debug annotations as the typed arguments of a row.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json_writer.hpp"
#include "formats/perfetto/read/defects.hpp"
#include "formats/perfetto/read/sequence.hpp"
#include "npuscope/profile/arguments.hpp"

namespace npuscope::perfetto {

// The arguments of one row while they are gathered.
struct ArgumentList {
  ArgumentShape keys;
  std::vector<std::uint64_t> values;

  void clear() {
    keys.clear();
    values.clear();
  }
  bool empty() const { return keys.empty(); }
  void add(StringId name, ArgumentType type, std::uint64_t bits) {
    keys.push_back({name, type});
    values.push_back(bits);
  }
  void add_text(StringId name, StringId text) {
    add(name, ArgumentType::text, std::uint32_t(text));
  }
};

class AnnotationDecoder {
 public:
  AnnotationDecoder(StringPool& strings, Defects& defects)
      : strings_(&strings), defects_(&defects) {}

  // `interned` may be null. Throws protozero's exceptions on a broken message.
  void decode(std::string_view annotation, const InternedState* interned, std::uint64_t offset,
              ArgumentList& into);

 private:
  using Json = JsonWriter<std::string>;
  struct Scope {
    const InternedState* interned;
    std::uint64_t offset;
  };
  void decode_value(std::string_view annotation, Scope scope, StringId name, ArgumentList& into);
  void add_legacy_json(std::string_view text, StringId name, ArgumentList& into);
  void write_json(Json& json, std::string_view annotation, Scope scope, int depth);
  void write_nested(Json& json, std::string_view nested, Scope scope, int depth);
  std::string_view key_of(std::string_view annotation, Scope scope);

  StringPool* strings_;
  Defects* defects_;
  std::string text_;  // of the annotation at hand
};

// Where the arguments of a row lie in the table.
struct ArgumentPlace {
  std::uint32_t shape = 0;
  std::uint32_t first = 0;
};

// Fills an Arguments table; rows may get more arguments later.
class ArgumentTable {
 public:
  explicit ArgumentTable(Arguments& table) : table_(&table) {}

  // Keeps the values; false when the table is full.
  bool place(const ArgumentList& list, ArgumentPlace& place);
  // The arguments of `row`, which is the last row or one before it. Rows without are not told.
  void set(std::size_t row, ArgumentPlace place);
  // More arguments for a row that may have some.
  bool append(std::size_t row, const ArgumentList& list);
  bool append(std::size_t row, ArgumentPlace more);
  // Makes room for the rows that were not told.
  void finish(std::size_t rows);

 private:
  std::uint32_t shape_of(const ArgumentShape& keys);

  Arguments* table_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
  std::uint32_t last_shape_ = 0;
};

}  // namespace npuscope::perfetto
