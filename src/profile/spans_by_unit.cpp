#include "npuscope/profile/spans_by_unit.hpp"

#include <algorithm>

#include "npuscope/base/parallel.hpp"

namespace npuscope {

SpansByUnit::SpansByUnit(const Profile& profile) {
  const Spans& spans = profile.spans;
  const std::size_t units = profile.units.size();
  const auto place_of = [&](std::size_t row) {
    return std::min<std::size_t>(index_of(spans.unit[row]), units);
  };
  first_.assign(units + 2, 0);
  for (std::size_t row = 0; row < spans.size(); ++row) first_[place_of(row) + 1] += 1;
  for (std::size_t unit = 0; unit <= units; ++unit) first_[unit + 1] += first_[unit];
  rows_.resize(spans.size());
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (std::size_t row = 0; row < spans.size(); ++row) {
    rows_[next[place_of(row)]++] = std::uint32_t(row);
  }
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    if (spans.start[a] != spans.start[b]) return spans.start[a] < spans.start[b];
    if (spans.duration[a] != spans.duration[b]) return spans.duration[a] > spans.duration[b];
    return a < b;
  };
  parallel_for(units + 1, [&](std::size_t unit) {
    const auto begin = rows_.begin() + first_[unit], end = rows_.begin() + first_[unit + 1];
    if (!std::is_sorted(begin, end, before)) std::sort(begin, end, before);
  });
}

std::span<const std::uint32_t> SpansByUnit::of(UnitId unit) const {
  const std::size_t place = std::min<std::size_t>(index_of(unit), first_.size() - 2);
  return {rows_.data() + first_[place], rows_.data() + first_[place + 1]};
}

}  // namespace npuscope
