// Debug annotations as the typed arguments of a row.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
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
  std::uint32_t* shape = nullptr;  // where the table keeps the number of these keys; 0: none yet

  void clear() {
    keys.clear();
    values.clear();
    shape = nullptr;
  }
  bool empty() const { return keys.empty(); }
  void add(StringId name, ArgumentType type, std::uint64_t bits) {
    shape = nullptr;
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

  // All annotations of an event whose name has this number. They lie in it, so that bytes come
  // before each. `interned` may be null. Throws protozero's exceptions on a broken message.
  void decode(const std::vector<std::string_view>& annotations, std::uint64_t name_iid,
              const InternedState* interned, std::uint64_t offset, ArgumentList& into);

 private:
  // Events of one name have the same annotations in the same order: the number of a name, and a
  // value.
  struct Begin {
    std::uint32_t bytes = 0, mask = 0;  // before the value, the first lowest
    std::uint32_t size = 0;
  };
  struct Form {
    std::uint64_t of = 0;  // InternedState::annotation_forms; 0: not learnt
    std::uint64_t tried_for = 0;
    std::vector<Begin> begins;
    ArgumentShape keys;
    std::uint32_t shape = 0;           // ArgumentList::shape
    std::uint32_t learnt_in_vain = 0;  // times since it was of use
  };
  static constexpr std::size_t sequences_with_forms = 64, forms_of_sequence = 16;
  static constexpr std::uint32_t most_in_vain = 16;

  static std::optional<Begin> begin_of(std::string_view annotation, const InternedState& interned,
                                       const ArgumentKey& key);

  void decode(std::string_view annotation, const InternedState* interned, std::uint64_t offset,
              ArgumentList& into);
  Form& form_for(const InternedState& interned, std::uint64_t name_iid);
  bool decode_by_form(const std::vector<std::string_view>& annotations, Form& form,
                      const InternedState& interned, ArgumentList& into);
  void learn_form(const std::vector<std::string_view>& annotations, Form& form,
                  const InternedState& interned, const ArgumentList& made);
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
  std::array<Form, sequences_with_forms * forms_of_sequence> forms_;
  std::uint64_t last_forms_ = 0;
  std::string text_;  // of the annotation at hand
  struct LegacyJson;
  std::shared_ptr<LegacyJson> legacy_json_;  // null before the first such text
};

// Fills an Arguments table; rows may get more arguments later.
class ArgumentTable {
 public:
  explicit ArgumentTable(Arguments& table) : table_(&table) {}

  // A row behind the last that has arguments. Rows without are not told.
  void add(std::size_t row, const ArgumentList& list);
  // More arguments for a row, behind those that it has.
  void append(std::size_t row, const ArgumentList& more) { give(keep(more), row); }
  // The same where the row is found later: what is kept has a number, and given to none is lost.
  std::uint32_t keep(const ArgumentList& more);
  void give(std::uint32_t kept, std::size_t row);
  // The rows with all that they were given.
  void finish(std::size_t rows);

 private:
  static constexpr std::uint32_t no_row = ~std::uint32_t{0};

  struct Kept {
    std::uint32_t row = no_row;
    std::uint32_t shape = 0;
    std::uint64_t first = 0;  // in `kept_values_`
  };

  std::uint32_t shape_of(const ArgumentList& list);
  std::uint32_t shape_of(const ArgumentShape& keys);
  void append_kept(std::size_t rows);

  Arguments* table_;
  std::vector<Kept> kept_;
  std::vector<std::uint64_t> kept_values_;
  bool any_given_ = false;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
  std::uint32_t last_shape_ = 0;
};

}  // namespace npuscope::perfetto
