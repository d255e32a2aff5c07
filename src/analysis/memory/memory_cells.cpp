#include "analysis/memory/memory_cells.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "analysis/order_statistics.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::uint32_t no_cell = ~std::uint32_t{0};

}  // namespace

std::int64_t rounded(double value) {
  constexpr double max = 9.2e18;
  return value < max ? std::llround(value) : std::numeric_limits<std::int64_t>::max();
}

double median_with(std::vector<double> values, std::size_t zeros) {
  const std::size_t count = values.size() + zeros;
  const std::size_t upper = count / 2;
  if (values.empty() || upper < zeros) return 0;
  const std::size_t middle = upper - zeros;
  if (count % 2 == 1) return smallest_at(values, middle).at;
  if (middle == 0) return smallest_at(values, 0).at / 2;  // after a zero
  const auto [before, after] = smallest_at(values, middle - 1);
  return (before + after) / 2;
}

MemoryCells::MemoryCells(const Inferences& inferences, std::size_t spans) {
  const bool are_few = inferences.count() < 8 * spans;
  if (inferences.count() > 1 && are_few) by_place_.assign(inferences.count() + 1, no_cell);
}

std::uint32_t MemoryCells::find(std::uint32_t instance) {
  last_instance_ = instance;
  if (by_place_.empty()) {
    last_cell_ = by_instance_.try_emplace(instance, size_).first->second;
  } else {
    std::uint32_t& cell = by_place_[std::min<std::size_t>(instance, by_place_.size() - 1)];
    if (cell == no_cell) cell = size_;
    last_cell_ = cell;
  }
  size_ += last_cell_ == size_;
  return last_cell_;
}

MemoryCells::Over MemoryCells::over(std::size_t inferences,
                                    std::optional<std::uint32_t> left_out) const {
  const auto cells = std::ranges::count_if(
      inferences_, [&](std::uint32_t inference) { return left_out != inference; });
  return {left_out, std::max(inferences, std::size_t(cells))};
}

template <class Value>
double MemoryCells::median(const std::vector<Value>& values, const Over& over) const {
  std::vector<double> others;
  others.reserve(values.size());
  bool all_equal = true;
  for (std::size_t cell = 0; cell < values.size(); ++cell) {
    if (over.left_out == inferences_[cell]) continue;
    others.push_back(double(values[cell]));
    all_equal = all_equal && others.back() == others.front();
  }
  if (others.empty()) return 0;  // as most figures of most rows are
  if (all_equal && others.size() >= over.inferences) return others.front();
  const std::size_t zeros = over.inferences - std::min(over.inferences, others.size());
  return median_with(std::move(others), zeros);
}

template double MemoryCells::median(const std::vector<double>&, const Over&) const;
template double MemoryCells::median(const std::vector<std::int64_t>&, const Over&) const;

}  // namespace npuscope::analysis
