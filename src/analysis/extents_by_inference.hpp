// From the first start to the last end of some of each inference's spans.
//
//   const auto extents = extents_by_inference(profile.spans, [&](std::size_t row) {
//     return role_of(profile.spans.kind[row]) == Role::work;
//   });
//   extents[0]                          {0, {120, 64949}}   inference 0
//
// In the order of the inferences' numbers; `every_instance` is one of them where spans say so. None
// where the profile does not say which inference a span is of. The function runs on several threads
// at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {

// Whether a span of that kind is part of its inference's wall: what is beside it is not, nor what
// comes before the first.
inline bool is_of_inference(SpanKind kind) {
  return kind != SpanKind::activation && role_of(kind) != Role::overlay;
}

using InferenceExtent = std::pair<std::uint32_t, Interval>;

// Sorts them and makes one of those of the same inference.
inline void unite_extents(std::vector<InferenceExtent>& extents) {
  const auto earlier = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (!std::is_sorted(extents.begin(), extents.end(), earlier)) {
    std::sort(extents.begin(), extents.end(), earlier);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (kept > 0 && extents[kept - 1].first == extents[i].first) {
      Interval& extent = extents[kept - 1].second;
      extent.begin = std::min(extent.begin, extents[i].second.begin);
      extent.end = std::max(extent.end, extents[i].second.end);
    } else {
      extents[kept++] = extents[i];
    }
  }
  extents.resize(kept);
}

template <class Counts>  // of a row
std::vector<InferenceExtent> extents_by_inference(const Spans& spans, const Counts& counts) {
  if (spans.instance.size() != spans.size()) return {};
  const std::vector<RowRange> parts = ranges_of(spans.size());
  std::vector<std::vector<InferenceExtent>> of_parts(parts.size());
  parallel_for(parts.size(), [&](std::size_t part) {
    std::vector<InferenceExtent>& extents = of_parts[part];
    std::size_t limit = 4'096;
    for (std::size_t row = parts[part].first; row < parts[part].last; ++row) {
      if (!counts(row)) continue;
      const Interval interval = interval_of(spans, row);
      // Neighbours are mostly of the same inference.
      if (extents.empty() || extents.back().first != spans.instance[row]) {
        if (extents.size() == limit) {
          unite_extents(extents);
          limit = std::max(limit, 2 * extents.size());
        }
        extents.emplace_back(spans.instance[row], interval);
      }
      Interval& extent = extents.back().second;
      extent.begin = std::min(extent.begin, interval.begin);
      extent.end = std::max(extent.end, interval.end);
    }
  });
  std::vector<InferenceExtent> all;
  for (const auto& extents : of_parts) all.insert(all.end(), extents.begin(), extents.end());
  unite_extents(all);
  return all;
}

}  // namespace npuscope::analysis
