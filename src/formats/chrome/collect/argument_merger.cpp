#include "formats/chrome/collect/argument_merger.hpp"

#include <algorithm>
#include <limits>

namespace npuscope::chrome {

void ArgumentMerger::merge(std::size_t row, const Arguments& from, std::size_t from_row,
                           const std::vector<std::uint32_t>& shape_of) {
  constexpr std::size_t max_values = std::numeric_limits<std::uint32_t>::max();
  if (from.empty() || from.shape[from_row] == 0 || into_.values.size() >= max_values) return;
  const std::uint32_t from_shape = from.shape[from_row];
  const std::uint32_t added_shape = shape_of.empty() ? from_shape : shape_of[from_shape];
  const std::uint64_t* const added_bits = from.values.data() + from.first[from_row];
  if (into_.empty()) {
    into_.shape.assign(rows_, 0);
    into_.first.assign(rows_, 0);
  }
  std::uint32_t& shape = into_.shape[row];
  std::uint32_t& first = into_.first[row];
  keys_ = shapes_[shape];
  bits_.assign(into_.values.begin() + first,
               into_.values.begin() + first + std::ptrdiff_t(keys_.size()));
  const ArgumentShape added = shapes_[added_shape];
  for (std::size_t i = 0; i < added.size(); ++i) {
    const auto same = std::ranges::find(keys_, added[i].name, &ArgumentKey::name);
    if (shape == 0 || same == keys_.end()) {
      keys_.push_back(added[i]);
      bits_.push_back(added_bits[i]);
    } else {
      bits_[std::size_t(same - keys_.begin())] = added_bits[i];
      *same = added[i];
    }
  }
  shape = shapes_.intern(keys_);
  first = std::uint32_t(into_.values.size());
  into_.values.insert(into_.values.end(), bits_.begin(), bits_.end());
}

}  // namespace npuscope::chrome
