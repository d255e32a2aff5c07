#include "formats/perfetto/read/flows.hpp"

#include <algorithm>
#include <tuple>

namespace npuscope::perfetto {
namespace {

bool is_bound_by_place(const FlowPoint& point) {
  return point.binding == FlowPoint::Binding::enclosing ||
         point.binding == FlowPoint::Binding::next;
}

// An arrow, from the span that begins first whichever of the two its id was met on first.
void join(const FlowPoint& from, const FlowPoint& to, Profile& profile) {
  if (from.at == to.at) return;
  const auto& start = profile.spans.start;
  const bool swapped = start[from.at] > start[to.at];
  profile.flows.push_back({SpanId(swapped ? to.at : from.at), SpanId(swapped ? from.at : to.at),
                           EdgeKind::flow, from.name, from.category});
}

}  // namespace

// Legacy flow events say a moment on a track: the slice around it, or the first that begins then.
void Flows::bind_to_slices(const Profile& profile, Defects& defects) {
  std::vector<std::uint32_t> waiting;  // points, by track and time
  for (std::uint32_t i = 0; i < points_.size(); ++i) {
    if (is_bound_by_place(points_[i])) waiting.push_back(i);
  }
  if (waiting.empty()) return;
  // At one moment those that wait for the next slice come before those inside it.
  const auto point_order = [&](std::uint32_t i) {
    return std::tuple(points_[i].at, points_[i].time,
                      points_[i].binding == FlowPoint::Binding::enclosing);
  };
  std::stable_sort(waiting.begin(), waiting.end(), [&](std::uint32_t a, std::uint32_t b) {
    return point_order(a) < point_order(b);
  });
  const Spans& spans = profile.spans;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < spans.size(); ++row) {
    if (spans.kind[row] == SpanKind::slice) rows.push_back(row);
  }
  const auto row_order = [&](std::uint32_t row) {
    return std::tuple(index_of(spans.unit[row]), spans.start[row], -spans.duration[row]);
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return row_order(a) < row_order(b); });
  std::size_t next = 0;
  std::uint32_t track = none;
  std::vector<std::uint32_t> open;
  for (const std::uint32_t i : waiting) {
    FlowPoint& point = points_[i];
    if (point.at != track) open.clear();
    track = point.at;
    const auto before_point = [&](std::uint32_t row) {
      const auto of = index_of(spans.unit[row]);
      if (of != track) return of < track;
      return point.binding == FlowPoint::Binding::next ? spans.start[row] < point.time
                                                       : spans.start[row] <= point.time;
    };
    for (; next < rows.size() && before_point(rows[next]); ++next) {
      if (index_of(spans.unit[rows[next]]) == track) open.push_back(rows[next]);
    }
    const auto has_ended = [&](std::uint32_t row) {
      const std::int64_t end = spans.start[row] + spans.duration[row];
      return end < point.time || (end == point.time && spans.duration[row] > 0);
    };
    std::uint32_t found = none;
    if (point.binding == FlowPoint::Binding::enclosing) {
      while (!open.empty() && has_ended(open.back())) open.pop_back();
      if (!open.empty()) found = open.back();
    } else if (next < rows.size() && index_of(spans.unit[rows[next]]) == track) {
      found = rows[next];
    }
    if (found == none) defects.add(Defect::flow_without_slice, 0);
    point.at = found;
    point.binding = FlowPoint::Binding::row;
  }
}

void Flows::finish(Profile& profile, const Slices& slices, Defects& defects) {
  bind_to_slices(profile, defects);
  for (FlowPoint& point : points_) {
    if (point.binding != FlowPoint::Binding::deferred) continue;
    point.at = slices.deferred_row(point.at);
    if (point.at == none) defects.add(Defect::flow_without_slice, 0);
  }
  std::erase_if(points_, [](const FlowPoint& point) { return point.at == none; });
  const auto order = [](const FlowPoint& point) {
    return std::tuple(point.space, point.id, point.time);
  };
  std::stable_sort(points_.begin(), points_.end(),
                   [&](const FlowPoint& a, const FlowPoint& b) { return order(a) < order(b); });
  const FlowPoint* from = nullptr;
  for (const FlowPoint& point : points_) {
    if (from != nullptr && (from->space != point.space || from->id != point.id)) from = nullptr;
    if (from != nullptr && point.role != FlowPoint::Role::begins) join(*from, point, profile);
    switch (point.role) {
      case FlowPoint::Role::begins:
      case FlowPoint::Role::passes: from = &point; break;
      case FlowPoint::Role::steps:
        if (from != nullptr) from = &point;
        break;
      case FlowPoint::Role::arrives: break;
      case FlowPoint::Role::ends: from = nullptr; break;
    }
  }
  points_.clear();
  points_.shrink_to_fit();
}

}  // namespace npuscope::perfetto
