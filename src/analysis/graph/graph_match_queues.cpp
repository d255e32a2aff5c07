// Dependencies of the model beside those of the compiled graph, of which the order of its queues
// keeps some.
#include "analysis/graph/node_matcher.hpp"

#include "base/sort_rows.hpp"

namespace npuscope::analysis {

// A core runs the ops of a queue one after the other. Where a queue keeps a dependency, compilers
// write no edge for it.
std::vector<Edge> NodeMatcher::edges_with_queues() const {
  std::vector<std::uint32_t> ops(graph_.size());
  std::uint32_t groups = 0;
  for (std::uint32_t op = 0; op < ops.size(); ++op) {
    ops[op] = op;
    groups = std::max(groups, profile_.ops[op].group);
  }
  std::vector<Edge> edges;
  if (groups == 0) return edges;  // positions are then no places in a queue
  for (const Edge& edge : graph_.edges()) {
    if (kinds_of_data().has(edge.kind)) edges.push_back(edge);
  }
  const auto place = [&](std::uint32_t op) {
    const Op& row = profile_.ops[op];
    return std::tuple(row.core, row.group, row.position);
  };
  sort_rows(ops.begin(), ops.end(), [&](auto a, auto b) { return place(a) < place(b); });
  for (std::size_t i = 1; i < ops.size(); ++i) {
    const Op &a = profile_.ops[ops[i - 1]], &b = profile_.ops[ops[i]];
    if (a.core == b.core && a.group == b.group) {
      edges.push_back({OpId(ops[i - 1]), OpId(ops[i]), EdgeKind::order});
    }
  }
  return edges;
}

// Of `pairs` those that not even the queues keep.
std::vector<NodePair> NodeMatcher::not_queued(std::vector<NodePair> pairs) {
  if (pairs.empty()) return pairs;
  const std::vector<Edge> edges = edges_with_queues();
  if (edges.empty()) return pairs;
  const OpGraph queued(graph_.size(), edges);
  return without_way(queued, order_of(queued, EdgeKinds::all()), EdgeKinds::all(), worker_, pairs,
                     nodes());
}

void NodeMatcher::place_by_queues() {
  std::vector<NodePair> pairs;
  const auto each = [&](const auto& use) {
    for (std::uint32_t node = 0; node < nodes(); ++node) {
      if (match_.nodes[node].fate != NodeFate::unmatched) continue;
      for (const std::uint32_t source : sources_[node]) {
        for (const std::uint32_t target : targets_[node]) use(node, NodePair{source, target});
      }
    }
  };
  each([&](std::uint32_t, NodePair pair) { pairs.push_back(pair); });
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  const std::vector<NodePair> not_kept = not_queued(pairs);
  each([&](std::uint32_t node, NodePair pair) {
    if (std::binary_search(not_kept.begin(), not_kept.end(), pair)) return;
    match_.nodes[node] = {NodeFate::fused, MatchEvidence::position, pair.from, 0,
                          "its producer's ops come before its consumer's in one queue"};
  });
}

// A node that executes, and no op bears its name: its work is done where its neighbours' ops meet.
void NodeMatcher::place_without_ops(std::uint32_t node) {
  NodeMatch& match = match_.nodes[node];
  std::vector<std::uint32_t> before = sources_[node];
  sort_rows(before.begin(), before.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t n) {
      return std::pair(is_product(expected_.nodes[n].op), n);
    };
    return key(a) > key(b);
  });
  const std::vector<std::uint32_t>& after = targets_[node];
  const auto fuse = [&](std::uint32_t into, const char* why) {
    match = {NodeFate::fused, MatchEvidence::position, into, 0, why};
  };
  for (const std::uint32_t source : before) {
    for (const std::uint32_t target : after) {
      if (linked(source, target)) return fuse(source, "its producer's ops feed its consumer's");
    }
  }
  if (before.empty() && !after.empty()) {
    return fuse(after.front(), "its consumer's ops take the input of the graph");
  }
  if (!before.empty() && after.empty()) {
    return fuse(before.front(), "its producer's ops make the output of the graph");
  }
  if (!before.empty() && !match_.edges_known) {
    return fuse(before.front(), "by its name only: the files hold no edges to check it by");
  }
  match.why = before.empty() ? "no op bears its name, and none that of a neighbour"
                             : "no op bears its name, and no data leads straight from its "
                               "producer's ops to its consumer's";
}

void NodeMatcher::compare_dependencies() {
  std::vector<NodePair> wanted;
  for (std::uint32_t node = 0; node < nodes(); ++node) {
    const std::uint32_t mine = has_ops(node) ? node : match_.nodes[node].into;
    if (mine == no_node) continue;
    for (const std::uint32_t source : nearest_before(node)) {
      if (source != mine) wanted.push_back({source, mine});
    }
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  match_.dependencies = wanted.size();
  if (!match_.edges_known) return;
  const std::vector<NodePair> without_data =
      without_way(graph_, order_, kinds_of_data(), worker_, wanted, nodes());
  match_.missing = not_queued(without_data);
  match_.by_queue = without_data.size() - match_.missing.size();
  std::vector<Edge> edges;
  for (const NodePair& pair : wanted) {
    edges.push_back({OpId(pair.from), OpId(pair.to), EdgeKind::data});
  }
  const OpGraph model(nodes(), edges);
  std::vector<std::uint32_t> itself(nodes());
  for (std::uint32_t node = 0; node < nodes(); ++node) itself[node] = node;
  match_.unexpected =
      without_way(model, order_of(model, EdgeKinds::all()), EdgeKinds::all(), itself,
                  node_links(graph_, order_, kinds_said_to_be_data(), worker_, nodes()), nodes());
}

}  // namespace npuscope::analysis
