// Products of matrices by each other, or of matrices by constants.
#include <algorithm>
#include <ranges>

#include "npu/targets/torq/expander.hpp"

namespace npuscope::npu::torq {

namespace {

enum class Side : std::uint8_t { batch, rows, columns };

}  // namespace

struct Expander::Product {
  std::uint64_t batch = 1, rows = 1, depth = 1, columns = 1;
  std::uint32_t first = 0, second = 0;  // buffers
  std::uint64_t sum_bytes = 2;          // of an element
  bool on_host = false;
  bool is_shared = true;  // by slices
  bool spreads = false;   // `second` is of one matrix, which slices make as many as the batch first

  std::uint64_t first_elements() const { return saturating_product({batch, rows, depth}); }
  std::uint64_t second_elements() const { return saturating_product({batch, depth, columns}); }
  std::uint64_t elements() const { return saturating_product({batch, rows, columns}); }
  std::uint64_t largest() const {
    return std::max({first_elements(), second_elements(), elements()});
  }
  // What slices share: batches, or rows or columns where there are too few.
  Side side(std::uint64_t enough) const {
    return batch >= enough ? Side::batch : rows >= enough ? Side::rows : Side::columns;
  }
  std::uint64_t& extent(Side side) {
    return side == Side::batch ? batch : side == Side::rows ? rows : columns;
  }
};

// The part of a product that slices share evenly, and what is left over.
std::pair<Expander::Product, Expander::Product> Expander::shares_of(const Product& product) {
  Product main = product, rest = product;
  const Side side = product.side(least_shared());
  const Shares shares = product.is_shared ? shares_of(main.extent(side), product.largest())
                                          : Shares{main.extent(side), 0};
  main.extent(side) = shares.main;
  rest.extent(side) = shares.rest;
  if (side != Side::columns) rest.first = new_buffer(rest.first_elements() * element_bytes(), true);
  if (side != Side::rows) rest.second = new_buffer(rest.second_elements() * element_bytes(), true);
  return {main, rest};
}

// Each slice a part; what is left over once more, by its own sides.
void Expander::multiply(const Product& product, std::uint32_t into) {
  const auto [main, rest] = shares_of(product);
  multiply_evenly(main, into);
  if (rest.elements() > 0) multiply(rest, into);
}

void Expander::multiply_evenly(const Product& product, std::uint32_t into) {
  const Side side = product.side(least_shared());
  Product whole = product;
  const std::uint64_t shared = whole.extent(side);
  const bool alone = !product.is_shared || shared < least_shared() ||
                     product.largest() < target_.slices.shared_elements;
  const std::uint64_t ways = alone ? 1 : plan().ways,
                      bytes = product.elements() * product.sum_bytes;
  if (product.on_host) {  // zeros that the host adds to
    const std::uint32_t zeros = step(SliceKernel::fill, {}, product.elements(), bytes, ways);
    for (std::uint64_t i = 0; i < ways; ++i) {
      goes_out(zeros, bytes / ways);
      host();
    }
    return;
  }
  const std::uint32_t second =
      product.spreads ? spread(product, alone, parts_of(shared, ways, 1)) : product.second;
  std::vector<Read> reads{{product.first, alone || side == Side::columns},
                          {second, alone || (side == Side::rows && !product.spreads)}};
  if (reads[1].whole) std::ranges::reverse(reads);
  Stage& stage = add(SliceKernel::matmul_fast, std::move(reads), into);
  for (const std::uint64_t part : parts_of(shared, ways, 1)) {
    Product each = product;
    each.extent(side) = part;
    KernelWork work = work_of(SliceKernel::matmul_fast, each.rows);
    work.in_channels = each.depth;
    work.out_channels = each.columns;
    Call& call = stage.calls.emplace_back();
    call.cycles = saturating_product({kernel_cycles(work, target_), each.batch});
    call.constants = {8};
    for (const Read& read : stage.reads) {
      const bool is_first = read.buffer == product.first;
      call.reads.push_back((is_first ? each.first_elements() : each.second_elements()) *
                           element_bytes());
    }
    call.writes = each.elements() * product.sum_bytes;
  }
}

// Constants of one matrix as many times as the batch has, for each slice what it multiplies by.
std::uint32_t Expander::spread(const Product& product, bool alone,
                               const std::vector<std::uint64_t>& parts) {
  const Side side = product.side(least_shared());
  Stage& stage = add(SliceKernel::broadcast, {{product.second, false}}, 0);
  std::uint64_t bytes = 0;
  for (const std::uint64_t part : parts) {
    Product each = product;
    if (!alone) each.extent(side) = part;
    Call& call = stage.calls.emplace_back();
    call.cycles = kernel_cycles(work_of(stage.kernel, each.second_elements()), target_);
    call.reads = {each.depth * each.columns * element_bytes()};
    call.writes = each.second_elements() * element_bytes();
    bytes += call.writes;
  }
  return stage.result = new_buffer(bytes, true);
}

// Each slice has for itself what it does not share.
bool Expander::fits(const Product& product) const {
  Product tile = product;
  const Side side = tile.side(least_shared());
  if (side == Side::batch) tile.batch = shares_of(tile.batch, tile.largest()).main;
  const std::uint64_t slices = plan().ways, programs = slices * target_.slices.program_bytes;
  const std::uint64_t first = tile.first_elements() * (side == Side::columns ? slices : 1);
  const std::uint64_t second = tile.second_elements() * (side == Side::rows ? slices : 1);
  const std::uint64_t operands = tile.on_host ? 0 : (first + second) * element_bytes();
  return operands + tile.elements() * tile.sum_bytes + programs <= target_.lram_for_data();
}

// The largest tile that fits LRAM: of rows, or else of constants' columns in whole blocks too.
Expander::Product Expander::tile_of(const Product& product, bool is_constant) const {
  const std::uint64_t block = target_.slices.group_width;
  for (std::uint64_t tiles = 1; tiles <= product.rows; ++tiles) {
    Product tile = product;
    tile.rows = divide_up(product.rows, tiles);
    if (fits(tile)) return tile;
  }
  Product tile = product;
  for (std::uint64_t tiles = 1; is_constant && tiles <= product.rows; tiles *= 2) {
    tile.rows = divide_up(product.rows, tiles);
    for (tile.columns = product.columns / block * block; tile.columns > 0; tile.columns -= block) {
      if (fits(tile)) return tile;
    }
  }
  tile.rows = 1;
  tile.columns = std::min(block, product.columns);
  return tile;
}

// Columns, a block of them or more, that fit with all of the batch, or else fewer of that.
Expander::Product Expander::tile_of_spread(const Product& product) const {
  const auto fit_all = [&](const Product& tile) {
    const std::uint64_t operands =
        (tile.first_elements() + tile.second_elements()) * element_bytes();
    return operands + tile.elements() * tile.sum_bytes +
               plan().ways * target_.slices.program_bytes <=
           target_.lram_for_data();
  };
  Product tile = product;
  for (std::uint64_t parts = 1; parts == 1 || tile.columns > target_.slices.group_width; ++parts) {
    tile.columns = divide_up(product.columns, parts);
    if (fit_all(tile)) return tile;
  }
  tile = product;
  for (std::uint64_t parts = 1; parts <= product.batch; ++parts) {
    tile.batch = divide_up(product.batch, parts);
    if (fits(tile)) return tile;
  }
  return tile_of(tile, true);
}

// Of data of four sides by one matrix of constants: that becomes as many as the data have.
void Expander::matmul_by_spread(const Product& all) {
  const Product largest = tile_of_spread(all);
  const bool is_whole = largest.elements() == all.elements();
  for (std::uint64_t b = 0; b < all.batch; b += largest.batch) {
    for (std::uint64_t r = 0; r < all.rows; r += largest.rows) {
      for (std::uint64_t c = 0; c < all.columns && out_.stages.size() < max_tasks;
           c += largest.columns) {
        Product tile = all;
        tile.batch = std::min(largest.batch, all.batch - b);
        tile.rows = std::min(largest.rows, all.rows - r);
        tile.columns = std::min(largest.columns, all.columns - c);
        tile.first = is_whole ? data(0) : new_buffer(tile.first_elements() * element_bytes(), true);
        tile.second = new_buffer(tile.depth * tile.columns * element_bytes(), true, true);
        const auto [main, rest] = shares_of(tile);
        if (!is_whole || rest.elements() == 0) {
          multiply(tile, result());
          continue;
        }
        const std::uint32_t outside = new_buffer(tile.elements() * tile.sum_bytes, true);
        multiply_evenly(main, outside);
        joined(
            {main.elements(), rest.elements()}, tile.sum_bytes, true,
            [&, &left = rest] { multiply(left, outside); }, result());
      }
    }
  }
}

// Of matrices in a batch that is the only further side sums are in 32-bit floats; in int8 the host
// computes these, and slices those of more sides in integers.
void Expander::matmul() {
  const MatrixProduct matrix = matrix_product(graph_, node());
  const Shape& shape = graph_[operation().result].shape;
  const bool is_int8 = operation().is_int8, is_plain = shape.size() < 4;
  const bool widens = is_plain && !is_int8 && !matrix.constant_weights;
  const bool on_host = is_plain && is_int8;
  if (on_host) size_ = 4;
  Product all{.batch = matrix.batch,
              .rows = matrix.rows,
              .depth = matrix.depth,
              .columns = matrix.columns,
              .sum_bytes = is_int8 || widens ? 4 : element_bytes(),
              .on_host = on_host};
  std::uint64_t elements = 1;  // of one matrix of the result; two vectors leave no sides
  for (const std::int64_t extent : shape | std::views::reverse | std::views::take(2)) {
    elements = saturating_product({elements, std::uint64_t(extent)});
  }
  const std::uint64_t matrices = result_elements() / std::max<std::uint64_t>(1, elements);
  all.is_shared = !matrix.constant_weights || is_int8 || !is_plain || matrices == 1;
  if (matrix.constant_weights && !is_int8 && !is_plain && matrices > 1 && matrix.batch == 1) {
    all.batch = matrices;
    all.rows /= matrices;
    all.spreads = true;
    return matmul_by_spread(all);
  }
  const bool by_batch = all.batch >= least_shared();
  const bool is_constant = matrix.constant_weights || operation().inputs.size() < 2;
  if (on_host) {
    host();
    if (by_batch) batches_apart(all);
  }
  const Product largest = tile_of(all, is_constant);
  const std::uint64_t tiles = divide_up(all.rows, largest.rows);
  const std::uint64_t all_tiles = tiles * divide_up(all.columns, largest.columns);
  const auto second = [&](const Product& of) {
    return new_buffer(of.second_elements() * element_bytes(), true, is_constant);
  };
  all.second = all_tiles > 1 || is_constant ? second(largest) : data(1);
  if (all_tiles == 1) all.first = data(0);
  for (std::uint64_t i = 0; i < all_tiles && out_.stages.size() < max_tasks; ++i) {
    Product tile = all;
    const std::uint64_t row = i % tiles * largest.rows, column = i / tiles * largest.columns;
    tile.rows = std::min(largest.rows, all.rows - row);
    tile.columns = std::min(largest.columns, all.columns - column);
    if (all_tiles > 1) tile.first = new_buffer(tile.first_elements() * element_bytes(), true);
    // Few rows are shared by columns, each slice's anew for each tile.
    const bool by_columns = is_constant && tile.side(least_shared()) == Side::columns;
    if (i > 0 && (widens || by_batch || by_columns || row == 0))
      all.second = tile.second = second(tile);
    const std::uint64_t bytes = tile.elements() * element_bytes();
    const bool goes_on = widens || (is_int8 && (all_tiles == 1 || !on_host));
    const auto [main, rest] = shares_of(tile);
    std::uint32_t made = 0;
    if (rest.elements() > 0 && (all_tiles == 1 || widens)) {
      const std::uint32_t outside = new_buffer(tile.elements() * all.sum_bytes, true);
      multiply_evenly(main, outside);
      const bool stays = widens || (on_host && by_batch);
      const std::uint32_t into =
          is_int8 ? new_buffer(tile.elements() * all.sum_bytes, true) : result();
      made = joined(
          {main.elements(), rest.elements()}, all.sum_bytes, true,
          [&, &left = rest] { multiply(left, outside); },
          stays ? std::optional<std::uint32_t>{} : into);
    } else {
      const bool goes_out = is_int8 || rest.elements() > 0 || !(by_batch || all.batch == 1);
      made = goes_on ? new_buffer(tile.elements() * all.sum_bytes, goes_out) : result();
      multiply(tile, made);
    }
    if (widens) step(SliceKernel::round, {made}, tile.elements(), bytes, 1, false, result());
    // The first of two that differ has a place of its own.
    if (all_tiles == 2 && tiles == 2 && i == 0 && all.rows % 2 != 0)
      moved(is_int8 ? tile.elements() * all.sum_bytes : bytes);
    if (on_host && by_batch && all_tiles == 1 && rest.elements() > 0) {
      apart(made, {main.elements(), rest.elements()});
      size_ = 1;
      joined(
          {main.elements(), rest.elements()}, 1, false, [&] { host(); }, result());
      return;
    }
  }
  if (is_int8) host();
}

// Operands that the host made in parts of the batch.
void Expander::batches_apart(const Product& product) {
  const std::uint64_t sides[] = {product.first_elements(), product.second_elements()};
  std::vector<std::uint32_t> wholes;
  for (const std::uint64_t elements : sides) {
    const Shares shares = shares_of(product.batch, elements).of(elements / product.batch);
    if (shares.rest > 0) wholes.push_back(joined(shares, 4, false, [&] { host(); }));
  }
  for (std::size_t i = 0; i < wholes.size(); ++i) {
    const std::uint64_t main = shares_of(product.batch, sides[i]).of(sides[i] / product.batch).main;
    const std::uint32_t parts =
        step(SliceKernel::convert, {wholes[i]}, main, main * 4, plan().ways);
    for (std::uint64_t k = 0; k < plan().ways; ++k) goes_out(parts, main * 4 / plan().ways);
  }
}

}  // namespace npuscope::npu::torq
