#include "npu/targets/nsp/compile/tasks/device_tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace npuscope::npu::nsp {
namespace {

std::uint64_t elements_before(const Shape& shape, int axis) {
  std::uint64_t product = 1;
  for (int i = 0; i < axis; ++i) product *= std::uint64_t(shape[std::size_t(i)]);
  return product;
}

}  // namespace

std::uint64_t largest(const std::vector<std::uint64_t>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

DataType device_type(DataType type, bool convert_to_fp16) {
  const bool wide = type == DataType::float32 || type == DataType::float64;
  return convert_to_fp16 && wide ? DataType::float16 : type;
}

std::uint64_t device_bytes(std::uint64_t elements, DataType type) {
  return divide_up(elements * bits_of(type), 8);
}

std::uint64_t even_part(std::uint64_t all, std::uint64_t index, std::uint64_t parts) {
  return all * (index + 1) / parts - all * index / parts;
}

std::uint64_t even_bytes(std::uint64_t bytes, std::uint64_t index, std::uint64_t parts,
                         DataType type) {
  const std::uint64_t element = std::max(bits_of(type) / 8, 1u);
  const auto begin = [&](std::uint64_t at) {
    return at == parts ? bytes : bytes / element * at / parts * element;
  };
  return begin(index + 1) - begin(index);
}

CoreBytes even_bytes(const CoreBytes& bytes, std::uint64_t index, std::uint64_t parts,
                     DataType type) {
  CoreBytes part;
  part.reserve(bytes.size());
  for (std::uint64_t of_core : bytes) part.push_back(even_bytes(of_core, index, parts, type));
  return part;
}

Partition partition_in_view(const Partition& partition, const Shape& view) {
  if (partition.axis < 0) return {view, partition.axis, 1};
  const std::uint64_t before = elements_before(partition.shape, partition.axis);
  const std::int64_t extent = partition.shape[std::size_t(partition.axis)];
  const Partition none{view, incompatible, 1};
  for (int axis = 0; axis < int(view.size()); ++axis) {
    const std::int64_t view_extent = view[std::size_t(axis)];
    if (view_extent <= 1 || elements_before(view, axis) != before) continue;
    if (view_extent >= extent) {
      if (view_extent % extent != 0) return none;
      return {view, axis, partition.unit * (view_extent / extent)};
    }
    const std::int64_t inner = extent / view_extent;
    if (extent % view_extent != 0 || partition.unit % inner != 0) return none;
    return {view, axis, partition.unit / inner};
  }
  return none;
}

std::uint64_t share(std::int64_t extent, std::int64_t unit, std::uint32_t core,
                    std::uint32_t cores) {
  const std::uint64_t total = std::uint64_t(std::max<std::int64_t>(extent, 0));
  const std::uint64_t step = std::uint64_t(std::max<std::int64_t>(unit, 1));
  const std::uint64_t units = divide_up(total, step);
  const auto begin = [&](std::uint64_t at) {
    return std::min((units / cores * at + std::min(at, units % cores)) * step, total);
  };
  return begin(core + 1) - begin(core);
}

std::vector<std::uint64_t> shares(std::int64_t extent, std::int64_t unit, std::uint32_t cores) {
  std::vector<std::uint64_t> out(cores);
  for (std::uint32_t core = 0; core < cores; ++core) out[core] = share(extent, unit, core, cores);
  return out;
}

std::vector<std::uint64_t> slice_bytes(const Partition& partition, std::uint64_t bytes,
                                       std::uint32_t cores) {
  if (partition.axis < 0) return std::vector<std::uint64_t>(cores, bytes);
  const std::int64_t extent = partition.shape[std::size_t(partition.axis)];
  auto out = shares(extent, partition.unit, cores);
  const std::uint64_t per_element = extent > 0 ? bytes / std::uint64_t(extent) : 0;
  for (auto& share : out) share *= per_element;
  return out;
}

Shape slice_shape(const Partition& partition, std::uint32_t core, std::uint32_t cores) {
  Shape shape = partition.shape;
  if (partition.axis < 0) return shape;
  std::int64_t& extent = shape[std::size_t(partition.axis)];
  extent = std::int64_t(share(extent, partition.unit, core, cores));
  return shape;
}

bool satisfies(const Partition& held, const Partition& needed, std::uint32_t cores) {
  if (held.axis == replicated) return true;
  if (held.axis < 0 || held.axis != needed.axis) return false;
  const std::int64_t extent = held.shape[std::size_t(held.axis)];
  return held.unit == needed.unit ||
         shares(extent, held.unit, cores) == shares(extent, needed.unit, cores);
}

std::string shape_text(const Shape& shape) {
  return shape.empty() ? "1" : fmt::format("{}", fmt::join(shape, " x "));
}

}  // namespace npuscope::npu::nsp
