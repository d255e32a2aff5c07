#include "formats/perfetto/write/span_source.hpp"

#include <algorithm>

namespace npuscope::perfetto {

class ProfileSpans::Stream : public SpanStream {
 public:
  Stream(const Spans& spans, std::span<const std::uint32_t> rows, const std::vector<bool>& has_flow)
      : spans_(spans), rows_(rows), has_flow_(has_flow) {}

  bool next(PlacedSpan& span) override {
    if (next_ == rows_.size()) return false;
    const std::uint32_t row = rows_[next_++];
    const auto [begin, end] = interval_of(spans_, row);
    const bool has_flow = !has_flow_.empty() && has_flow_[row];
    span = {begin, saturating_subtract(end, begin), row, has_flow ? row : no_flows,
            spans_.kind[row]};
    return true;
  }

 private:
  const Spans& spans_;
  std::span<const std::uint32_t> rows_;
  const std::vector<bool>& has_flow_;
  std::size_t next_ = 0;
};

SpanSource::Totals totals_of(const Profile& profile) {
  SpanSource::Totals totals;
  totals.spans = profile.spans.size();
  if (totals.spans == 0) return totals;
  totals.earliest = *std::min_element(profile.spans.start.begin(), profile.spans.start.end());
  totals.first_start = profile.spans.start[0];
  totals.first_duration = profile.spans.duration[0];
  return totals;
}

ProfileSpans::ProfileSpans(const Profile& profile, const TraceTime& time)
    : profile_(profile), by_unit_(profile) {
  number_flows(time);
}

SpanSource::Totals ProfileSpans::totals() const {
  Totals totals = totals_of(profile_);
  totals.flows = flows_;
  return totals;
}

std::unique_ptr<SpanStream> ProfileSpans::spans_of(UnitId unit) const {
  return std::make_unique<Stream>(profile_.spans, by_unit_.of(unit), has_flow_);
}

void ProfileSpans::flow_ends(std::uint32_t row, std::vector<FlowEnd>& ends) const {
  const auto [first, last] =
      std::equal_range(flow_ends_.begin(), flow_ends_.end(), FlowEnd{.flows = row},
                       [](const FlowEnd& a, const FlowEnd& b) { return a.flows < b.flows; });
  ends.assign(first, last);
}

void ProfileSpans::count_losses(Losses& losses) const {
  losses.add("flows that end before they begin", backward_flows_);
  losses.add("flows of spans that are not there", lost_flows_);
  losses.add("names of flows", named_flows_);
}

void ProfileSpans::number_flows(const TraceTime& time) {
  const Spans& spans = profile_.spans;
  for (const Flow& flow : profile_.flows) {
    const std::uint32_t from = index_of(flow.from);
    const std::uint32_t to = index_of(flow.to);
    if (from >= spans.size() || to >= spans.size()) {
      ++lost_flows_;
      continue;
    }
    const std::int64_t begin = time.of(spans.start[to]);
    const std::int64_t end = spans.kind[to] == SpanKind::instant
                                 ? begin
                                 : time.end_of(spans.start[to], spans.duration[to]);
    const Arrival arrival = arrival_of(time.of(spans.start[from]), begin, end);
    if (arrival == Arrival::never) {
      ++backward_flows_;
      continue;
    }
    if (flow.name != StringId{} || flow.category != StringId{}) ++named_flows_;
    flow_ends_.push_back({flows_, from, false, false});
    flow_ends_.push_back({flows_, to, true, arrival == Arrival::at_end});
    ++flows_;
  }
  std::stable_sort(flow_ends_.begin(), flow_ends_.end(),
                   [](const FlowEnd& a, const FlowEnd& b) { return a.flows < b.flows; });
  if (flow_ends_.empty()) return;
  has_flow_.assign(spans.size(), false);
  for (const FlowEnd& end : flow_ends_) has_flow_[end.flows] = true;
}

}  // namespace npuscope::perfetto
