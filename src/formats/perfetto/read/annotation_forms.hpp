// What annotations of events look like: events of one name have the same annotations in the same
// order, each the number of a name and a value of the same field.
//
//   22 06  08 01  20 80 D2 04     annotations 1 and 2 of an event: what is the same in the next
//   22 05  08 03  88 01 31        event of its name is compared at once, only values are read
//
// Nothing depends on what is learnt but speed: where an annotation is another one, or not right,
// decode() says so and leaves it to whoever reads field by field.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/perfetto/read/sequence.hpp"
#include "npuscope/profile/arguments.hpp"
#include "npuscope/profile/column.hpp"

namespace npuscope::perfetto {

// The arguments of rows while a trace is read: those of one row as they are gathered, and the table
// that keeps them.

// The arguments of one row while they are gathered. Where somebody knows the keys of many rows, the
// list borrows them, and the number under which a table has them.
class ArgumentList {
 public:
  Column<std::uint64_t> values;  // of keys(), in their order

  void clear() {
    own_keys_.clear();
    values.clear();
    keys_of_many_ = nullptr;
    shape_ = nullptr;
  }
  bool empty() const { return values.empty(); }
  const ArgumentShape& keys() const { return keys_of_many_ ? *keys_of_many_ : own_keys_; }
  void add(StringId name, ArgumentType type, std::uint64_t bits) {
    if (keys_of_many_ != nullptr) own_keys_ = *keys_of_many_;
    keys_of_many_ = nullptr;
    shape_ = nullptr;
    own_keys_.push_back({name, type});
    values.push_back(bits);
  }
  void add_text(StringId name, StringId text) {
    add(name, ArgumentType::text, std::uint32_t(text));
  }
  // As many values must be there. Both stay where they are while the list is in use; `shape` is 0
  // until a table has the keys.
  void borrow(const ArgumentShape& keys, std::uint32_t& shape) {
    keys_of_many_ = &keys;
    shape_ = &shape;
  }

 private:
  friend class ArgumentTable;
  ArgumentShape own_keys_;
  const ArgumentShape* keys_of_many_ = nullptr;
  std::uint32_t* shape_ = nullptr;
};

// Fills an Arguments table; rows may get more arguments later.
class ArgumentTable {
 public:
  explicit ArgumentTable(Arguments& table) : table_(&table) {}

  // A row behind the last that has arguments. Rows without are not told.
  void add(std::size_t row, const ArgumentList& list) {
    if (!list.empty()) table_->add(row, shape_of(list), list.values);
  }
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

  std::uint32_t shape_of(const ArgumentList& list) {
    if (list.shape_ == nullptr) return shape_of(list.keys());
    if (*list.shape_ == 0) *list.shape_ = shape_of(list.keys());
    return *list.shape_;
  }
  std::uint32_t shape_of(const ArgumentShape& keys);
  void append_kept(std::size_t rows);

  Arguments* table_;
  std::vector<Kept> kept_;
  std::vector<std::uint64_t> kept_values_;
  bool any_given_ = false;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
  std::uint32_t last_shape_ = 0;
};

class AnnotationForms {
 public:
  // Annotations that follow one another, with their tags and lengths, of an event whose name has
  // this number. Bytes come before the first. False: `into` is to be cleared.
  bool decode(std::string_view annotations, std::uint64_t name_iid, const InternedState& interned,
              ArgumentList& into);
  // What was made of the last that decode() could not read.
  void learn(std::string_view annotations, std::uint64_t name_iid, const InternedState& interned,
             const ArgumentList& made);

 private:
  enum class Value : std::uint8_t { integer, boolean, number, text };
  struct Begin {
    std::uint64_t bytes = 0, mask = 0;  // before the value, the first lowest
    std::uint32_t size = 0;
    Value value = Value::integer;
  };
  struct Form {
    std::uint64_t of = 0;  // InternedState::annotation_forms; 0: not learnt
    std::uint64_t tried_for = 0;
    std::vector<Begin> begins;
    ArgumentShape keys;
    std::uint32_t shape = 0;           // ArgumentList::borrow()
    std::uint32_t learnt_in_vain = 0;  // times since it was of use
  };
  static constexpr std::size_t sequences_with_forms = 64, forms_of_sequence = 16;
  static constexpr std::uint32_t most_in_vain = 16;

  static std::optional<Begin> begin_of(std::string_view annotation, const InternedState& interned,
                                       const ArgumentKey& key);
  Form& form_for(const InternedState& interned, std::uint64_t name_iid) {
    if (interned.annotation_forms == 0) number_forms_of(interned);
    const std::uint64_t of = interned.annotation_forms;
    return forms_[of % sequences_with_forms * forms_of_sequence + name_iid % forms_of_sequence];
  }
  void number_forms_of(const InternedState& interned);

  std::vector<Form> forms_;  // none before there are annotations
  std::uint64_t last_forms_ = 0;
};

}  // namespace npuscope::perfetto
