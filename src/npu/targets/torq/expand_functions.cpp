// Functions that no kernel computes: chains of kernels in bf16, whose bits are looked at as
// integers on the way, for which they go out and come in again.
#include <algorithm>

#include "npu/targets/torq/expander.hpp"

namespace npuscope::npu::torq {

// Two tables, of numbers and of their negatives, of which one is selected.
void Expander::sigmoid() {
  for_tiles([&](const ElementTile& tile) {
    const auto each = [&](SliceKernel kernel, std::vector<std::uint32_t> reads,
                          bool follows = true) {
      return step(kernel, std::move(reads), tile.elements, tile.bytes, tile.ways, follows);
    };
    const std::uint32_t x = tile.data[0];
    const std::uint32_t again = new_buffer(tile.bytes, true);
    const std::uint32_t which =
        step(SliceKernel::compare, {x, again}, tile.elements, tile.elements, tile.ways);
    const std::uint32_t above = each(SliceKernel::fma, {each(SliceKernel::table, {x})});
    const std::uint32_t below = each(SliceKernel::fma, {each(SliceKernel::table, {x})});
    const bool stays_apart = goes_into_product(at_);
    const std::uint32_t bits = stays_apart ? result() : new_buffer(tile.bytes, true);
    step(SliceKernel::select, {which, above, below}, tile.elements, tile.bytes, tile.ways, true,
         bits);
    if (stays_apart) return;
    Stage& move = add(SliceKernel::convert, {{bits, false}}, result());
    move.kind = StageKind::move;
    for (std::uint64_t i = 0; i < tile.ways; ++i) {
      move.calls.push_back({.reads = {tile.bytes / tile.ways}, .writes = tile.bytes / tile.ways});
    }
  });
}

// A first guess from the bits, shifted and taken from a constant, and a step of Newton's.
void Expander::square_root() {
  const std::uint64_t room = target_.lram_for_data() - 2 * target_.slices.program_bytes;
  const std::uint64_t bytes = result_elements() * element_bytes();
  if (3 * bytes > room) return square_root_by_parts();
  // What LRAM does not hold next to two kernels' data goes out.
  const bool leaves = 4 * bytes > room;
  for_tiles([&](const ElementTile& tile) {
    const auto each = [&](SliceKernel kernel, std::vector<std::uint32_t> reads) {
      return step(kernel, std::move(reads), tile.elements, tile.bytes, 1);
    };
    const std::uint32_t x = tile.data[0];
    const std::uint64_t slices = target_.slices.count;
    const std::uint32_t half = step(SliceKernel::mul, {x}, tile.elements, tile.bytes, 1, false,
                                    new_buffer(tile.bytes, leaves));
    const std::uint32_t bits = new_buffer(tile.bytes, true), by = new_buffer(tile.bytes, true);
    const std::uint32_t guess = new_buffer(tile.bytes, true);
    const std::uint32_t shifted =
        step(SliceKernel::shift, {bits, by}, tile.elements, tile.bytes, slices);
    step(SliceKernel::sub, {shifted}, tile.elements, tile.bytes, slices, true, guess);
    std::uint32_t y = each(SliceKernel::mul, {guess, guess});
    y = each(SliceKernel::mul, {y, half});
    y = each(SliceKernel::add, {y});
    y = each(SliceKernel::mul, {y, guess});
    step(SliceKernel::mul, {y, x}, tile.elements, tile.bytes, 1, false, result());
  });
}

// Kernels whose data LRAM does not hold are loops over parts, each next to a copy of what the one
// before made; those with one operand are not where LRAM holds that and the result.
void Expander::square_root_by_parts() {
  const std::uint64_t room = target_.lram_for_data() - 2 * target_.slices.program_bytes;
  const std::uint64_t elements = result_elements(), bytes = elements * element_bytes();
  const bool holds_two = 2 * bytes <= room;
  struct Kernel {
    SliceKernel kernel;
    std::uint64_t loads;  // operands that are in XRAM
  };
  using enum SliceKernel;
  // Kernels that follow each other in LRAM; `buffers` of a part are there at once.
  const auto loop = [&](std::uint64_t buffers, bool is_shared, std::vector<Kernel> kernels) {
    const std::uint64_t parts = divide_up(buffers * bytes, room);
    const std::uint64_t ways = is_shared ? target_.slices.count : 1;
    for (std::uint64_t i = 0; i < parts && out_.stages.size() < max_tasks; ++i) {
      const std::uint64_t share = elements / parts + (i < elements % parts);
      const std::uint64_t share_bytes = share * element_bytes();
      std::optional<std::uint32_t> made;
      for (const Kernel& each : kernels) {
        std::vector<std::uint32_t> reads;
        for (std::uint64_t k = 0; k < each.loads; ++k)
          reads.push_back(new_buffer(share_bytes, true));
        if (made) reads.push_back(*made);
        const bool is_last = &each == &kernels.back();
        made = step(each.kernel, std::move(reads), share, share_bytes, ways, made && is_shared,
                    new_buffer(share_bytes, is_last));
      }
    }
  };
  loop(2, true, {{mul, 1}});
  if (holds_two) {
    loop(3, true, {{shift, 1}});
    loop(2, true, {{sub, 1}});
    moved(bytes);
    loop(3, false, {{mul, 2}});
    moved(bytes);
    loop(3, false, {{mul, 1}});
    loop(2, true, {{add, 1}});
    moved(bytes);
    loop(3, false, {{mul, 2}, {mul, 1}});
  } else {
    loop(3, true, {{shift, 2}, {sub, 0}});
    moved(bytes);
    loop(3, false, {{mul, 2}});
    moved(bytes);
    loop(3, false, {{mul, 2}, {add, 0}, {mul, 1}, {mul, 1}});
  }
  moved(bytes);
}

// By the reciprocal: a table, corrected by the exponent.
void Expander::division() {
  for_tiles([&](const ElementTile& tile) {
    const std::uint64_t slices = target_.slices.count;
    const std::uint32_t divisor = tile.data.back();
    const std::uint32_t bits = new_buffer(tile.bytes, true),
                        reciprocal = new_buffer(tile.bytes, true);
    std::uint32_t y = step(SliceKernel::table, {divisor}, tile.elements, tile.bytes, slices);
    y = step(SliceKernel::sub, {y}, tile.elements, tile.bytes, slices, true);
    step(SliceKernel::sub, {y}, tile.elements, tile.bytes, slices, true, bits);
    Stage& move = add(SliceKernel::convert, {{bits, false}}, reciprocal);
    move.kind = StageKind::move;
    for (std::uint64_t i = 0; i < slices; ++i) {
      move.calls.push_back({.reads = {tile.bytes / slices}, .writes = tile.bytes / slices});
    }
    std::vector<std::uint32_t> factors{reciprocal};
    if (tile.data.size() > 1 || operation().form == Form::local_normalization)
      factors.push_back(tile.data[0]);
    step(SliceKernel::mul, factors, tile.elements, tile.bytes, 1, false, result());
  });
}

// A quotient of two polynomials, a kernel for each sum and product.
void Expander::error_function() {
  constexpr int kernels = 16;
  // Where LRAM does not hold three of the data each product and sum is a loop of its own.
  const std::uint64_t room = target_.lram_for_data() - 2 * target_.slices.program_bytes;
  const bool leaves = 3 * result_elements() * element_bytes() > room;
  for_tiles([&](const ElementTile& tile) {
    std::uint32_t y = tile.data[0];
    for (int i = 0; i < kernels; ++i) {
      const bool adds = i % 2 == 0 && i > 0;
      y = step(adds ? SliceKernel::add : SliceKernel::mul, {y}, tile.elements, tile.bytes, 1, false,
               new_buffer(tile.bytes, leaves && i % 2 == 0));
    }
    step(SliceKernel::clamp, {y}, tile.elements, tile.bytes, 1, false, result());
  });
}

}  // namespace npuscope::npu::torq
