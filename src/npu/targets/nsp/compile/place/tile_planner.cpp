// Into how many tiles an operator is cut, and which of its operands are streamed.
#include <algorithm>

#include "npu/targets/nsp/compile/place/placement.hpp"

namespace npuscope::npu::nsp {
namespace {

// Rather than cut into smaller tiles, read again from DDR what could have stayed.
constexpr std::uint64_t min_tile_bytes = 64 * 1024;

// More tiles than this at once (a Concat of many parts) are given a VTCM without anything else that
// may go. Then tiles follow one another, and the free space is in few pieces: before the first,
// after the last, at the end where one did not fit, and around the weights.
constexpr std::size_t few_tiles = 8;
constexpr std::size_t max_free_pieces = 4;

// Whether each finds a place wherever those before it lie in the gap: the n-th stands at most among
// n pieces of free space, each too small for it only if smaller than it.
bool fit_together(const std::vector<std::uint64_t>& sizes, std::uint64_t gap) {
  std::uint64_t before = 0;
  const std::size_t limit = sizes.size() > few_tiles ? max_free_pieces : few_tiles;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::uint64_t size =
        round_up(std::max<std::uint64_t>(sizes[i], 1), VtcmAllocator::alignment);
    if (size > gap || before + std::min(i + 1, limit) * size > gap) return false;
    before += size;
  }
  return true;
}

}  // namespace

std::uint64_t TilePlanner::find_cuts(const TileSizes& sizes, std::span<Operand> operands,
                                     std::span<NodeResult> results) {
  if (sizes(1).empty()) return 1;
  for (bool last = false;;) {
    const std::uint64_t gap = place_.residency.largest_free_bytes();
    const std::uint64_t min_bytes = last ? VtcmAllocator::alignment : min_tile_bytes;
    std::uint64_t finer = 1;
    for (;; finer *= 2) {
      const auto now = sizes(finer);
      if (fit_together(now, gap)) {
        while (now.size() > few_tiles && place_.residency.evict_one()) continue;
        return finer;
      }
      if (largest(now) <= min_bytes || finer > max_tasks) break;
    }
    if (last) return finer;  // then allocation says what is missing
    last = !stream_largest(operands, results);
  }
}

bool TilePlanner::stream_largest(std::span<Operand> operands, std::span<NodeResult> results) {
  const TaskGraph& tasks = writer_.tasks();
  Operand* operand = nullptr;
  std::uint64_t max_bytes = 0;
  for (Operand& each : operands) {
    const bool taken_over = each.storage != no_storage && !each.temporary &&
                            place_.storages[each.storage].buffer != each.buffer;
    if (each.buffer == BufferId::none || taken_over || each.hoisted) continue;
    if (operand != nullptr && tasks.buffer_bytes(each.buffer) <= max_bytes) continue;
    operand = &each;
    max_bytes = tasks.buffer_bytes(each.buffer);
  }
  NodeResult* result = nullptr;
  for (NodeResult& each : results) {
    if (each.buffer == BufferId::none || each.in_place) continue;
    if ((operand != nullptr || result != nullptr) && tasks.buffer_bytes(each.buffer) <= max_bytes) {
      continue;
    }
    result = &each;
    max_bytes = tasks.buffer_bytes(each.buffer);
  }
  if (result != nullptr) {
    place_.residency.release(result->buffer);
    result->buffer = BufferId::none;
    result->streamed = true;
    place_.ddr.begin_spill(result->storage, Spill::Cause::no_room);
    return true;
  }
  if (operand == nullptr) return false;
  const BufferId buffer = operand->buffer;
  for (Operand& each : operands)
    if (each.buffer == buffer) stream(each);
  return true;
}

void TilePlanner::stream(Operand& operand) {
  if (operand.storage != no_storage && place_.storages[operand.storage].buffer != BufferId::none) {
    operand.temporary ? place_.ddr.write_back(operand.storage, Spill::Cause::no_room)
                      : place_.residency.spill(operand.storage, Spill::Cause::no_room);
  }
  if (operand.temporary) place_.residency.release(operand.buffer);
  operand.buffer = BufferId::none;
  operand.temporary = false;
  operand.streamed = true;
}

std::vector<std::uint64_t> TilePlanner::streamed_sizes(std::span<const Operand> operands,
                                                       std::uint64_t tiles) const {
  std::vector<std::uint64_t> sizes;
  for (const Operand& operand : operands) {
    if (!operand.streamed) continue;
    const std::uint64_t bytes = divide_up(largest(operand.core_bytes), tiles);
    sizes.insert(sizes.end(), place_.transfers.converts_tiles(operand) ? 2 : 1, bytes);
  }
  return sizes;
}

std::uint64_t TilePlanner::usual_tiles(std::span<const Operand> operands,
                                       std::span<const NodeResult> results) const {
  std::uint64_t tiles = 1;
  for (const Operand& operand : operands) {
    if (operand.streamed) tiles = std::max(tiles, writer_.tiles_for(largest(operand.core_bytes)));
  }
  for (const NodeResult& result : results) {
    if (result.streamed) tiles = std::max(tiles, writer_.tiles_for(largest(result.core_bytes)));
  }
  return tiles;
}

std::uint64_t TilePlanner::bytes_of_resident(std::span<const Operand> operands,
                                             std::uint64_t tiles) const {
  std::uint64_t bytes = 0;
  for (const Operand& operand : operands) {
    if (!operand.streamed) bytes += writer_.bytes_in(std::span(&operand.buffer, 1)) / tiles;
  }
  return bytes;
}

std::size_t TilePlanner::tiles_at_once(const NodeResult& result) const {
  return place_.storages[result.storage].leaves_flat() ? 2 : 1;
}

}  // namespace npuscope::npu::nsp
