// Elementwise operators in a row on one tensor (the five of a GELU), tile by tile: what lies
// between them is never there whole, and the result takes the place of the tensor.
#pragma once

#include <set>
#include <vector>

#include "npu/targets/nsp/compile/place/placement.hpp"

namespace npuscope::npu::nsp {

struct Chain {
  TensorId source = TensorId::none;
  std::vector<std::size_t> nodes;  // positions; what is folded or fused between them is not named
  std::size_t end = 0;             // position after the last
  std::set<TensorId> made;         // by them
  TensorId result = TensorId::none;
  std::int64_t source_uses = 0;  // how many of them take it
};

struct ChainTile {
  std::size_t index = 0, tiles = 1;
  BufferId home = BufferId::none;  // where the tensor is, and in the end the result
  BufferPart part;                 // of that
  CoreBytes core_bytes;
  CoreShapes shapes;
};

class Chains : LoweringPart {
 public:
  using LoweringPart::LoweringPart;

  // Lowers the row that begins with the current node; the writer's position is then that of the
  // row's last node. False when none begins there.
  bool lower();
  // The row after the current node, for tiles of its result that are stored in DDR; without nodes
  // when there is none.
  Chain behind(TensorId made, const Partition& partition) const;
  // Tasks of all operators on one tile; the result ends in the tile's `home`.
  void emit_tile(const Chain& chain, const ChainTile& tile);
  // Of one tile, in VTCM at once: the source and what is made of it, each until its last use.
  std::uint64_t max_places(const Chain& chain) const;

 private:
  struct Step {
    const Node* node = nullptr;
    std::vector<TensorId> sources;
    StringId name{};
    std::vector<BufferId> reads;
    BufferId writes = BufferId::none;
    bool in_place = false;
  };
  Chain find() const;
  // Of at least so many nodes from `begin` on, after which nobody needs the source, which has so
  // many uses.
  Chain longest(TensorId source, std::int64_t uses, std::size_t begin, std::size_t min_nodes) const;
  bool joins(const Chain& chain, const Node& node, const NodePlan& plan) const;
  bool is_streamed(const Storage& storage) const;
  void lower_resident(const Chain& chain, const Pieces& pieces);
  void lower_streamed(const Chain& chain);
  void end(const Chain& chain, const NodeResult& result);
  void emit_step(const Step& step, const ChainTile& tile);
  void describe_step(TaskSpec& spec, const Step& step, const ChainTile& tile);
};

}  // namespace npuscope::npu::nsp
