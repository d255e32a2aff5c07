// A small timeline for the tests of its page and its figure: two units of one core, a wait, a gap.
#pragma once

#include "analysis/profile_builder.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/timeline_cells.hpp"

namespace npuscope::report {

// HMX works 1000-1400 and 1600-1800, waits 1400-1500; HVX works 1300-1700; HMX 1900-2000.
inline Profile timeline_profile() {
  test_support::ProfileBuilder made;
  const UnitId core = made.unit("core 0", Engine::core);
  const UnitId hmx = made.unit("HMX", Engine::hmx, core),
               hvx = made.unit("HVX 1", Engine::hvx, core);
  made.span(hmx, "MatMul_0", 1000, 1400, SpanKind::op, "conv");
  made.span(hmx, "MatMul_0", 1400, 1500, SpanKind::dma_wait, "conv");
  made.span(hvx, "Softmax_1", 1300, 1700, SpanKind::op, "softmax");
  made.span(hmx, "MatMul_2", 1600, 1800, SpanKind::op, "conv");
  made.span(hmx, "MatMul_2", 1900, 2000, SpanKind::op, "conv");
  made.profile.provenance.files = {"trace.json"};
  return std::move(made.profile);
}

struct TimelineOf {
  explicit TimelineOf(const Profile& profile, const analysis::TimelineRequest& request = {})
      : rows(analysis::Analysis(profile).timeline(request)) {}

  analysis::TimelineRows rows;
};

}  // namespace npuscope::report
