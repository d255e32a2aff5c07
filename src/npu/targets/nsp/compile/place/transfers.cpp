// How data comes to the cores, leaves them, and changes place and layout there.
#include <algorithm>

#include "npu/targets/nsp/compile/place/placement.hpp"

namespace npuscope::npu::nsp {

// What makes right sides of products of activations.
static constexpr const char* weights_kernel = "aicconvertweightstod32";
namespace {

// Below this, every core fetches its own copy: a multicast would cost more than it saves.
constexpr std::uint64_t own_copy_bytes = 64 * 1024;

}  // namespace

bool Transfers::load(StorageId id, const Partition& needed) {
  const CoreBytes core_bytes = context_.slices_of(needed, place_.storages[id].bytes);
  const BufferId buffer = place_.residency.try_allocate(core_bytes, Lifetime::tensor);
  if (buffer == BufferId::none) return false;
  Storage& storage = place_.storages[id];
  storage.partition = needed;
  storage.layout = storage.ddr_layout;
  storage.pieces.reset();
  storage.strips = {};
  Operand whole;
  whole.tensor = storage.views[0];
  whole.storage = id;
  whole.partition = needed;
  if (needed.axis < 0 && context_.cores > 1 && storage.bytes > own_copy_bytes) {
    load_once_and_multicast(whole, storage.bytes, buffer, writer_.node_name(), {0, context_.cores});
  } else {
    load_parts(whole, core_bytes, buffer, writer_.node_name());
  }
  place_.residency.keep(id, buffer);
  return true;
}

void Transfers::load_constant(const Operand& operand, Movement movement) {
  load_parts(operand, operand.core_bytes, operand.buffer,
             writer_.intern(context_.tensor(operand.tensor).name), movement);
}

void Transfers::load_parts(const Operand& operand, const CoreBytes& core_bytes, BufferId buffer,
                           StringId name, Movement movement) {
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    if (core_bytes[core] == 0) continue;
    const Shape shape = context_.slice_of(operand.partition, core);
    Load load{core, name, operand.tensor, shape, core_bytes[core], movement};
    load.packed = context_.packed_type(operand.tensor);
    if (operand.storage == no_storage) {
      load_for_one(load, buffer);
      continue;
    }
    describe_stored(operand.storage, load);
    const TaskNeeds& written = place_.storages[operand.storage].ddr_writers;
    place_.ddr.is_read(operand.storage, load_for_one(load, buffer, written));
  }
}

void Transfers::load_once_and_multicast(const Operand& operand, std::uint64_t bytes,
                                        BufferId buffer, StringId name, Senders senders) {
  const std::uint64_t element = std::max(bits_of(context_.type_of(operand.tensor)) / 8, 1u);
  const std::uint64_t part = round_up(divide_up(bytes, senders.count), element);
  std::uint64_t left = bytes;
  for (std::uint32_t i = 0; i < senders.count && left > 0; ++i) {
    const std::uint32_t core = (senders.first + i) % context_.cores;
    const std::uint64_t own = std::min(part, left);
    left -= own;
    Load load{core, name, operand.tensor, operand.partition.shape, own, Movement::constant};
    load.packed = context_.packed_type(operand.tensor);
    if (operand.storage == no_storage) {
      load_for_all(load, buffer);
      continue;
    }
    describe_stored(operand.storage, load);
    const TaskNeeds& written = place_.storages[operand.storage].ddr_writers;
    place_.ddr.is_read(operand.storage, load_for_all(load, buffer, written));
  }
}

void Transfers::describe_stored(StorageId id, Load& load) const {
  const Storage& storage = place_.storages[id];
  load.movement = storage.movement();
  load.purpose = place_.storages.purpose_of_reading(id);
  load.packed = context_.packed_type(storage.made_as);
}

TaskSpec Transfers::transfer_of(const Load& load) {
  const bool given = load.movement == Movement::weights || load.movement == Movement::bias ||
                     load.movement == Movement::constant || load.movement == Movement::host_input;
  const std::uint64_t bytes =
      load.packed == DataType::undefined
          ? round_up(load.bytes, given ? context_.target.dma_unit_bytes : 1)
          : device_bytes(load.bytes * 8 / bits_of(context_.type_of(load.tensor)), load.packed);
  TaskSpec copy = writer_.dma_task(load.core, copy_to_vtcm, load.name, load.tensor, load.shape,
                                   bytes, load.packed);
  copy.ddr_read = bytes;
  copy.movement = load.movement;
  copy.read_purpose = load.purpose;
  return copy;
}

TaskSpec Transfers::unpacking_of(const Load& load, std::uint64_t packed_bytes) {
  return writer_.packing_task(load.core, unpacking_kernel(load.packed), load.name, load.tensor,
                              load.shape, {packed_bytes, load.packed},
                              {load.bytes, context_.type_of(load.tensor)});
}

TaskIndex Transfers::load_for_one(const Load& load, BufferId buffer, const TaskNeeds& needs) {
  const TaskSpec copy = transfer_of(load);
  const TaskIndex loaded = writer_.add(copy, {writes(buffer, load.core)}, needs);
  if (load.packed != DataType::undefined) {
    writer_.add(unpacking_of(load, copy.ddr_read),
                {reads(buffer, load.core), overwrites(buffer, load.core)});
  }
  return loaded;
}

TaskIndex Transfers::load_for_all(const Load& load, BufferId buffer, TaskNeeds needs) {
  writer_.tasks().need(writes(buffer, load.core), needs);
  const TaskSpec copy = transfer_of(load);
  const TaskIndex loaded = writer_.add(copy, {}, needs);
  TaskIndex there = loaded;
  if (load.packed != DataType::undefined)
    there = writer_.add(unpacking_of(load, copy.ddr_read), {}, {{loaded, true}});
  TaskSpec send =
      writer_.dma_task(load.core, multicast_vtcm, load.name, load.tensor, load.shape, load.bytes);
  send.multicast = load.bytes;
  writer_.add(send, writer_.written_everywhere(buffer), {{there, true}});
  return loaded;
}

bool Transfers::converts_tiles(const Operand& operand) const {
  const bool constant = operand.storage == no_storage;
  return operand.layout != (constant ? Layout::flat : place_.storages[operand.storage].ddr_layout);
}

BufferId Transfers::load_tile(const Operand& operand, std::uint64_t tile, std::uint64_t tiles) {
  const CoreBytes core_bytes =
      even_bytes(operand.core_bytes, tile, tiles, context_.type_of(operand.tensor));
  const BufferId buffer = place_.residency.allocate(core_bytes, Lifetime::tile);
  const StringId name = writer_.name_of_tile(tile, tiles);
  if (operand.partition.axis < 0 && context_.cores > 1 && core_bytes[0] > own_copy_bytes) {
    // Few for each tile, others for the next: every reader waits for all of them.
    const auto count = std::uint32_t(
        std::clamp<std::uint64_t>(core_bytes[0] / (2 * own_copy_bytes), 1, context_.cores));
    const auto first = std::uint32_t(tile * count % context_.cores);
    load_once_and_multicast(operand, core_bytes[0], buffer, name, {first, count});
  } else {
    load_parts(operand, core_bytes, buffer, name);
  }
  if (!converts_tiles(operand)) return buffer;
  const BufferId converted = place_.residency.allocate(core_bytes, Lifetime::tile);
  const std::string kernel =
      operand.layout == Layout::flat ? "aicconvertfromd32" : "aicconverttod32";
  convert({kernel, operand.tensor, operand.partition, core_bytes, buffer, converted, tile, tiles});
  place_.residency.release(buffer);
  return converted;
}

std::vector<BufferId> Transfers::load_tiles(std::span<const Operand> operands, std::uint64_t tile,
                                            std::uint64_t tiles, std::vector<BufferId>& reads) {
  std::vector<BufferId> own;
  for (const Operand& operand : operands) {
    reads.push_back(operand.streamed ? own.emplace_back(load_tile(operand, tile, tiles))
                                     : operand.buffer);
  }
  return own;
}

void Transfers::store_result_tile(StorageId id, BufferId buffer, const CoreBytes& core_bytes,
                                  const CoreShapes& shapes) {
  const Storage& storage = place_.storages[id];
  if (!storage.leaves_flat()) return place_.ddr.store_tile(id, buffer, core_bytes, shapes);
  const BufferId flat = place_.residency.allocate(core_bytes, Lifetime::tile);
  convert(
      {"aicconvertfromd32", storage.views[0], storage.partition, core_bytes, buffer, flat, 0, 1},
      shapes);
  place_.ddr.store_tile(id, flat, core_bytes, shapes);
  place_.residency.release(flat);
}

// All-gather when every core needs all of it, else all-to-all: each core sends what others lack.
BufferId Transfers::exchange(StorageId id, BufferId from, const Partition& needed) {
  const Storage& storage = place_.storages[id];
  const CoreBytes held = context_.slices_of(storage.partition, storage.bytes);
  const CoreBytes core_bytes = context_.slices_of(needed, storage.bytes);
  const BufferId buffer = place_.residency.try_allocate(core_bytes, Lifetime::tensor);
  if (buffer == BufferId::none) return buffer;
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    if (held[core] == 0) continue;
    const Shape slice = writer_.describes() ? context_.slice_of(storage.partition, core) : Shape{};
    TaskSpec spec = writer_.dma_task(core, multicast_vtcm, writer_.node_name(), storage.views[0],
                                     slice, held[core]);
    spec.multicast = held[core];  // what it keeps as well, to its own new place
    std::vector<BufferUse> uses;
    uses.reserve(context_.cores + 1);
    uses.push_back(reads(from, core));
    for (std::uint32_t to = 0; to < context_.cores; ++to) {
      if (core_bytes[to] > 0) uses.push_back(writes(buffer, to));
    }
    writer_.add(spec, uses);
  }
  return buffer;
}

bool Transfers::repartition(StorageId id, const Partition& needed) {
  const BufferId buffer = exchange(id, place_.storages[id].buffer, needed);
  if (buffer == BufferId::none) return false;
  Storage& storage = place_.storages[id];
  place_.residency.release(storage.buffer);
  storage.buffer = buffer;
  storage.partition = needed;
  storage.pieces.reset();
  storage.strips = {};
  return true;
}

void Transfers::convert(const Conversion& conversion, const CoreShapes& shapes) {
  const auto& [kernel, tensor, partition, core_bytes, from, to, tile, tiles, part, work] =
      conversion;
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    const std::uint64_t bytes = core_bytes[core];
    if (bytes == 0) continue;
    TaskSpec spec = writer_.vector_task(core, kernel, writer_.name_of_tile(tile, tiles),
                                        context_.type_of(tensor));
    spec.output_bytes = bytes;
    set_work(spec, work.cycles > 0 ? work : work_of_conversion(kernel, tensor, bytes));
    if (tiles > 1 && work.cycles > 0) {  // strips; other pieces are of the node that follows
      spec.tile = std::uint32_t(tile);
      spec.tiles = std::uint32_t(tiles);
    }
    spec.tensor = tensor;
    const Shape& whole = shapes.empty() ? context_.slice_of(partition, core) : shapes[core];
    writer_.works_on(spec, {writer_.in_vtcm(TaskOperand::Use::out, tensor, whole, bytes),
                            writer_.in_vtcm(TaskOperand::Use::in, tensor, whole, bytes)});
    writer_.add_compute(spec, std::span(&from, 1), to, {{part}, part});
  }
}

VectorWork Transfers::work_of_conversion(const std::string& kernel, TensorId tensor,
                                         std::uint64_t bytes) const {
  VectorSize all = vector_size(context_, tensor);
  const Shape& shape = context_.tensor(tensor).shape;
  if (kernel == weights_kernel && shape.size() > 2)
    all.blocks = double(elements_of(shape, shape.size() - 2));  // one product's after the other
  VectorSize size = all.part(double(bytes) / double(std::max<std::uint64_t>(all.bytes, 1)));
  size.bytes = bytes;
  return vector_work(context_.target, kernel, size);
}

// Along the pieces in which it came about; of an image that the HMX will read, its rows.
Pieces Transfers::pieces_of_conversion(const Storage& storage, const CoreBytes& core_bytes,
                                       bool begins) const {
  constexpr std::uint64_t min_bytes = 64 * 1024, usual_tiles = 4;
  const std::uint64_t worth = std::min(largest(core_bytes) / min_bytes, usual_tiles);
  const std::uint64_t tiles = storage.pieces != nullptr ? tiles_along(*storage.pieces, worth)
                              : begins                  ? worth
                                                        : 1;
  if (tiles < 2) return bands_of(core_bytes, 1, storage.type);
  return storage.pieces != nullptr ? joined(*storage.pieces, tiles)
                                   : bands_of(core_bytes, tiles, storage.type);
}

BufferId Transfers::convert(StorageId id, BufferId from, const CoreBytes& core_bytes,
                            const Partition& partition, Layout layout, Storage* follows) {
  const BufferId buffer = place_.residency.try_allocate(core_bytes, Lifetime::tensor);
  if (buffer == BufferId::none) return buffer;
  const TensorId tensor = place_.storages[id].views[0];
  const bool image = context_.images[std::uint32_t(tensor)];
  const bool one_channel = image && context_.tensor(tensor).shape[1] == 1 &&
                           context_.target.kernels.contains("aicconvertonechannel");
  // An image of integers that leaves in one piece, of rows that are more than a block.
  constexpr std::int64_t rows_of_a_block = 36;
  constexpr std::uint64_t one_piece_bytes = 200704;
  const bool wide = image && bits_of(context_.type_of(tensor)) <= 8 &&
                    context_.tensor(tensor).shape[3] > rows_of_a_block &&
                    context_.bytes_of(tensor) <= one_piece_bytes &&
                    context_.target.kernels.contains("aicconvertwiderows_int8");
  const std::string kernel = layout == Layout::weights_d32 ? weights_kernel
                             : layout != Layout::flat      ? "aicconverttod32"
                             : one_channel                 ? "aicconvertonechannel"
                             : wide                        ? "aicconvertwiderows"
                                                           : "aicconvertfromd32";
  if (follows != nullptr && context_.cuts_resident) {
    const Pieces pieces =
        pieces_of_conversion(*follows, core_bytes, image && layout == Layout::d32);
    const std::uint64_t tiles = pieces.core_bytes.size();
    for (std::uint64_t i = 0; i < tiles; ++i) {
      const BufferPart part{std::uint32_t(i), std::uint32_t(i + 1), std::uint32_t(tiles)};
      const CoreBytes& bytes = pieces.core_bytes[i];
      convert({kernel, tensor, partition, bytes, from, buffer, i, tiles, part},
              tiles > 1 ? piece_shapes(pieces, partition, bytes, follows->type) : CoreShapes{});
    }
    follows->pieces = tiles > 1 ? std::make_shared<const Pieces>(pieces) : nullptr;
    follows->of_vectors = true;
    return buffer;
  }
  // Integers are put in the host's order when all of them are there.
  const bool waits = layout == Layout::flat && bits_of(context_.type_of(tensor)) <= 8;
  const StripCut cut(
      context_.target, follows != nullptr && !waits ? follows->strips : Strips{},
      image && !waits ? std::uint64_t(context_.tensor(tensor).shape[2]) : 0, core_bytes[0],
      [&](std::uint64_t bytes) { return work_of_conversion(kernel, tensor, bytes); });
  for (std::uint64_t i = 0; i < cut.tasks(); ++i) {
    const CoreBytes bytes = cut.follows() ? CoreBytes{cut.bytes(i)} : core_bytes;
    convert(
        {kernel, tensor, partition, bytes, from, buffer, i, cut.tasks(), cut.part(i), cut.work(i)});
  }
  if (follows != nullptr) follows->strips = cut.made();
  return buffer;
}

void Transfers::convert_layout(StorageId id, Layout layout) {
  Storage& storage = place_.storages[id];
  const BufferId from = storage.buffer;
  if (from == BufferId::none) return;  // each tile is converted after loading
  const CoreBytes core_bytes = context_.slices_of(storage.partition, storage.bytes);
  const BufferId buffer = convert(id, from, core_bytes, storage.partition, layout, &storage);
  if (buffer == BufferId::none) {
    return place_.residency.spill(
        id,
        Spill::Cause::rearranged);  // converted tile by tile on the way back
  }
  place_.residency.release(from);
  storage.buffer = buffer;
  storage.layout = layout;
}

BufferId Transfers::place_tile(const NodeResult& result, const CoreBytes& core_bytes) {
  return result.streamed ? place_.residency.allocate(core_bytes, Lifetime::tile) : result.buffer;
}

}  // namespace npuscope::npu::nsp
