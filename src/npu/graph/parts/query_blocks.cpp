// Attention in blocks of queries.
#include <algorithm>
#include <set>

#include "npu/graph/parts/parts.hpp"
#include "npu/graph/semantics.hpp"

namespace npuscope::npu {
namespace {

// The product that makes scores, what comes of them elementwise, the softmax, and the product with
// the values.
struct AttentionChain {
  std::vector<NodeId> nodes;
  std::int64_t blocks = 1;
};

class ChainFinder {
 public:
  explicit ChainFinder(const Graph& graph)
      : graph_(graph), outputs_(graph.outputs.begin(), graph.outputs.end()) {}

  // None that ends with this softmax.
  std::optional<AttentionChain> find(NodeId softmax) const {
    const Node& node = graph_[softmax];
    if (!is_plain(node) || node.op != "Softmax") return std::nullopt;
    const Shape& shape = graph_[node.outputs[0]].shape;
    const std::int64_t axis = node.int_attribute("axis", -1);
    if (shape.size() < 3) return std::nullopt;
    if (axis != -1 && axis != std::int64_t(shape.size()) - 1) return std::nullopt;
    const auto context = only_consumer(node.outputs[0]);
    if (!context || !is_product(graph_[*context]) || graph_[*context].inputs[0] != node.outputs[0])
      return std::nullopt;
    AttentionChain chain{{softmax, *context}};
    TensorId made = node.inputs[0];
    while (true) {
      const NodeId producer = graph_[made].producer;
      if (producer == NodeId::none || !only_consumer(made) || graph_[made].shape != shape)
        return std::nullopt;
      const Node& before = graph_[producer];
      chain.nodes.insert(chain.nodes.begin(), producer);
      if (is_product(before)) return chain;
      const auto next = source_of(before, shape);
      if (!next) return std::nullopt;
      made = *next;
    }
  }

 private:
  std::optional<NodeId> only_consumer(TensorId id) const {
    const auto& consumers = graph_[id].consumers;
    if (consumers.size() != 1 || outputs_.contains(id)) return std::nullopt;
    return consumers[0];
  }

  // Of the standard domain, with its first input and one output.
  static bool is_plain(const Node& node) {
    return node.domain.empty() && !node.unknown && node.has_input(0) && node.outputs.size() == 1 &&
           node.outputs[0] != TensorId::none;
  }

  // Of two activations, each matrix of the left with one of the right.
  bool is_product(const Node& node) const {
    if (node.op != "MatMul" || !is_plain(node) || !node.has_input(1)) return false;
    const Shape& left = graph_[node.inputs[0]].shape;
    const Shape& made = graph_[node.outputs[0]].shape;
    return !graph_[node.inputs[1]].constant && left.size() == made.size() && left.size() >= 3 &&
           std::equal(left.begin(), left.end() - 1, made.begin());
  }

  // Of an elementwise operator the one input that is as large as its output and made by a node; the
  // others are broadcast or constant.
  std::optional<TensorId> source_of(const Node& node, const Shape& shape) const {
    if (!is_plain(node) || classify(graph_, node) != OpClass::elementwise) return std::nullopt;
    std::optional<TensorId> source;
    for (const TensorId id : node.inputs) {
      if (id == TensorId::none || graph_[id].shape.size() > shape.size()) return std::nullopt;
      const bool large = graph_[id].shape == shape && !graph_[id].constant;
      if (large && source) return std::nullopt;
      if (large) source = id;
    }
    return source;
  }

  const Graph& graph_;
  const std::set<TensorId> outputs_;
};

// Rows [begin, end) of the next to last dimension, where it is not broadcast.
TensorId rows_of(Parts& parts, TensorId id, std::int64_t begin, std::int64_t end,
                 std::int64_t all) {
  const Shape shape = parts.shape(id);
  if (shape.size() < 2 || shape[shape.size() - 2] != all) return id;
  return parts.add("rows", "Slice",
                   {id, parts.integers({begin}), parts.integers({end}),
                    parts.integers({std::int64_t(shape.size()) - 2})});
}

void make_blocks(Parts& parts, const Graph& graph, const AttentionChain& chain) {
  const TensorId scores = graph[chain.nodes[0]].outputs[0];
  const Shape& shape = graph[scores].shape;
  const std::int64_t all = shape[shape.size() - 2];
  std::vector<TensorId> made;
  for (std::int64_t block = 0; block < chain.blocks; ++block) {
    const std::int64_t begin = all * block / chain.blocks, end = all * (block + 1) / chain.blocks;
    TensorId last = TensorId::none;  // what the block has become
    TensorId was = TensorId::none;   // which of the whole tensors that is a block of
    for (const NodeId id : chain.nodes) {
      const Node& node = graph[id];
      std::vector<TensorId> inputs = node.inputs;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const bool of_keys = (id == chain.nodes.front() || id == chain.nodes.back()) && i == 1;
        if (inputs[i] == was) {
          inputs[i] = last;
        } else if (!of_keys) {
          inputs[i] = rows_of(parts, inputs[i], begin, end, all);
        }
      }
      last =
          parts.add(node.name.substr(node.name.rfind('/') + 1), node.op, inputs, node.attributes);
      was = node.outputs[0];
    }
    made.push_back(last);
  }
  const TensorId whole = graph[chain.nodes.back()].outputs[0];
  parts.add("blocks", "Concat", made, {{"axis", std::int64_t(shape.size()) - 2}}, whole);
}

}  // namespace

std::optional<Graph> with_query_blocks(
    const Graph& graph, const std::function<std::int64_t(const Tensor& scores)>& blocks_for) {
  const ChainFinder finder(graph);
  std::map<NodeId, AttentionChain> chains;  // by the last of its nodes
  std::set<NodeId> inside;
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].op != "Softmax") continue;
    auto chain = finder.find(NodeId{i});
    if (!chain) continue;
    const Tensor& scores = graph[graph.nodes[i].outputs[0]];
    const std::int64_t rows = scores.shape[scores.shape.size() - 2];
    chain->blocks = std::min(blocks_for(scores), rows);
    if (chain->blocks < 2) continue;
    inside.insert(chain->nodes.begin(), chain->nodes.end());
    chains.emplace(chain->nodes.back(), std::move(*chain));
  }
  if (chains.empty()) return std::nullopt;
  Parts parts(graph);
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const auto chain = chains.find(NodeId{i});
    if (chain != chains.end()) {
      parts.begin(graph.nodes[i].name);
      make_blocks(parts, graph, chain->second);
    } else if (!inside.contains(NodeId{i})) {
      parts.keep(graph.nodes[i]);
    }
  }
  return parts.take();
}

}  // namespace npuscope::npu
