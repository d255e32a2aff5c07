// Products, elementwise work, and what only moves data.
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
  const std::uint32_t target = has_bias ? new_buffer(rows * matrix.columns * size) : result();
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
  step(SliceKernel::add, {target}, result_elements(), result_elements() * size, 1, false, result());
}

// Rows of the first, or matrices of a batch, are shared by the slices; each reads all of the
// second.
void Expander::matmul() {
  if (operation().is_int8) {  // zeros for sums in 32-bit floats, which the host computes
    size_ = 4;
    const std::uint64_t bytes = result_elements() * size_;
    step(SliceKernel::fill, {}, result_elements(), bytes, plan().ways, false,
         new_buffer(bytes, true));
    return host();
  }
  const MatrixProduct matrix = matrix_product(graph_, node());
  const std::uint64_t size = element_bytes();
  const bool sums_go_out =
      std::ranges::find(graph_.outputs, operation().result) != graph_.outputs.end() &&
      !matrix.constant_weights;
  const bool by_batch = matrix.batch >= 8;
  const std::uint64_t made_size = sums_go_out ? 4 : size;
  const std::uint64_t first_bytes =
      saturating_product({matrix.batch, matrix.rows, matrix.depth, size});
  const std::uint64_t second_bytes =
      saturating_product({matrix.batch, matrix.depth, matrix.columns, size});
  const std::uint64_t made_bytes =
      saturating_product({matrix.batch, matrix.rows, matrix.columns, made_size});
  const std::uint64_t room = target_.lram_for_data() - 2 * target_.slices.program_bytes;
  // Parts of the batch, then of columns, until a tile fits.
  std::uint64_t batch_parts = 1, column_parts = 1;
  const auto tile_bytes = [&] {
    return first_bytes / batch_parts + second_bytes / batch_parts / column_parts +
           made_bytes / batch_parts / column_parts;
  };
  while (tile_bytes() > room && batch_parts < matrix.batch) ++batch_parts;
  while (tile_bytes() > room && column_parts < matrix.columns) ++column_parts;
  const bool tiled = batch_parts * column_parts > 1;
  const std::uint32_t first = data(0);
  const bool is_constant = matrix.constant_weights || operation().inputs.size() < 2;
  const std::uint32_t sums =
      sums_go_out ? new_buffer(made_bytes, tiled || !(by_batch || matrix.batch == 1)) : result();
  for (std::uint64_t tile = 0; tile < batch_parts * column_parts && out_.stages.size() < max_tasks;
       ++tile) {
    const std::uint64_t batch = divide_up(matrix.batch, batch_parts);
    const std::uint64_t columns = divide_up(matrix.columns, column_parts);
    const std::uint32_t a = tiled ? new_buffer(first_bytes / batch_parts, true) : first;
    const std::uint32_t b =
        tiled || is_constant
            ? new_buffer(second_bytes / batch_parts / column_parts, true, is_constant)
            : data(1);
    Stage& stage = add(SliceKernel::matmul_fast, {{b, !by_batch}, {a, false}}, sums);
    const std::uint64_t shared = by_batch ? batch : matrix.rows;
    for (const std::uint64_t part : parts_of(std::max<std::uint64_t>(1, shared), plan().ways, 1)) {
      KernelWork work = work_of(SliceKernel::matmul_fast, by_batch ? matrix.rows : part);
      work.in_channels = matrix.depth;
      work.out_channels = columns;
      const auto share = [&](std::uint64_t whole) {
        return whole / std::max<std::uint64_t>(1, shared) * part;
      };
      stage.calls.push_back(
          {.cycles = saturating_product({kernel_cycles(work, target_), by_batch ? part : batch}),
           .constants = {8},
           .reads = {by_batch ? share(out_.buffers[b].bytes) : out_.buffers[b].bytes,
                     share(out_.buffers[a].bytes)},
           .writes = share(made_bytes / batch_parts / column_parts)});
    }
  }
  if (!sums_go_out) return;
  step(SliceKernel::round, {sums}, result_elements(), result_elements() * size, 1, false, result());
}

void Expander::elementwise(SliceKernel kernel) {
  const bool in_float = operation().is_int8 && operation().form == Form::unary;
  if (in_float)
    around_host([&] { elements_of(kernel); });
  else
    elements_of(kernel);
}

// In 32-bit floats, to and from which the host converts.
void Expander::around_host(const std::function<void()>& make) {
  host();
  size_ = 4;
  make();
  size_ = 0;
  host();
}

void Expander::elements_of(SliceKernel kernel) {
  for_tiles([&](const ElementTile& tile) {
    const bool follows = operation().form == Form::unary && !is_from_outside() && plan().ways > 1;
    step(kernel, tile.data, tile.elements, tile.bytes, plan().ways, follows, result());
  });
}

// A smaller operand is made as large as the result first.
void Expander::sum() {
  for_tiles([&](const ElementTile& tile) {
    std::vector<std::uint32_t> reads = tile.data;
    bool follows = false;
    const bool by_constant = operation().inputs.size() == 1 && node().has_input(1);
    const auto smaller = std::ranges::find_if(node().inputs, [&](TensorId id) {
      return id != TensorId::none && graph_[id].elements() < result_elements() &&
             graph_[id].elements() > 1;
    });
    if (smaller != node().inputs.end() && !operation().is_int8) {
      const std::uint32_t small =
          by_constant ? new_buffer(graph_[*smaller].elements() * 2, true, true) : reads.back();
      const std::uint32_t wide =
          step(SliceKernel::broadcast, {small}, tile.elements, tile.bytes, plan().ways);
      by_constant ? reads.push_back(wide) : void(reads.back() = wide);
      follows = plan().ways > 1;
    }
    step(SliceKernel::add, reads, tile.elements, tile.bytes, plan().ways, follows, result());
  });
}

// In int8 both operands become wider first.
void Expander::multiplication() {
  for_tiles([&](const ElementTile& tile) {
    std::vector<std::uint32_t> reads = tile.data;
    if (operation().is_int8) {
      for (std::uint32_t& read : reads) {
        read = step(SliceKernel::fma, {read}, tile.elements, tile.bytes, 1);
      }
    }
    step(SliceKernel::mul, reads, tile.elements, tile.bytes, 1, false, result());
  });
}

// Of 1-byte elements only to channels last.
void Expander::transpose() {
  const std::vector<std::int64_t> to_channels_last{0, 2, 3, 1};
  const bool in_float = operation().is_int8 && node().ints_attribute("perm") != to_channels_last;
  if (in_float)
    around_host([&] { turn(); });
  else
    turn();
}

// Matrices of which both sides are whole blocks are turned a block at a time.
void Expander::turn() {
  const Tensor& in = graph_[node().inputs[0]];
  const Shape& shape = in.shape;
  const bool is_matrix =
      shape.size() == 2 && element_bytes() == 2 && shape[0] % 32 == 0 && shape[1] % 32 == 0;
  const std::uint64_t elements = result_elements();
  const std::uint64_t room = target_.lram_for_data() - 2 * target_.slices.program_bytes;
  const std::uint64_t bytes = elements * element_bytes();
  const std::uint64_t tiles = std::max<std::uint64_t>(1, divide_up(2 * bytes, room));
  for (std::uint64_t i = 0; i < tiles && out_.stages.size() < max_tasks; ++i) {
    const std::uint64_t share = elements / tiles + (i < elements % tiles);
    const std::uint32_t from = tiles == 1 ? data() : new_buffer(share * element_bytes(), true);
    step(is_matrix ? SliceKernel::transpose_block : SliceKernel::transpose, {from}, share,
         share * element_bytes(), plan().ways, false, result());
  }
}

// Rows as they lie: each element is read, or for means a block of rows at once after being turned.
void Expander::reduction(SliceKernel kernel) {
  const Tensor& in = graph_[node().inputs[0]];
  const std::uint64_t rows = result_elements();
  const std::uint64_t depth =
      std::max<std::uint64_t>(1, in.elements() / std::max<std::uint64_t>(1, rows));
  const std::uint64_t room = target_.lram_for_data() - target_.slices.program_bytes;
  const std::uint64_t bytes = in.elements() * element_bytes();
  const std::uint64_t tiles = std::max<std::uint64_t>(1, divide_up(2 * bytes, room));
  for (std::uint64_t i = 0; i < tiles && out_.stages.size() < max_tasks; ++i) {
    std::uint32_t from = tiles == 1 ? data() : new_buffer(bytes / tiles, true);
    if (kernel == SliceKernel::reduce_mean) {
      from = step(SliceKernel::transpose, {from}, in.elements() / tiles, bytes / tiles, 1);
    }
    KernelWork work = work_of(kernel, kernel == SliceKernel::reduce_mean ? divide_up(rows, tiles)
                                                                         : in.elements() / tiles);
    work.in_channels = depth;
    Stage& stage = add(kernel, {{from, true}}, result());
    stage.calls.push_back({.cycles = kernel_cycles(work, target_),
                           .constants = {4, 8},
                           .reads = {out_.buffers[from].bytes},
                           .writes = divide_up(rows, tiles) * element_bytes()});
  }
}

// Through LRAM, as large a part at a time as fits next to another. In int8 scales differ, so that
// the host converts before and behind.
void Expander::copy() {
  if (operation().is_int8)
    around_host([&] { moves(); });
  else
    moves();
}

void Expander::moves() {
  const std::size_t inputs = operation().inputs.size();
  const std::uint64_t room = target_.lram_for_data() / 2;
  for (std::size_t k = 0; k < std::max<std::size_t>(1, inputs); ++k) {
    const std::uint64_t elements =
        inputs > 1 ? graph_[operation().inputs[k]].elements() : result_elements();
    std::uint64_t left = elements * element_bytes();
    while (left > 0 && out_.stages.size() < max_tasks) {
      const std::uint64_t share = std::min(left, room);
      Stage& stage = add(SliceKernel::convert, {{new_buffer(share, true), true}}, result());
      stage.kind = StageKind::move;
      stage.calls.push_back({.reads = {share}, .writes = share});
      left -= share;
    }
  }
}

// Through LRAM to the memory of the CSS, data and place for results, in halves of halves until they
// fit.
void Expander::css() {
  const std::uint64_t elements = result_elements(), bytes = elements * element_bytes();
  std::uint64_t parts = std::max<std::uint64_t>(1, target_.slices.count);
  while (parts < elements && divide_up(2 * bytes, parts) > target_.css.data_bytes) parts *= 2;
  const std::uint32_t code =
      std::uint32_t(operation().is_int8 ? target_.css.small_code_bytes : target_.css.code_bytes);
  // A comparison, a product and a choice are a program each.
  const std::uint64_t programs = node().op == "LeakyRelu" || node().op == "PRelu" ? 3 : 1;
  for (std::uint64_t i = 0; i < parts * programs && out_.stages.size() < max_tasks; ++i) {
    const std::uint64_t share = elements / parts + (i / programs < elements % parts);
    const std::uint64_t share_bytes = share * element_bytes();
    const std::uint32_t from = new_buffer(share_bytes, true);
    const std::uint32_t place = new_buffer(share_bytes, true);
    Stage& stage = add(SliceKernel::convert, {{from, true}, {place, true}}, result());
    stage.kind = StageKind::css;
    stage.code_bytes = i == 0 || programs > 1 ? code : 0;
    stage.calls.push_back({.elements = share,
                           .constants = {12},
                           .reads = {share_bytes, share_bytes},
                           .writes = share_bytes});
  }
}

void Expander::host() {
  std::uint64_t elements = 0;
  for (const TensorId input : present(node().inputs)) elements += graph_[input].elements();
  for (const TensorId output : present(node().outputs)) elements += graph_[output].elements();
  Stage& stage = add(SliceKernel::convert, {}, result());
  stage.kind = StageKind::host_program;
  stage.calls.push_back({.elements = elements});
}

// The slices read any element of LRAM; a table that is larger stays with the host.
void Expander::gather() {
  const std::uint64_t table = storage_bytes(graph_[node().inputs[0]]);
  if (table + result_elements() * element_bytes() > target_.lram_for_data() / 2) return host();
  const std::uint32_t from = new_buffer(table, true, true);
  step(SliceKernel::gather, {from}, result_elements(), result_elements() * element_bytes(), 1,
       false, result());
}

}  // namespace npuscope::npu::torq
