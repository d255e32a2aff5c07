// Normalizations: kernels over rows, in int8 the host's with slices between.
#include <algorithm>

#include "npu/targets/torq/expander.hpp"

namespace npuscope::npu::torq {

Rows rows_of(const Shape& shape, std::int64_t axis) {
  Rows rows;
  const auto rank = std::int64_t(shape.size());
  if (axis < 0) axis += rank;
  for (std::int64_t i = 0; i < rank; ++i) {
    std::uint64_t& side = i < axis ? rows.count : rows.length;
    side *= std::max<std::uint64_t>(1, std::uint64_t(shape[std::size_t(i)]));
  }
  return rows;
}

// In int8 slices make the means in 32-bit floats if LRAM holds the data and them turned, or else
// zeros for them, for as many parts of the rows as LRAM needs; the rest is the host's, part by part
// of the rows.
void Expander::means_in_float() {
  const Rows rows = rows_of(graph_[operation().result].shape, node().int_attribute("axis", -1));
  size_ = 4;
  const std::uint64_t elements = result_elements(), bytes = elements * size_;
  const std::uint64_t row_bytes = rows.count * size_;
  const bool fits = 2 * bytes <= target_.lram_for_data() - target_.slices.program_bytes;
  const Shares shares = shares_of(graph_[operation().result]);
  const bool splits = fits && shares.rest > 0;
  const auto gathered = [&](bool outside) {
    const auto into = outside ? std::optional(new_buffer(bytes, true)) : std::nullopt;
    return joined(
        shares, size_, false, [&] { host(); }, into);
  };
  const auto means = [&] {
    if (!fits) {
      sums_by_host(rows.count, bytes);
      return;
    }
    const std::uint32_t turned = step(SliceKernel::transpose, {gathered(true)}, elements, bytes, 1);
    const std::uint32_t sums = new_buffer(row_bytes);
    KernelWork work = work_of(SliceKernel::reduce_mean, rows.count);
    work.in_channels = rows.length;
    Stage& stage = add(SliceKernel::reduce_mean, {{turned, true}}, sums);
    stage.calls.push_back({.cycles = kernel_cycles(work, target_),
                           .constants = {2, 4},
                           .reads = {bytes},
                           .writes = row_bytes});
    step(SliceKernel::transpose, {sums}, rows.count, row_bytes, 1, false,
         new_buffer(row_bytes, true));
  };
  host();
  means();
  host();
  if (splits) {  // what the mean is taken from, and its squares
    apart(gathered(false), shares);
    gathered(true);
    host();
  }
  means();
  host();
  for (int i = 0; splits && i < 4; ++i) apart(gathered(false), shares);  // root, gain, bias, scale
  size_ = 0;
  joined(
      shares, 1, false, [&] { host(); }, result());
}

// Zeros, in halves of halves of the rows until what is summed fits LRAM, and the sums of these.
std::uint32_t Expander::sums_by_host(std::uint64_t rows, std::uint64_t bytes) {
  std::uint64_t parts = 1;
  while (divide_up(bytes, parts) + rows * size_ > target_.lram_for_data()) parts *= 2;
  const std::uint64_t made = rows * parts * size_;
  step(SliceKernel::fill, {}, rows * parts, made, 1, false, new_buffer(made, true));
  host();
  const std::uint32_t sums = new_buffer(rows * size_, true);
  if (parts > 1)
    step(SliceKernel::reduce_sum, {new_buffer(made, true)}, rows * parts, rows * size_, 1, false,
         sums);
  return sums;
}

// Mean and variance are sums over turned rows, if LRAM holds the data twice; the root of the
// variance is a chain of its own. Kernels of whole rows are each cut as LRAM needs, those of which
// one operand would not fit alone together.
void Expander::layer_normalization() {
  if (operation().is_int8) return means_in_float();
  const Rows rows = rows_of(graph_[operation().result].shape, node().int_attribute("axis", -1));
  const std::uint64_t elements = result_elements(), bytes = elements * 2;
  const std::uint64_t row_bytes = rows.count * 2;
  const bool is_shared = shares_of(rows.count, elements).main >= least_shared() &&
                         elements >= target_.slices.shared_elements;
  const bool has_rest = shares_of(rows.count, elements).rest > 0;
  const auto row = [&](SliceKernel kernel, std::vector<std::uint32_t> reads, bool outside = false) {
    return step(kernel, std::move(reads), rows.count, row_bytes, 1, false,
                new_buffer(row_bytes, outside));
  };
  // Rows of each tile of which LRAM holds so many buffers.
  const auto tile_rows = [&](std::uint64_t buffers) {
    const std::uint64_t room = target_.lram_for_data() - 2 * target_.slices.program_bytes;
    std::uint64_t tiles = 1;
    while (buffers * divide_up(rows.count, tiles) * rows.length * 2 > room && tiles < rows.count)
      ++tiles;
    return divide_up(rows.count, tiles);
  };
  const auto for_rows = [&](std::uint64_t buffers, const auto& make) {
    const std::uint64_t each = tile_rows(buffers);
    for (std::uint64_t first = 0; first < rows.count && out_.stages.size() < max_tasks;
         first += each) {
      make(std::min(each, rows.count - first), each < rows.count);
    }
  };
  // Data of rows, a tile of a buffer where they are cut.
  const auto tile_of = [&](std::uint32_t buffer, std::uint64_t count, bool is_tiled) {
    return is_tiled ? new_buffer(count * rows.length * 2, true) : buffer;
  };
  const auto shared = [&](SliceKernel kernel, std::vector<std::uint32_t> reads, std::uint64_t count,
                          bool outside = true) {
    return shared_step(kernel, std::move(reads), count, rows.length,
                       new_buffer(count * rows.length * 2, outside && is_shared));
  };
  const auto mean = [&](std::uint32_t from) { return row_means(from, rows.count, rows.length); };

  const bool is_fused = tile_rows(1) < rows.count;  // what is made of a row goes on in its tile
  const std::uint32_t x = data();
  const std::uint32_t means = mean(x);
  const std::uint32_t wide_mean =
      is_fused ? means : shared(SliceKernel::broadcast, {means}, rows.count);
  const std::uint32_t centred = new_buffer(bytes, is_shared);
  for_rows(3, [&](std::uint64_t count, bool is_tiled) {
    const std::uint32_t from = tile_of(x, count, is_tiled);
    if (!is_fused) {
      shared_step(SliceKernel::add, {from, tile_of(wide_mean, count, is_tiled)}, count, rows.length,
                  centred);
      return;
    }
    const std::uint64_t share = count * rows.length;
    const std::uint32_t wide =
        step(SliceKernel::broadcast, {new_buffer(count * 2, true)}, share, share * 2, 1);
    step(SliceKernel::add, {from, wide}, share, share * 2, 1, false, centred);
  });
  const std::uint32_t squares = new_buffer(bytes, true);
  for_rows(2, [&](std::uint64_t count, bool is_tiled) {
    shared_step(SliceKernel::mul, {tile_of(centred, count, is_tiled)}, count, rows.length, squares);
  });
  const std::uint32_t safe = row(SliceKernel::add, {mean(squares)}, true);
  const std::uint32_t half = row(SliceKernel::mul, {safe});
  const std::uint32_t guess =
      row(SliceKernel::sub, {row(SliceKernel::convert, {row(SliceKernel::shift, {safe})})}, true);
  std::uint32_t root = row(SliceKernel::mul, {guess, guess});
  root = row(SliceKernel::mul, {root, half});
  root = row(SliceKernel::add, {root});
  root = row(SliceKernel::mul, {root, guess}, true);
  // Gain and bias are constants as large as the data.
  if (tile_rows(3) == rows.count) {
    const std::uint32_t wide = shared(SliceKernel::broadcast, {root}, rows.count, has_rest);
    const bool leaves = is_shared && (has_rest || bytes > target_.slices.kept_bytes);
    std::uint32_t y = step(SliceKernel::mul, {centred, wide}, elements, bytes, 1, false,
                           new_buffer(bytes, leaves));
    y = shared(SliceKernel::mul, {y, new_buffer(bytes, true, true)}, rows.count);
    shared_step(SliceKernel::add, {y, new_buffer(bytes, true, true)}, rows.count, rows.length,
                result());
    return;
  }
  const std::uint32_t wide = is_fused ? root : shared(SliceKernel::broadcast, {root}, rows.count);
  for_rows(3, [&](std::uint64_t count, bool is_tiled) {
    const std::uint64_t share = count * rows.length;
    const auto whole = [&](SliceKernel kernel, std::vector<std::uint32_t> reads) {
      return step(kernel, std::move(reads), share, share * 2, 1);
    };
    const std::uint32_t factor = is_fused
                                     ? whole(SliceKernel::broadcast, {new_buffer(count * 2, true)})
                                     : tile_of(wide, count, is_tiled);
    std::uint32_t y = whole(SliceKernel::mul, {tile_of(centred, count, is_tiled), factor});
    y = whole(SliceKernel::mul, {y, new_buffer(share * 2, true, true)});
    step(SliceKernel::add, {y, new_buffer(share * 2, true, true)}, share, share * 2, 1, false,
         result());
  });
}

// Blocks of 32 by 16 are turned at once where both sides have 32.
std::uint32_t Expander::row_means(std::uint32_t from, std::uint64_t count, std::uint64_t length) {
  const std::uint64_t elements = count * length, bytes = elements * 2, row_bytes = count * 2;
  const auto row = [&](SliceKernel kernel, std::uint32_t read, bool outside) {
    return step(kernel, {read}, count, row_bytes, 1, false, new_buffer(row_bytes, outside));
  };
  if (2 * (bytes + target_.slices.program_bytes) > target_.lram_for_data()) {
    size_ = 4;
    const std::uint32_t sums = sums_by_host(count, bytes);
    size_ = 0;
    return row(SliceKernel::mul, row(SliceKernel::round, sums, false), true);
  }
  const bool by_blocks = std::min(count, length) >= 32;
  const std::uint32_t turned = by_blocks
                                   ? step(SliceKernel::transpose_block, {from},
                                          round_up(count, 32) * round_up(length, 16), bytes, 1)
                                   : step(SliceKernel::transpose, {from}, elements, bytes, 1);
  const std::uint32_t means = new_buffer(row_bytes);
  KernelWork work = work_of(SliceKernel::reduce_mean, count);
  work.in_channels = length;
  Stage& stage = add(SliceKernel::reduce_mean, {{turned, true}}, means);
  stage.calls.push_back({.cycles = kernel_cycles(work, target_),
                         .constants = {2, 4},
                         .reads = {bytes},
                         .writes = row_bytes});
  const std::uint32_t made = row(SliceKernel::transpose, means, true);
  if (count % 2 != 0) out_.stages.back().calls.front().cycles *= 2;  // no pairs of elements
  return made;
}

}  // namespace npuscope::npu::torq
