#include "query/row_plan.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace npuscope::query {
namespace {

// So many keys are counted whatever the number of rows.
constexpr std::uint64_t always_countable = 1 << 16;
constexpr std::uint32_t lookups_worth_an_index = 3;

}  // namespace

RowIndex::RowIndex(const schema::Table& type, const Source& source,
                   std::span<const OrderTerm> terms)
    : rows_(type.rows(source)) {
  std::iota(rows_.begin(), rows_.end(), Row{0});
  for (auto term = terms.rbegin(); term != terms.rend(); ++term) {
    sort_by(type.fields[term->column], source, term->descending);
  }
}

// Stable, so that rows which agree stay in the order of the terms that follow.
void RowIndex::sort_by(const Field& column, const Source& source, bool descending) {
  Column<std::uint32_t> keys(rows_.size());
  std::uint32_t key_count = 0;
  for (Row row = 0; row < keys.size(); ++row) {
    keys[row] = key_at(source, column, row);
    if (keys[row] != no_key) key_count = std::max(key_count, keys[row] + 1);
  }
  std::vector<std::uint32_t> count(std::size_t(key_count) + 1, 0);  // the last is NULL's
  for (const std::uint32_t key : keys) ++count[std::min(key, key_count)];

  std::vector<std::uint32_t> order;  // keys as their values are ordered
  for (std::uint32_t key = 0; key < key_count; ++key) {
    if (count[key] > 0) order.push_back(key);
  }
  if (is_text(column.type)) {
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return text_of_key(source, column, a) < text_of_key(source, column, b);
    });
  }
  order.insert(order.begin(), key_count);
  if (descending) std::reverse(order.begin(), order.end());

  slot_of_key_.assign(std::size_t(key_count) + 1, std::uint32_t(order.size()));  // of no row
  begin_of_slot_.assign(order.size() + 2, std::uint32_t(rows_.size()));
  std::vector<std::uint32_t> next(count.size());
  std::uint32_t begin = 0;
  for (std::uint32_t slot = 0; slot < order.size(); ++slot) {
    slot_of_key_[order[slot]] = slot;
    begin_of_slot_[slot] = next[order[slot]] = begin;
    begin += count[order[slot]];
  }
  Column<Row> sorted(rows_.size());
  for (const Row row : rows_) sorted[next[std::min(keys[row], key_count)]++] = row;
  rows_ = std::move(sorted);
}

std::span<const Row> RowIndex::rows_of(std::uint32_t key) const {
  if (slot_of_key_.empty() || key >= slot_of_key_.size() - 1) return {};
  const std::uint32_t slot = slot_of_key_[key];
  const std::uint32_t begin = begin_of_slot_[slot], end = begin_of_slot_[slot + 1];
  return std::span(rows_).subspan(begin, end - begin);
}

TableIndexes::Known& TableIndexes::known(std::uint32_t column) {
  if (known_.empty()) known_.resize(type_.fields.size());
  return known_[column];
}

std::optional<std::uint32_t> TableIndexes::key_count(std::uint32_t column) {
  Known& state = known(column);
  const Field& field = type_.fields[column];
  if (state.counted || !has_keys(field)) return state.keys;
  state.counted = true;
  const std::uint64_t row_count = rows();
  std::uint32_t max = 0;
  for (Row row = 0; row < row_count; ++row) {
    const std::uint32_t key = key_at(source_, field, row);
    if (key != no_key) max = std::max(max, key);
  }
  if (max <= 4 * row_count + always_countable) state.keys = max + 1;
  return state.keys;
}

bool TableIndexes::is_ascending(std::uint32_t column) {
  Known& state = known(column);
  const Field& field = type_.fields[column];
  if (!has_numbers(field)) return false;
  if (!state.ascending) {
    state.ascending = true;
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    for (Row row = 0, count = Row(rows()); row < count; ++row) {
      const std::int64_t value = field.get(source_, row).integer;
      if (value < last) {
        state.ascending = false;
        break;
      }
      last = value;
    }
  }
  return *state.ascending;
}

const RowIndex& TableIndexes::by(const std::vector<OrderTerm>& terms) {
  const auto found = indexes_.find(terms);
  if (found != indexes_.end()) return found->second;
  return indexes_.try_emplace(terms, type_, source_, terms).first->second;
}

const RowIndex* TableIndexes::by_if_worth_it(std::uint32_t column) {
  Known& state = known(column);
  if (state.lookups < lookups_worth_an_index) {
    ++state.lookups;
    return nullptr;
  }
  return &by({OrderTerm{column, false}});
}

namespace {

constexpr char first_column = 'A';

class Planner {
 public:
  Planner(TableIndexes& indexes, sqlite3_index_info& info) : indexes_(indexes), info_(info) {}

  int plan();

 private:
  const Field& column(std::uint32_t number) const { return indexes_.type().fields[number]; }
  // The table's own column for the row number, which SQLite calls -1.
  std::optional<std::uint32_t> column_of(int number) const;
  bool compares_bytes(int constraint) const {
    return std::strcmp(sqlite3_vtab_collation(&info_, constraint), "BINARY") == 0;
  }
  void find_first_step();
  void add_filters();
  void add_order();
  void use(int constraint, char what, std::uint32_t number);

  TableIndexes& indexes_;
  sqlite3_index_info& info_;
  std::string steps_;
  int arguments_ = 0;
  int first_ = -1;  // the constraint that the first step is of
  double estimate_ = 0;
  bool one_row_ = false;
};

std::optional<std::uint32_t> Planner::column_of(int number) const {
  if (number >= 0) return std::uint32_t(number);
  const auto& columns = indexes_.type().fields;
  for (std::uint32_t i = 0; i < columns.size(); ++i) {
    if (columns[i].is_row_number) return i;
  }
  return std::nullopt;
}

void Planner::use(int constraint, char what, std::uint32_t number) {
  info_.aConstraintUsage[constraint].argvIndex = ++arguments_;
  steps_ += {what, char(first_column + number)};
}

// The equality that leaves the fewest rows.
void Planner::find_first_step() {
  char what = 0;
  std::uint32_t of = 0;
  for (int i = 0; i < info_.nConstraint; ++i) {
    const auto& constraint = info_.aConstraint[i];
    const auto number = column_of(constraint.iColumn);
    if (!constraint.usable || !number || constraint.op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
    if (column(*number).is_row_number) {
      first_ = i, what = 'R', of = *number, estimate_ = 1, one_row_ = true;
      break;
    }
    const auto keys = indexes_.key_count(*number);
    if (!keys || (is_text(column(*number).type) && !compares_bytes(i))) continue;
    const double rows = std::max(1.0, double(indexes_.rows()) / double(*keys));
    if (first_ < 0 || rows < estimate_) first_ = i, what = 'K', of = *number, estimate_ = rows;
  }
  if (first_ >= 0) use(first_, what, of);
}

void Planner::add_filters() {
  for (int i = 0; i < info_.nConstraint; ++i) {
    const auto& constraint = info_.aConstraint[i];
    const auto number = column_of(constraint.iColumn);
    if (!constraint.usable || !number || i == first_) continue;
    char what = 0;
    switch (constraint.op) {
      case SQLITE_INDEX_CONSTRAINT_EQ: what = '='; break;
      case SQLITE_INDEX_CONSTRAINT_LT: what = '<'; break;
      case SQLITE_INDEX_CONSTRAINT_LE: what = 'l'; break;
      case SQLITE_INDEX_CONSTRAINT_GT: what = '>'; break;
      case SQLITE_INDEX_CONSTRAINT_GE: what = 'g'; break;
      default: continue;
    }
    if (has_numbers(column(*number))) {
      use(i, what, *number);
      estimate_ /= what == '=' ? 16 : 3;
    } else if (what == '=' && indexes_.key_count(*number) &&
               (!is_text(column(*number).type) || compares_bytes(i))) {
      use(i, 'K', *number);
      estimate_ /= 4;
    }
  }
}

// All of it or nothing: rows come in the order of keyed columns, and what they leave equal in the
// order of the rows.
void Planner::add_order() {
  if (info_.nOrderBy == 0) return;
  if (one_row_) {
    info_.orderByConsumed = 1;
    return;
  }
  std::string order;
  for (int i = 0; i < info_.nOrderBy; ++i) {
    const auto& term = info_.aOrderBy[i];
    const auto number = column_of(term.iColumn);
    if (!number) return;
    const bool is_last = column(*number).is_row_number || i + 1 == info_.nOrderBy;
    if (is_last && !term.desc && indexes_.is_ascending(*number)) break;
    if (!indexes_.key_count(*number)) return;
    order += {term.desc ? 'D' : 'O', char(first_column + *number)};
  }
  steps_ += order;
  info_.orderByConsumed = 1;
}

int Planner::plan() {
  const double rows = double(indexes_.rows());
  estimate_ = rows;
  find_first_step();
  const double found = estimate_;
  add_filters();
  add_order();
  estimate_ = std::max(1.0, estimate_);
  info_.estimatedRows = sqlite3_int64(estimate_);
  // Handing a row to SQLite costs 1, looking at one here a tenth.
  info_.estimatedCost = one_row_ ? 1 : 10 + estimate_ + 0.1 * found;
  if (one_row_) info_.idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
  info_.idxNum = int(info_.colUsed & 0x7FFFFFFF);
  info_.idxStr = sqlite3_mprintf("%s", steps_.c_str());
  info_.needToFreeIdxStr = 1;
  return info_.idxStr != nullptr ? SQLITE_OK : SQLITE_NOMEM;
}

}  // namespace

int plan_rows(TableIndexes& indexes, sqlite3_index_info& info) {
  return Planner(indexes, info).plan();
}

std::vector<PlanStep> steps_of(const char* plan) {
  std::vector<PlanStep> steps;
  for (; plan != nullptr && plan[0] != 0; plan += 2) {
    steps.push_back({plan[0], std::uint32_t(plan[1] - first_column)});
  }
  return steps;
}

}  // namespace npuscope::query
