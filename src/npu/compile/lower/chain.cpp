// Elementwise operators in a row, tile by tile.
#include <algorithm>
#include <map>
#include <set>

#include "npu/compile/lower/vector_lowering.hpp"

namespace npuscope::npu {
namespace {

// Looked at from each node on: a bound keeps the cost of very long rows linear.
constexpr std::size_t longest_chain = 64;

bool is_splat(const Tensor& tensor) { return tensor.constant && tensor.elements() == 1; }

}  // namespace

// Its inputs are the source, what the chain has made, and known scalars; a tensor like the source
// comes out.
bool VectorLowering::joins_chain(const Chain& chain, const Node& node, const NodePlan& plan) const {
  const bool elementwise = plan.fate == NodeFate::execute &&
                           plan.op_class == OpClass::elementwise && !plan.compound &&
                           node.outputs.size() == 1;
  if (!elementwise || node.outputs[0] == TensorId::none) return false;
  if (bytes_of(node.outputs[0]) != bytes_of(chain.source) ||
      type_of(node.outputs[0]) != type_of(chain.source)) {
    return false;
  }
  bool uses_chain = false;
  for (TensorId id : node.inputs) {
    if (id == TensorId::none) continue;
    const bool of_chain = id == chain.source || chain.made.contains(id);
    if (!of_chain && !is_splat(tensor(id))) return false;
    uses_chain = uses_chain || of_chain;
  }
  return uses_chain;
}

// Too large for VTCM, so it comes and goes tile by tile. What every core would need whole is for
// others to split.
bool VectorLowering::is_streamed(const Storage& storage) const {
  return storage.buffer == BufferId::none && storage.in_ddr &&
         (cores_ == 1 || storage.partition.axis >= 0) &&
         !fits(slice_bytes(storage.partition, storage.bytes, cores_));
}

// Of one tile, in VTCM at once: the source and what is made of it, each until its last use.
std::uint64_t VectorLowering::max_places(const Chain& chain) const {
  std::map<TensorId, std::int64_t> uses{{chain.source, chain.source_uses}};
  std::size_t max = 1;
  for (std::size_t at : chain.nodes) {
    const Node& node = graph_.nodes[at];
    const std::size_t before = uses.size();
    for (TensorId id : std::set<TensorId>(node.inputs.begin(), node.inputs.end())) {
      const auto used = uses.find(id);
      if (used != uses.end() && --used->second == 0) uses.erase(used);
    }
    uses[node.outputs[0]] = std::int64_t(tensor(node.outputs[0]).consumers.size());
    max = std::max({max, before, uses.size()});
  }
  return max;
}

VectorLowering::Chain VectorLowering::find_chain() const {
  TensorId from = TensorId::none;
  for (TensorId id : graph_.nodes[position_].inputs) {
    if (id != TensorId::none && storage_of(id) != no_storage) from = id;
  }
  if (from == TensorId::none) return {};
  const Storage& source = storages_[storage_of(from)];
  const bool in_pieces = source.buffer != BufferId::none && source.pieces != nullptr;
  if (!in_pieces && !is_streamed(source)) return {};
  if (source.output_uses > 0 || source.bytes != bytes_of(from)) return {};
  return chain_of(from, source.uses, position_, 2);
}

VectorLowering::Chain VectorLowering::chain_behind(TensorId made,
                                                   const Partition& partition) const {
  const bool splits = cores_ == 1 || partition.axis >= 0;
  if (!cuts_resident_ || !splits || outputs_of_[std::uint32_t(made)] > 0) return {};
  if (fits(slice_bytes(partition, bytes_of(made), cores_))) return {};
  return chain_of(made, std::int64_t(tensor(made).consumers.size()), position_ + 1, 1);
}

// The longest such row.
VectorLowering::Chain VectorLowering::chain_of(TensorId source, std::int64_t uses,
                                               std::size_t begin, std::size_t fewest) const {
  Chain chain, best;
  chain.source = source;
  const std::size_t end = std::min(graph_.nodes.size(), begin + longest_chain);
  std::int64_t open = 0;  // uses of what was made that are still to come, the last result's not
  for (std::size_t at = begin; at < end; ++at) {
    const Node& node = graph_.nodes[at];
    const NodePlan& plan = plans_[at];
    if (plan.fate == NodeFate::folded || plan.fate == NodeFate::fused) continue;
    if (!joins_chain(chain, node, plan)) break;
    // A node that takes a tensor twice is one consumer.
    for (TensorId id : std::set<TensorId>(node.inputs.begin(), node.inputs.end())) {
      if (id == chain.source) ++chain.source_uses;
      if (chain.made.contains(id)) --open;
    }
    chain.nodes.push_back(at);
    chain.end = at + 1;
    chain.result = node.outputs[0];
    chain.made.insert(chain.result);
    // Of the result any number of uses may follow, of everything else none.
    if (chain.nodes.size() >= fewest && open == 0 && chain.source_uses == uses) best = chain;
    open += std::int64_t(tensor(chain.result).consumers.size()) +
            outputs_of_[std::uint32_t(chain.result)];
  }
  return best;
}

std::size_t VectorLowering::lower_chain() {
  if (!cuts_resident_ || plans_[position_].op_class != OpClass::elementwise) return 0;
  const Chain chain = find_chain();
  if (chain.nodes.empty()) return 0;
  const StorageId source = storage_of(chain.source);
  if (is_streamed(storages_[source])) return stream_chain(chain);
  const Storage before = storages_[source];
  const CoreBytes core_bytes = slice_bytes(before.partition, before.bytes, cores_);
  const Pieces pieces = joined(*before.pieces, tiles_along(*before.pieces, core_bytes));
  const std::size_t tiles = pieces.core_bytes.size();
  if (tiles < 2) return 0;
  const std::size_t first = position_;
  pinned_ = {source};
  for (std::size_t index = 0; index < tiles; ++index) {
    const BufferPart part{std::uint32_t(index), std::uint32_t(index) + 1, std::uint32_t(tiles)};
    const CoreBytes& bytes = pieces.core_bytes[index];
    emit_chain_tile(chain, {index, tiles, before.buffer, part, bytes,
                            piece_shapes(pieces, before.partition, bytes, before.type)});
  }
  position_ = chain.nodes.back();
  storages_[source].buffer = BufferId::none;
  std::erase(resident_, source);
  const StorageId result = make_storage(chain.result, before.partition, before.layout);
  storages_[result].pieces = std::make_shared<const Pieces>(pieces);
  keep_result({result, core_bytes, false, before.buffer, true});
  for (std::int64_t use = 0; use < chain.source_uses; ++use) use_done(chain.source);
  position_ = first;
  return chain.end - first;
}

// The same for a tensor in DDR: each tile is loaded once, and what comes of it stored once.
std::size_t VectorLowering::stream_chain(const Chain& chain) {
  const StorageId source = storage_of(chain.source);
  const Storage before = storages_[source];
  const std::size_t first = position_;
  begin_node(graph_.nodes[first]);
  pinned_ = {source};
  Operand operand;
  operand.tensor = chain.source;
  operand.storage = source;
  operand.streamed = true;
  operand.layout = before.ddr_layout;
  operand.partition = before.partition;
  operand.core_bytes = slice_bytes(before.partition, before.bytes, cores_);
  const StorageId result = make_storage(chain.result, before.partition, before.ddr_layout);
  pinned_.insert(result);
  begins_spill(result, Spill::Cause::too_large);
  constexpr std::uint64_t usual_places = 4;  // of a tile of the usual size
  const std::uint64_t bytes =
      *std::max_element(operand.core_bytes.begin(), operand.core_bytes.end());
  const std::uint64_t tiles = tiles_for(bytes * divide_up(max_places(chain), usual_places));
  for (std::uint64_t index = 0; index < tiles; ++index) {
    position_ = first;
    begin_node(graph_.nodes[first]);
    const BufferId home = load_tile(operand, index, tiles);
    CoreBytes core_bytes(cores_);
    for (std::uint32_t core = 0; core < cores_; ++core) {
      const std::uint64_t all = operand.core_bytes[core];
      core_bytes[core] = even_bytes(all, index, tiles, before.type);
    }
    emit_chain_tile(chain, {std::size_t(index),
                            std::size_t(tiles),
                            home,
                            {},
                            core_bytes,
                            part_shapes(operand, core_bytes)});
    store_result_tile(result, home, core_bytes);
    release(home);
  }
  position_ = chain.nodes.back();
  keep_result({result, operand.core_bytes, true, BufferId::none, false});
  for (std::int64_t use = 0; use < chain.source_uses; ++use) use_done(chain.source);
  position_ = first;
  return chain.end - first;
}

// One tile through all operators, in the end at home. A result takes the place of an operand that
// nobody needs any more, the source's if it can, else a tile of its own.
void VectorLowering::emit_chain_tile(const Chain& chain, const ChainTile& tile) {
  const BufferId home = tile.home;
  std::map<TensorId, BufferId> place{{chain.source, home}};
  std::map<TensorId, std::int64_t> uses{{chain.source, chain.source_uses}};
  for (std::size_t at : chain.nodes) {
    position_ = at;
    const Node& node = graph_.nodes[at];
    begin_node(node);
    std::vector<BufferId> reads, free;
    std::vector<TensorId> sources;
    for (const auto& [id, buffer] : place) {
      if (std::find(node.inputs.begin(), node.inputs.end(), id) == node.inputs.end()) continue;
      reads.push_back(buffer);
      sources.push_back(id);
      if (--uses[id] == 0) free.push_back(buffer);
    }
    const bool at_home = std::find(free.begin(), free.end(), home) != free.end();
    const bool in_place = !free.empty();
    const BufferId writes = at_home    ? home
                            : in_place ? free.front()
                                       : allocate(tile.core_bytes, Lifetime::tile);
    ChainStep step{
        &node,   std::move(sources), name_of_tile(tile.index, tile.tiles), std::move(reads), writes,
        in_place};
    emit_chain_step(step, tile);
    for (BufferId buffer : free) {
      if (buffer != writes) release(buffer);
    }
    place[node.outputs[0]] = writes;
    uses[node.outputs[0]] = std::int64_t(tensor(node.outputs[0]).consumers.size());
  }
}

void VectorLowering::describe_chain_step(TaskSpec& spec, const ChainStep& step,
                                         const ChainTile& tile) const {
  constexpr auto vtcm = TaskOperand::Memory::vtcm;
  const TensorId made = step.node->outputs[0];
  const std::uint64_t bytes = tile.core_bytes[spec.core];
  const Shape& shape = tile.shapes[spec.core];
  std::vector<TaskOperand> operands{operand(TaskOperand::Use::out, vtcm, made, shape, bytes)};
  for (TensorId id : step.node->inputs) {
    if (id == TensorId::none) continue;
    const bool of_chain =
        std::find(step.sources.begin(), step.sources.end(), id) != step.sources.end();
    operands.push_back(of_chain ? operand(TaskOperand::Use::in, vtcm, id, shape, bytes)
                                : known_scalar(id));
  }
  works_on(spec, operands);
}

void VectorLowering::emit_chain_step(const ChainStep& step, const ChainTile& tile) {
  const CoreBytes& core_bytes = tile.core_bytes;
  const VectorKernel kernel = kernel_named(vector_kernel(graph_, *step.node, OpClass::elementwise));
  const auto used = [&](BufferId buffer) { return buffer == tile.home ? tile.part : BufferPart{}; };
  for (std::uint32_t core = 0; core < cores_; ++core) {
    if (core_bytes[core] == 0) continue;
    TaskSpec spec = vector_task(kernel.name, step.name, type_of(step.node->outputs[0]));
    spec.core = core;
    spec.output_bytes = core_bytes[core];
    describe_chain_step(spec, step, tile);
    spec.types = node_types_;
    spec.vtcm_read = core_bytes[core] * step.reads.size();
    spec.cycles = kernel.cycles(core_bytes[core]);
    TaskNeeds needs;
    for (BufferId read : step.reads) tasks_.need_to_read(read, core, needs, used(read));
    if (step.in_place) {
      tasks_.need_to_overwrite(step.writes, core, needs, used(step.writes));
    } else {
      tasks_.need_to_write(step.writes, core, needs);
    }
    const TaskIndex task = add(spec, std::move(needs));
    for (BufferId read : step.reads) tasks_.reads(task, read, core, used(read));
    if (step.in_place) {
      tasks_.overwrites(task, step.writes, core, used(step.writes));
    } else {
      tasks_.writes(task, step.writes, core);
    }
  }
}

}  // namespace npuscope::npu
