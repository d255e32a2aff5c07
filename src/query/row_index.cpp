#include "query/row_index.hpp"

#include <algorithm>
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

}  // namespace npuscope::query
