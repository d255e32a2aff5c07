#include "npuscope/profile/spans_by_unit.hpp"

#include <algorithm>
#include <numeric>

#include "base/counting_sort.hpp"
#include "base/parallel.hpp"

namespace npuscope {
SpansByUnit::SpansByUnit(const Profile& profile) : profile_(&profile.spans) {
  gather(profile, profile.spans.size(), [](std::size_t place) { return place; });
  sort(profile);
}

SpansByUnit::SpansByUnit(const Profile& profile, std::span<const std::uint32_t> rows)
    : profile_(&profile.spans) {
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
    const auto length = std::uint64_t(end) - std::uint64_t(begin);
    const std::uint32_t instance =
        tells_instances ? spans.instance[row] : KeptSpanOfUnit::no_instance;
    KeptSpanOfUnit& span = spans_[place];  // each member at once: a copy would wait for them
    span.begin = begin;
    span.length = std::uint32_t(std::min<std::uint64_t>(length, KeptSpanOfUnit::too_long));
    span.row = std::uint32_t(row);
    span.op = spans.op[row];
    span.instance_and_kind =
        std::min(instance, KeptSpanOfUnit::no_instance) << 8 | std::uint32_t(spans.kind[row]);
  });
}

SpansByUnit SpansByUnit::of(Role role) const {
  const auto is_of_role = [&](const KeptSpanOfUnit& span) {
    return role_of(SpanKind(span.instance_and_kind & 0xff)) == role;
  };
  SpansByUnit some(profile_);
  some.first_.assign(first_.size(), 0);
  const auto of_group = [&](std::size_t group) {
    return std::span(spans_).subspan(first_[group], first_[group + 1] - first_[group]);
  };
  parallel_for(groups(), [&](std::size_t group) {
    some.first_[group + 1] = std::uint32_t(std::ranges::count_if(of_group(group), is_of_role));
  });
  std::partial_sum(some.first_.begin(), some.first_.end(), some.first_.begin());
  some.spans_.resize(some.first_.back());
  parallel_for(groups(), [&](std::size_t group) {
    std::ranges::copy_if(of_group(group), some.spans_.begin() + some.first_[group], is_of_role);
  });
  return some;
}

void SpansByUnit::sort(const Profile& profile) {
  const auto& durations = profile.spans.duration;
  const auto before = [&](const KeptSpanOfUnit& a, const KeptSpanOfUnit& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    if (durations[a.row] != durations[b.row]) return durations[a.row] > durations[b.row];
    return a.row < b.row;
  };
  parallel_for(first_.size() - 1, [&](std::size_t unit) {
    const auto begin = spans_.begin() + first_[unit], end = spans_.begin() + first_[unit + 1];
    if (!std::is_sorted(begin, end, before)) std::sort(begin, end, before);
  });
}

}  // namespace npuscope
