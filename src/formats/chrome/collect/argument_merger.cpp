#include "formats/chrome/collect/argument_merger.hpp"

#include <algorithm>

namespace npuscope::chrome {

void ArgumentMerger::take(const Arguments& from, std::size_t from_row,
                          const std::vector<std::uint32_t>& shape_of) {
  if (from.empty()) return;
  const ArgumentRow added = from.row(from_row);
  if (added.shape() == 0) return;
  const std::uint32_t shape = shape_of.empty() ? added.shape() : shape_of[added.shape()];
  if (shape_ != 0) return append(shape, added);
  shape_ = shape;
  for (std::size_t i = 0; i < shapes_[shape].size(); ++i) bits_.push_back(added.bits(i));
}

void ArgumentMerger::append(std::uint32_t added_shape, const ArgumentRow& added) {
  ArgumentShape keys = shapes_[shape_];
  const ArgumentShape& added_keys = shapes_[added_shape];
  for (std::size_t i = 0; i < added_keys.size(); ++i) {
    const auto same = std::ranges::find(keys, added_keys[i].name, &ArgumentKey::name);
    if (same == keys.end()) {
      keys.push_back(added_keys[i]);
      bits_.push_back(added.bits(i));
    } else {
      bits_[std::size_t(same - keys.begin())] = added.bits(i);
      *same = added_keys[i];
    }
  }
  shape_ = shapes_.intern(keys);
}

void ArgumentMerger::put(std::size_t row) {
  if (shape_ == 0) return;
  into_.add(row, shape_, bits_);
  shape_ = 0;
  bits_.clear();
}

}  // namespace npuscope::chrome
