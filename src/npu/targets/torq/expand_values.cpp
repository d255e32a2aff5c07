// Elementwise work, and what only moves data.
#include <algorithm>

#include "npu/targets/torq/expander.hpp"

namespace npuscope::npu::torq {

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
