// The arguments of rows while a trace is read: those of one row as they are gathered, and the table
// that keeps them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "npuscope/profile/arguments.hpp"
#include "npuscope/profile/column.hpp"

namespace npuscope::perfetto {

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

}  // namespace npuscope::perfetto
