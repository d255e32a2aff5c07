#include "npu/nsp/compile/lower/partition.hpp"

#include <algorithm>

namespace npuscope::npu::nsp {

Partition choose_partition(const CompileContext& context, const Storages& storages,
                           const Node& node, OpClass op_class) {
  const Shape& shape = context.tensor(node.outputs[0]).shape;
  const auto legal = [&](int axis) {
    if (shape[std::size_t(axis)] <= 1) return false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == TensorId::none || context.tensor(node.inputs[i]).constant) continue;
      if (input_axis(context.graph, node, op_class, i, axis) == incompatible) return false;
    }
    return true;
  };
  std::vector<std::size_t> by_size;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const TensorId id = node.inputs[i];
    if (id != TensorId::none && storages.of(id) != no_storage) by_size.push_back(i);
  }
  std::stable_sort(by_size.begin(), by_size.end(), [&](std::size_t a, std::size_t b) {
    return context.bytes_of(node.inputs[a]) > context.bytes_of(node.inputs[b]);
  });
  bool all_replicated = true;
  for (std::size_t i : by_size) {
    const Storage& storage = storages[storages.of(node.inputs[i])];
    all_replicated = all_replicated && storage.partition.axis == replicated;
    if (storage.buffer == BufferId::none) continue;
    const Partition held =
        partition_in_view(storage.partition, context.tensor(node.inputs[i]).shape);
    for (int axis = 0; held.axis >= 0 && axis < int(shape.size()); ++axis) {
      if (!legal(axis) || input_axis(context.graph, node, op_class, i, axis) != held.axis) continue;
      const std::int64_t extent = held.shape[std::size_t(held.axis)];
      const std::int64_t output_extent = shape[std::size_t(axis)];
      const bool scales = output_extent % extent == 0;
      return {shape, axis, scales ? held.unit * (output_extent / extent) : 1};
    }
  }
  const Partition whole{shape, replicated, 1};
  if (context.cores == 1 || (all_replicated && context.bytes_of(node.outputs[0]) <= repeat_bytes))
    return whole;
  int best = replicated;
  for (int axis = 0; axis < int(shape.size()); ++axis) {
    if (!legal(axis)) continue;
    const bool enough = shape[std::size_t(axis)] >= std::int64_t(context.cores);
    if (enough) return {shape, axis, 1};
    if (best < 0 || shape[std::size_t(axis)] > shape[std::size_t(best)]) best = axis;
  }
  return {shape, best, 1};
}

Partition partition_of_input(const Graph& graph, const Node& node, OpClass op_class,
                             std::size_t index, const Partition& output) {
  Partition needed{graph[node.inputs[index]].shape, replicated, 1};
  if (output.axis >= 0) {
    const int axis = input_axis(graph, node, op_class, index, output.axis);
    // Of an empty part of a Concat there is nothing to split.
    if (axis >= 0 && needed.shape[std::size_t(axis)] > 0) needed.axis = axis;
  }
  if (needed.axis < 0) return needed;
  const std::int64_t extent = needed.shape[std::size_t(needed.axis)];
  const std::int64_t output_extent = output.shape[std::size_t(output.axis)];
  const std::int64_t times = std::max<std::int64_t>(output_extent / extent, 1);
  needed.unit = extent == output_extent    ? output.unit
                : output.unit % times == 0 ? std::max<std::int64_t>(output.unit / times, 1)
                                           : 1;
  return needed;
}

}  // namespace npuscope::npu::nsp
