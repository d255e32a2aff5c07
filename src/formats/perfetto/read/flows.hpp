// Flow ids become arrows: the spans that carry one id are joined in the order of time, as far as
// they begin, go on or arrive there. An arrow leads from the span that begins first.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/perfetto/read/slices.hpp"

namespace npuscope::perfetto {

enum class FlowSpace : std::uint8_t {
  track_event,  // flow_ids: global
  bind_id,      // of legacy slices
  legacy,       // phases s, t and f
};

struct FlowPoint {
  // Where it is attached: a row, an end that finish() will pair, or what lies on the track then.
  enum class Binding : std::uint8_t { row, deferred, enclosing, next };

  // What the flow does here.
  enum class Role : std::uint8_t {
    passes,   // flow_ids: arrives, where it has begun, and goes on
    ends,     // terminating_flow_ids: arrives for the last time
    begins,   // phase s, FLOW_OUT
    steps,    // phase t, FLOW_INOUT: arrives and goes on, where it has begun
    arrives,  // phase f, FLOW_IN: others may arrive too
  };

  std::uint64_t id = 0;
  std::int64_t time = 0;
  std::uint32_t at = none;  // row, deferred end, or track
  FlowSpace space = FlowSpace::track_event;
  Binding binding = Binding::row;
  Role role = Role::passes;
  StringId name{};
  StringId category{};
};

class Flows {
 public:
  void add(const FlowPoint& point) { points_.push_back(point); }
  // After Slices::finish(), while Spans::unit still holds tracks.
  void finish(Profile& profile, const Slices& slices, Defects& defects);

 private:
  void bind_to_slices(const Profile& profile, Defects& defects);

  std::vector<FlowPoint> points_;
};

}  // namespace npuscope::perfetto
