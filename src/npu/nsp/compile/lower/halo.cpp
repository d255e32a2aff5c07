#include "npu/nsp/compile/lower/halo.hpp"

#include <algorithm>

namespace npuscope::npu::nsp {
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

}  // namespace npuscope::npu::nsp
