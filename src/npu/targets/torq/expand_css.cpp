// What the CSS computes: elements one by one, batch normalization, and the sums and powers of a
// local response normalization.
#include <algorithm>

#include "npu/targets/torq/expander.hpp"

namespace npuscope::npu::torq {

void Expander::css() {
  if (node().op == "HardSwish" && !operation().is_int8) {  // all but the product, by slices
    for_tiles([&](const ElementTile& tile) {
      const std::uint32_t sum = step(SliceKernel::add, {new_buffer(tile.bytes, true)},
                                     tile.elements, tile.bytes, target_.slices.count);
      step(SliceKernel::clamp, {sum}, tile.elements, tile.bytes, target_.slices.count, true,
           new_buffer(tile.bytes, true));
    });
  }
  const bool is_small = operation().is_int8 || operation().inputs.size() > 1;
  // A comparison, a product and a choice are a program each, or product, sum and limits, or an
  // exponential and what it is taken from; an exponential and a logarithm.
  const bool takes_three = node().op == "LeakyRelu" || node().op == "PRelu" ||
                           node().op == "HardSigmoid" || node().op == "Elu";
  const std::uint64_t programs = takes_three ? 3 : node().op == "Softplus" ? 2 : 1;
  css_elements(programs, is_small ? target_.css.small_code_bytes : target_.css.code_bytes);
}

// Through LRAM to the memory of the CSS, data and place for results, in halves of halves until they
// fit.
void Expander::css_elements(std::uint64_t programs, std::uint64_t code) {
  const std::uint64_t elements = result_elements(), bytes = elements * element_bytes();
  std::uint64_t parts = std::max<std::uint64_t>(1, target_.slices.count);
  const std::vector<TensorId>& inputs = operation().inputs;
  const std::uint64_t tensors = std::max<std::size_t>(1, inputs.size());
  const std::uint64_t kept = saturating_product({tensors + 1, bytes});
  while (parts < elements && divide_up(kept, parts) > target_.css.data_bytes) parts *= 2;
  for (std::uint64_t i = 0; i < parts * programs && out_.stages.size() < max_tasks; ++i) {
    const std::uint64_t share = elements / parts + (i / programs < elements % parts);
    const std::uint64_t share_bytes = share * element_bytes();
    std::vector<Read> reads;
    Call call{.elements = share, .constants = {4 * (tensors + 2)}, .writes = share_bytes};
    const auto read = [&](std::uint64_t bytes_read) {
      reads.push_back({new_buffer(bytes_read, true), true});
      call.reads.push_back(bytes_read);
      call.placed.push_back(bytes_read / element_bytes());
    };
    for (std::uint64_t k = 0; k < tensors; ++k) {
      const std::uint64_t all = k < inputs.size() ? graph_[inputs[k]].elements() : elements;
      read(all < elements ? std::min(all, share) * element_bytes() : share_bytes);
    }
    read(share_bytes);  // a place for the results
    Stage& stage = add(SliceKernel::convert, std::move(reads), result());
    stage.kind = StageKind::css;
    stage.code_bytes = i == 0 || programs > 1 ? code : 0;
    stage.calls.push_back(std::move(call));
  }
}

// By the CSS, with a scale, a bias, a mean and a variance of each channel: in place where all of it
// fits its memory, or else on a copy in XRAM, by channels in halves of halves, then by rows.
void Expander::batch_normalization() {
  constexpr std::uint64_t constants = 4, size = 2;
  const Shape& shape = graph_[operation().result].shape;
  const std::uint64_t elements = result_elements();
  const std::uint64_t images = shape.size() > 1 ? std::uint64_t(shape[0]) : 1;
  const std::uint64_t all_channels =
      shape.size() > 1 ? saturating_product({images, std::uint64_t(shape[1])}) : 1;
  const std::uint64_t all_pixels = elements / std::max<std::uint64_t>(1, all_channels);
  std::uint64_t channels = all_channels, pixels = all_pixels;
  const auto fits = [&](std::uint64_t copies) {
    return saturating_product({copies, channels, pixels, size}) + channels * constants * size +
               size * (constants + 3) * 2 <=
           target_.css.data_bytes;
  };
  const bool in_place = fits(1);
  if (!in_place) moved(elements * size);
  while (!in_place && !fits(2) && channels * pixels > 1)
    channels > 1 ? channels = divide_up(channels, 2) : pixels = divide_up(pixels, 2);
  bool is_first = true;
  for (std::uint64_t first = 0; first < all_channels; first += channels) {
    for (std::uint64_t at = 0; at < all_pixels && out_.stages.size() < max_tasks; at += pixels) {
      const std::uint64_t part = std::min(channels, all_channels - first);
      const std::uint64_t share = part * std::min(pixels, all_pixels - at);
      std::vector<Read> reads{{new_buffer(share * size, true), true}};
      Call call{.elements = share, .reads = {share * size}, .placed = {share}};
      const auto add_read = [&](std::uint64_t count, bool is_constant) {
        reads.push_back({new_buffer(count * size, true, is_constant), true});
        call.reads.push_back(count * size);
        call.placed.push_back(count);
      };
      for (std::uint64_t i = 0; i < constants; ++i) add_read(part, true);
      if (!in_place) add_read(share, false);
      call.constants = {4 * (reads.size() + 1)};
      call.writes = share * size;
      Stage& stage = add(SliceKernel::convert, std::move(reads), result());
      stage.kind = StageKind::css;
      stage.code_bytes = std::exchange(is_first, false) ? target_.css.normalization_code_bytes : 0;
      stage.calls.push_back(std::move(call));
    }
    if (out_.stages.size() >= max_tasks) return;
  }
  if (!in_place && is_result_of_model()) moved(elements * size);
}

// Squares, of each element and its neighbours' channels, whose sums the CSS makes; scaled and with
// a bias by slices, to a power by the CSS, and the data divided by that.
void Expander::local_normalization() {
  constexpr std::uint64_t size = 2;
  const Shape& shape = graph_[operation().result].shape;
  const auto extent = [&](std::size_t i) {
    return i < shape.size() ? std::max<std::uint64_t>(1, std::uint64_t(shape[i])) : 1;
  };
  const std::uint64_t elements = result_elements(), bytes = elements * size;
  const std::uint64_t neighbours = largest_of({node().int_attribute("size", 1)}, 1) - 1;
  const std::uint64_t pixels = elements / extent(1);
  const std::uint64_t room = target_.lram_for_data() - 2 * target_.slices.program_bytes;
  const auto by_slices = [&](SliceKernel kernel, bool reads_data = false) {
    const std::uint32_t made = new_buffer(bytes, true);
    for_room(bytes, room / 2 / (2 * size) * (2 * size), [&](std::uint64_t share) {
      const bool is_whole = reads_data && share == bytes;
      step(kernel, {is_whole ? data() : new_buffer(share, true)}, share / size, share,
           target_.slices.count, false, made);
    });
    return made;
  };
  filled(by_slices(SliceKernel::mul, true),
         saturating_product({extent(1) + neighbours, pixels, size}), 1);
  for_room(bytes, room, [&](std::uint64_t share) {
    step(SliceKernel::fill, {}, share / size, share, 1, false, new_buffer(share, true));
  });
  sums_of_neighbours(neighbours);
  by_slices(SliceKernel::mul);
  css_elements(1, target_.css.pooling_code_bytes);
  by_slices(SliceKernel::add);
  css_elements(1, target_.css.power_code_bytes);
  division();
}

// Of channels next to each other, each part next to the sums so far: by channels in halves, then
// by rows, with a program for each channel and one for the rows left over.
void Expander::sums_of_neighbours(std::uint64_t neighbours) {
  constexpr std::uint64_t size = 2;
  const Shape& shape = graph_[operation().result].shape;
  const std::uint64_t all_channels = shape.size() > 1 ? std::uint64_t(shape[1]) : 1;
  const std::uint64_t all_rows =
      shape.size() > 2 ? saturating_product({std::uint64_t(shape[0]), std::uint64_t(shape[2])}) : 1;
  const std::uint64_t columns = result_elements() / all_channels / all_rows;
  std::uint64_t channels = all_channels, rows = all_rows;
  const auto fits = [&] {
    return saturating_product({2 * channels + neighbours, rows, columns, size}) <=
           target_.css.data_bytes;
  };
  while (!fits() && channels * rows > 1) channels > 1 ? channels /= 2 : rows /= 2;
  for (std::uint64_t first = 0; first < all_channels; first += channels) {
    for (std::uint64_t row = 0; row < all_rows && out_.stages.size() < max_tasks; row += rows) {
      const std::uint64_t part = std::min(channels, all_channels - first);
      const std::uint64_t high = std::min(rows, all_rows - row);
      const std::uint64_t made = part * high * columns;
      const std::uint64_t read = (part + neighbours) * high * columns;
      Stage& stage =
          add(SliceKernel::convert,
              {{new_buffer(read * size, true), true}, {new_buffer(made * size, true), true}},
              new_buffer(made * size, true));
      stage.kind = StageKind::css;
      const bool is_first = rows < all_rows ? row == 0 || high < rows : first == 0;
      stage.code_bytes = is_first ? target_.css.pooling_code_bytes : 0;
      stage.calls.push_back({.elements = made,
                             .constants = {12},
                             .reads = {read * size, made * size},
                             .placed = {read, made},
                             .writes = made * size});
    }
    if (out_.stages.size() >= max_tasks) return;
  }
}

}  // namespace npuscope::npu::torq
