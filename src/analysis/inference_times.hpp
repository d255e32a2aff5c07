// What the timeline of each inference was made of, in one pass over the spans of each unit, all
// units side by side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "npuscope/analysis/analysis.hpp"

namespace npuscope::analysis {

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
