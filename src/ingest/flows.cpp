#include "ingest/flows.hpp"

#include <algorithm>
#include <tuple>

namespace npuscope {
namespace {

using Role = FlowPoint::Role;
using Binding = FlowPoint::Binding;

// At the same time a flow goes on before it ends, and starts before both.
int rank(Role role) { return role == Role::begins ? 0 : role == Role::arrives ? 2 : 1; }

// What the points of one flow have come to.
class OpenFlow {
 public:
  void take(const FlowPoint& point, std::uint32_t row, JoinedFlows& joined) {
    const Role role = point.role;
    if (role != Role::begins) {
      if (begun_ && row_ != no_row && row != no_row) {
        joined.flows.push_back(
            {SpanId(row_), SpanId(row), EdgeKind::flow, point.name, point.category});
        joined.keys.push_back(point.key);
      }
      const bool has_direction = role != Role::meets && role != Role::ends;
      joined.unpaired += has_direction && !begun_ ? 1 : 0;
      waits_ = false;
    } else if (waits_) {
      ++joined.unpaired;
    }
    if (role == Role::arrives || (role == Role::steps && !begun_)) return;
    begun_ = role != Role::ends;
    waits_ = role == Role::begins || role == Role::passes;
    row_ = row;
  }

  bool waits() const { return waits_; }

 private:
  bool begun_ = false;
  bool waits_ = false;  // begun, and nothing was reached from there
  std::uint32_t row_ = no_row;
};

}  // namespace

JoinedFlows join_flows(std::vector<FlowPoint>&& points, SliceTimes times, const RowsByTrack& rows) {
  std::ranges::stable_sort(points, [](const FlowPoint& a, const FlowPoint& b) {
    return std::tuple(a.time, rank(a.role)) < std::tuple(b.time, rank(b.role));
  });
  std::vector<SliceFinder> finders;
  for (const auto& of_track : rows) finders.emplace_back(times, of_track);
  std::vector<OpenFlow> open;
  JoinedFlows joined;
  for (const FlowPoint& point : points) {
    const std::uint32_t row = point.binding == Binding::row ? point.at
                              : point.binding == Binding::next
                                  ? finders[point.at].next(point.time)
                                  : finders[point.at].enclosing(point.time, point.rows_before);
    joined.unbound += row == no_row ? 1 : 0;
    if (point.key >= open.size()) open.resize(point.key + 1);
    open[point.key].take(point, row, joined);
  }
  for (const OpenFlow& flow : open) joined.unpaired += flow.waits() ? 1 : 0;
  return joined;
}

}  // namespace npuscope
