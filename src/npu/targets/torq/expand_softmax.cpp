// Softmax: kernels over rows, in int8 the CSS's, over another side than the last the host's.
#include <algorithm>

#include "npu/targets/torq/expander.hpp"

namespace npuscope::npu::torq {

// Data and, on its stack, two floats of each row.
bool Expander::css_holds_softmax(const Operation& operation) const {
  const Node& node = graph_[operation.nodes.front()];
  const Shape& shape = graph_[operation.result].shape;
  const std::uint64_t floats = 4 * graph_[operation.result].elements();
  const Rows rows = rows_of(shape, node.int_attribute("axis", -1));
  return floats <= target_.css.data_bytes && 2 * 4 * rows.count <= target_.css.stack_bytes;
}

// In int8 the CSS computes in 32-bit floats.
void Expander::softmax_in_float() {
  size_ = 4;
  const std::uint64_t elements = result_elements(), bytes = elements * size_;
  const Shares shares = shares_of(graph_[operation().result]);
  host();
  const std::uint32_t from = joined(shares, size_, false, [&] { host(); });
  Stage& stage = add(SliceKernel::convert, {{from, true}}, new_buffer(bytes, true));
  stage.kind = StageKind::css;
  stage.code_bytes = target_.css.softmax_code_bytes;
  stage.calls.push_back(
      {.elements = elements, .constants = {12}, .reads = {bytes}, .writes = bytes});
  host();
  size_ = 0;
  joined(
      shares, 1, false, [&] { host(); }, result());
}

// Along another side than the last: in 32-bit floats by the host, sums and maxima of which begin as
// constants.
void Expander::softmax_of_columns() {
  const std::uint64_t elements = result_elements(), slices = target_.slices.count;
  const Shape& shape = graph_[operation().result].shape;
  std::int64_t axis = node().int_attribute("axis", -1);
  if (axis < 0) axis += std::int64_t(shape.size());
  const std::uint64_t columns =
      elements / std::max<std::uint64_t>(1, std::uint64_t(shape[std::size_t(axis)]));
  const std::uint64_t room = target_.lram_for_data() - slices * target_.slices.program_bytes;
  const auto converted = [&](std::uint64_t from, std::uint64_t to, std::uint64_t ways,
                             std::uint32_t result) {
    for_room(elements * from, room / (from + to) * from, [&](std::uint64_t share) {
      step(SliceKernel::round, {new_buffer(share, true)}, share / from, share / from * to, ways,
           false, result);
    });
  };
  const Shares shares = shares_of(graph_[operation().result]);
  // What slices do not share is put together and taken apart again between two programs.
  const auto by_parts = [&](int programs) {
    for (int i = 0; i < programs; ++i) {
      if (shares.rest == 0) {
        for (std::uint64_t k = 0; k < slices; ++k) host();
        continue;
      }
      host();
      const std::uint32_t whole = joined(shares, 4, false, [&] { host(); });
      if (i + 1 < programs) apart(whole, shares);
    }
  };
  converted(2, 4, slices, new_buffer(elements * 4, true));
  size_ = 4;
  const auto begun = [&] {
    step(SliceKernel::fill, {}, columns, columns * 4, 1, false, new_buffer(columns * 4, true));
    host();
  };
  begun();      // maxima
  by_parts(3);  // what they are taken from, powers
  begun();      // sums
  by_parts(2);  // quotients
  size_ = 0;
  converted(4, 2, 1, result());
}

// Rows that do not fit LRAM next to what becomes of them are taken a part at a time.
void Expander::softmax() {
  if (operation().is_int8) return softmax_in_float();
  const Shape& shape = graph_[operation().result].shape;
  std::int64_t axis = node().int_attribute("axis", -1);
  if (axis < 0) axis += std::int64_t(shape.size());
  const Rows rows = rows_of(shape, axis);  // of one side: those after it may be 1
  if (!shape.empty() && rows.length != std::uint64_t(shape[std::size_t(axis)])) {
    return softmax_of_columns();
  }
  const std::uint64_t all = result_elements() * 2;
  const std::uint64_t room = target_.lram_for_data() - target_.slices.program_bytes;
  const std::uint64_t tiles = std::max<std::uint64_t>(1, divide_up(3 * all, room));
  for (std::uint64_t i = 0; i < std::min(tiles, rows.count) && out_.stages.size() < max_tasks;
       ++i) {
    const std::uint64_t count = divide_up(rows.count, tiles), elements = count * rows.length;
    const std::uint64_t bytes = elements * 2;
    const auto whole = [&](SliceKernel kernel, std::vector<std::uint32_t> reads,
                           bool outside = false) {
      return step(kernel, std::move(reads), elements, bytes, 1, false, new_buffer(bytes, outside));
    };
    const auto row = [&](SliceKernel kernel, std::vector<std::uint32_t> reads,
                         bool outside = false) {
      return step(kernel, std::move(reads), count, count * 2, 1, false,
                  new_buffer(count * 2, outside));
    };
    const auto reduced = [&](SliceKernel kernel, std::uint32_t from, bool outside) {
      return step(kernel, {from}, elements, count * 2, 1, false, new_buffer(count * 2, outside));
    };
    const std::uint32_t x = tiles == 1 ? data() : new_buffer(bytes, true);
    const std::uint32_t largest =
        whole(SliceKernel::broadcast, {reduced(SliceKernel::reduce_max, x, false)});
    const std::uint32_t below = whole(SliceKernel::add, {x, largest}, true);
    const std::uint32_t powers = whole(
        SliceKernel::fma, {whole(SliceKernel::table, {whole(SliceKernel::fma, {below})})}, true);
    const std::uint32_t sums = reduced(SliceKernel::reduce_sum, powers, true);
    const std::uint32_t inverse = row(SliceKernel::fma, {row(SliceKernel::table, {sums})}, true);
    const std::uint32_t wide = whole(SliceKernel::broadcast, {inverse});
    step(SliceKernel::mul, {powers, wide}, elements, bytes, 1, false, result());
  }
}

}  // namespace npuscope::npu::torq
