#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/graph/graph_families.hpp"
#include "analysis/graph/graph_node_links.hpp"
#include "analysis/graph/graph_node_names.hpp"
#include "analysis/graph/graph_source_names.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::size_t max_sources = 64;  // nearest nodes with ops that a node without is traced to

EdgeKinds kinds_of_data() {
  EdgeKinds kinds;
  for (const EdgeKind kind : {EdgeKind::data, EdgeKind::transfer, EdgeKind::flow}) kinds.add(kind);
  return kinds;
}

// An arrow of which the trace does not say what it is may be no more than the order of a queue.
EdgeKinds kinds_said_to_be_data() {
  EdgeKinds kinds;
  for (const EdgeKind kind : {EdgeKind::data, EdgeKind::transfer}) kinds.add(kind);
  return kinds;
}

class NodeMatcher {
 public:
  NodeMatcher(const Profile& profile, const OpGraph& graph, const ExpectedGraph& expected,
              std::span<const std::uint8_t> compiled)
      : profile_(profile),
        graph_(graph),
        expected_(expected),
        compiled_(compiled),
        order_(order_of(graph, EdgeKinds::all())) {
    match_.nodes.resize(expected.nodes.size());
    match_.node_of_op.assign(graph.size(), no_node);
    match_.inserted.assign(graph.size(), InsertedKind::none);
    joined_.assign(expected.nodes.size(), no_node);
  }

  GraphMatch match() {
    match_.edges_known = std::any_of(graph_.edges().begin(), graph_.edges().end(),
                                     [](const Edge& e) { return kinds_of_data().has(e.kind); });
    classify();
    by_name();
    to_products();
    by_neighbours();
    by_order();
    settle_ops();
    links_ = node_links(graph_, order_, kinds_of_data(), worker_, nodes());
    find_fates();
    compare_dependencies();
    return std::move(match_);
  }

 private:
  std::size_t nodes() const { return expected_.nodes.size(); }
  StringId label_of(std::size_t op) const {
    const Op& row = profile_.ops[op];
    return row.node != StringId::empty ? row.node : row.name;
  }

  void classify() {
    std::map<std::pair<StringId, StringId>, InsertedKind> known;
    for (std::size_t op = 0; op < graph_.size(); ++op) {
      const Op& row = profile_.ops[op];
      const auto [place, is_new] =
          known.try_emplace({row.kind, row.attributes}, InsertedKind::none);
      if (is_new) {
        place->second = inserted_kind_of(profile_.text(row.kind), profile_.text(row.attributes));
      }
      match_.inserted[op] = place->second;
    }
  }

  void assign(std::uint32_t op, std::uint32_t node, MatchEvidence evidence) {
    match_.node_of_op[op] = node;
    MatchEvidence& known = match_.nodes[node].evidence;
    if (known == MatchEvidence::none || evidence < known) known = evidence;
  }

  void by_name() {
    const NodeNames names(expected_);
    const SourceNames sources(profile_, expected_);
    std::unordered_map<std::uint32_t, NodeNames::Found> known;  // by string
    for (std::uint32_t op = 0; op < graph_.size(); ++op) {
      if (op < compiled_.size() && !compiled_[op]) continue;
      const StringId label = label_of(op);
      const auto [place, is_new] = known.try_emplace(std::uint32_t(label));
      if (is_new) {
        place->second = sources.find(profile_.text(label));
        if (place->second.nodes.empty()) place->second = names.find(profile_.text(label));
      }
      const NodeNames::Found& found = place->second;
      if (found.nodes.empty()) continue;
      const std::uint32_t main = main_of(found.nodes);
      assign(op, main, found.evidence);
      for (const std::uint32_t node : found.nodes) {
        if (node != main) joined_[node] = main;
      }
    }
  }

  // Of nodes that one op does together: the matrix product, else the first.
  std::uint32_t main_of(const std::vector<std::uint32_t>& joined) const {
    for (const std::uint32_t node : joined) {
      if (is_product(expected_.nodes[node].op)) return node;
    }
    return joined.front();
  }

  // A product of which no op bears the name, and whose result only passes through the nodes of
  // `way` on its way to `node`.
  std::uint32_t product_before(std::uint32_t node, std::vector<std::uint32_t>& way) const {
    constexpr std::size_t max_fused = 4;
    while (node != no_node && !has_ops(node) && !is_product(expected_.nodes[node].op)) {
      if (way.size() == max_fused || !is_pointwise(expected_.nodes[node].op)) return no_node;
      way.push_back(node);
      std::uint32_t before = no_node;
      for (const std::uint32_t input : expected_.nodes[node].inputs) {
        const ExpectedTensor& tensor = expected_.tensors[input];
        if (before == no_node && !tensor.is_constant) before = tensor.producer;
      }
      node = before;
    }
    return node == no_node || has_ops(node) ? no_node : node;
  }

  // An op of a product that bears the name of a result further on does all up to there.
  void to_products() {
    std::map<std::uint32_t, std::uint32_t> product_of;  // by the node whose result it bears
    find_nodes_with_ops();
    for (std::uint32_t op = 0; op < graph_.size(); ++op) {
      const std::uint32_t node = match_.node_of_op[op];
      if (node == no_node || match_.nodes[node].evidence != MatchEvidence::tensor_name) continue;
      if (!is_product(profile_.text(profile_.ops[op].kind))) continue;
      if (is_product(expected_.nodes[node].op)) continue;
      const auto [place, is_new] = product_of.try_emplace(node, no_node);
      if (is_new) {
        std::vector<std::uint32_t> way;
        has_ops_[node] = 0;
        place->second = product_before(node, way);
        has_ops_[node] = 1;
        if (place->second == no_node) continue;
        for (const std::uint32_t passed : way) joined_[passed] = place->second;
      }
      if (place->second != no_node) assign(op, place->second, MatchEvidence::tensor_name);
    }
    for (const auto& [node, product] : product_of) {
      if (product != no_node) match_.nodes[node].evidence = MatchEvidence::none;
    }
  }

  bool has_ops(std::uint32_t node) const { return has_ops_[node] != 0; }
  void find_nodes_with_ops() {
    has_ops_.assign(nodes(), 0);
    for (const std::uint32_t node : match_.node_of_op) {
      if (node != no_node) has_ops_[node] = 1;
    }
  }

  bool is_open(std::uint32_t node) const {
    return !has_ops(node) && joined_[node] == no_node &&
           expected_.nodes[node].role == ExpectedRole::executes;
  }

  struct Look {  // what an op or a node is like
    std::uint8_t family = 0;
    std::vector<std::int64_t> shape;
    auto operator<=>(const Look&) const = default;
  };
  Look look_of_node(std::uint32_t node) const {
    Look look{family_of(expected_.nodes[node].op), {}};
    for (const std::uint32_t output : expected_.nodes[node].outputs) {
      look.shape = comparable_shape(expected_.tensors[output].shape);
      break;
    }
    return look;
  }
  Look look_of_op(std::uint32_t op) const {
    const Op& row = profile_.ops[op];
    Look look{family_of(profile_.text(row.node_kind)), {}};
    if (look.family == 0) look.family = family_of(profile_.text(row.kind));
    look.shape = comparable_shape(profile_.text(row.shape));
    return look;
  }

  bool is_loose(std::uint32_t op) const {
    return match_.node_of_op[op] == no_node && match_.inserted[op] == InsertedKind::none &&
           profile_.ops[op].kind != StringId::empty;
  }

  void by_neighbours();
  void by_order();
  void settle_ops();
  void find_fates();
  std::vector<Edge> edges_with_queues() const;
  std::vector<NodePair> not_queued(std::vector<NodePair> pairs);
  void place_by_queues();
  void place_without_ops(std::uint32_t node);
  bool linked(std::uint32_t from, std::uint32_t to) const {
    return std::binary_search(links_.begin(), links_.end(), NodePair{from, to});
  }
  std::vector<std::uint32_t> nearest_before(std::uint32_t node) const;
  void add_source(std::vector<std::uint32_t>& sources, std::uint32_t node) const;
  void compare_dependencies();

  const Profile& profile_;
  const OpGraph& graph_;
  const ExpectedGraph& expected_;
  std::span<const std::uint8_t> compiled_;
  GraphOrder order_;
  GraphMatch match_;
  std::vector<std::uint32_t> joined_;  // by node: the one whose op also bears its name
  std::vector<std::uint8_t> has_ops_;
  std::vector<std::uint32_t> worker_;  // by op: the node whose work it does
  std::vector<NodePair> links_;
  // By node: those before (after) it that have ops, for nodes that have none themselves.
  std::vector<std::vector<std::uint32_t>> sources_, targets_;
};

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
  std::stable_sort(ops.begin(), ops.end(), [&](auto a, auto b) { return place(a) < place(b); });
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
  std::stable_sort(before.begin(), before.end(), [&](std::uint32_t a, std::uint32_t b) {
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

}  // namespace

GraphMatch match_graph(const Profile& profile, const OpGraph& graph, const ExpectedGraph& expected,
                       std::span<const std::uint8_t> compiled) {
  return NodeMatcher(profile, graph, expected, compiled).match();
}

}  // namespace npuscope::analysis
