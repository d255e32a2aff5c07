// Queries of the heads that share keys and values, as rows of one product.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "npu/graph/parts/parts.hpp"

namespace npuscope::npu {
namespace {

// Heads written once for each query that uses them: Reshape(Expand(Unsqueeze(shared))), and perhaps
// a Transpose of the last two dimensions behind it.
struct RepeatedHeads {
  TensorId shared{};                // [B, KV, T, D]
  std::vector<NodeId> nodes;        // that repeat them
  std::vector<std::int64_t> order;  // of the Transpose; empty: none
};

class RepeatFinder {
 public:
  explicit RepeatFinder(const Graph& graph)
      : graph_(graph), outputs_(graph.outputs.begin(), graph.outputs.end()) {}

  std::optional<RepeatedHeads> find(TensorId id) const {
    RepeatedHeads found;
    const Node* node = maker(id, found);
    if (node != nullptr && node->op == "Transpose") {
      found.order = node->ints_attribute("perm");
      if (found.order != std::vector<std::int64_t>{0, 1, 3, 2}) return std::nullopt;
      id = node->inputs[0];
      node = maker(id, found);
    }
    const Shape heads = graph_[id].shape;
    if (node == nullptr || node->op != "Reshape" || heads.size() != 4) return std::nullopt;
    id = node->inputs[0];
    node = maker(id, found);
    const Shape groups = graph_[id].shape;
    if (node == nullptr || (node->op != "Expand" && node->op != "Tile") || groups.size() != 5)
      return std::nullopt;
    if (heads != Shape{groups[0], groups[1] * groups[2], groups[3], groups[4]}) return std::nullopt;
    id = node->inputs[0];
    node = maker(id, found);
    if (graph_[id].shape != Shape{groups[0], groups[1], 1, groups[3], groups[4]})
      return std::nullopt;
    if (node == nullptr || (node->op != "Unsqueeze" && node->op != "Reshape")) return std::nullopt;
    found.shared = node->inputs[0];
    if (graph_[found.shared].shape != Shape{groups[0], groups[1], groups[3], groups[4]})
      return std::nullopt;
    return groups[2] > 1 ? std::optional(std::move(found)) : std::nullopt;
  }

 private:
  // Of one input, whose output is no output of the graph.
  const Node* maker(TensorId id, RepeatedHeads& found) const {
    const NodeId producer = graph_[id].producer;
    if (producer == NodeId::none || outputs_.contains(id)) return nullptr;
    const Node& node = graph_[producer];
    if (!node.domain.empty() || node.unknown || !node.has_input(0)) return nullptr;
    found.nodes.push_back(producer);
    return &node;
  }

  const Graph& graph_;
  const std::set<TensorId> outputs_;
};

// [B, H, S, D] times heads repeated from [B, KV, D, T]: as [B, KV, H / KV * S, D] times those.
void make_grouped(Parts& parts, const Node& node, const RepeatedHeads& repeated) {
  const TensorId shared = repeated.order.empty()
                              ? repeated.shared
                              : parts.transpose("shared", repeated.shared, repeated.order);
  const Shape made = parts.shape(node.outputs[0]), left = parts.shape(node.inputs[0]);
  const std::int64_t heads = parts.shape(shared)[1], rows = left[1] / heads * left[2];
  const TensorId queries = parts.reshape("groups", node.inputs[0], {left[0], heads, rows, left[3]});
  const TensorId product = parts.add("product", "MatMul", {queries, shared});
  parts.reshape("heads", product, made, node.outputs[0]);
}

}  // namespace

std::optional<Graph> with_grouped_heads(const Graph& graph) {
  const RepeatFinder finder(graph);
  std::map<NodeId, RepeatedHeads> products;
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.op != "MatMul" || !node.domain.empty() || !node.has_input(1)) continue;
    const Shape& left = graph[node.inputs[0]].shape;
    if (left.size() != 4 || graph[node.inputs[0]].constant) continue;
    auto repeated = finder.find(node.inputs[1]);
    const Shape& right = graph[node.inputs[1]].shape;
    if (!repeated || left[0] != right[0] || left[1] != right[1]) continue;
    products.emplace(NodeId{i}, std::move(*repeated));
  }
  if (products.empty()) return std::nullopt;
  // What repeats them is needed no more where nothing else takes it; from the last node to the
  // first, as one takes what another makes.
  std::set<NodeId> repeats, unused;
  for (const auto& [product, repeated] : products)
    repeats.insert(repeated.nodes.begin(), repeated.nodes.end());
  for (auto node = repeats.rbegin(); node != repeats.rend(); ++node) {
    const auto& consumers = graph[graph[*node].outputs[0]].consumers;
    const bool is_unused = std::ranges::all_of(consumers, [&](NodeId consumer) {
      return unused.contains(consumer) || products.contains(consumer);
    });
    if (is_unused) unused.insert(*node);
  }
  Parts parts(graph);
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    if (const auto product = products.find(NodeId{i}); product != products.end()) {
      parts.begin(graph.nodes[i].name);
      make_grouped(parts, graph.nodes[i], product->second);
    } else if (!unused.contains(NodeId{i})) {
      parts.keep(graph.nodes[i]);
    }
  }
  return parts.take();
}

}  // namespace npuscope::npu
