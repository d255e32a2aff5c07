#include "analysis/order_statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace npuscope::analysis {
namespace {

Neighbours by_partition(std::span<double> values, std::size_t k) {
  const auto at = values.begin() + std::ptrdiff_t(k);
  std::nth_element(values.begin(), at, values.end());
  if (k + 1 == values.size()) return {*at, *at};
  return {*at, *std::min_element(at + 1, values.end())};
}

struct Extent {
  double min, max;
  bool is_finite;  // all of them
};

// Four at a time: each comparison waits for the one before it.
Extent extent_of(std::span<const double> values) {
  constexpr std::size_t lanes = 4;
  std::array<double, lanes> min, max, odd{};
  min.fill(values[0]);
  max.fill(values[0]);
  const auto take = [&](double value, std::size_t lane) {
    min[lane] = value < min[lane] ? value : min[lane];
    max[lane] = max[lane] < value ? value : max[lane];
    odd[lane] += value - value;
  };
  std::size_t i = 0;
  for (; i + lanes <= values.size(); i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) take(values[i + lane], lane);
  }
  for (; i < values.size(); ++i) take(values[i], 0);
  const double nothing = odd[0] + odd[1] + odd[2] + odd[3];
  return {*std::min_element(min.begin(), min.end()), *std::max_element(max.begin(), max.end()),
          nothing == 0};
}

// Keeps the values of those stretches alone in which places k and k + 1 lie, and how many values
// come before them in `before`. False: that is no help.
bool narrow(std::span<double>& values, std::size_t k, std::size_t& before) {
  constexpr std::size_t stretches = 256;
  const auto [min, max, is_finite] = extent_of(values);
  if (!is_finite) return false;
  if (min == max) {
    before = k;
    values = values.first(1);
    return true;
  }
  const double scale = double(stretches - 1) / (max - min);
  if (!std::isfinite(max - min) || !std::isfinite(scale)) return false;
  // Rounding keeps order: no value lies in an earlier stretch than a smaller one.
  const auto stretch_of = [&](double value) { return std::uint32_t((value - min) * scale); };
  std::array<std::uint32_t, stretches> count{};
  for (const double value : values) count[stretch_of(value)] += 1;
  before = 0;
  std::uint32_t first = 0;
  while (before + count[first] <= k) before += count[first++];
  std::uint32_t last = first;
  for (std::size_t until = before + count[first]; until <= k + 1 && until < values.size();) {
    until += count[++last];
  }
  std::size_t kept = 0;
  for (const double value : values) {
    values[kept] = value;
    const std::uint32_t stretch = stretch_of(value);
    kept += std::size_t(stretch >= first) & std::size_t(stretch <= last);
  }
  values = values.first(kept);
  return true;
}

}  // namespace

Neighbours smallest_at(std::span<double> values, std::size_t k) {
  constexpr std::size_t few = 48;
  constexpr int max_rounds = 3;  // of outliers, all others lie in one stretch at first
  for (int round = 0; round < max_rounds && values.size() > few; ++round) {
    std::size_t before = 0;
    if (values.size() > ~std::uint32_t{0} || !narrow(values, k, before)) break;
    k -= before;
  }
  return by_partition(values, k);
}

}  // namespace npuscope::analysis
