// From when to when the profile ran, and each of its inferences, in one look at all spans.
//
//   const SpanExtents& extents = analysis.extents();
//   extents.timeline                    {120, 980000}
//   extents.inferences[0]               inference 0: wall {120, 64949}, work {131, 64920},
//                                       rows 0 to 20411
#pragma once

#include <cstdint>
#include <vector>

#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {

// Whether a span of that kind is part of its inference's wall: an overlay is not, nor what comes
// before the first, nor the profiler's own time.
constexpr bool is_of_inference(SpanKind kind) {
  return kind != SpanKind::activation && kind != SpanKind::profiler &&
         role_of(kind) != Role::overlay;
}

struct InferenceExtent {
  std::uint32_t number = 0;
  std::uint32_t first_row = 0, rows_end = 0;  // all rows of the inference lie among these
  bool runs = false;                          // has spans that are part of its wall
  bool works = false;                         // of them, some that are work
  Interval wall, work;                        // of such spans, where there are any

  bool operator==(const InferenceExtent&) const = default;
};

struct SpanExtents {
  // First start to last end of what ran, else of overlays.
  Interval timeline;
  bool works = false;  // some spans are work
  // By number, `every_instance` as one of them where spans say so; none where the profile does not
  // say which inference a span is of.
  std::vector<InferenceExtent> inferences;
};

SpanExtents extents_of(const Profile& profile);

}  // namespace npuscope::analysis
