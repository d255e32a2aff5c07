// Number of tiles of a node, so that they fit into VTCM next to its resident tensors.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "npu/nsp/compile/place/transfers.hpp"

namespace npuscope::npu::nsp {

class TilePlanner {
 public:
  TilePlanner(TaskWriter& writer, Storages& storages, DdrCopies& ddr, Residency& residency,
              Transfers& transfers)
      : writer_(writer),
        storages_(storages),
        ddr_(ddr),
        residency_(residency),
        transfers_(transfers) {}

  // Sizes of the tiles that lie in VTCM at once, in the order in which they get their places, when
  // cut so many times finer than usual.
  using TileSizes = std::function<std::vector<std::uint64_t>(std::uint64_t finer)>;
  // How many times finer than usual a node must be cut for its tiles to fit. Streams the node's
  // resident tensors as well, the largest first, when no cut is enough.
  std::uint64_t find_cuts(const TileSizes& sizes, std::span<Operand> operands,
                          std::span<NodeResult> results);
  // Makes a resident operand a streamed one.
  void stream(Operand& operand);

  // Of the operands that are streamed, cut into so many tiles.
  std::vector<std::uint64_t> streamed_sizes(std::span<const Operand> operands,
                                            std::uint64_t tiles) const;
  // How many tiles of a streamed result lie in VTCM at once.
  std::size_t tiles_at_once(const NodeResult& result) const {
    return storages_[result.storage].leaves_flat() ? 2 : 1;
  }
  // Tiles of all that is streamed, so that the largest is as large as a tile may be.
  std::uint64_t usual_tiles(std::span<const Operand> operands,
                            std::span<const NodeResult> results) const;
  // What one of `tiles` tiles reads of the operands that lie in VTCM.
  std::uint64_t bytes_of_resident(std::span<const Operand> operands, std::uint64_t tiles) const;

 private:
  bool stream_largest(std::span<Operand> operands, std::span<NodeResult> results);

  TaskWriter& writer_;
  Storages& storages_;
  DdrCopies& ddr_;
  Residency& residency_;
  Transfers& transfers_;
};

}  // namespace npuscope::npu::nsp
