#include "npu/targets/nsp/compile/single_rows.hpp"

#include <algorithm>

#include "npu/graph/semantics.hpp"

namespace npuscope::npu::nsp {
namespace {

constexpr std::uint64_t eights = 8;
constexpr std::uint64_t min_rows_by_eights = 16;

std::uint64_t rows_of(const Shape& shape) {
  return shape.size() < 2 ? 1 : elements_of(shape, shape.size() - 1);
}

bool is_norm(const Node& node, bool integer) {
  return node.op == "LayerNormalization" || (integer && node.op == "ReduceMean");
}

bool is_integer(const Graph& graph, const Node& node) {
  return node.has_input(0) && bits_of(graph[node.inputs[0]].type) <= 8;
}

bool is_single_row(std::uint64_t rows, bool shared, bool integer, bool normalized) {
  if (rows < 2) return false;
  if (rows % eights != 0) return rows <= few_rows;
  if (rows < min_rows_by_eights) return true;
  if (normalized || !shared) return false;
  return rows <= few_rows || (integer && rows % (eights * eights) != 0);
}

}  // namespace

std::vector<bool> find_normalized(const Graph& graph) {
  std::vector<bool> normalized(graph.tensors.size());
  const auto is_marked = [&](TensorId id) { return bool(normalized[std::uint32_t(id)]); };
  const auto mark = [&](TensorId id) { normalized[std::uint32_t(id)] = true; };
  for (const Node& node : graph.nodes) {
    const bool norm = is_norm(node, is_integer(graph, node));
    if (norm || std::ranges::any_of(present(node.inputs), is_marked))
      for (const TensorId id : present(node.outputs)) mark(id);
  }
  std::vector<bool> before(graph.tensors.size());
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool integer = is_integer(graph, *node);
    const OpClass op_class = classify(graph, *node);
    const bool passes =
        op_class == OpClass::elementwise || (integer && op_class == OpClass::matmul);
    const bool reaches = std::ranges::any_of(
        present(node->outputs), [&](TensorId id) { return bool(before[std::uint32_t(id)]); });
    if (is_norm(*node, integer) || (passes && reaches))
      for (const TensorId id : present(node->inputs)) before[std::uint32_t(id)] = true;
  }
  for (std::size_t i = 0; i < before.size(); ++i) normalized[i] = normalized[i] || before[i];
  return normalized;
}

std::vector<bool> find_single_rows(const Graph& graph) {
  const std::vector<bool> normalized = find_normalized(graph);
  std::vector<bool> single(graph.tensors.size());
  for (const Node& node : graph.nodes) {
    if ((node.op != "MatMul" && node.op != "Gemm") || !node.has_input(0) || !node.has_input(1))
      continue;
    const TensorId made = node.outputs[0];
    const Shape& shape = graph[made].shape;
    const bool shared = graph[node.inputs[1]].constant;
    if (shape.size() < 2) continue;
    const std::uint64_t rows = shared ? rows_of(shape) : std::uint64_t(shape[shape.size() - 2]);
    single[std::uint32_t(made)] =
        is_single_row(rows, shared, is_integer(graph, node), normalized[std::uint32_t(made)]);
  }
  return single;
}

std::vector<bool> find_rows_in_tiles(const Graph& graph) {
  std::vector<bool> in_tiles = find_normalized(graph);
  for (std::size_t i = 0; i < in_tiles.size(); ++i) {
    const std::uint64_t rows = rows_of(graph.tensors[i].shape);
    in_tiles[i] = in_tiles[i] || rows <= few_rows || rows % eights != 0;
  }
  return in_tiles;
}

}  // namespace npuscope::npu::nsp
