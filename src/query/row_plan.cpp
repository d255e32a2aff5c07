#include "query/row_plan.hpp"

#include <algorithm>
#include <cstring>

namespace npuscope::query {
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
