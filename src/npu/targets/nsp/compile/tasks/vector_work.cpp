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

}  // namespace

VectorSize vector_size(const CompileContext& context, TensorId id) {
  const Shape& shape = context.tensor(id).shape;
  VectorSize size{context.type_of(id), context.bytes_of(id), context.bytes_of(id)};
  if (shape.empty() || elements_of(shape) == 0) return size;
  std::uint64_t padded = 1;
  if (shape.size() == 4) {
    padded = std::uint64_t(shape[0]) * round_up(std::uint64_t(shape[1]), channels) *
             round_up(std::uint64_t(shape[2]), places) * round_up(std::uint64_t(shape[3]), places);
    size.cuttable = std::uint64_t(shape[1]) >= channels;
  } else {
    const std::uint64_t rows = elements_of(shape, shape.size() - 1);
    padded = round_up(rows, places) * round_up(std::uint64_t(shape.back()), channels);
  }
  size.padded_bytes = device_bytes(padded, size.type);
  return size;
}

const KernelCost& kernel_cost(const Target& target, const std::string& kernel, DataType type) {
  const std::uint32_t bits = bits_of(type);
  const char* suffix = bits <= 8 ? "_int8" : bits >= 32 ? "_wide" : "";
  const KernelCost* cost = find_cost(target, kernel + suffix);
  if (cost == nullptr) cost = find_cost(target, kernel);
  return cost != nullptr ? *cost : target.default_kernel;
}

std::uint64_t vector_cycles(const Target& target, const std::string& kernel,
                            std::uint64_t output_bytes) {
  const KernelCost* found = find_cost(target, kernel);
  const KernelCost& cost = found != nullptr ? *found : target.default_kernel;
  return std::uint64_t(
      std::llround(cost.overhead_cycles + double(output_bytes) / 1024 * cost.cycles_per_kib));
}

VectorWork vector_work(const Target& target, const std::string& kernel, const VectorSize& size) {
  if (target.vector_tile_bytes == 0) return {vector_cycles(target, kernel, size.bytes), 0, false};
  const KernelCost& cost = kernel_cost(target, kernel, size.type);
  const std::uint64_t tiles =
      size.cuttable ? std::max<std::uint64_t>(1, size.padded_bytes / target.vector_tile_bytes) : 1;
  const auto threads =
      cost.on_hmx ? 1 : std::uint32_t(std::min<std::uint64_t>(tiles, target.hvx_threads));
  const double cycles = cost.overhead_cycles * double(divide_up(tiles, std::uint64_t{threads})) +
                        (double(size.bytes) * cost.cycles_per_kib +
                         double(size.padded_bytes) * cost.cycles_per_padded_kib) /
                            1024 / threads;
  return {std::uint64_t(std::llround(cycles)), threads, cost.on_hmx};
}

}  // namespace npuscope::npu::nsp
