#include "npu/targets/nsp/compile/place/pieces.hpp"

#include <algorithm>

#include "npu/targets/nsp/compile/tasks/task_texts.hpp"

namespace npuscope::npu::nsp {
namespace {

// Buffers with more are used whole: as many waits as pieces would cost more than waiting less
// gains.
constexpr std::uint64_t max_pieces = 64;

}  // namespace

BufferPart part_of_bytes(const Pieces& pieces, std::uint32_t core, std::uint64_t begin,
                         std::uint64_t end) {
  const std::uint32_t count = std::uint32_t(pieces.core_bytes.size());
  BufferPart part{0, count, count};
  std::uint64_t at = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t next = at + pieces.core_bytes[i][core];
    if (next <= begin) part.first = std::min(i + 1, count - 1);
    if (at < end) part.last = i + 1;
    at = next;
  }
  part.last = std::max(part.last, part.first + 1);
  return part;
}

Pieces joined(const Pieces& pieces, std::uint64_t count) {
  const std::uint64_t all = pieces.core_bytes.size();
  Pieces result;
  result.row_elements = pieces.row_elements;
  result.rows = pieces.rows;
  result.columns = pieces.columns;
  result.columns_are_last = pieces.columns_are_last;
  for (std::uint64_t i = 0; i < count; ++i) {
    auto& bytes = result.core_bytes.emplace_back(pieces.core_bytes[0].size(), 0);
    for (std::uint64_t j = all * i / count; j < all * (i + 1) / count; ++j) {
      for (std::size_t core = 0; core < bytes.size(); ++core)
        bytes[core] += pieces.core_bytes[j][core];
    }
  }
  return result;
}

std::uint64_t tiles_along(const Pieces& pieces, std::uint64_t wanted) {
  const std::uint64_t all = pieces.core_bytes.size();
  std::uint64_t tiles = std::min(all, wanted);
  if (tiles < 2) return 1;
  while (all % tiles != 0) ++tiles;
  return tiles;
}

CoreShapes piece_shapes(const Pieces& pieces, const Partition& partition,
                        const CoreBytes& core_bytes, DataType type) {
  const bool along_last = pieces.columns_are_last && pieces.rows == 1 && pieces.columns > 1;
  const auto cores = std::uint32_t(core_bytes.size());
  CoreShapes shapes;
  for (std::uint32_t core = 0; core < cores; ++core) {
    Shape shape = slice_shape(partition, core, cores);
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

PieceWriter::PieceWriter(const std::vector<std::uint64_t>& core_bytes, std::uint64_t rows,
                         std::uint64_t columns, std::uint64_t row_elements, bool columns_are_last)
    : all_(core_bytes) {
  pieces_.row_elements = std::max<std::uint64_t>(row_elements, 1);
  pieces_.rows = rows;
  pieces_.columns = columns;
  pieces_.columns_are_last = columns_are_last;
  const std::uint64_t count = rows * columns;
  if (count > 1 && count <= max_pieces) {
    pieces_.core_bytes.assign(count, std::vector<std::uint64_t>(core_bytes.size(), 0));
  }
}

BufferPart PieceWriter::piece(std::uint64_t index, const std::vector<std::uint64_t>& core_bytes) {
  if (pieces_.core_bytes.empty()) return {};
  pieces_.core_bytes[index] = core_bytes;
  const auto count = std::uint32_t(pieces_.core_bytes.size());
  return {std::uint32_t(index), std::uint32_t(index) + 1, count};
}

std::shared_ptr<const Pieces> PieceWriter::pieces() const {
  if (pieces_.core_bytes.empty()) return nullptr;
  auto result = std::make_shared<Pieces>(pieces_);
  // The tiles' bytes are rounded; the last piece has what is left.
  for (std::size_t core = 0; core < all_.size(); ++core) {
    std::uint64_t left = all_[core];
    for (auto& piece : result->core_bytes) {
      piece[core] = &piece == &result->core_bytes.back() ? left : std::min(piece[core], left);
      left -= piece[core];
    }
  }
  return result;
}

}  // namespace npuscope::npu::nsp
