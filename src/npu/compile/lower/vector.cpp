// Operators that the HVX executes: each core takes its slice, in one task or tile by tile.
#include <algorithm>

#include "npu/compile/lower/vector_lowering.hpp"

namespace npuscope::npu {
namespace {

constexpr std::uint64_t repeat_bytes =
    64 * 1024;  // computing this on every core beats exchanging it

// Axes, pads, indices of shape arithmetic: known to the kernel, not data it reads.
bool is_parameter(const Tensor& tensor) {
  return tensor.constant && tensor.values.has_value() && tensor.elements() <= 64;
}

bool keeps_layout(OpClass op_class) {
  return op_class == OpClass::elementwise || op_class == OpClass::softmax ||
         op_class == OpClass::normalization || op_class == OpClass::pooling ||
         op_class == OpClass::convolution || op_class == OpClass::reduction;
}

// A Concat of more takes one after the other: were all in VTCM at once, each would look for its
// place among all others.
constexpr std::size_t max_parts_at_once = 64;

// So many rows of the third dimension.
Shape halo_shape(Shape shape, std::int64_t kernel) {
  shape[2] = kernel - 1;
  return shape;
}

// VectorKernel::row_elements
std::uint64_t elements_at_once(const Graph& graph, const Node& node, OpClass op_class) {
  if (op_class == OpClass::elementwise) return 1;
  if (op_class != OpClass::softmax || node.outputs.size() != 1) return 0;
  const Shape& shape = graph[node.outputs[0]].shape;
  const std::int64_t axis = node.int_attribute("axis", -1);
  const bool last = axis == -1 || axis + 1 == std::int64_t(shape.size());
  return last && !shape.empty() ? std::uint64_t(shape.back()) : 0;
}

}  // namespace

Partition VectorLowering::choose_partition(const Node& node, OpClass op_class) const {
  const Shape& shape = tensor(node.outputs[0]).shape;
  const auto legal = [&](int axis) {
    if (shape[std::size_t(axis)] <= 1) return false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == TensorId::none || tensor(node.inputs[i]).constant) continue;
      if (input_axis(graph_, node, op_class, i, axis) == incompatible) return false;
    }
    return true;
  };
  std::vector<std::size_t> by_size;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const TensorId id = node.inputs[i];
    if (id != TensorId::none && storage_of(id) != no_storage) by_size.push_back(i);
  }
  std::stable_sort(by_size.begin(), by_size.end(), [&](std::size_t a, std::size_t b) {
    return bytes_of(node.inputs[a]) > bytes_of(node.inputs[b]);
  });
  bool all_replicated = true;
  for (std::size_t i : by_size) {
    const Storage& storage = storages_[storage_of(node.inputs[i])];
    all_replicated = all_replicated && storage.partition.axis == replicated;
    if (storage.buffer == BufferId::none) continue;
    const Partition held = partition_in_view(storage.partition, tensor(node.inputs[i]).shape);
    for (int axis = 0; held.axis >= 0 && axis < int(shape.size()); ++axis) {
      if (!legal(axis) || input_axis(graph_, node, op_class, i, axis) != held.axis) continue;
      const std::int64_t extent = held.shape[std::size_t(held.axis)];
      const std::int64_t output_extent = shape[std::size_t(axis)];
      const bool scales = output_extent % extent == 0;
      return {shape, axis, scales ? held.unit * (output_extent / extent) : 1};
    }
  }
  const Partition whole{shape, replicated, 1};
  if (cores_ == 1 || (all_replicated && bytes_of(node.outputs[0]) <= repeat_bytes)) return whole;
  int best = replicated;
  for (int axis = 0; axis < int(shape.size()); ++axis) {
    if (!legal(axis)) continue;
    const bool enough = shape[std::size_t(axis)] >= std::int64_t(cores_);
    if (enough) return {shape, axis, 1};
    if (best < 0 || shape[std::size_t(axis)] > shape[std::size_t(best)]) best = axis;
  }
  return {shape, best, 1};
}

BufferId VectorLowering::exchange_halo(const Node& node, Operand& operand,
                                       const Partition& partition) {
  const auto kernel = node.ints_attribute("kernel_shape");
  const Shape& shape = tensor(operand.tensor).shape;
  const bool spatial = partition.axis == 2 && kernel.size() >= 1 && kernel[0] > 1 &&
                       shape.size() > 2 && shape[2] > 0;
  if (!spatial || cores_ == 1 || operand.buffer == BufferId::none) return BufferId::none;
  const std::uint64_t row_bytes = bytes_of(operand.tensor) / std::uint64_t(shape[2]);
  const std::uint64_t halo_bytes = row_bytes * std::uint64_t(kernel[0] - 1);
  CoreBytes core_bytes(cores_);
  for (std::uint32_t core = 0; core < cores_; ++core) {
    core_bytes[core] = std::min(halo_bytes, operand.core_bytes[core]);
  }
  const BufferId halo = try_allocate(core_bytes, Lifetime::tile);
  if (halo == BufferId::none) {
    stream(operand);
    return halo;
  }
  for (std::uint32_t core = 0; core < cores_; ++core) {
    if (core_bytes[core] == 0) continue;
    TaskSpec spec = dma_task(multicast_vtcm, node_name_, operand.tensor,
                             halo_shape(shape, kernel[0]), core_bytes[core]);
    spec.core = core;
    spec.multicast = core_bytes[core];
    TaskNeeds needs;
    tasks_.need_to_read(operand.buffer, core, needs);
    const std::uint32_t from = core == 0 ? 0 : core - 1;
    const std::uint32_t to = std::min(core + 1, cores_ - 1);
    for (std::uint32_t neighbour = from; neighbour <= to; ++neighbour) {
      tasks_.need_to_write(halo, neighbour, needs);
    }
    const TaskIndex task = add(spec, std::move(needs));
    tasks_.reads(task, operand.buffer, core);
    for (std::uint32_t neighbour = from; neighbour <= to; ++neighbour) {
      if (neighbour != core) tasks_.writes(task, halo, neighbour);
    }
  }
  return halo;
}

Partition VectorLowering::partition_of_input(const Node& node, OpClass op_class, std::size_t index,
                                             const Partition& output) const {
  Partition needed{tensor(node.inputs[index]).shape, replicated, 1};
  if (output.axis >= 0) {
    const int axis = input_axis(graph_, node, op_class, index, output.axis);
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

std::vector<Operand> VectorLowering::prepare_inputs(const Node& node, OpClass op_class,
                                                    const Partition& output, Layout layout) {
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const TensorId id = node.inputs[i];
    if (id == TensorId::none || is_parameter(tensor(id))) continue;
    const Partition needed = partition_of_input(node, op_class, i, output);
    const StorageId storage = storage_of(id);
    const bool broadcast = tensor(id).elements() != tensor(node.outputs[0]).elements();
    const bool own_layout = storage != no_storage && keeps_layout(op_class) && broadcast && i > 0;
    operands.push_back(prepare(id, needed, own_layout ? storages_[storage].layout : layout));
  }
  return operands;
}

VectorLowering::VectorKernel VectorLowering::kernel_named(const std::string& name) const {
  VectorKernel kernel;
  kernel.name = name;
  kernel.cycles = [this, name](std::uint64_t bytes) { return vector_cycles(target_, name, bytes); };
  return kernel;
}

void VectorLowering::lower_vector(const Node& node, OpClass op_class, const VectorKernel& kernel) {
  if (op_class == OpClass::reduction && lower_split_reduction(node, kernel.name)) return;
  if (node.op == "Concat" && node.inputs.size() > max_parts_at_once) {
    return lower_concat_by_parts(node, op_class, kernel);
  }
  const Partition partition = choose_partition(node, op_class);
  VectorKernel placed = kernel;
  placed.in_place = op_class == OpClass::elementwise || op_class == OpClass::scatter;
  placed.row_elements = elements_at_once(graph_, node, op_class);
  Layout layout = Layout::flat;
  const StorageId first = storage_of(node.inputs.empty() ? TensorId::none : node.inputs[0]);
  if (keeps_layout(op_class) && first != no_storage) layout = storages_[first].layout;
  if (layout == Layout::weights_d32) layout = Layout::flat;
  auto operands = prepare_inputs(node, op_class, partition, layout);
  std::vector<BufferId> halos;
  for (Operand& operand : operands) halos.push_back(exchange_halo(node, operand, partition));
  run_vector_tiles(node, placed, partition, layout, operands, halos);
  for (Operand& operand : operands) finish(operand);
  for (BufferId halo : halos) release(halo);
  for (TensorId id : std::set<TensorId>(node.inputs.begin(), node.inputs.end())) {
    // Parameters that are computed, not constant, were not prepared but are used up all the same.
    if (id != TensorId::none && is_parameter(tensor(id))) use_done(id);
  }
}

void VectorLowering::run_vector_tiles(const Node& node, const VectorKernel& kernel,
                                      const Partition& partition, Layout layout,
                                      std::vector<Operand>& operands,
                                      const std::vector<BufferId>& halos) {
  auto results = place_vector_results(node, kernel, partition, layout, operands);
  const std::uint64_t finer = find_room(
      [&](std::uint64_t times) {
        const std::uint64_t cuts = usual_tiles(operands, results) * times;
        auto sizes = streamed_sizes(operands, cuts);
        for (const NodeResult& result : results) {
          if (!result.streamed) continue;
          sizes.insert(sizes.end(), tiles_at_once(result),
                       divide_up(largest(result.core_bytes), cuts));
        }
        return sizes;
      },
      operands, results);
  const std::uint64_t tiles = usual_tiles(operands, results) * finer;
  if (tiles > max_tasks) refuse_more_tasks();
  const bool cut = tiles == 1 && follow_pieces(kernel, operands, halos, results);
  for (std::uint64_t index = 0; index < tiles && !cut; ++index) {
    VectorTile tile;
    tile.index = index;
    tile.tiles = tiles;
    tile.streamed = index;
    tile.streamed_tiles = tiles;
    tile.operands = operands;
    tile.reads = halos;
    std::vector<BufferId> own;
    for (const Operand& operand : operands) {
      tile.reads.push_back(operand.streamed ? own.emplace_back(load_tile(operand, index, tiles))
                                            : operand.buffer);
    }
    tile.read_bytes = bytes_in(halos) + bytes_of_resident(operands, tiles) + bytes_in(own);
    for (const NodeResult& result : results) {
      CoreBytes& bytes = tile.result_bytes.emplace_back(cores_);
      for (std::uint32_t core = 0; core < cores_; ++core) {
        const std::uint64_t all = result.core_bytes[core];
        bytes[core] = even_bytes(all, index, tiles, storages_[result.storage].type);
      }
    }
    emit_vector_tile(kernel, tile, results);
    for (BufferId buffer : own) release(buffer);
  }
  for (const NodeResult& result : results) keep_result(result);
}

std::uint64_t VectorLowering::usual_tiles(std::span<const Operand> operands,
                                          std::span<const NodeResult> results) const {
  std::uint64_t tiles = 1;
  for (const Operand& operand : operands) {
    if (operand.streamed) tiles = std::max(tiles, tiles_for(largest(operand.core_bytes)));
  }
  for (const NodeResult& result : results) {
    if (result.streamed) tiles = std::max(tiles, tiles_for(largest(result.core_bytes)));
  }
  return tiles;
}

std::vector<NodeResult> VectorLowering::place_vector_results(const Node& node,
                                                             const VectorKernel& kernel,
                                                             const Partition& partition,
                                                             Layout layout,
                                                             const std::vector<Operand>& operands) {
  std::vector<NodeResult> results;
  for (TensorId id : node.outputs) {
    if (id == TensorId::none) continue;
    Partition own{tensor(id).shape, partition.axis, partition.unit};
    if (own.shape.size() != partition.shape.size()) own = {tensor(id).shape, replicated, 1};
    NodeResult result;
    result.storage = make_storage(id, own, layout);
    result.core_bytes = slice_bytes(own, storages_[result.storage].bytes, cores_);
    pinned_.insert(result.storage);
    if (kernel.in_place) result.buffer = take_input_buffer(operands, result);
    result.in_place = result.buffer != BufferId::none;
    if (!result.in_place) place_result(result, fits(result.core_bytes));
    results.push_back(std::move(result));
  }
  return results;
}

BufferId VectorLowering::take_input_buffer(const std::vector<Operand>& operands,
                                           const NodeResult& result) {
  for (const Operand& operand : operands) {
    if (operand.storage == no_storage || operand.streamed) continue;
    Storage& storage = storages_[operand.storage];
    const bool same_place =
        storage.bytes == storages_[result.storage].bytes &&
        storage.layout == storages_[result.storage].layout &&
        slice_bytes(storage.partition, storage.bytes, cores_) == result.core_bytes;
    if (storage.uses != 1 || storage.output_uses != 0 || !same_place) continue;
    const BufferId buffer = storage.buffer;
    storage.buffer = BufferId::none;
    std::erase(resident_, operand.storage);
    return buffer;
  }
  return BufferId::none;
}

std::uint64_t VectorLowering::bytes_read(const Operand& operand, const VectorTile& tile,
                                         std::uint32_t core, const NodeResult& result) const {
  const std::uint64_t all = operand.core_bytes[core];
  if (!operand.streamed && all == result.core_bytes[core]) return tile.result_bytes[0][core];
  if (!operand.streamed) return all;
  return even_bytes(all, tile.streamed, tile.streamed_tiles, type_of(operand.tensor));
}

void VectorLowering::describe_vector_tile(TaskSpec& spec, const VectorKernel& kernel,
                                          const VectorTile& tile,
                                          const std::vector<NodeResult>& results) const {
  std::vector<TaskOperand> operands;
  const std::uint32_t core = spec.core;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Storage& storage = storages_[results[i].storage];
    const bool given = i == 0 && !tile.result_shapes.empty();
    operands.push_back(operand(TaskOperand::Use::out, TaskOperand::Memory::vtcm, storage.views[0],
                               given ? tile.result_shapes[core] : slice_of(storage.partition, core),
                               tile.result_bytes[i][core]));
  }
  if (kernel.reads_ddr) {
    operands.push_back(operand(TaskOperand::Use::in, TaskOperand::Memory::ddr, kernel.table,
                               tensor(kernel.table).shape, bytes_of(kernel.table)));
  }
  for (const Operand& read : tile.operands) {
    if (kernel.reads_ddr && read.tensor == kernel.table) continue;
    if (read.splat()) {
      operands.push_back(known_scalar(read.tensor));
      continue;
    }
    const std::uint64_t bytes = bytes_read(read, tile, core, results[0]);
    TaskOperand& told = operands.emplace_back(read_of(read, core, bytes));
    const bool as_result = !tile.result_shapes.empty() && bytes == tile.result_bytes[0][core] &&
                           told.shape.size() == tile.result_shapes[core].size();
    if (as_result) told.shape = tile.result_shapes[core];
  }
  works_on(spec, operands);
}

Residency::CoreShapes VectorLowering::piece_shapes(const Pieces& pieces, const Partition& partition,
                                                   const CoreBytes& core_bytes,
                                                   DataType type) const {
  const bool along_last = pieces.columns_are_last && pieces.rows == 1 && pieces.columns > 1;
  CoreShapes shapes;
  for (std::uint32_t core = 0; core < cores_; ++core) {
    Shape shape = slice_of(partition, core);
    std::uint64_t outer = 1;
    for (std::size_t i = 0; i + 1 < shape.size(); ++i) outer *= std::uint64_t(shape[i]);
    const std::uint64_t elements = core_bytes[core] * 8 / std::max(bits_of(type), 1u);
    if (along_last && !shape.empty() && outer > 0 && elements % outer == 0) {
      shape.back() = std::int64_t(elements / outer);
    } else {
      shape = part_of_shape(shape, core_bytes[core], type);
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

void VectorLowering::emit_vector_tile(const VectorKernel& kernel, const VectorTile& tile,
                                      const std::vector<NodeResult>& results) {
  std::vector<BufferId> writes;
  std::uint64_t all_bytes = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    writes.push_back(results[i].streamed ? allocate(tile.result_bytes[i], Lifetime::tile)
                                         : results[i].buffer);
    all_bytes += storages_[results[i].storage].bytes;
  }
  const auto part_read = [&](std::size_t i) {
    return tile.read_parts.empty() ? BufferPart{} : tile.read_parts[i];
  };
  for (std::uint32_t core = 0; core < cores_; ++core) {
    std::uint64_t bytes = 0;
    for (const CoreBytes& of_result : tile.result_bytes) bytes += of_result[core];
    if (bytes == 0) continue;
    TaskSpec spec = vector_task(kernel.name, name_of_tile(tile.index, tile.tiles),
                                storages_[results[0].storage].type);
    spec.core = core;
    spec.output_bytes = bytes;
    describe_vector_tile(spec, kernel, tile, results);
    spec.types = node_types_;
    spec.vtcm_read = tile.read_bytes;
    spec.cycles = kernel.cycles(bytes);
    if (tile.written.count > 1) {
      spec.tile = std::uint32_t(tile.index);
      spec.tiles = std::uint32_t(tile.tiles);
    }
    if (kernel.hmx_macs > 0) {
      spec.group = qaic::ThreadGroup::hmx;
      spec.thread_imbalance = 0;
      spec.macs = std::uint64_t(double(kernel.hmx_macs) * double(bytes) / double(all_bytes));
    }
    if (kernel.reads_ddr) {
      spec.memory = strings_.intern("DDR");
      spec.ddr_read = bytes;
      spec.read_tensor = kernel.table;
      if (kernel.source != no_storage) spec.read_purpose = purpose_of_reading(kernel.source);
    }
    TaskNeeds needs;
    if (kernel.source != no_storage) needs = storages_[kernel.source].ddr_writers;
    for (std::size_t i = 0; i < tile.reads.size(); ++i) {
      if (tile.reads[i] == BufferId::none) continue;
      tasks_.need_to_read(tile.reads[i], core, needs, part_read(i));
    }
    for (std::size_t i = 0; i < writes.size(); ++i) {
      if (results[i].in_place) {
        tasks_.need_to_overwrite(writes[i], core, needs, tile.written);
      } else {
        tasks_.need_to_write(writes[i], core, needs, tile.written);
      }
    }
    const TaskIndex task = add(spec, std::move(needs));
    if (kernel.source != no_storage) reads_ddr(task, kernel.source);
    for (std::size_t i = 0; i < tile.reads.size(); ++i) {
      if (tile.reads[i] != BufferId::none) tasks_.reads(task, tile.reads[i], core, part_read(i));
    }
    for (std::size_t i = 0; i < writes.size(); ++i) {
      if (results[i].in_place) {
        tasks_.overwrites(task, writes[i], core, tile.written);
      } else {
        tasks_.writes(task, writes[i], core, results[i].streamed ? BufferPart{} : tile.written);
      }
    }
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].streamed) continue;
    store_result_tile(results[i].storage, writes[i], tile.result_bytes[i],
                      i == 0 ? tile.result_shapes : CoreShapes{});
    release(writes[i]);
  }
}

std::shared_ptr<const Pieces> VectorLowering::pieces_to_follow(const VectorKernel& kernel,
                                                               std::span<const Operand> operands,
                                                               const NodeResult& result) const {
  const Operand* newest = nullptr;
  for (const Operand& operand : operands) {
    if (operand.storage == no_storage || operand.temporary) continue;
    if (storages_[operand.storage].pieces == nullptr) continue;
    if (newest == nullptr || operand.storage > newest->storage) newest = &operand;
  }
  if (newest == nullptr) return nullptr;
  const std::shared_ptr<const Pieces>& pieces = storages_[newest->storage].pieces;
  const bool cuts_there = kernel.row_elements > 0 &&
                          pieces->row_elements % kernel.row_elements == 0 &&
                          newest->core_bytes == result.core_bytes;
  return cuts_there ? pieces : nullptr;
}

std::uint64_t VectorLowering::tiles_along(const Pieces& pieces, const CoreBytes& core_bytes) const {
  const std::uint64_t all = pieces.core_bytes.size();
  std::uint64_t tiles = std::min(all, tiles_for(largest(core_bytes)));
  if (tiles < 2) return 1;
  while (all % tiles != 0) ++tiles;
  return tiles;
}

bool VectorLowering::follow_pieces(const VectorKernel& kernel, std::span<const Operand> operands,
                                   std::span<const BufferId> buffers,
                                   const std::vector<NodeResult>& results) {
  if (!cuts_resident_ || results.size() != 1 || results[0].streamed) return false;
  if (std::any_of(buffers.begin(), buffers.end(), [](BufferId b) { return b != BufferId::none; })) {
    return false;
  }
  const NodeResult& result = results[0];
  const auto pieces = pieces_to_follow(kernel, operands, result);
  if (pieces == nullptr) return false;
  const std::uint64_t tiles = tiles_along(*pieces, result.core_bytes);
  if (tiles < 2) return false;
  const auto mine = std::make_shared<const Pieces>(joined(*pieces, tiles));
  for (std::uint64_t index = 0; index < tiles; ++index) {
    VectorTile tile;
    tile.index = index;
    tile.tiles = tiles;
    tile.operands = operands;
    tile.result_bytes = {mine->core_bytes[index]};
    tile.result_shapes = piece_shapes(*mine, storages_[result.storage].partition,
                                      mine->core_bytes[index], storages_[result.storage].type);
    tile.written = {std::uint32_t(index), std::uint32_t(index) + 1, std::uint32_t(tiles)};
    for (const Operand& operand : operands) {
      tile.reads.push_back(operand.buffer);
      const auto here = operand.storage == no_storage ? nullptr : storages_[operand.storage].pieces;
      const bool same = here != nullptr && !operand.temporary && *here == *pieces;
      tile.read_parts.push_back(same ? tile.written : BufferPart{});
    }
    tile.read_bytes = bytes_of_resident(operands, tiles);
    emit_vector_tile(kernel, tile, results);
  }
  storages_[result.storage].pieces = mine;
  return true;
}

// A reduction over the very axis that the cores share: each reduces its slice, the small partial
// results go to every core, and each combines them.
bool VectorLowering::lower_split_reduction(const Node& node, const std::string& kernel) {
  const StorageId source = storage_of(node.inputs[0]);
  if (source == no_storage || storages_[source].buffer == BufferId::none || cores_ == 1) {
    return false;
  }
  const Partition held =
      partition_in_view(storages_[source].partition, tensor(node.inputs[0]).shape);
  const TensorId output = node.outputs[0];
  if (held.axis < 0 || bytes_of(output) > repeat_bytes || node.outputs.size() != 1) return false;
  const Shape& shape = tensor(output).shape;
  for (int axis = 0; axis < int(shape.size()); ++axis) {
    if (input_axis(graph_, node, OpClass::reduction, 0, axis) == held.axis) return false;
  }
  const Operand operand = prepare(node.inputs[0], held, storages_[source].layout);
  const std::uint64_t bytes = bytes_of(output);
  const CoreBytes one(cores_, bytes);
  const BufferId partial = allocate(one, Lifetime::tile);
  const BufferId gathered = allocate(CoreBytes(cores_, bytes * cores_), Lifetime::tile);
  const StorageId storage = make_storage(output, {shape, replicated, 1}, Layout::flat);
  pinned_.insert(storage);
  const BufferId result = allocate(one, Lifetime::tensor);
  constexpr auto vtcm = TaskOperand::Memory::vtcm;
  Shape all_partial = shape;
  all_partial.insert(all_partial.begin(), std::int64_t(cores_));
  for (std::uint32_t core = 0; core < cores_; ++core) {
    if (operand.core_bytes[core] == 0) continue;
    TaskSpec spec = vector_task(kernel, node_name_, type_of(output));
    spec.core = core;
    spec.output_bytes = bytes;
    works_on(spec, {this->operand(TaskOperand::Use::out, vtcm, output, shape, bytes),
                    read_of(operand, core, operand.core_bytes[core])});
    // The kernel reads its whole slice, so that is what it costs by.
    spec.cycles = vector_cycles(target_, kernel, operand.core_bytes[core]);
    const TaskIndex task = add_compute(spec, std::span(&operand.buffer, 1), partial);
    TaskSpec send = dma_task(multicast_vtcm, node_name_, output, shape, bytes);
    send.core = core;
    send.multicast = bytes;
    TaskNeeds send_needs{{task, true}};
    for (std::uint32_t to = 0; to < cores_; ++to) tasks_.need_to_write(gathered, to, send_needs);
    const TaskIndex sent = add(send, std::move(send_needs));
    tasks_.reads(sent, partial, core);
    for (std::uint32_t to = 0; to < cores_; ++to) tasks_.writes(sent, gathered, to);
  }
  for (std::uint32_t core = 0; core < cores_; ++core) {
    TaskSpec spec = vector_task("elementadd", node_name_, type_of(output));
    spec.core = core;
    spec.output_bytes = bytes;
    works_on(spec,
             {this->operand(TaskOperand::Use::out, vtcm, output, shape, bytes),
              this->operand(TaskOperand::Use::in, vtcm, output, all_partial, bytes * cores_)});
    spec.cycles = vector_cycles(target_, "elementadd", bytes * cores_);
    add_compute(spec, std::span(&gathered, 1), result);
  }
  release(partial);
  release(gathered);
  keep_result({storage, one, false, result});
  use_done(node.inputs[0]);
  return true;
}

}  // namespace npuscope::npu
