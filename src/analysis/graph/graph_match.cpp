#include "analysis/graph/node_matcher.hpp"
#include "base/sort_rows.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::size_t max_sources = 64;  // nearest nodes with ops that a node without is traced to

}  // namespace

// In the order of the graph, so that each op that finds its node helps the next.
void NodeMatcher::by_neighbours() {
  find_nodes_with_ops();
  std::vector<std::vector<std::uint32_t>> consumers(nodes());
  std::vector<Look> looks(nodes());
  for (std::uint32_t node = 0; node < nodes(); ++node) {
    if (!is_open(node)) continue;
    looks[node] = look_of_node(node);
    for (const std::uint32_t input : expected_.nodes[node].inputs) {
      const std::uint32_t producer = expected_.tensors[input].producer;
      if (producer != no_node) consumers[producer].push_back(node);
    }
  }
  // The last node on the way to each op.
  std::vector<std::uint32_t> before(graph_.size(), no_node);
  for (const std::uint32_t op : order_.ops) {
    if (is_loose(op) && before[op] != no_node) {
      const Look look = look_of_op(op);
      std::uint32_t only = no_node;
      std::size_t fitting = 0;
      for (const std::uint32_t node : consumers[before[op]]) {
        const bool free =
            !has_ops(node) || match_.nodes[node].evidence == MatchEvidence::neighbours;
        if (look.family == 0 || !free || looks[node] != look || node == only) continue;
        only = node;
        ++fitting;
      }
      if (fitting == 1) {
        assign(op, only, MatchEvidence::neighbours);
        has_ops_[only] = 1;
      }
    }
    const std::uint32_t mine =
        match_.node_of_op[op] != no_node ? match_.node_of_op[op] : before[op];
    if (mine == no_node) continue;
    for (const Edge& edge : graph_.from(OpId(op))) before[index_of(edge.to)] = mine;
  }
}

void NodeMatcher::by_order() {
  find_nodes_with_ops();
  std::map<Look, std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>> alike;
  for (std::uint32_t node = 0; node < nodes(); ++node) {
    if (is_open(node)) alike[look_of_node(node)].first.push_back(node);
  }
  // Ops of one name are tiles of one node.
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> tiles;
  for (const std::uint32_t op : order_.ops) {
    if (!is_loose(op)) continue;
    const StringId label = label_of(op);
    const std::uint32_t key = label == StringId::empty ? std::uint32_t(profile_.strings.size()) + op
                                                       : std::uint32_t(label);
    auto& ops = tiles[key];
    ops.push_back(op);
    if (ops.size() > 1) continue;
    const auto place = alike.find(look_of_op(op));
    if (place != alike.end()) place->second.second.push_back(key);
  }
  for (const auto& [look, both] : alike) {
    const auto& [nodes_alike, keys] = both;
    if (look.family == 0 || nodes_alike.size() != keys.size()) continue;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      for (const std::uint32_t op : tiles[keys[i]]) {
        assign(op, nodes_alike[i], MatchEvidence::order);
      }
    }
  }
}

// Movement that bears the name of a node which computes was inserted for it; that of a node which
// only moves data is its work.
void NodeMatcher::settle_ops() {
  std::vector<std::uint32_t> computing(nodes(), 0), moving(nodes(), 0), waiting(nodes(), 0);
  for (std::size_t op = 0; op < graph_.size(); ++op) {
    const std::uint32_t node = match_.node_of_op[op];
    if (node == no_node) {
      if (is_loose(std::uint32_t(op))) match_.unmatched_ops.push_back(OpId(std::uint32_t(op)));
      continue;
    }
    const InsertedKind kind = match_.inserted[op];
    if (kind == InsertedKind::none) {
      ++computing[node];
    } else if (kind != InsertedKind::sync && kind != InsertedKind::wait) {
      ++moving[node];
    } else {
      ++waiting[node];
    }
  }
  for (std::size_t op = 0; op < graph_.size(); ++op) {
    const std::uint32_t node = match_.node_of_op[op];
    const InsertedKind kind = match_.inserted[op];
    const bool moves = kind != InsertedKind::sync && kind != InsertedKind::wait;
    if (node != no_node && computing[node] == 0 && moves) match_.inserted[op] = InsertedKind::none;
  }
  // What was moved for a node may be another's input too, so that it is no sign of the node's work.
  worker_ = match_.node_of_op;
  has_ops_.assign(nodes(), 0);
  for (std::size_t op = 0; op < graph_.size(); ++op) {
    if (match_.inserted[op] != InsertedKind::none) worker_[op] = no_node;
    if (worker_[op] != no_node) has_ops_[worker_[op]] = 1;
  }
  for (std::size_t node = 0; node < nodes(); ++node) {
    match_.nodes[node].ops = computing[node] > 0 ? computing[node]
                             : moving[node] > 0  ? moving[node]
                                                 : waiting[node];
  }
}

void NodeMatcher::add_source(std::vector<std::uint32_t>& sources, std::uint32_t node) const {
  if (sources.size() < max_sources &&
      std::find(sources.begin(), sources.end(), node) == sources.end()) {
    sources.push_back(node);
  }
}

// Those before it that have ops or whose work is done in others' ops.
std::vector<std::uint32_t> NodeMatcher::nearest_before(std::uint32_t node) const {
  std::vector<std::uint32_t> sources;
  for (const std::uint32_t input : expected_.nodes[node].inputs) {
    const std::uint32_t producer = expected_.tensors[input].producer;
    if (producer == no_node) continue;
    if (has_ops(producer)) {
      add_source(sources, producer);
    } else if (match_.nodes[producer].into != no_node) {
      add_source(sources, match_.nodes[producer].into);
    } else {
      for (const std::uint32_t source : sources_[producer]) add_source(sources, source);
    }
  }
  return sources;
}

void NodeMatcher::find_fates() {
  std::vector<std::uint8_t> wanted(nodes(), 0);
  const auto want = [&](std::uint32_t tensor) {
    const std::uint32_t producer = expected_.tensors[tensor].producer;
    if (producer != no_node) wanted[producer] = 1;
  };
  for (const std::uint32_t output : expected_.outputs) want(output);
  targets_.assign(nodes(), {});
  for (std::uint32_t node = std::uint32_t(nodes()); node-- > 0;) {
    for (const std::uint32_t input : expected_.nodes[node].inputs) {
      if (wanted[node]) want(input);
      const std::uint32_t producer = expected_.tensors[input].producer;
      if (producer == no_node) continue;
      if (has_ops(node)) {
        add_source(targets_[producer], node);
      } else {
        for (const std::uint32_t target : targets_[node]) add_source(targets_[producer], target);
      }
    }
  }
  sources_.assign(nodes(), {});
  for (std::uint32_t node = 0; node < nodes(); ++node) {
    NodeMatch& match = match_.nodes[node];
    const ExpectedRole role = expected_.nodes[node].role;
    if (!has_ops(node)) sources_[node] = nearest_before(node);
    const auto vanish = [&](const char* why) {
      match = {NodeFate::vanished, MatchEvidence::meaning, no_node, 0, why};
    };
    if (match.ops > 0) {
      match.fate = match.ops == 1 ? NodeFate::kept : NodeFate::split;
    } else if (joined_[node] != no_node) {
      match = {NodeFate::fused, MatchEvidence::joined_name, joined_[node], 0, ""};
    } else if (role == ExpectedRole::folded) {
      vanish("known when the model is compiled");
    } else if (!wanted[node]) {
      vanish("no output depends on it");
    } else if (role == ExpectedRole::view) {
      vanish("moves no data");
    } else {
      place_without_ops(node);
    }
  }
  place_by_queues();
}
GraphMatch match_graph(const Profile& profile, const OpGraph& graph, const ExpectedGraph& expected,
                       std::span<const std::uint8_t> compiled) {
  return NodeMatcher(profile, graph, expected, compiled).match();
}

// Dependencies of the model beside those of the compiled graph, of which the order of its queues
// keeps some.

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
