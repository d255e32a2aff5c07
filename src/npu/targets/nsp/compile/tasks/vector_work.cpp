#include "npu/targets/nsp/compile/tasks/vector_work.hpp"

#include <algorithm>
#include <cmath>

namespace npuscope::npu::nsp {
namespace {

// Of the tiles in which HMX and HVX keep images (Crouton): 8 rows of 8 places, 32 channels.
constexpr std::uint64_t places = 8;
constexpr std::uint64_t channels = 32;

const KernelCost* find_cost(const Target& target, const std::string& kernel) {
  const auto found = target.kernels.find(kernel);
  return found == target.kernels.end() ? nullptr : &found->second;
}

// Of a kernel that all threads share evenly.
std::uint64_t shared_cycles(const KernelCost& cost, const VectorSize& size) {
  const double work = double(size.bytes) / 1024 * cost.cycles_per_kib +
                      double(size.padded_bytes) / 1024 * cost.cycles_per_padded_kib;
  return std::uint64_t(std::llround(cost.overhead_cycles + size.places * work));
}

// Whether a transposed convolution, and operators element by element, left an image in no tiles.
bool is_flat_image(const CompileContext& context, TensorId id) {
  constexpr int max_steps = 8;
  for (int step = 0; step < max_steps; ++step) {
    const NodeId producer = context.tensor(id).producer;
    if (producer == NodeId::none) return false;
    const Node& node = context.graph[producer];
    if (node.op.starts_with("DepthToSpaceFlat")) return true;
    const auto is_number = [&](TensorId other) {
      return other == node.inputs[0] || other == TensorId::none ||
             (context.graph[other].constant && context.graph[other].elements() == 1);
    };
    const bool follows = context.plans[std::uint32_t(producer)].op_class == OpClass::elementwise &&
                         node.has_input(0) && std::ranges::all_of(node.inputs, is_number);
    if (!follows) return false;
    id = node.inputs[0];
  }
  return false;
}

}  // namespace

VectorSize vector_size(const CompileContext& context, TensorId id) {
  const Shape& shape = context.tensor(id).shape;
  VectorSize size{context.type_of(id), context.bytes_of(id), context.bytes_of(id),
                  context.bytes_of(id)};
  if (shape.empty() || elements_of(shape) == 0) return size;
  size.rows = double(elements_of(shape, shape.size() - 1));
  size.image = context.images[std::uint32_t(id)];
  if (size.image && is_flat_image(context, id)) return size;
  const auto channels_last = std::uint64_t(shape.back());
  const std::uint64_t padded =
      size.image ? std::uint64_t(shape[0]) * round_up(std::uint64_t(shape[1]), channels) *
                       round_up(std::uint64_t(shape[2]), places) * round_up(channels_last, places)
                 : round_up(std::uint64_t(size.rows), places) * round_up(channels_last, channels);
  size.padded_bytes = size.cut_bytes = device_bytes(padded, size.type);
  const auto whole_blocks = [](std::uint64_t extent) { return divide_up(extent, channels); };
  size.blocks =
      double(size.image ? std::uint64_t(shape[0]) * whole_blocks(std::uint64_t(shape[1])) *
                              divide_up(std::uint64_t(shape[2]), places)
                        : whole_blocks(channels_last));
  return size;
}

VectorSize sequence_size(const CompileContext& context, TensorId id, std::uint64_t rows) {
  const Shape& shape = context.tensor(id).shape;
  VectorSize size = vector_size(context, id);
  const auto deep = divide_up(std::uint64_t(shape[1]), channels);
  size.image = true;
  size.blocks = double(std::uint64_t(shape[0]) * deep);
  size.padded_bytes = size.cut_bytes = device_bytes(
      std::uint64_t(shape[0]) * deep * channels * rows * round_up(std::uint64_t(shape[2]), places),
      size.type);
  return size;
}

VectorSize VectorSize::part(double share) const {
  VectorSize size = *this;
  size.bytes = std::uint64_t(std::llround(double(bytes) * share));
  size.padded_bytes = std::uint64_t(std::llround(double(padded_bytes) * share));
  size.cut_bytes = std::uint64_t(std::llround(double(cut_bytes) * share));
  size.rows *= share;
  size.blocks *= share;
  return size;
}

const KernelCost& kernel_cost(const Target& target, const std::string& kernel,
                              const VectorSize& size) {
  const std::uint32_t bits = bits_of(size.type);
  const std::string typed = kernel + (bits <= 8 ? "_int8" : bits >= 32 ? "_wide" : "");
  const KernelCost* cost = size.image ? nullptr : find_cost(target, typed + "_matrix");
  if (cost == nullptr) cost = find_cost(target, typed);
  if (cost == nullptr && bits > 8 && !size.image) cost = find_cost(target, kernel + "_matrix");
  if (cost == nullptr) cost = find_cost(target, kernel);
  return cost != nullptr ? *cost : target.default_kernel;
}

std::uint64_t vector_cycles(const Target& target, const std::string& kernel,
                            std::uint64_t output_bytes) {
  VectorSize size;
  size.bytes = output_bytes;
  return shared_cycles(
      target.kernels.contains(kernel) ? target.kernels.at(kernel) : target.default_kernel, size);
}

VectorWork vector_work(const Target& target, const std::string& kernel, const VectorSize& size) {
  const KernelCost& cost = kernel_cost(target, kernel, size);
  if (target.vector_tile_bytes == 0) return {shared_cycles(cost, size), 0, false, 1};
  const double tile = cost.tile_bytes > 0 ? cost.tile_bytes : double(target.vector_tile_bytes);
  const double cut = double(size.cut_bytes) > cost.whole_bytes ? double(size.cut_bytes) : 0;
  const auto tiles = std::max<std::uint64_t>(
      1, cost.by_block ? std::uint64_t(std::llround(size.blocks)) : std::uint64_t(cut / tile));
  const auto threads =
      cost.on_hmx ? 1 : std::uint32_t(std::min<std::uint64_t>(tiles, target.hvx_threads));
  const double first = tiles == 1 ? std::min(double(size.padded_bytes) / 1024, cost.first_kib) : 0;
  const double work = first * cost.cycles_per_first_kib +
                      size.places * (double(size.bytes) / 1024 * cost.cycles_per_kib +
                                     double(size.padded_bytes) / 1024 * cost.cycles_per_padded_kib +
                                     size.rows * cost.cycles_per_row);
  const auto rounds = double(divide_up(tiles, std::uint64_t{threads}));
  const double cycles =
      std::max(cost.overhead_cycles * rounds + work / threads, cost.tile_cycles * rounds);
  return {std::uint64_t(std::llround(cycles)), threads, cost.on_hmx, std::uint32_t(tiles)};
}

}  // namespace npuscope::npu::nsp
