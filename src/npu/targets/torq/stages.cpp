#include "npu/targets/torq/stages.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/try.hpp"
#include "npu/targets/torq/expander.hpp"

namespace npuscope::npu::torq {
namespace {

// Of the first side that has more than one.
std::uint64_t first_extent(const Shape& shape) {
  const auto first = std::ranges::find_if(shape, [](std::int64_t each) { return each > 1; });
  return first == shape.end() ? 1 : std::uint64_t(*first);
}

}  // namespace

Result<Stages> Expander::run() {
  for (std::size_t i = 0; i < plans_.size(); ++i) plan(i);
  for (std::size_t i = plans_.size(); i > 0; --i) plan_together(i - 1);
  decide_outside();
  for (at_ = 0; at_ < lowering_.operations.size(); ++at_) {
    size_ = 0;
    // Scales around what only changes the shape are the host's.
    if (operation().is_int8 && operation().reshaped) host();
    expand(at_);
    if (out_.stages.size() > max_tasks / 4) {
      return input_error(
          "{} ({}): {} bytes of LRAM cut it into so many tiles that the program would have more "
          "than {} tasks; use a smaller model",
          printable(node().name), operation().kernel, thousands(target_.lram_bytes),
          thousands(max_tasks));
    }
  }
  return std::move(out_);
}

void Expander::plan(std::size_t index) {
  const Operation& operation = lowering_.operations[index];
  Plan& plan = plans_[index];
  at_ = index;
  plan.ways = ways_of(index);
  plan.reads_parts = reads_in_parts(index);
  switch (operation.form) {
    case Form::convolution:
    case Form::depthwise:
    case Form::max_pooling: return plan_image(operation, plan);
    case Form::sum:
    case Form::multiplication:
    case Form::unary:
    case Form::table:
    case Form::sigmoid:
    case Form::square_root:
    case Form::division:
    case Form::local_normalization:
    case Form::error_function: plan.cut.row_parts = cut_of_elements(operation); return;
    case Form::css:
      if (graph_[operation.nodes.front()].op == "HardSwish")
        plan.cut.row_parts = cut_of_elements(operation);
      return;
    case Form::softmax:
      if (operation.is_int8 && !css_holds_softmax(operation))
        leave_to_host(operation, plan, "its rows do not fit the memory of the CSS");
      return;
    default: return;
  }
}

// So many that what a kernel reads and makes of one fits LRAM.
std::uint64_t Expander::cut_of_elements(const Operation& operation) const {
  const std::uint64_t bytes = lowering_.bytes(graph_, operation.result);
  const std::uint64_t room = target_.lram_for_data() - 2 * target_.slices.program_bytes;
  // A function keeps what its kernels make for each other.
  const bool is_chain = operation.form == Form::sigmoid || operation.form == Form::square_root ||
                        operation.form == Form::division ||
                        operation.form == Form::local_normalization;
  const Node& node = graph_[operation.nodes.front()];
  const bool adds_constants = operation.form == Form::sum && !operation.is_int8 &&
                              operation.inputs.size() == 1 && node.has_input(1) &&
                              graph_[node.inputs[1]].elements() > 1;
  const std::uint64_t operands = operation.inputs.size() + (adds_constants ? 1 : 0);
  const std::uint64_t kept = is_chain ? 4 : std::max<std::uint64_t>(2, operands + 1);
  std::uint64_t tiles =
      std::max<std::uint64_t>(1, divide_up(saturating_product({bytes, kept}), room));
  const std::uint64_t extent = first_extent(graph_[operation.result].shape);
  const auto part_of = [&] { return divide_up(extent, tiles); };
  while (tiles < extent && saturating_product({bytes / extent, part_of(), kept}) > room) ++tiles;
  return tiles;
}

// The data of each tile of an elementwise operation, and what becomes of them. Tiles have whole
// parts of the first side where that is long enough.
void Expander::for_tiles(const std::function<void(const ElementTile&)>& make) {
  const std::uint64_t tiles = plan().cut.row_parts, elements = result_elements();
  std::uint64_t extent = first_extent(graph_[operation().result].shape);
  if (extent < tiles) extent = elements;
  std::uint64_t each = divide_up(extent, tiles);
  if (tiles > 1 && plan().ways > 1 && each > least_shared()) each -= each % least_shared();
  for (std::uint64_t i = 0; i < extent && out_.stages.size() < max_tasks; i += each) {
    const std::uint64_t part = std::min(each, extent - i);
    ElementTile tile;
    tile.elements = elements / extent * part;
    tile.bytes = tile.elements * element_bytes();
    tile.ways = tiles > 1 && part < least_shared() ? 1 : plan().ways;
    for (std::size_t k = 0; k < std::max<std::size_t>(1, operation().inputs.size()); ++k) {
      const bool is_whole = tiles == 1 && size_ == 0;
      tile.data.push_back(is_whole ? data(k) : new_buffer(tile.bytes, true));
    }
    make(tile);
  }
}

// A function of all elements of one product that nobody else reads: x * Sigmoid(x).
bool Expander::goes_into_product(std::size_t index) const {
  const Operation& operation = lowering_.operations[index];
  if (operation.form != Form::sigmoid && operation.form != Form::table) return false;
  const auto readers = readers_.find(operation.result);
  if (readers == readers_.end() || readers->second.size() != 1) return false;
  const Operation& reader = lowering_.operations[readers->second.front()];
  return reader.form == Form::multiplication && !reader.reshaped && reader.inputs.size() > 1 &&
         std::ranges::all_of(reader.inputs, [&](TensorId id) {
           return graph_[id].elements() == graph_[reader.result].elements();
         });
}

// Slices share a product as they share that.
bool Expander::takes_function(std::size_t index) const {
  return std::ranges::any_of(lowering_.operations[index].inputs, [&](TensorId id) {
    const auto writer = writers_.find(id);
    return writer != writers_.end() && goes_into_product(writer->second);
  });
}

// In bf16 most work is shared by the slices; what one kernel after the other does is not.
std::uint64_t Expander::ways_of(std::size_t index) const {
  const Operation& operation = lowering_.operations[index];
  const std::uint64_t slices = target_.slices.count;
  const auto only_reader = [&](TensorId id) {
    const auto readers = readers_.find(id);
    const auto writer = writers_.find(id);
    return writer != writers_.end() && readers != readers_.end() && readers->second.size() == 1 &&
           !reads_in_place(lowering_.operations[writer->second]);
  };
  const bool all_alone =
      !operation.inputs.empty() && std::ranges::all_of(operation.inputs, only_reader);
  const bool averages = graph_[operation.nodes.front()].op.ends_with("AveragePool");
  switch (operation.form) {
    case Form::convolution: return operation.is_int8 ? 1 : slices;
    case Form::depthwise:
      return operation.is_int8 || averages ||
                     (!operation.inputs.empty() && writers_.contains(operation.inputs[0]))
                 ? 1
                 : slices;
    case Form::sum: {
      const bool of_images = graph_[operation.result].shape.size() == 4;
      return operation.is_int8 || (all_alone && of_images && operation.inputs.size() > 1) ||
                     graph_[operation.result].elements() < 1024
                 ? 1
                 : slices;
    }
    case Form::unary: {
      if (!all_alone) return slices;
      const Operation& writer = lowering_.operations[writers_.at(operation.inputs[0])];
      return writer.form == Form::sum ? plans_[writers_.at(operation.inputs[0])].ways : slices;
    }
    case Form::transpose: {
      // Slices have halves of the result's first dimension, of whole groups of four.
      const Shape& shape = graph_[operation.result].shape;
      const auto first =
          std::ranges::find_if(shape, [](std::int64_t extent) { return extent > 1; });
      const bool is_even = first != shape.end() && *first % std::int64_t(4 * slices) == 0;
      return all_alone || !is_even ? 1 : slices;
    }
    case Form::multiplication: return takes_function(index) ? slices : 1;
    case Form::max_pooling:
    case Form::matmul:
    case Form::table:
    case Form::sigmoid:
    case Form::layer_normalization: return slices;
    default: return 1;
  }
}

bool Expander::reads_in_parts(std::size_t index) const {
  const Operation& operation = lowering_.operations[index];
  const bool cuts_data = operation.form != Form::convolution && operation.form != Form::product;
  return cuts_data && plans_[index].ways > 1;
}

// Results that nobody reads where they were written: those of the model, those that are read under
// another shape, those of two slices of which the next kernels read other parts, and all that are
// too large to stay.
void Expander::decide_outside() {
  for (const TensorId id : graph_.outputs) outside_[lowering_.roots[std::size_t(id)]] = true;
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    const Operation& operation = lowering_.operations[i];
    const bool is_tiled = plans_[i].cut != TileCut{};
    const bool by_parts_of_rows = plans_[i].cut.row_parts > 1;
    const bool ends_on_host =
        operation.is_int8 &&
        (operation.form == Form::matmul || operation.form == Form::layer_normalization ||
         operation.form == Form::reduction || is_pooled_in_float(i) || turns_in_float(operation) ||
         operation.form == Form::unary);
    const bool elsewhere =
        operation.executor != Executor::slices || ends_on_host || plans_[i].on_host;
    const bool large = lowering_.bytes(graph_, operation.result) > target_.lram_for_data() / 2;
    const bool enlarges = operation.form == Form::copy && operation.executor == Executor::slices;
    const bool in_place = reads_in_place(operation);
    // Slices' parts of such products are apart, and so are those that others make of them.
    const Tensor& result = graph_[operation.result];
    const bool multiplies = target_.slices.count > 1 && operation.form == Form::matmul &&
                            result.shape.size() == 4 &&
                            result.elements() >= target_.slices.shared_elements;
    if (is_tiled || elsewhere || enlarges || large || multiplies) outside_[operation.result] = true;
    if (in_place) {
      for (const TensorId output : present(graph_[operation.nodes.front()].outputs))
        outside_[output] = true;
    }
    for (const TensorId input : operation.inputs) {
      const auto writer = writers_.find(input);
      if (writer == writers_.end()) continue;
      const Plan& made = plans_[writer->second];
      const Operation& maker = lowering_.operations[writer->second];
      const bool stays = maker.is_int8 && goes_into_product(writer->second);
      const bool next = made.ways > 1 && plans_[i].reads_parts && !stays &&
                        !(operation.form == Form::unary && maker.form == Form::sum &&
                          readers_.at(input).size() == 1 && maker.inputs.size() == 1);
      const bool is_halved = operation.is_int8 && goes_into_product(i);
      if (operation.reshaped || next || by_parts_of_rows || elsewhere || enlarges || is_halved ||
          in_place || multiplies)
        outside_[input] = true;
    }
  }
}

void Expander::leave_to_host(const Operation& operation, Plan& plan, std::string_view why) {
  const Node& node = graph_[operation.nodes.front()];
  plan.on_host = true;
  out_.on_host.push_back(std::uint32_t(at_));
  out_.warnings.push_back(fmt::format("{} ({}): {}; the host computes it", printable(node.name),
                                      printable(node.op), why));
}

void Expander::expand(std::size_t index) {
  const Operation& operation = lowering_.operations[index];
  const auto kernel_named = [&](std::initializer_list<SliceKernel> kernels) {
    for (const SliceKernel each : kernels) {
      if (names_of(each).operation == operation.kernel) return each;
    }
    return *kernels.begin();
  };
  if (plan().on_host) return host(true);
  if (plan().reader) return;  // makes them, tile by tile
  switch (operation.form) {
    case Form::convolution:
    case Form::depthwise: return image(plan());
    case Form::grouped: return grouped();
    case Form::max_pooling: return max_pooling(plan());
    case Form::global_average: return global_average();
    case Form::product: return product();
    case Form::matmul: return matmul();
    case Form::sum: return sum();
    case Form::multiplication: return multiplication();
    case Form::unary:
      return elementwise(kernel_named({SliceKernel::clamp, SliceKernel::abs, SliceKernel::negate,
                                       SliceKernel::convert, SliceKernel::compare,
                                       SliceKernel::select, SliceKernel::mul}));
    case Form::table: return elementwise(SliceKernel::table);
    case Form::sigmoid: return sigmoid();
    case Form::square_root: return square_root();
    case Form::division: return division();
    case Form::error_function: return error_function();
    case Form::softmax: return softmax();
    case Form::layer_normalization: return layer_normalization();
    case Form::batch_normalization: return batch_normalization();
    case Form::local_normalization: return local_normalization();
    case Form::reduction:
      return reduction(kernel_named(
          {SliceKernel::reduce_sum, SliceKernel::reduce_max, SliceKernel::reduce_mean}));
    case Form::transpose: return transpose();
    case Form::gather: return gather();
    case Form::copy: return copy();
    case Form::css: return css();
    case Form::host: return host(true);
  }
}

Result<Stages> stages_of(const Lowering& lowering, const Graph& graph, const Target& target) {
  return Expander(lowering, graph, target).run();
}

}  // namespace npuscope::npu::torq
