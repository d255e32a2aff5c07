#include "analysis/graph/node_matcher.hpp"

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

}  // namespace npuscope::analysis
