// Flows as arrows, at moments in which the slices that they join are the innermost.
#pragma once

#include <cstdint>

#include "formats/chrome/write/event_output.hpp"
#include "formats/chrome/write/write_tracks.hpp"
#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope::chrome {

class FlowWriter {
 public:
  FlowWriter(const Profile& profile, const SpansByUnit& by_unit, const Layout& layout,
             EventOutput& out)
      : profile_(profile), by_unit_(by_unit), layout_(layout), out_(out) {}

  // How many were left out because they end before they begin.
  std::uint64_t write();

 private:
  void write_end(char phase, const Flow& flow, std::uint64_t id, SpanId span, std::int64_t time);

  const Profile& profile_;
  const SpansByUnit& by_unit_;
  const Layout& layout_;
  EventOutput& out_;
};

}  // namespace npuscope::chrome
