#include "analysis/graph/node_matcher.hpp"

#include <bit>

#include "base/counting_sort.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::size_t batch = Reach::max_sets;

Grouped<> ops_of_nodes(const std::vector<std::uint32_t>& node_of_op, std::size_t nodes) {
  return Grouped<>(node_of_op.size(), nodes, [&](std::size_t op) {
    return node_of_op[op] < nodes ? node_of_op[op] : counting_sort_leaves_out;
  });
}

// Bits of up to 64 nodes, carried from their ops over ops of no node.
class Carrier {
 public:
  Carrier(const OpGraph& graph, const GraphOrder& order, EdgeKinds kinds,
          const std::vector<std::uint32_t>& node_of_op)
      : graph_(graph), order_(order), kinds_(kinds), node_of_op_(node_of_op) {}

  void carry(const Grouped<>& ops, std::span<const std::uint32_t> sources) {
    sent_.assign(graph_.size(), 0);
    got_.assign(graph_.size(), 0);
    for (std::size_t bit = 0; bit < sources.size(); ++bit) {
      for (const std::uint32_t op : ops.of(sources[bit])) sent_[op] = std::uint64_t{1} << bit;
    }
    for (std::size_t rank = 0; rank < order_.ranks(); ++rank) {
      const auto members = order_.at(rank);
      // Round a cycle as long as something new comes to an op: 64 times at most.
      queue_.assign(members.begin(), members.end());
      for (std::size_t i = 0; i < queue_.size(); ++i) send(queue_[i], rank);
    }
  }
  std::uint64_t got(std::uint32_t op) const { return got_[op]; }

 private:
  void send(std::uint32_t op, std::size_t rank) {
    const bool passes = node_of_op_[op] == no_node;
    const std::uint64_t bits = passes ? got_[op] : sent_[op];
    if (bits == 0) return;
    for (const Edge& edge : graph_.from(OpId(op))) {
      const std::uint32_t to = index_of(edge.to);
      if (!kinds_.has(edge.kind) || (bits & ~got_[to]) == 0) continue;
      got_[to] |= bits;
      if (order_.rank[to] == rank && node_of_op_[to] == no_node) queue_.push_back(to);
    }
  }

  const OpGraph& graph_;
  const GraphOrder& order_;
  EdgeKinds kinds_;
  const std::vector<std::uint32_t>& node_of_op_;
  std::vector<std::uint64_t> sent_, got_;
  std::vector<std::uint32_t> queue_;
};

}  // namespace

std::vector<NodePair> node_links(const OpGraph& graph, const GraphOrder& order, EdgeKinds kinds,
                                 const std::vector<std::uint32_t>& node_of_op, std::size_t nodes) {
  const Grouped<> ops = ops_of_nodes(node_of_op, nodes);
  std::vector<std::uint32_t> present;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    if (!ops.of(node).empty()) present.push_back(node);
  }
  Carrier carrier(graph, order, kinds, node_of_op);
  std::vector<NodePair> links;
  for (std::size_t begin = 0; begin < present.size(); begin += batch) {
    const std::span sources(present.data() + begin, std::min(batch, present.size() - begin));
    carrier.carry(ops, sources);
    for (const std::uint32_t node : present) {
      std::uint64_t bits = 0;
      for (const std::uint32_t op : ops.of(node)) bits |= carrier.got(op);
      for (; bits != 0; bits &= bits - 1) {
        const std::uint32_t from = sources[std::size_t(std::countr_zero(bits))];
        if (from != node) links.push_back({from, node});
      }
    }
  }
  std::sort(links.begin(), links.end());
  return links;
}

std::vector<NodePair> without_way(const OpGraph& graph, const GraphOrder& order, EdgeKinds kinds,
                                  const std::vector<std::uint32_t>& node_of_op,
                                  const std::vector<NodePair>& pairs, std::size_t nodes) {
  const Grouped<> ops = ops_of_nodes(node_of_op, nodes);
  Reach reach(graph, order, kinds);
  std::vector<NodePair> missing;
  for (std::size_t begin = 0; begin < pairs.size();) {
    reach.start();
    std::size_t end = begin, sets = 0;
    std::vector<std::uint8_t> set_of_pair;
    for (; end < pairs.size(); ++end) {
      const bool is_new = end == begin || pairs[end].from != pairs[end - 1].from;
      if (is_new && sets == batch) break;
      if (is_new) {
        for (const std::uint32_t op : ops.of(pairs[end].from)) reach.add(sets, OpId(op));
        ++sets;
      }
      set_of_pair.push_back(std::uint8_t(sets - 1));
    }
    reach.spread();
    for (std::size_t i = begin; i < end; ++i) {
      const auto to = ops.of(pairs[i].to);
      const bool found = std::any_of(to.begin(), to.end(), [&](std::uint32_t op) {
        return (reach.at(OpId(op)) >> set_of_pair[i - begin] & 1) != 0;
      });
      if (!found) missing.push_back(pairs[i]);
    }
    begin = end;
  }
  return missing;
}

}  // namespace npuscope::analysis
