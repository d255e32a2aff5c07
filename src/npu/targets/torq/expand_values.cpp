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
    const bool follows = operation().form == Form::unary && !is_from_outside() && tile.ways > 1;
    step(kernel, tile.data, tile.elements, tile.bytes, tile.ways, follows, result());
  });
}

// A smaller operand is made as large as the result first: all of it where LRAM holds that, or else
// in the loop of parts.
void Expander::sum() {
  const bool by_constant = operation().inputs.size() == 1 && node().has_input(1);
  const auto smaller = smaller_input();
  const std::uint64_t constant = by_constant ? graph_[node().inputs[1]].elements() : 0;
  const bool is_wide = constant == result_elements();
  const bool widens = !operation().is_int8 && (smaller || (constant > 1 && !is_wide));
  const std::uint64_t bytes = result_elements() * element_bytes();
  const bool is_tiled = plan().cut.row_parts > 1;
  const bool goes_out =
      widens && is_tiled && bytes <= target_.lram_for_data() - 2 * target_.slices.program_bytes;
  const auto small = [&] {
    return smaller ? data(*smaller) : new_buffer(constant * element_bytes(), true, true);
  };
  if (goes_out) {
    step(SliceKernel::broadcast, {small()}, result_elements(), bytes, plan().ways, false,
         new_buffer(bytes, true));
  }
  for_tiles([&](const ElementTile& tile) {
    std::vector<std::uint32_t> reads = tile.data;
    bool follows = false;
    if (widens) {
      const std::uint32_t wide =
          goes_out ? new_buffer(tile.bytes, true)
                   : step(SliceKernel::broadcast, {small()}, tile.elements, tile.bytes, tile.ways);
      smaller ? void(reads[*smaller] = wide) : reads.push_back(wide);
      follows = tile.ways > 1 && !goes_out;
    } else if (is_wide && !operation().is_int8) {
      reads.push_back(new_buffer(tile.bytes, true, true));
    }
    step(SliceKernel::add, reads, tile.elements, tile.bytes, tile.ways, follows, result());
  });
}

// Of the operation's inputs, one that is broadcast.
std::optional<std::size_t> Expander::smaller_input() const {
  const std::vector<TensorId>& inputs = operation().inputs;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const std::uint64_t elements = graph_[inputs[k]].elements();
    if (elements > 1 && elements < result_elements()) return k;
  }
  return std::nullopt;
}

// In int8 both operands become wider first. A smaller operand is made as large as the result, in
// the loop of parts where LRAM does not hold that; in int8 the product reads it one by one.
void Expander::multiplication() {
  const auto smaller = smaller_input();
  const std::uint64_t bytes = result_elements() * element_bytes();
  const bool fits = bytes <= target_.lram_for_data() - 2 * target_.slices.program_bytes;
  const bool is_tiled = plan().cut.row_parts > 1;
  std::uint32_t wide = 0;
  const auto part_of = [&](const ElementTile& tile) {
    const std::uint64_t whole = graph_[operation().inputs[*smaller]].elements();
    return std::max<std::uint64_t>(1, whole * tile.elements / result_elements());
  };
  if (smaller && !operation().is_int8 && fits) {
    wide = step(SliceKernel::broadcast, {data(*smaller)}, result_elements(), bytes,
                target_.slices.count, false, new_buffer(bytes, is_tiled));
  }
  for_tiles([&](const ElementTile& tile) {
    std::vector<std::uint32_t> reads = tile.data;
    if (smaller && is_tiled && (operation().is_int8 || !fits))
      reads[*smaller] = new_buffer(part_of(tile) * element_bytes(), true);
    if (operation().is_int8) {
      for (std::size_t k = 0; k < reads.size(); ++k) {
        const std::uint64_t elements = smaller == k ? part_of(tile) : tile.elements;
        reads[k] = step(SliceKernel::fma, {reads[k]}, elements, elements, tile.ways, tile.ways > 1);
      }
    } else if (smaller && !fits) {
      reads[*smaller] =
          step(SliceKernel::broadcast, {reads[*smaller]}, tile.elements, tile.bytes, 1);
    } else if (smaller && !is_tiled) {
      reads[*smaller] = wide;
    }
    step(SliceKernel::mul, reads, tile.elements, tile.bytes, tile.ways,
         tile.ways > 1 && operation().is_int8, result());
    if (smaller && operation().is_int8)
      out_.stages.back().calls.front().cycles =
          std::uint64_t(double(tile.elements) / target_.elements_a_cycle("mul-channel", 2));
  });
}

// Of 1-byte elements only to channels last.
bool Expander::turns_in_float(const Operation& operation) const {
  const std::vector<std::int64_t> to_channels_last{0, 2, 3, 1};
  const Node& node = graph_[operation.nodes.front()];
  return operation.is_int8 && operation.form == Form::transpose &&
         node.ints_attribute("perm") != to_channels_last;
}

void Expander::transpose() {
  if (turns_in_float(operation()))
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
    const bool is_whole = tiles == 1 && size_ == 0;
    const std::uint32_t from = is_whole ? data() : new_buffer(share * element_bytes(), true);
    step(is_matrix ? SliceKernel::transpose_block : SliceKernel::transpose, {from}, share,
         share * element_bytes(), plan().ways, false, result());
  }
}

// Or else its rows lie as a mean wants them.
bool Expander::reduces_last() const {
  const auto rank = std::int64_t(graph_[node().inputs[0]].shape.size());
  const Shape axes = stated_axes(graph_, node());
  return axes.empty() || axes.back() == rank - 1;
}

// Rows as they lie: each element is read, or for means a block of rows at once after being turned.
void Expander::reduction(SliceKernel kernel) {
  const Tensor& in = graph_[node().inputs[0]];
  const std::uint64_t rows = result_elements();
  if (operation().is_int8) {  // of 32-bit floats that the host makes
    host();
    size_ = 4;
  }
  const std::uint64_t depth =
      std::max<std::uint64_t>(1, in.elements() / std::max<std::uint64_t>(1, rows));
  const std::uint64_t room = target_.lram_for_data() - target_.slices.program_bytes;
  const std::uint64_t bytes = in.elements() * element_bytes();
  const std::uint64_t tiles = std::max<std::uint64_t>(1, divide_up(2 * bytes, room));
  for (std::uint64_t i = 0; i < tiles && out_.stages.size() < max_tasks; ++i) {
    std::uint32_t from = tiles == 1 ? data() : new_buffer(bytes / tiles, true);
    if (operation().is_int8 && tiles == 1) {
      from = joined(
          shares_of(in), size_, false, [&] { host(); }, new_buffer(bytes, true));
    }
    if (kernel == SliceKernel::reduce_mean && reduces_last()) {
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
  if (!operation().is_int8) return;
  size_ = 0;
  host();
}

// Through LRAM, as large a part at a time as fits next to another. In int8 scales differ, so that
// the host converts before and behind.
// Parts of a tensor in XRAM are read where they are.
bool Expander::reads_in_place(const Operation& operation) const {
  const Node& node = graph_[operation.nodes.front()];
  return operation.form == Form::copy && !operation.is_int8 &&
         (node.op == "Slice" || node.op == "Split") && !is_result_of_model(operation);
}

void Expander::copy() {
  if (reads_in_place(operation())) return;
  if (operation().is_int8)
    around_host([&] { moves(); });
  else
    moves();
}

void Expander::moves() {
  if (operation().kernel == "broadcast") return enlarge();
  if (node().op == "Pad" && node().string_attribute("mode", "constant") == "constant" &&
      result_elements() * element_bytes() >= out_.buffers[data()].bytes) {
    filled(data(), result_elements() * element_bytes(), 1);
    return;
  }
  const std::size_t inputs = operation().inputs.size();
  const std::uint64_t room = target_.lram_for_data() / 2;
  for (std::size_t k = 0; k < std::max<std::size_t>(1, inputs); ++k) {
    const std::uint64_t elements =
        inputs > 1 ? graph_[operation().inputs[k]].elements() : result_elements();
    for_room(elements * element_bytes(), room, [&](std::uint64_t share) {
      Stage& stage = add(SliceKernel::convert, {{new_buffer(share, true), true}}, result());
      stage.kind = StageKind::move;
      stage.calls.push_back({.reads = {share}, .writes = share});
    });
  }
  // Parts of a result of the model are put together in a place of their own.
  if (inputs > 1 && is_result_of_model() && !operation().is_int8)
    moved(result_elements() * element_bytes());
}

// Each element several times, by channels that fit LRAM next to what becomes of them.
void Expander::enlarge() {
  const std::uint64_t read = graph_[operation().inputs[0]].elements() * 2;
  const std::uint64_t made = result_elements() * 2;
  const std::uint64_t channels = std::uint64_t(graph_[operation().result].shape[1]);
  const std::uint64_t room = target_.lram_for_data() - 2 * target_.slices.program_bytes;
  std::uint64_t tiles = 1;
  while (divide_up(channels, tiles) * ((read + made) / channels) > room && tiles < channels)
    ++tiles;
  const std::uint64_t each = divide_up(channels, tiles);
  for (std::uint64_t first = 0; first < channels && out_.stages.size() < max_tasks; first += each) {
    const std::uint64_t part = std::min(each, channels - first);
    const std::uint32_t from = tiles == 1 ? data() : new_buffer(read / channels * part, true);
    step(SliceKernel::broadcast, {from}, made / 2 / channels * part, made / channels * part,
         part < least_shared() ? 1 : target_.slices.count, false, result());
    for (Call& call : out_.stages.back().calls) {
      const std::uint64_t elements = call.writes / 2;
      call.cycles = std::uint64_t(double(elements) / target_.elements_a_cycle("enlarge", 2));
    }
  }
}

// The slices read any element of LRAM; a table that is larger stays with the host.
void Expander::gather() {
  const std::uint64_t table = storage_bytes(graph_[node().inputs[0]]);
  if (table + result_elements() * element_bytes() > target_.lram_for_data() / 2) return host(true);
  const std::uint32_t from = new_buffer(table, true, true);
  step(SliceKernel::gather, {from}, result_elements(), result_elements() * element_bytes(), 1,
       false, result());
}

}  // namespace npuscope::npu::torq
