// Tables as Python's libraries want them: a column is one block of values, one after another, which
// numpy and Arrow look at where it lies.
//
//   Table table = table_of(section.table, profile, section.key);
//   table.head(2).unit          // "cycles"
//   table.column(2)->type       // Type::int64
//   table.column(2)->values     // 87414, 68222, …
//
// Whoever holds a view of a column holds `owner`, and with it all that the values lie in.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"
#include "npuscope/query/database.hpp"
#include "report/document/document.hpp"

namespace npuscope::python {

enum class Type : std::uint8_t {
  boolean,  // a byte each
  uint8,
  uint32,
  int64,
  float64,  // NaN: unknown
  text,     // UTF-8 between offsets
  list,     // items between offsets
  codes,    // int32, places in `items`; -1: unknown
  any,      // Python objects: numbers and texts in one column
};

struct ColumnHead {
  std::string name = {};
  std::string label = {};     // in text; empty: text does not show it
  std::string quantity = {};  // "time", "bytes", "share", …
  std::string unit = {};      // "cycles", "bytes"; empty: a plain number or a text
  std::string kind = {};      // "work", "wall"; empty: unknown
  std::string origin = {};    // "measured"; empty: unknown
  std::string meaning = {};   // in words
};

struct Column : ColumnHead {
  Type type = Type::float64;
  std::size_t size = 0;
  const void* values = nullptr;
  const std::int64_t* offsets = nullptr;  // of text and list: size + 1
  const std::uint8_t* missing = nullptr;  // 1 where unknown; null: all are known
  std::shared_ptr<const Column> items = {};
  std::shared_ptr<const std::vector<report::Value>> objects = {};  // of any
  std::shared_ptr<const void> owner = {};

  std::size_t missing_count() const;
  bool is_missing(std::size_t row) const { return missing != nullptr && missing[row] != 0; }
};

// A column is made when it is first asked for, by whichever thread.
class Table {
 public:
  using Make = std::function<Column(ColumnHead)>;

  Table(std::string name, std::size_t rows) : name_(std::move(name)), rows_(rows) {}

  void add(Column column);
  void add(ColumnHead head, Make make);

  const std::string& name() const { return name_; }
  std::size_t rows() const { return rows_; }
  std::size_t column_count() const { return slots_.size(); }
  const ColumnHead& head(std::size_t column) const { return slots_[column].head; }
  std::shared_ptr<const Column> column(std::size_t column) const;

 private:
  struct Slot {
    ColumnHead head;
    Make make;
    std::shared_ptr<const Column> made;
  };

  std::string name_;
  std::size_t rows_;
  mutable std::vector<Slot> slots_;
  mutable std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
};

// The value of a cell; nothing where it is unknown.
report::Value value_at(const Column& column, std::size_t row);

// For a column whose cells are of several types: each as a text.
std::string text_of(const report::Value& value);

// A column of values as they come, of the narrowest type that holds them all.
class ColumnBuilder {
 public:
  explicit ColumnBuilder(ColumnHead head) : head_(std::move(head)) {}

  void add(report::Value value);
  // `real`: float64 also where all numbers are whole.
  Column build(bool real = false) &&;

 private:
  // Values of one sort lie as the column has them: a query may have millions.
  enum class Sort : std::uint8_t { none, integers, reals, texts, mixed };

  static Sort sort_of(const report::Value& value);
  void begin(Sort sort);
  void append(const report::Value& value);
  void become_mixed();
  Column build_mixed();

  ColumnHead head_;
  Sort sort_ = Sort::none;
  std::size_t count_ = 0;
  bool any_missing_ = false;
  std::vector<std::uint8_t> missing_;
  std::vector<std::int64_t> integers_;  // of texts where each ends
  std::vector<double> reals_;
  std::string text_;
  std::vector<report::Value> values_;  // of mixed
};

// What is said of a field of a page; `profile` may be null.
ColumnHead head_of(const Profile* profile, const report::Field& field);

// Fields without a key are for text only and left out.
Table table_of(const report::Table& table, const Profile* profile, const std::string& name);

// Rows of a query; columns that are named alike get numbers, as everywhere.
class TableSink : public query::RowSink {
 public:
  explicit TableSink(std::uint64_t max_rows) : max_rows_(max_rows) {}

  void columns(const std::vector<std::string>& names) override;
  bool row(std::span<const query::Cell> cells) override;
  bool has_more() const { return has_more_; }
  Table table() &&;

 private:
  std::uint64_t max_rows_;  // 0: all
  std::uint64_t rows_ = 0;
  bool has_more_ = false;
  std::vector<ColumnBuilder> builders_;
};

// A table of the profile itself (src/profile/schema.hpp): spans, ops, units, …; numbers that the
// profile holds as columns are looked at where they lie. A usage error for an unknown name.
Result<Table> profile_table(std::shared_ptr<const Profile> profile, const std::string& name);
std::vector<std::string> profile_table_names();

}  // namespace npuscope::python
