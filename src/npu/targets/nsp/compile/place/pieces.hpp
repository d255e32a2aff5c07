// The pieces in which a tensor in VTCM comes about, so that the operator after it can begin with
// the first while the rest is still being made: HVX works on what the HMX has finished already.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "npu/targets/nsp/compile/tasks/device_tensor.hpp"
#include "npu/targets/nsp/compile/tasks/task_graph.hpp"

namespace npuscope::npu::nsp {

struct Pieces {
  std::vector<std::vector<std::uint64_t>> core_bytes;  // by piece, on each core
  // So many elements that follow one another are never in two pieces, and the pieces are in the
  // order of the elements; 1: any elements in any order.
  std::uint64_t row_elements = 1;
  std::uint64_t rows = 1, columns = 1;  // how often whoever made them cut the rows, the columns
  bool columns_are_last = false;        // of the dimensions; else they are channels
  bool operator==(const Pieces&) const = default;
};

// The pieces of `pieces` that have bytes [begin, end) of what one core holds.
BufferPart part_of_bytes(const Pieces& pieces, std::uint32_t core, std::uint64_t begin,
                         std::uint64_t end);

// Neighbours joined, so that `count` are left.
Pieces joined(const Pieces& pieces, std::uint64_t count);

// Into how many tiles whole pieces make, about as many as are wanted.
std::uint64_t tiles_along(const Pieces& pieces, std::uint64_t wanted);
// Of one piece of a tensor with that partition, which has so many bytes on each core.
CoreShapes piece_shapes(const Pieces& pieces, const Partition& partition,
                        const CoreBytes& core_bytes, DataType type);

// Collects the pieces of a result while its tiles are written.
class PieceWriter {
 public:
  // Of a result that is cut into so many rows, each into so many columns.
  PieceWriter(const std::vector<std::uint64_t>& core_bytes, std::uint64_t rows,
              std::uint64_t columns, std::uint64_t row_elements, bool columns_are_last = true);
  // The bytes of piece `index`, given again for each task that has a share in making it.
  BufferPart piece(std::uint64_t index, const std::vector<std::uint64_t>& core_bytes);
  // Null when there is only one, or too many to tell apart.
  std::shared_ptr<const Pieces> pieces() const;

 private:
  std::vector<std::uint64_t> all_;
  Pieces pieces_;
};

}  // namespace npuscope::npu::nsp
