// Tables whose rows are numbered: scans, look-ups and orders without copying a value.
#include <algorithm>
#include <string>

#include "query/module.hpp"
#include "query/row_plan.hpp"
#include "query/sqlite_values.hpp"

namespace npuscope::query {
namespace row_module {

constexpr std::size_t max_fetched = 4;
constexpr std::size_t fetched_ahead = 24;  // rows: about as long as memory takes

struct RowTable : sqlite3_vtab {
  TableIndexes* indexes = nullptr;

  const std::vector<Field>* bind(Tables& tables, std::string_view name) {
    indexes = tables.find(name);
    return indexes != nullptr ? &indexes->type().fields : nullptr;
  }
};

struct RowCursor : sqlite3_vtab_cursor {
  const Source* source = nullptr;
  const std::vector<Field>* columns = nullptr;
  const Row* rows = nullptr;  // none: all, in their order
  std::size_t place = 0;
  std::size_t end = 0;
  Column<Row> selected;
  // Of the columns that are read, where rows are not in order.
  const void* (*fetched[max_fetched])(const schema::Source&, Row) = {};
  std::size_t fetched_count = 0;

  Row row() const { return rows != nullptr ? rows[place] : Row(place); }
  Row row_at(std::size_t at) const { return rows != nullptr ? rows[at] : Row(at); }
};

// One condition on a row.
struct Test {
  const Field* column = nullptr;
  char comparison = 'K';
  std::uint32_t key = no_key;
  std::int64_t number = 0;

  std::int64_t number_at(const Source& source, Row row) const {
    return column->get(source, row).integer;
  }
  bool holds(const Source& source, Row row) const {
    switch (comparison) {
      case 'K': return key_at(source, *column, row) == key;
      case '=': return number_at(source, row) == number;
      case '<': return number_at(source, row) < number;
      case 'l': return number_at(source, row) <= number;
      case '>': return number_at(source, row) > number;
      default: return number_at(source, row) >= number;
    }
  }
};

// Starts a scan as its plan says.
class Scan {
 public:
  Scan(TableIndexes& indexes, RowCursor& cursor) : indexes_(indexes), cursor_(cursor) {}

  void start(const std::vector<PlanStep>& steps, sqlite3_value** arguments);

 private:
  void take(std::span<const Row> rows) {
    cursor_.rows = rows.data();
    cursor_.place = 0;
    cursor_.end = rows.size();
    if (rows.empty()) cursor_.rows = nullptr;
  }
  void take_row(sqlite3_value* argument);
  void add_test(const PlanStep& step, sqlite3_value* argument);
  void find(const PlanStep& step, sqlite3_value* argument, std::vector<OrderTerm> order);
  void narrow();
  void select();

  TableIndexes& indexes_;
  RowCursor& cursor_;
  std::vector<Test> tests_;
  bool in_row_order_ = true;
  bool nothing_ = false;
};

void Scan::take_row(sqlite3_value* argument) {
  const Bound bound = bound_of('=', argument);
  if (bound.fit == Fit::all) return;
  const bool exists =
      bound.fit == Fit::these && bound.number >= 0 && std::uint64_t(bound.number) < cursor_.end;
  cursor_.place = exists ? std::size_t(bound.number) : 0;
  cursor_.end = exists ? cursor_.place + 1 : 0;
}

void Scan::add_test(const PlanStep& step, sqlite3_value* argument) {
  const Field& column = indexes_.type().fields[step.column];
  if (step.what == 'K') {
    const KeyBound bound = key_bound_of(column, indexes_.source(), argument);
    nothing_ = nothing_ || bound.fit == Fit::none;
    if (bound.fit == Fit::these) tests_.push_back({&column, 'K', bound.key, 0});
  } else {
    const Bound bound = bound_of(step.what, argument);
    nothing_ = nothing_ || bound.fit == Fit::none;
    if (bound.fit == Fit::these) tests_.push_back({&column, step.what, no_key, bound.number});
  }
}

// The rows of one key, in this order.
void Scan::find(const PlanStep& step, sqlite3_value* argument, std::vector<OrderTerm> order) {
  const Field& column = indexes_.type().fields[step.column];
  const KeyBound bound = key_bound_of(column, indexes_.source(), argument);
  if (bound.fit == Fit::none) {
    nothing_ = true;
    return;
  }
  if (bound.fit == Fit::all) {
    if (!order.empty()) take(indexes_.by(order).rows());
    return;
  }
  if (order.empty()) {
    const RowIndex* index = indexes_.by_if_worth_it(step.column);
    if (index != nullptr) return take(index->rows_of(bound.key));
    tests_.push_back({&column, 'K', bound.key, 0});
    return;
  }
  order.insert(order.begin(), OrderTerm{step.column, false});
  take(indexes_.by(order).rows_of(bound.key));
}

// Where numbers ascend with the rows, a comparison begins or ends the scan.
void Scan::narrow() {
  for (const Test& test : tests_) {
    if (test.comparison == 'K') continue;
    const auto column = std::uint32_t(test.column - indexes_.type().fields.data());
    if (!indexes_.is_ascending(column)) continue;
    const auto first_where = [&](auto reached) {
      std::size_t low = cursor_.place, high = cursor_.end;
      while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        const bool is_there = reached(test.number_at(indexes_.source(), cursor_.row_at(middle)));
        (is_there ? high : low) = is_there ? middle : middle + 1;
      }
      return low;
    };
    const auto from = [&] { return first_where([&](std::int64_t n) { return n >= test.number; }); };
    const auto beyond = [&] {
      return first_where([&](std::int64_t n) { return n > test.number; });
    };
    switch (test.comparison) {
      case '<': cursor_.end = from(); break;
      case 'l': cursor_.end = beyond(); break;
      case '>': cursor_.place = beyond(); break;
      case 'g': cursor_.place = from(); break;
      default: cursor_.place = from(), cursor_.end = beyond(); break;
    }
  }
}

void Scan::select() {
  const Source& source = indexes_.source();
  for (std::size_t at = cursor_.place; at < cursor_.end; ++at) {
    const Row row = cursor_.row_at(at);
    const bool holds = std::all_of(tests_.begin(), tests_.end(),
                                   [&](const Test& test) { return test.holds(source, row); });
    if (holds) cursor_.selected.push_back(row);
  }
  take(cursor_.selected);
}

void Scan::start(const std::vector<PlanStep>& steps, sqlite3_value** arguments) {
  cursor_.selected.clear();
  cursor_.rows = nullptr;
  cursor_.place = 0;
  cursor_.end = indexes_.rows();
  std::vector<OrderTerm> order;
  for (const PlanStep& step : steps) {
    if (!step.takes_argument()) order.push_back({step.column, step.what == 'D'});
  }
  in_row_order_ = order.empty();
  if (!order.empty() && steps.front().what != 'K') take(indexes_.by(order).rows());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].takes_argument()) continue;
    sqlite3_value* argument = *arguments++;
    if (steps[i].what == 'R') {
      take_row(argument);
    } else if (i == 0 && steps[i].what == 'K') {
      find(steps[i], argument, order);
    } else {
      add_test(steps[i], argument);
    }
  }
  if (nothing_) {
    cursor_.place = cursor_.end = 0;
    return;
  }
  if (in_row_order_) narrow();
  if (!tests_.empty()) select();
}

int best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
  return guarded([&] { return plan_rows(*static_cast<RowTable*>(table)->indexes, *info); });
}

int open(sqlite3_vtab* table, sqlite3_vtab_cursor** cursor) {
  return guarded([&] {
    const TableIndexes& indexes = *static_cast<RowTable*>(table)->indexes;
    auto made = std::make_unique<RowCursor>();
    made->source = &indexes.source();
    made->columns = &indexes.type().fields;
    *cursor = made.release();
    return SQLITE_OK;
  });
}

int close(sqlite3_vtab_cursor* cursor) {
  delete static_cast<RowCursor*>(cursor);
  return SQLITE_OK;
}

void choose_fetched(RowCursor& cursor, int columns_read) {
  cursor.fetched_count = 0;
  if (cursor.rows == nullptr) return;
  for (std::size_t i = 0; i < cursor.columns->size() && i < 31; ++i) {
    const auto where = (*cursor.columns)[i].where;
    const bool is_read = (columns_read >> i & 1) != 0 && where != nullptr;
    if (is_read && cursor.fetched_count < max_fetched)
      cursor.fetched[cursor.fetched_count++] = where;
  }
}

int filter(sqlite3_vtab_cursor* base, int columns_read, const char* plan, int,
           sqlite3_value** arguments) {
  return guarded([&] {
    TableIndexes& indexes = *static_cast<RowTable*>(base->pVtab)->indexes;
    auto& cursor = *static_cast<RowCursor*>(base);
    Scan(indexes, cursor).start(steps_of(plan), arguments);
    choose_fetched(cursor, columns_read);
    return SQLITE_OK;
  });
}

int next(sqlite3_vtab_cursor* base) {
  auto& cursor = *static_cast<RowCursor*>(base);
  ++cursor.place;
  if (cursor.fetched_count > 0 && cursor.place + fetched_ahead < cursor.end) {
    const Row row = cursor.rows[cursor.place + fetched_ahead];
    for (std::size_t i = 0; i < cursor.fetched_count; ++i) {
      __builtin_prefetch(cursor.fetched[i](*cursor.source, row));
    }
  }
  return SQLITE_OK;
}

int eof(sqlite3_vtab_cursor* cursor) {
  const auto* at = static_cast<const RowCursor*>(cursor);
  return at->place >= at->end;
}

int column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int number) {
  const auto* at = static_cast<const RowCursor*>(cursor);
  return guarded([&] {
    Output out(context);
    const Field& field = (*at->columns)[std::size_t(number)];
    add_cell(*at->source, field, field.get(*at->source, at->row()), out);
    return SQLITE_OK;
  });
}

int rowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* number) {
  *number = static_cast<const RowCursor*>(cursor)->row();
  return SQLITE_OK;
}

sqlite3_module make_module() {
  sqlite3_module module{};
  module.iVersion = 1;
  Connecting<RowTable>::add_to(module);
  module.xBestIndex = best_index;
  module.xOpen = open;
  module.xClose = close;
  module.xFilter = filter;
  module.xNext = next;
  module.xEof = eof;
  module.xColumn = column;
  module.xRowid = rowid;
  return module;
}

}  // namespace row_module

int add_row_module(sqlite3* database, TablesBySchema& tables) {
  static const sqlite3_module module = row_module::make_module();
  return sqlite3_create_module(database, row_module_name, &module, &tables);
}

}  // namespace npuscope::query
