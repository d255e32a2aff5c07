#include "formats/perfetto/read/flows.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace npuscope::perfetto {
namespace {

using Binding = FlowPoint::Binding;

// Slices of the tracks that points name, in nesting order.
RowsByTrack rows_of(const std::vector<FlowPoint>& points, const Spans& spans) {
  RowsByTrack rows;
  std::vector<bool> is_named;
  for (const FlowPoint& point : points) {
    if (point.binding == Binding::row) continue;
    if (point.at >= is_named.size()) is_named.resize(point.at + 1);
    is_named[point.at] = true;
  }
  rows.resize(is_named.size());
  if (rows.empty()) return rows;
  for (std::uint32_t row = 0; row < spans.size(); ++row) {
    const std::uint32_t track = index_of(spans.unit[row]);
    if (spans.kind[row] != SpanKind::slice || track >= rows.size() || !is_named[track]) continue;
    rows[track].push_back(row);
  }
  for (auto& of_track : rows) {
    std::ranges::stable_sort(of_track, [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(spans.start[a], -spans.duration[a]) <
             std::tuple(spans.start[b], -spans.duration[b]);
    });
  }
  return rows;
}

}  // namespace

void Flows::add(FlowSpace space, std::uint64_t id, const FlowPoint& point) {
  points_.push_back(point);
  ids_.push_back({space, id});
}

void Flows::add_deferred(FlowSpace space, std::uint64_t id, FlowPoint point,
                         std::uint32_t deferred) {
  point.at = deferred;
  deferred_.push_back(std::uint32_t(points_.size()));
  add(space, id, point);
}

void Flows::number_keys() {
  std::vector<Id> distinct = ids_;
  std::ranges::sort(distinct);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (std::size_t i = 0; i < points_.size(); ++i) {
    points_[i].key = std::uint32_t(std::ranges::lower_bound(distinct, ids_[i]) - distinct.begin());
  }
  std::vector<Id>().swap(ids_);
}

void Flows::finish(Profile& profile, const Slices& slices, Defects& defects) {
  if (points_.empty()) return;
  for (const std::uint32_t point : deferred_) {
    points_[point].at = slices.deferred_row(points_[point].at);
  }
  number_keys();
  const Spans& spans = profile.spans;
  const RowsByTrack rows = rows_of(points_, spans);
  JoinedFlows joined = join_flows(std::move(points_), {spans.start, spans.duration}, rows);
  std::vector<std::uint32_t> order(joined.flows.size());  // by id, as writers number them
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t flow) { return joined.keys[flow]; });
  for (const std::uint32_t i : order) {
    Flow flow = joined.flows[i];
    if (flow.from == flow.to) continue;
    if (spans.start[index_of(flow.from)] > spans.start[index_of(flow.to)]) {
      std::swap(flow.from, flow.to);
    }
    profile.flows.push_back(flow);
  }
  defects.add_without_place(Defect::flow_without_slice, joined.unbound);
  defects.add_without_place(Defect::flow_without_other_end, joined.unpaired);
}

}  // namespace npuscope::perfetto
