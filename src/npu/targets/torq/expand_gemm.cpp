// Products of rows by constants.
#include <algorithm>

#include "npu/targets/torq/expander.hpp"

namespace npuscope::npu::torq {

// Columns that fit LRAM next to the rows, in multiples of a block; rows are cut where one block
// does not. Weights of the next tile come in while one computes.
void Expander::product() {
  const MatrixProduct matrix = matrix_product(graph_, node());
  const std::uint64_t size = element_bytes(), rows = matrix.rows * matrix.batch;
  const std::uint64_t block = std::max<std::uint64_t>(1, target_.slices.group_width / size);
  const std::uint64_t room = target_.lram_for_data() - target_.slices.program_bytes;
  const auto bytes_of = [&](std::uint64_t tile_rows, std::uint64_t columns) {
    const std::uint64_t bias = operation().is_int8 ? 8 : 4;
    return saturating_product({tile_rows, matrix.depth, size}) / 2 +
           saturating_product({matrix.depth, columns, size}) / 2 +
           saturating_product({tile_rows, columns, size}) / 2 + columns * bias / 2;
  };
  std::uint64_t row_parts = 1, width = matrix.columns;
  const auto find_width = [&](std::uint64_t tile_rows) -> std::uint64_t {
    for (std::uint64_t parts = 1;; ++parts) {
      std::uint64_t columns = matrix.columns / parts;
      if (parts > 1) columns = std::max<std::uint64_t>(1, columns / block) * block;
      if (bytes_of(tile_rows, columns) <= room / 2) return columns;
      if (columns <= block) return 0;
    }
  };
  while ((width = find_width(divide_up(rows, row_parts))) == 0 && row_parts < rows) ++row_parts;
  if (width == 0) width = std::min(block, matrix.columns);
  const SliceKernel kernel =
      rows == 1 || operation().is_int8 ? SliceKernel::fc : SliceKernel::fc_fast;
  const std::uint64_t each = divide_up(rows, row_parts);
  const bool has_bias = node().has_input(2) && !operation().is_int8;
  // Slices share the addition of a bias; rows of it are constants as large as their share.
  const bool is_shared =
      rows >= least_shared() && rows * matrix.columns >= target_.slices.shared_elements;
  const std::uint32_t target =
      has_bias ? new_buffer(rows * matrix.columns * size, is_shared) : result();
  for (std::uint64_t row = 0; row < rows && out_.stages.size() < max_tasks; row += each) {
    const std::uint64_t tile_rows = std::min(each, rows - row);
    const std::uint32_t from =
        row_parts == 1 ? data() : new_buffer(tile_rows * matrix.depth * size, true);
    for (std::uint64_t column = 0; column < matrix.columns; column += width) {
      const std::uint64_t columns = std::min(width, matrix.columns - column);
      KernelWork work = work_of(kernel, tile_rows);
      work.in_channels = matrix.depth;
      work.out_channels = columns;
      Stage& stage = add(kernel, {{from, true}}, target);
      stage.calls.push_back(
          {.cycles = kernel == SliceKernel::fc ? kernel_cycles(work, target_) * tile_rows
                                               : kernel_cycles(work, target_),
           .constants = {matrix.depth * columns * size, columns * (operation().is_int8 ? 8 : 4)},
           .reads = {out_.buffers[from].bytes},
           .writes = tile_rows * columns * size});
    }
  }
  if (!has_bias) return;
  const std::uint64_t share = is_shared ? rows / target_.slices.count : rows;
  const std::uint32_t bias = new_buffer(share * matrix.columns * size, true, true);
  shared_step(SliceKernel::add, {target}, rows, matrix.columns, result());
  out_.stages.back().reads.push_back({bias, true});
  for (Call& call : out_.stages.back().calls) call.reads.push_back(out_.buffers[bias].bytes);
}

}  // namespace npuscope::npu::torq
