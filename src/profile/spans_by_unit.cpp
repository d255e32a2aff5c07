#include "npuscope/profile/spans_by_unit.hpp"

#include <algorithm>
#include <utility>

#include "npuscope/base/parallel.hpp"

namespace npuscope {
SpansByUnit::SpansByUnit(const Profile& profile) {
  gather(profile, profile.spans.size(), [](std::size_t place) { return place; });
  sort(profile);
}

SpansByUnit::SpansByUnit(const Profile& profile, std::span<const std::uint32_t> rows) {
  gather(profile, rows.size(), [&](std::size_t place) -> std::size_t { return rows[place]; });
  sort(profile);
}

// A counting sort: where each part's spans of each unit go follows from how many there are.
template <class RowAt>
void SpansByUnit::gather(const Profile& profile, std::size_t count, const RowAt& row_at) {
  const Spans& spans = profile.spans;
  const std::size_t units = profile.units.size();
  const bool tells_instances = spans.instance.size() == spans.size();
  const auto place_of = [&](std::size_t row) {
    return std::min<std::size_t>(index_of(spans.unit[row]), units);
  };
  // Counting units is little beside looking at a part's rows.
  const std::vector<RowRange> parts = ranges_of(count, std::max<std::size_t>(65'536, 8 * units));
  std::vector<std::vector<std::uint32_t>> next(parts.size());
  parallel_for(parts.size(), [&](std::size_t i) {
    next[i].assign(units + 1, 0);
    for (std::size_t at = parts[i].first; at < parts[i].last; ++at) {
      next[i][place_of(row_at(at))] += 1;
    }
  });
  std::uint32_t place = 0;
  for (std::size_t unit = 0; unit <= units; ++unit) {
    first_.push_back(place);
    for (std::vector<std::uint32_t>& of_part : next) {
      place += std::exchange(of_part[unit], place);
    }
  }
  first_.push_back(place);
  spans_.resize(count);
  parallel_for(parts.size(), [&](std::size_t i) {
    for (std::size_t at = parts[i].first; at < parts[i].last; ++at) {
      const std::size_t row = row_at(at);
      const auto [begin, end] = interval_of(spans, row);
      const std::uint32_t instance = tells_instances ? spans.instance[row] : every_instance;
      spans_[next[i][place_of(row)]++] = {begin,         end,      std::uint32_t(row),
                                          spans.op[row], instance, spans.kind[row]};
    }
  });
}

void SpansByUnit::sort(const Profile& profile) {
  const auto& durations = profile.spans.duration;
  const auto before = [&](const SpanOfUnit& a, const SpanOfUnit& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    if (durations[a.row] != durations[b.row]) return durations[a.row] > durations[b.row];
    return a.row < b.row;
  };
  rows_.resize(spans_.size());
  parallel_for(first_.size() - 1, [&](std::size_t unit) {
    const auto begin = spans_.begin() + first_[unit], end = spans_.begin() + first_[unit + 1];
    if (!std::is_sorted(begin, end, before)) std::sort(begin, end, before);
    std::transform(begin, end, rows_.begin() + first_[unit],
                   [](const SpanOfUnit& span) { return span.row; });
  });
}

}  // namespace npuscope
