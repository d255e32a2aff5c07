// The spans that a profile holds, as a trace asks for them.
#pragma once

#include <vector>

#include "formats/perfetto/trace_time.hpp"
#include "formats/perfetto/write/span_source.hpp"
#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope::perfetto {

SpanSource::Totals totals_of(const Profile& profile);

class ProfileSpans : public SpanSource {
 public:
  // Whether an arrow goes backward is told by the trace's times, which may be coarser.
  ProfileSpans(const Profile& profile, const TraceTime& time);

  Totals totals() const override;
  std::unique_ptr<SpanStream> spans_of(UnitId unit) const override;
  void flow_ends(std::uint32_t row, std::vector<FlowEnd>& ends) const override;
  std::size_t max_held() const override { return profile_.spans.size(); }
  void count_losses(Losses& losses) const override;

 private:
  class Stream;
  void number_flows(const TraceTime& time);

  const Profile& profile_;
  SpansByUnit by_unit_;
  std::vector<FlowEnd> flow_ends_;  // by row, which is what they are known by
  std::vector<bool> has_flow_;      // by row; empty: none has
  std::uint64_t flows_ = 0;
  std::uint64_t backward_flows_ = 0;
  std::uint64_t lost_flows_ = 0;
  std::uint64_t named_flows_ = 0;
};

}  // namespace npuscope::perfetto
