#include "npu/targets/nsp/compile/lower/chains.hpp"

#include <algorithm>
#include <map>

#include "npu/targets/nsp/compile/lower/vector_lowering.hpp"

namespace npuscope::npu::nsp {
namespace {

// Looked at from each node on: a bound keeps the cost of very long rows linear.
constexpr std::size_t max_chain_nodes = 64;

bool is_splat(const Tensor& tensor) { return tensor.constant && tensor.elements() == 1; }

}  // namespace

// Its inputs are the source, what the chain has made, and known scalars; a tensor like the source
// comes out.
bool Chains::joins(const Chain& chain, const Node& node, const NodePlan& plan) const {
  const bool elementwise = plan.fate == NodeFate::execute &&
                           plan.op_class == OpClass::elementwise && !plan.compound &&
                           node.outputs.size() == 1;
  if (!elementwise || node.outputs[0] == TensorId::none) return false;
  if (context_.bytes_of(node.outputs[0]) != context_.bytes_of(chain.source) ||
      context_.type_of(node.outputs[0]) != context_.type_of(chain.source)) {
    return false;
  }
  bool uses_chain = false;
  for (TensorId id : present(node.inputs)) {
    const bool of_chain = id == chain.source || chain.made.contains(id);
    if (!of_chain && !is_splat(context_.tensor(id))) return false;
    uses_chain = uses_chain || of_chain;
  }
  return uses_chain;
}

// Too large for VTCM, so it comes and goes tile by tile. What every core would need whole is for
// others to split.
bool Chains::is_streamed(const Storage& storage) const {
  return storage.buffer == BufferId::none && storage.in_ddr &&
         (context_.cores == 1 || storage.partition.axis >= 0) &&
         !context_.fits(context_.slices_of(storage.partition, storage.bytes));
}

std::uint64_t Chains::max_places(const Chain& chain) const {
  std::map<TensorId, std::int64_t> uses{{chain.source, chain.source_uses}};
  std::size_t max_live = 1;
  for (std::size_t at : chain.nodes) {
    const Node& node = context_.graph.nodes[at];
    const std::size_t before = uses.size();
    for (TensorId id : std::set<TensorId>(node.inputs.begin(), node.inputs.end())) {
      const auto used = uses.find(id);
      if (used != uses.end() && --used->second == 0) uses.erase(used);
    }
    uses[node.outputs[0]] = std::int64_t(context_.tensor(node.outputs[0]).consumers.size());
    max_live = std::max({max_live, before, uses.size()});
  }
  return max_live;
}

Chain Chains::find() const {
  TensorId from = TensorId::none;
  for (TensorId id : context_.graph.nodes[writer_.position()].inputs) {
    if (id != TensorId::none && place_.storages.of(id) != no_storage) from = id;
  }
  if (from == TensorId::none) return {};
  const Storage& source = place_.storages[place_.storages.of(from)];
  const bool in_pieces = source.buffer != BufferId::none && source.pieces != nullptr;
  if (!in_pieces && !is_streamed(source)) return {};
  if (source.output_uses > 0 || source.bytes != context_.bytes_of(from)) return {};
  return longest(from, source.uses, writer_.position(), 2);
}

Chain Chains::behind(TensorId made, const Partition& partition) const {
  const bool splits = context_.cores == 1 || partition.axis >= 0;
  if (!context_.cuts_resident || !splits || place_.storages.outputs_of(made) > 0) return {};
  if (context_.fits(context_.slices_of(partition, context_.bytes_of(made)))) return {};
  return longest(made, std::int64_t(context_.tensor(made).consumers.size()), writer_.position() + 1,
                 1);
}

// The longest such row.
Chain Chains::longest(TensorId source, std::int64_t uses, std::size_t begin,
                      std::size_t min_nodes) const {
  Chain chain, best;
  chain.source = source;
  const std::size_t end = std::min(context_.graph.nodes.size(), begin + max_chain_nodes);
  std::int64_t open = 0;  // uses of what was made that are still to come, the last result's not
  for (std::size_t at = begin; at < end; ++at) {
    const Node& node = context_.graph.nodes[at];
    const NodePlan& plan = context_.plans[at];
    if (plan.fate == NodeFate::folded || plan.fate == NodeFate::fused) continue;
    if (!joins(chain, node, plan)) break;
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
    if (chain.nodes.size() >= min_nodes && open == 0 && chain.source_uses == uses) best = chain;
    open += std::int64_t(context_.tensor(chain.result).consumers.size()) +
            place_.storages.outputs_of(chain.result);
  }
  return best;
}

bool Chains::lower() {
  if (!context_.cuts_resident ||
      context_.plans[writer_.position()].op_class != OpClass::elementwise) {
    return false;
  }
  const Chain chain = find();
  if (chain.nodes.empty()) return false;
  const Storage& source = place_.storages[place_.storages.of(chain.source)];
  if (is_streamed(source)) {
    lower_streamed(chain);
    return true;
  }
  const CoreBytes core_bytes = context_.slices_of(source.partition, source.bytes);
  const std::uint64_t wanted = writer_.tiles_for(largest(core_bytes));
  const Pieces pieces = joined(*source.pieces, tiles_along(*source.pieces, wanted));
  if (pieces.core_bytes.size() < 2) return false;
  lower_resident(chain, pieces);
  return true;
}

void Chains::lower_resident(const Chain& chain, const Pieces& pieces) {
  const StorageId source = place_.storages.of(chain.source);
  const Storage before = place_.storages[source];
  const std::size_t tiles = pieces.core_bytes.size();
  place_.residency.pin_only({source});
  for (std::size_t index = 0; index < tiles; ++index) {
    const BufferPart part{std::uint32_t(index), std::uint32_t(index) + 1, std::uint32_t(tiles)};
    const CoreBytes& bytes = pieces.core_bytes[index];
    emit_tile(chain, {index, tiles, before.buffer, part, bytes,
                      piece_shapes(pieces, before.partition, bytes, before.type)});
  }
  place_.residency.take_buffer(source);
  const StorageId result = place_.storages.make(chain.result, before.partition, before.layout);
  place_.storages[result].pieces = std::make_shared<const Pieces>(pieces);
  place_.storages[result].of_vectors = true;
  end(chain,
      {result, context_.slices_of(before.partition, before.bytes), false, before.buffer, true});
}

// The same for a tensor in DDR: each tile is loaded once, and what comes of it stored once.
void Chains::lower_streamed(const Chain& chain) {
  const std::size_t first = writer_.position();
  const Node& node = context_.graph.nodes[first];
  Operand operand;
  operand.tensor = chain.source;
  operand.storage = place_.storages.of(chain.source);
  const Storage before = place_.storages[operand.storage];
  writer_.begin_node(first, node);
  place_.residency.pin_only({operand.storage});
  operand.streamed = true;
  operand.layout = before.ddr_layout;
  operand.partition = before.partition;
  operand.core_bytes = context_.slices_of(before.partition, before.bytes);
  NodeResult result =
      place_.operands.make_result(chain.result, before.partition, before.ddr_layout);
  result.streamed = true;
  place_.ddr.begin_spill(result.storage, Spill::Cause::too_large);
  constexpr std::uint64_t usual_places = 4;  // of a tile of the usual size
  const std::uint64_t tiles =
      writer_.tiles_for(largest(operand.core_bytes) * divide_up(max_places(chain), usual_places));
  for (std::uint64_t index = 0; index < tiles; ++index) {
    writer_.begin_node(first, node);
    const BufferId home = place_.transfers.load_tile(operand, index, tiles);
    const CoreBytes core_bytes = even_bytes(operand.core_bytes, index, tiles, before.type);
    emit_tile(chain, {std::size_t(index),
                      std::size_t(tiles),
                      home,
                      {},
                      core_bytes,
                      place_.operands.shapes_of(operand, core_bytes)});
    place_.transfers.store_result_tile(result.storage, home, core_bytes);
    place_.residency.release(home);
  }
  end(chain, result);
}

void Chains::end(const Chain& chain, const NodeResult& result) {
  writer_.go_to(chain.nodes.back());
  place_.operands.keep_result(result);
  for (std::int64_t use = 0; use < chain.source_uses; ++use) {
    place_.residency.use_done(chain.source);
  }
  writer_.go_to(chain.end - 1);
}

// A result takes the place of an operand that
// nobody needs any more, the source's if it can, else a tile of its own.
void Chains::emit_tile(const Chain& chain, const ChainTile& tile) {
  const BufferId home = tile.home;
  std::map<TensorId, BufferId> place{{chain.source, home}};
  std::map<TensorId, std::int64_t> uses{{chain.source, chain.source_uses}};
  for (std::size_t at : chain.nodes) {
    const Node& node = context_.graph.nodes[at];
    writer_.begin_node(at, node);
    std::vector<BufferId> reads, free;
    std::vector<TensorId> sources;
    for (const auto& [id, buffer] : place) {
      if (std::ranges::find(node.inputs, id) == node.inputs.end()) continue;
      reads.push_back(buffer);
      sources.push_back(id);
      if (--uses[id] == 0) free.push_back(buffer);
    }
    const bool at_home = std::ranges::find(free, home) != free.end();
    const bool in_place = !free.empty();
    const BufferId writes = at_home    ? home
                            : in_place ? free.front()
                                       : place_.residency.allocate(tile.core_bytes, Lifetime::tile);
    Step step{&node,
              std::move(sources),
              writer_.name_of_tile(tile.index, tile.tiles),
              std::move(reads),
              writes,
              in_place};
    emit_step(step, tile);
    for (BufferId buffer : free)
      if (buffer != writes) place_.residency.release(buffer);
    place[node.outputs[0]] = writes;
    uses[node.outputs[0]] = std::int64_t(context_.tensor(node.outputs[0]).consumers.size());
  }
}

void Chains::describe_step(TaskSpec& spec, const Step& step, const ChainTile& tile) {
  const TensorId made = step.node->outputs[0];
  const std::uint64_t bytes = tile.core_bytes[spec.core];
  const Shape& shape = tile.shapes[spec.core];
  std::vector<TaskOperand> operands{writer_.in_vtcm(TaskOperand::Use::out, made, shape, bytes)};
  for (TensorId id : present(step.node->inputs)) {
    const bool of_chain = std::ranges::find(step.sources, id) != step.sources.end();
    operands.push_back(of_chain ? writer_.in_vtcm(TaskOperand::Use::in, id, shape, bytes)
                                : writer_.known_scalar(id));
  }
  writer_.works_on(spec, operands);
}

void Chains::emit_step(const Step& step, const ChainTile& tile) {
  const CoreBytes& core_bytes = tile.core_bytes;
  const VectorKernel kernel = kernel_named(
      context_, *step.node, vector_kernel(context_.graph, *step.node, OpClass::elementwise));
  const auto used = [&](BufferId buffer) { return buffer == tile.home ? tile.part : BufferPart{}; };
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    if (core_bytes[core] == 0) continue;
    TaskSpec spec =
        writer_.vector_task(core, kernel.name, step.name, context_.type_of(step.node->outputs[0]));
    spec.output_bytes = core_bytes[core];
    describe_step(spec, step, tile);
    spec.types = writer_.node_types();
    spec.vtcm_read = core_bytes[core] * step.reads.size();
    set_work(spec, kernel.work(core_bytes[core]));
    std::vector<BufferUse> uses;
    for (BufferId read : step.reads) uses.push_back(reads(read, core, used(read)));
    uses.push_back(step.in_place ? overwrites(step.writes, core, used(step.writes))
                                 : writes(step.writes, core));
    writer_.add(spec, uses);
  }
}

}  // namespace npuscope::npu::nsp
