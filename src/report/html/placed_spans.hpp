// The spans of a profile as a page draws them: unit by unit, by start, the longer first. Of more
// than a page can hold, short ones that lie close together are merged, work with work and waits
// with waits, until they fit.
//
//   const PlacedSpans placed(analysis, 2'000'000);
//   placed.spans[placed.place_of_row[row]]    the span of this row, or the merged one that it is in
//   placed.merge_ticks                        256: what is shorter was merged; 0: nothing was
#pragma once

#include <cstdint>
#include <vector>

#include "npuscope/analysis/analysis.hpp"

namespace npuscope::report {

struct PlacedSpan {
  std::int64_t begin = 0, end = 0;
  std::int64_t active = 0;  // ticks in which one of them ran
  std::uint32_t row = 0;    // of the longest
  std::uint32_t count = 1;
};

struct PlacedSpans {
  PlacedSpans(const analysis::Analysis& analysis, std::size_t max_spans);

  std::vector<PlacedSpan> spans;
  std::vector<std::size_t> first_of_unit;  // one for each unit, those without one, and the end
  std::vector<std::uint32_t> place_of_row;
  std::int64_t merge_ticks = 0;
  std::uint64_t merged = 0;  // spans of the profile that are part of a merged one
};

}  // namespace npuscope::report
