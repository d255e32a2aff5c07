// Dependencies as arrows. Perfetto binds an arrow's end to the slice that began last on the track,
// even where that has ended, and to the first in the file of those that begin together: only the
// moment at which a slice begins is its own. So an arrow leaves and arrives where its slices begin,
// and arrives later, in whole nanoseconds, than it leaves.
#include <algorithm>

#include "formats/qaic/opstats/opstats_trace_layout.hpp"

namespace npuscope::qaic {
namespace {

constexpr std::int64_t nowhere = -1;

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
  std::vector<std::int64_t> leaving(profile.ops.size(), nowhere);
  std::vector<std::int64_t> arriving(profile.ops.size(), nowhere);
  for (const TraceTrack& track : tracks_) {
    for (const TraceEvent& event : track.events) {
      if (event.flows_out) leaving[index_of(event.op)] = event.start;
      if (event.flows_in) arriving[index_of(event.op)] = event.start;
    }
  }
  std::vector<Edge> drawn;
  for (const Edge& edge : profile.edges) {
    const std::int64_t from = leaving[index_of(edge.from)];
    const std::int64_t to = arriving[index_of(edge.to)];
    if (from == nowhere || to == nowhere) continue;
    if (from > to) {  // the consumer began before its producer
      flows_not_drawn_ += 1;
      continue;
    }
    TraceFlow flow;
    flow.is_data = edge.kind == EdgeKind::data;
    flow.leave = from;
    // Slices that carry arrows are three long at least, so that this is well inside.
    flow.arrive = std::max(to, from + 1);
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
