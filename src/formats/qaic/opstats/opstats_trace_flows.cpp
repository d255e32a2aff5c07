// Dependencies as arrows. Viewers bind an arrow's end to the slice that is open on the track at
// that time, and read events in order of time: an arrow must leave inside the producer's slice, and
// earlier, in whole nanoseconds, than it arrives inside the consumer's.
#include <algorithm>

#include "formats/qaic/opstats/opstats_trace_layout.hpp"

namespace npuscope::qaic {
namespace {

constexpr std::int64_t nowhere = -1;

struct Anchor {
  std::int64_t start = nowhere;
  std::int64_t end = nowhere;
};

// Groups edges 0 … n-1 by the op that `op_of` gives, keeping their order (a counting sort).
template <class OpOfEdge>
FlowsOfOps grouped(std::size_t ops, std::size_t edges, OpOfEdge op_of) {
  FlowsOfOps flows;
  flows.begin.assign(ops + 1, 0);
  for (std::size_t i = 0; i < edges; ++i) flows.begin[op_of(i) + 1] += 1;
  for (std::size_t op = 0; op < ops; ++op) flows.begin[op + 1] += flows.begin[op];
  std::vector<std::uint32_t> next(flows.begin.begin(), flows.begin.end() - 1);
  flows.edges.resize(edges);
  for (std::size_t i = 0; i < edges; ++i) {
    flows.edges[next[op_of(i)]++] = std::uint32_t(i);
  }
  return flows;
}

}  // namespace

// An op's arrows arrive at its kernel and leave from where its data is ready: the transfer when
// there is one. Of several threads' events of an op the longest carries them.
void TraceLayout::mark_anchors(const Profile& profile) {
  std::vector<TraceEvent*> kernel(profile.ops.size(), nullptr);
  std::vector<TraceEvent*> transfer(profile.ops.size(), nullptr);
  for (TraceTrack& track : tracks_) {
    for (TraceEvent& event : track.events) {
      const bool is_kernel = event.type == TraceEvent::Type::op;
      if (!is_kernel && event.type != TraceEvent::Type::transfer) continue;
      TraceEvent*& best = (is_kernel ? kernel : transfer)[index_of(event.op)];
      if (best == nullptr || event.duration > best->duration) best = &event;
    }
  }
  for (std::size_t op = 0; op < profile.ops.size(); ++op) {
    if (kernel[op] == nullptr) continue;
    kernel[op]->flows_in = true;
    (transfer[op] != nullptr ? transfer[op] : kernel[op])->flows_out = true;
  }
}

void TraceLayout::add_flows(const Profile& profile) {
  std::vector<Anchor> leaving(profile.ops.size()), arriving(profile.ops.size());
  for (const TraceTrack& track : tracks_) {
    for (const TraceEvent& event : track.events) {
      if (event.flows_out)
        leaving[index_of(event.op)] = {event.start, event.start + event.duration};
      if (event.flows_in)
        arriving[index_of(event.op)] = {event.start, event.start + event.duration};
    }
  }
  std::vector<Edge> drawn;
  for (const Edge& edge : profile.edges) {
    const Anchor& from = leaving[index_of(edge.from)];
    const Anchor& to = arriving[index_of(edge.to)];
    if (from.start == nowhere || to.start == nowhere) continue;
    TraceFlow flow;
    flow.is_data = edge.kind == EdgeKind::data;
    // Readers that cut durations to nanoseconds end a slice one early: stay two inside. Slices that
    // carry arrows are three long at least.
    flow.arrive = to.start + 1;
    flow.leave = std::min(from.end - 2, flow.arrive - 1);
    if (flow.leave < from.start) {  // the consumer began before its producer
      flows_not_drawn_ += 1;
      continue;
    }
    flow.id = next_flow_id_++;
    flows_.push_back(flow);
    drawn.push_back(edge);
  }
  flows_out_ = grouped(profile.ops.size(), drawn.size(),
                       [&](std::size_t i) { return index_of(drawn[i].from); });
  flows_in_ = grouped(profile.ops.size(), drawn.size(),
                      [&](std::size_t i) { return index_of(drawn[i].to); });
}

}  // namespace npuscope::qaic
