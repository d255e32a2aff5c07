#include "formats/perfetto/read/argument_table.hpp"

#include <algorithm>

namespace npuscope::perfetto {

std::uint32_t ArgumentTable::shape_of(const ArgumentShape& keys) {
  if (table_->shapes[last_shape_] == keys) return last_shape_;
  std::uint64_t hash = keys.size();
  for (const ArgumentKey& key : keys) {
    hash = (hash ^ (std::uint64_t(key.name) << 8 | std::uint64_t(key.type))) *
           0x9E3779B97F4A7C15u;  // 2^64 / golden ratio: spreads what differs little
    hash ^= hash >> 32;
  }
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto candidate = begin; candidate != end; ++candidate) {
    if (table_->shapes[candidate->second] == keys) return last_shape_ = candidate->second;
  }
  table_->shapes.push_back(keys);
  last_shape_ = std::uint32_t(table_->shapes.size() - 1);
  by_hash_.emplace(hash, last_shape_);
  return last_shape_;
}

std::uint32_t ArgumentTable::keep(const ArgumentList& more) {
  kept_.push_back({no_row, shape_of(more), kept_values_.size()});
  kept_values_.insert(kept_values_.end(), more.values.begin(), more.values.end());
  return std::uint32_t(kept_.size() - 1);
}

void ArgumentTable::give(std::uint32_t kept, std::size_t row) {
  kept_[kept].row = std::uint32_t(row);
  any_given_ = true;
}

void ArgumentTable::finish(std::size_t rows) {
  if (any_given_) append_kept(rows);
  table_->resize(rows);
}

void ArgumentTable::append_kept(std::size_t rows) {
  std::erase_if(kept_, [](const Kept& kept) { return kept.row == no_row; });
  std::ranges::stable_sort(kept_, {}, &Kept::row);
  const Arguments before = std::move(*table_);
  *table_ = {};
  table_->shapes = before.shapes;
  ArgumentList list;
  auto next = kept_.begin();
  for (std::size_t row = 0; row < rows; ++row) {
    list.clear();
    if (row < before.size()) {
      const ArgumentRow values = before.row(row);
      for (std::size_t i = 0; const ArgumentKey& key : before.shapes[values.shape()]) {
        list.add(key.name, key.type, values.bits(i++));
      }
    }
    for (; next != kept_.end() && next->row == row; ++next) {
      const ArgumentShape& keys = table_->shapes[next->shape];
      for (std::size_t i = 0; i < keys.size(); ++i) {
        list.add(keys[i].name, keys[i].type, kept_values_[next->first + i]);
      }
    }
    add(row, list);
  }
  kept_.clear();
  kept_values_.clear();
}

}  // namespace npuscope::perfetto
