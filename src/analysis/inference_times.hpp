// What the timeline of each inference was made of, in one pass over the spans of each unit, all
// units side by side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {

// From when to when the profile ran, and each of its inferences, in one look at all spans.
//
//   const SpanExtents& extents = analysis.extents();
//   extents.timeline                    {120, 980000}
//   extents.inferences[0]               inference 0: wall {120, 64949}, work {131, 64920},
//                                       rows 0 to 20411

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

// Which inference each span is of, as a number from 0 on without gaps.
class Inferences {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  // All spans are of one inference, called `only`, where the profile does not say or says more
  // than `most`.
  Inferences(const Analysis& analysis, std::uint32_t only, std::size_t max);

  std::size_t count() const { return ids_.size(); }
  const std::vector<std::uint32_t>& ids() const { return ids_; }
  // none: a span that is of none, where others are.
  std::uint32_t of(std::size_t row) const { return one_ ? 0 : place_of(spans_.instance[row]); }
  std::uint32_t of(const SpanOfUnit& span) const { return one_ ? 0 : place_of(span.instance); }

 private:
  std::uint32_t place_of(std::uint32_t id) const {
    if (id == every_instance) return none;
    if (!place_.empty()) return place_[id];
    return std::uint32_t(std::lower_bound(ids_.begin(), ids_.end(), id) - ids_.begin());
  }

  const Spans& spans_;
  bool one_ = true;
  std::vector<std::uint32_t> ids_;    // sorted
  std::vector<std::uint32_t> place_;  // by id, where ids are small
};

struct InferenceTimes {
  Interval extent;
  std::int64_t active = 0;   // something works
  std::int64_t waiting = 0;  // something waits, nothing works
  std::int64_t idle = 0;     // neither
  std::int64_t work = 0;
  struct OfEngine {
    std::int64_t busiest = 0;  // of its units
    std::int64_t active = 0;   // any of them
  } engines[engine_count];
};

// In the order of the inferences.
std::vector<InferenceTimes> inference_times(const Analysis& analysis, const Inferences& inferences);
// The same, but of each only its extent and the busiest unit of each engine.
std::vector<InferenceTimes> busiest_of_inferences(const Analysis& analysis,
                                                  const Inferences& inferences);

}  // namespace npuscope::analysis
