// Which ops of a compiled graph do the work of which nodes of the model, while it is found out: by
// names, products, neighbours and order (graph_match.cpp); then which dependencies of the model
// the compiled graph keeps (graph_match.cpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analysis/graph/graph_expected.hpp"

namespace npuscope::analysis {

// Which nodes of a model the name of a compiled op means.
//
//   const NodeNames names(expected);
//   names.find("libjit_x /layer.0/MatMul/__12").nodes   // {MatMul}
//   names.find("conv1+relu1").nodes                      // {conv1, relu1}

// Kinds of work that kernels and operators of different names have in common, and shapes as they
// can be compared across layouts.

// 0: none known. "q::ConvLayer_s1.opt", "aicconvolutiond32", "Gemm" are one family.
std::uint8_t family_of(std::string_view kind);
bool is_product(std::string_view kind);
// What compilers do in the same pass as the product before: activations, norms, sums.
bool is_pointwise(std::string_view kind);

// The extents above 1, sorted: the same for 1, 8, 32, 256 and for 8, 256, 32.
std::vector<std::int64_t> comparable_shape(std::span<const std::int64_t> extents);

class NodeNames {
 public:
  explicit NodeNames(const ExpectedGraph& expected);

  struct Found {
    std::vector<std::uint32_t> nodes;  // several: they were joined
    MatchEvidence evidence = MatchEvidence::none;
  };
  Found find(std::string_view name) const;

 private:
  std::uint32_t lookup(std::string_view name, MatchEvidence& evidence) const;
  std::uint32_t derived(std::string_view name) const;

  std::unordered_map<std::string_view, std::uint32_t> nodes_, tensors_;
  std::unordered_map<std::string, std::uint32_t> plain_;  // letters and digits; no_node: ambiguous
};

// Which nodes of a model are meant by ops that name operators by their places in its source
// (Profile::source_operators). An importer writes a model's nodes in their order, each as one
// operator; constants are operators of their own there. So:
//
//   const SourceNames names(profile, expected);
//   names.find("onnx.Conv@L94 onnx.Relu@L95").nodes   // {Conv_0, Relu_0}
//
// Where the operators are not the model's nodes one by one, but come in the order of the nodes (a
// table names only those that ran), those of a kind of which there are as many as nodes that
// execute are meant. Of another model's source no name is found.
class SourceNames {
 public:
  SourceNames(const Profile& profile, const ExpectedGraph& expected);

  NodeNames::Found find(std::string_view name) const;

 private:
  std::unordered_map<std::string_view, std::uint32_t> nodes_;  // no_node: ambiguous
};

// What flows between the nodes of a model in its compiled graph.

// Pairs of different nodes between whose ops an edge leads, or a way over ops of no node. Sorted.
std::vector<NodePair> node_links(const OpGraph& graph, const GraphOrder& order, EdgeKinds kinds,
                                 const std::vector<std::uint32_t>& node_of_op, std::size_t nodes);

// Those of `pairs` (sorted) for which no way leads from an op of the one to an op of the other.
std::vector<NodePair> without_way(const OpGraph& graph, const GraphOrder& order, EdgeKinds kinds,
                                  const std::vector<std::uint32_t>& node_of_op,
                                  const std::vector<NodePair>& pairs, std::size_t nodes);

inline EdgeKinds kinds_of_data() {
  EdgeKinds kinds;
  for (const EdgeKind kind : {EdgeKind::data, EdgeKind::transfer, EdgeKind::flow}) kinds.add(kind);
  return kinds;
}

// An arrow of which the trace does not say what it is may be no more than the order of a queue.
inline EdgeKinds kinds_said_to_be_data() {
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
    return row.label();
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

  // An op of a product that bears the name of a node further on, or of its result, does all up to
  // there.
  void to_products() {
    std::map<std::uint32_t, std::uint32_t> product_of;  // by the node whose result it bears
    find_nodes_with_ops();
    for (std::uint32_t op = 0; op < graph_.size(); ++op) {
      const std::uint32_t node = match_.node_of_op[op];
      if (node == no_node) continue;
      const MatchEvidence evidence = match_.nodes[node].evidence;
      if (evidence != MatchEvidence::tensor_name && evidence != MatchEvidence::name) continue;
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
      if (place->second != no_node) assign(op, place->second, evidence);
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
    look.shape = comparable_shape(profile_.shapes[row.extents]);
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

}  // namespace npuscope::analysis
