// What a scan of a table uses of a query, as SQLite hands it from planning to running: a text of
// two characters a step, the second one the column.
//
//   "RA"  the row of this number          takes an argument
//   "KB"  rows whose key is this value    takes an argument; at the beginning: found by an index
//   "<E" "lE" ">E" "gE" "=E"  rows whose number compares so (l: <=, g: >=); takes an argument
//   "OB"  "DB"  in the order of this column, "D" descending
//
// Beside it goes, as a number, which of the first 31 columns are read: bit i is column i.
#pragma once

#include <sqlite3.h>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "query/table.hpp"

namespace npuscope::query {

// The rows of a table in the order of keyed columns, by counting: linear in the rows, nothing is
// compared but the distinct texts of a column once.
//
//   TableIndexes indexes(spans_type, source);
//   const RowIndex& by_op = indexes.by({{op}, {kind}});      // ORDER BY op, kind, row
//   by_op.rows_of(key)                                       // those of one op
struct OrderTerm {
  std::uint32_t column = 0;
  bool descending = false;
  auto operator<=>(const OrderTerm&) const = default;
};

class RowIndex {
 public:
  RowIndex(const schema::Table& type, const Source& source, std::span<const OrderTerm> terms);

  std::span<const Row> rows() const { return rows_; }
  // Whose key in the first column is this one; in it NULL is not asked for.
  std::span<const Row> rows_of(std::uint32_t key) const;

 private:
  void sort_by(const Field& column, const Source& source, bool descending);

  Column<Row> rows_;
  // Of the first column. Slot 0 is NULL, which comes first.
  std::vector<std::uint32_t> slot_of_key_;
  std::vector<std::uint32_t> begin_of_slot_;  // one more than there are slots
};

class TableIndexes {
 public:
  TableIndexes(const schema::Table& type, const Source& source) : type_(type), source_(source) {}

  const schema::Table& type() const { return type_; }
  const Source& source() const { return source_; }
  std::size_t rows() const { return type_.rows(source_); }

  // The number of keys that a column may have: none where it has no keys, or such large ones that
  // counting does not pay.
  std::optional<std::uint32_t> key_count(std::uint32_t column);
  // Whether a column of numbers never decreases from row to row.
  bool is_ascending(std::uint32_t column);

  const RowIndex& by(const std::vector<OrderTerm>& terms);
  // Only once it has been asked for often enough that making it pays: a single look-up is answered
  // as fast by a scan.
  const RowIndex* by_if_worth_it(std::uint32_t column);

 private:
  struct Known {
    bool counted = false;
    std::optional<std::uint32_t> keys;
    std::optional<bool> ascending;
    std::uint32_t lookups = 0;
  };
  Known& known(std::uint32_t column);

  const schema::Table& type_;
  const Source& source_;
  std::vector<Known> known_;
  std::map<std::vector<OrderTerm>, RowIndex> indexes_;
};

struct PlanStep {
  char what = 0;
  std::uint32_t column = 0;

  bool takes_argument() const { return what != 'O' && what != 'D'; }
};

// Fills the answers of xBestIndex.
int plan_rows(TableIndexes& indexes, sqlite3_index_info& info);

std::vector<PlanStep> steps_of(const char* plan);

}  // namespace npuscope::query
