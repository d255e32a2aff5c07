#include "npuscope/profile/spans_by_unit.hpp"

#include <algorithm>

#include "base/counting_sort.hpp"
#include "base/parallel.hpp"

namespace npuscope {
SpansByUnit::SpansByUnit(const Profile& profile) {
  gather(profile, profile.spans.size(), [](std::size_t place) { return place; });
  sort(profile);
}

SpansByUnit::SpansByUnit(const Profile& profile, std::span<const std::uint32_t> rows) {
  gather(profile, rows.size(), [&](std::size_t place) -> std::size_t { return rows[place]; });
  sort(profile);
}

template <class RowAt>
void SpansByUnit::gather(const Profile& profile, std::size_t count, const RowAt& row_at) {
  const Spans& spans = profile.spans;
  const std::size_t units = profile.units.size();
  const bool tells_instances = spans.instance.size() == spans.size();
  CountingSort by_unit(count, units + 1, [&](std::size_t at) {
    return std::min<std::size_t>(index_of(spans.unit[row_at(at)]), units);
  });
  first_ = by_unit.first();
  spans_.resize(count);
  by_unit.place([&](std::size_t at, std::uint32_t place) {
    const std::size_t row = row_at(at);
    const auto [begin, end] = interval_of(spans, row);
    const std::uint32_t instance = tells_instances ? spans.instance[row] : every_instance;
    SpanOfUnit& span = spans_[place];  // each member at once: a copy would wait for them
    span.begin = begin;
    span.end = end;
    span.row = std::uint32_t(row);
    span.op = spans.op[row];
    span.instance = instance;
    span.kind = spans.kind[row];
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
