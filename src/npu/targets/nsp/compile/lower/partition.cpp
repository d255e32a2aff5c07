#include "npu/targets/nsp/compile/lower/vector_lowering.hpp"

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
  std::ranges::stable_sort(by_size, [&](std::size_t a, std::size_t b) {
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

namespace {

// So many rows of the third dimension.
Shape halo_shape(Shape shape, std::int64_t kernel) {
  shape[2] = kernel - 1;
  return shape;
}

}  // namespace

BufferId exchange_halo(const CompileContext& context, TaskWriter& writer, Placement& place,
                       const Node& node, Operand& operand, const Partition& partition) {
  const auto kernel = node.ints_attribute("kernel_shape");
  const Shape& shape = context.tensor(operand.tensor).shape;
  const bool spatial = partition.axis == 2 && kernel.size() >= 1 && kernel[0] > 1 &&
                       shape.size() > 2 && shape[2] > 0;
  if (!spatial || context.cores == 1 || operand.buffer == BufferId::none) return BufferId::none;
  const std::uint64_t row_bytes = context.bytes_of(operand.tensor) / std::uint64_t(shape[2]);
  const std::uint64_t halo_bytes = row_bytes * std::uint64_t(kernel[0] - 1);
  CoreBytes core_bytes(context.cores);
  for (std::uint32_t core = 0; core < context.cores; ++core) {
    core_bytes[core] = std::min(halo_bytes, operand.core_bytes[core]);
  }
  const BufferId halo = place.residency.try_allocate(core_bytes, Lifetime::tile);
  if (halo == BufferId::none) {
    place.tiles.stream(operand);
    return halo;
  }
  for (std::uint32_t core = 0; core < context.cores; ++core) {
    if (core_bytes[core] == 0) continue;
    TaskSpec spec = writer.dma_task(core, multicast_vtcm, writer.node_name(), operand.tensor,
                                    halo_shape(shape, kernel[0]), core_bytes[core]);
    spec.multicast = core_bytes[core];
    // It writes its neighbours' copies; its own is written by them.
    std::vector<BufferUse> uses{reads(operand.buffer, core)};
    TaskNeeds needs;
    writer.tasks().need(writes(halo, core), needs);
    if (core > 0) uses.push_back(writes(halo, core - 1));
    if (core + 1 < context.cores) uses.push_back(writes(halo, core + 1));
    writer.add(spec, uses, needs);
  }
  return halo;
}

namespace {

// Which axis of an input an axis of the output comes from: what decides whether cores can each take
// a slice without talking to one another.

int normalized(std::int64_t axis, std::size_t rank) {
  return int(axis < 0 ? axis + std::int64_t(rank) : axis);
}

// Right-aligned as in broadcasting.
int broadcast_axis(const Shape& input, const Shape& output, int output_axis) {
  const int axis = output_axis - (int(output.size()) - int(input.size()));
  if (axis < 0 || axis >= int(input.size())) return replicated;
  if (input[std::size_t(axis)] == output[std::size_t(output_axis)]) return axis;
  return input[std::size_t(axis)] == 1 ? replicated : incompatible;
}

int same_axis(const Shape& input, const Shape& output, int output_axis) {
  if (input.size() != output.size()) return incompatible;
  const auto axis = std::size_t(output_axis);
  return input[axis] == output[axis] ? output_axis : incompatible;
}

int normalization_axis(const Graph& graph, const Node& node, std::size_t index, int output_axis) {
  const Shape& input = graph[node.inputs[index]].shape;
  const Shape& output = graph[node.outputs[0]].shape;
  const bool per_channel = node.op == "BatchNormalization" || node.op == "InstanceNormalization" ||
                           node.op == "GroupNormalization" || node.op == "LRN";
  if (!per_channel) {
    const int first = normalized(node.int_attribute("axis", -1), output.size());
    return output_axis >= first ? incompatible : broadcast_axis(input, output, output_axis);
  }
  if (node.op == "LRN" && output_axis == 1) return incompatible;
  if (node.op == "InstanceNormalization" && output_axis >= 2) return incompatible;
  if (node.op == "GroupNormalization" && output_axis >= 1) return incompatible;
  if (index == 0) return same_axis(input, output, output_axis);
  return output_axis == 1 && input.size() == 1 && input[0] == output[1] ? 0 : replicated;
}

std::vector<bool> reduced_axes(const Graph& graph, const Node& node) {
  const std::size_t rank = graph[node.inputs[0]].shape.size();
  std::vector<bool> reduced(rank, false);
  if (node.op.starts_with("Global")) {
    for (std::size_t axis = 2; axis < rank; ++axis) reduced[axis] = true;
    return reduced;
  }
  Shape axes = stated_axes(graph, node);
  if (axes.empty() && node.op.starts_with("Arg")) axes = {node.int_attribute("axis", 0)};
  if (axes.empty()) return std::vector<bool>(rank, true);
  for (std::int64_t axis : axes) {
    const int at = normalized(axis, rank);
    if (at >= 0 && at < int(rank)) reduced[std::size_t(at)] = true;
  }
  return reduced;
}

int reduction_axis(const Graph& graph, const Node& node, int output_axis) {
  const auto reduced = reduced_axes(graph, node);
  const bool keeps = graph[node.outputs[0]].shape.size() == reduced.size();
  int seen = -1;
  for (int axis = 0; axis < int(reduced.size()); ++axis) {
    if (!reduced[std::size_t(axis)] || keeps) ++seen;
    if (seen == output_axis) return reduced[std::size_t(axis)] ? incompatible : axis;
  }
  return incompatible;
}

int copy_axis(const Graph& graph, const Node& node, std::size_t index, int output_axis) {
  const Shape& input = graph[node.inputs[index]].shape;
  const Shape& output = graph[node.outputs[0]].shape;
  if (node.op == "Concat") {
    // Each core keeps its share of every part: the split axis then interleaves the parts.
    return input.size() == output.size() ? output_axis : incompatible;
  }
  if (index > 0) return replicated;
  if (node.op == "Expand" || node.op == "Tile") return broadcast_axis(input, output, output_axis);
  return same_axis(input, output, output_axis);
}

int transpose_axis(const Graph& graph, const Node& node, int output_axis) {
  const std::size_t rank = graph[node.inputs[0]].shape.size();
  if (node.op != "Transpose") return output_axis == 0 ? 0 : incompatible;
  const auto permutation = node.ints_attribute("perm");
  if (permutation.size() != rank) return int(rank) - 1 - output_axis;  // default: reversed
  return int(permutation[std::size_t(output_axis)]);
}

int axis_by_class(const Graph& graph, const Node& node, OpClass op_class, std::size_t index,
                  int output_axis) {
  const Shape& input = graph[node.inputs[index]].shape;
  const Shape& output = graph[node.outputs[0]].shape;
  switch (op_class) {
    case OpClass::softmax: {
      const int axis = normalized(node.int_attribute("axis", -1), output.size());
      return output_axis == axis ? incompatible : broadcast_axis(input, output, output_axis);
    }
    case OpClass::normalization: return normalization_axis(graph, node, index, output_axis);
    case OpClass::reduction:
      return index > 0 ? replicated : reduction_axis(graph, node, output_axis);
    case OpClass::pooling:
    case OpClass::convolution:  // depthwise, on HVX; its weights follow the channels
      if (index > 0) return output_axis == 1 && input.size() > 0 ? 0 : replicated;
      return output_axis <= 2 ? output_axis : incompatible;
    case OpClass::matmul:  // several products in one operator: only whole batches are sure to be
                           // apart
      if (output_axis != 0) return index == 0 ? incompatible : replicated;
      return !input.empty() && input[0] == output[0] && input.size() > 1 ? 0 : replicated;
    case OpClass::transpose: return transpose_axis(graph, node, output_axis);
    case OpClass::copy: return copy_axis(graph, node, index, output_axis);
    case OpClass::sort: {
      const std::int64_t given = node.int_attribute("axis", -1);
      if (output_axis == normalized(given, output.size())) return incompatible;
      return index > 0 ? replicated : same_axis(input, output, output_axis);
    }
    case OpClass::scatter:
      if (index == 0) return same_axis(input, output, output_axis);
      // Updates that are whole along an axis are taken to be in its order, as exporters write them.
      return index == updates_input(node) && same_axis(input, output, output_axis) >= 0
                 ? output_axis
                 : replicated;
    default: return broadcast_axis(input, output, output_axis);
  }
}

}  // namespace

int input_axis(const Graph& graph, const Node& node, OpClass op_class, std::size_t index,
               int output_axis) {
  const int axis = axis_by_class(graph, node, op_class, index, output_axis);
  // Operands beyond those an operator has may be of any shape.
  return axis < int(graph[node.inputs[index]].shape.size()) ? axis : replicated;
}

}  // namespace npuscope::npu::nsp
