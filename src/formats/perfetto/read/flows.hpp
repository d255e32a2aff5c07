// Flow ids become arrows (ingest/flows.hpp): the spans that carry one id are joined in the order of
// time, as far as they begin, go on or arrive there. An arrow leads from the span that begins
// first.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/perfetto/read/slices.hpp"
#include "ingest/flows.hpp"

namespace npuscope::perfetto {

enum class FlowSpace : std::uint8_t {
  track_event,  // flow_ids: global
  bind_id,      // of legacy slices
  legacy,       // phases s, t and f
};

class Flows {
 public:
  // The point's key is made of both when all are known; at: a row, or a track as its binding says.
  void add(FlowSpace space, std::uint64_t id, const FlowPoint& point);
  // Of a span whose end is not matched yet: its place in Slices::deferred_row().
  void add_deferred(FlowSpace space, std::uint64_t id, FlowPoint point, std::uint32_t deferred);
  // After Slices::finish(), while Spans::unit still holds tracks.
  void finish(Profile& profile, const Slices& slices, Defects& defects);

 private:
  struct Id {
    FlowSpace space;
    std::uint64_t number;
    auto operator<=>(const Id&) const = default;
  };
  void number_keys();

  std::vector<FlowPoint> points_;
  std::vector<Id> ids_;                  // by point
  std::vector<std::uint32_t> deferred_;  // points whose `at` is such a place
};

}  // namespace npuscope::perfetto
