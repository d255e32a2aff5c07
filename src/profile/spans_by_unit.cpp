#include "npuscope/profile/spans_by_unit.hpp"

#include <utility>

#include "npuscope/base/parallel.hpp"

namespace npuscope {
namespace {

// Rows from first to last, of which each part is looked at by a thread of its own.
struct Part {
  std::size_t first, last;
};

// So many that several cores have something to do, and so few that counting their units is little
// beside looking at their rows.
std::vector<Part> parts_of(std::size_t rows, std::size_t units) {
  constexpr std::size_t least_rows = 65'536, most_parts = 16;
  const std::size_t count =
      std::clamp<std::size_t>(rows / std::max(least_rows, 8 * units), 1, most_parts);
  std::vector<Part> parts;
  for (std::size_t i = 0; i < count; ++i) {
    parts.push_back({rows * i / count, rows * (i + 1) / count});
  }
  return parts;
}

}  // namespace

SpansByUnit::SpansByUnit(const Profile& profile) {
  gather(profile);
  sort(profile);
}

// A counting sort: where each part's spans of each unit go follows from how many there are.
void SpansByUnit::gather(const Profile& profile) {
  const Spans& spans = profile.spans;
  const std::size_t units = profile.units.size();
  const auto place_of = [&](std::size_t row) {
    return std::min<std::size_t>(index_of(spans.unit[row]), units);
  };
  const std::vector<Part> parts = parts_of(spans.size(), units + 1);
  std::vector<std::vector<std::uint32_t>> next(parts.size());
  parallel_for(parts.size(), [&](std::size_t i) {
    next[i].assign(units + 1, 0);
    for (std::size_t row = parts[i].first; row < parts[i].last; ++row) next[i][place_of(row)] += 1;
  });
  std::uint32_t place = 0;
  for (std::size_t unit = 0; unit <= units; ++unit) {
    first_.push_back(place);
    for (std::vector<std::uint32_t>& of_part : next) {
      place += std::exchange(of_part[unit], place);
    }
  }
  first_.push_back(place);
  spans_.resize(spans.size());
  parallel_for(parts.size(), [&](std::size_t i) {
    for (std::size_t row = parts[i].first; row < parts[i].last; ++row) {
      const auto [begin, end] = interval_of(spans, row);
      spans_[next[i][place_of(row)]++] = {begin, end, std::uint32_t(row), spans.kind[row]};
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
