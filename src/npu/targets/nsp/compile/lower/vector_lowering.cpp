#include "npu/targets/nsp/compile/lower/vector_lowering.hpp"

#include <algorithm>
#include <set>

#include "npu/targets/nsp/compile/lower/tile_formats.hpp"
#include "npu/targets/nsp/compile/lower/vector_tiles.hpp"
#include "npu/targets/nsp/compile/qnn_folds.hpp"

namespace npuscope::npu::nsp {
namespace {

// Axes, pads, indices of shape arithmetic: known to the kernel, not data it reads.
bool is_parameter(const Tensor& tensor) {
  return tensor.constant && tensor.values.has_value() && tensor.elements() <= 64;
}

bool keeps_layout(OpClass op_class) {
  return op_class == OpClass::elementwise || op_class == OpClass::softmax ||
         op_class == OpClass::normalization || op_class == OpClass::pooling ||
         op_class == OpClass::convolution || op_class == OpClass::reduction;
}

// A Concat of more takes one after the other: were all in VTCM at once, each would look for its
// place among all others.
constexpr std::size_t max_parts_at_once = 64;

// VectorKernel::row_elements
std::uint64_t elements_at_once(const Graph& graph, const Node& node, OpClass op_class) {
  if (op_class == OpClass::elementwise) return 1;
  const bool of_rows = op_class == OpClass::softmax || node.op.ends_with("LayerNormalization") ||
                       node.op == "RMSNormalization";
  if (!of_rows || node.outputs.size() != 1) return 0;
  const Shape& shape = graph[node.outputs[0]].shape;
  const std::int64_t axis = node.int_attribute("axis", -1);
  const bool last = axis == -1 || axis == std::int64_t(shape.size()) - 1;
  return last && !shape.empty() ? std::uint64_t(shape.back()) : 0;
}

}  // namespace

std::uint64_t window_rows(const Node& node) {
  const auto kernel = node.ints_attribute("kernel_shape");
  const auto dilations = node.ints_attribute("dilations");
  if (kernel.empty()) return node.op == "Resize" ? 2 : 1;
  return std::uint64_t((kernel[0] - 1) * (dilations.empty() ? 1 : dilations[0]) + 1);
}

bool windows_fit(const CompileContext& context, const Node& node, std::uint64_t bands) {
  const Shape& shape = context.tensor(node.inputs[0]).shape;
  return shape.size() > 2 && std::uint64_t(shape[2]) / bands >= window_rows(node);
}

bool goes_by_rows(const CompileContext& context, const Node& node, OpClass op_class) {
  if (!context.moves_tiles || !node.has_input(0)) return false;
  const bool image = context.images[std::uint32_t(node.outputs[0])];
  // Integers are put in the host's order when all of them are there.
  const bool integer = bits_of(context.type_of(node.outputs[0])) <= 8;
  if (integer && node.op.ends_with("ToChannelsFirst")) return false;
  if (op_class == OpClass::elementwise || (op_class == OpClass::convolution && image)) return true;
  if (!image) return op_class == OpClass::softmax || op_class == OpClass::normalization;
  const Shape& made = context.tensor(node.outputs[0]).shape;
  return made[2] > 1 && (op_class == OpClass::pooling || moves_whole_tiles(context, node));
}

std::vector<Operand> VectorLowering::prepare_inputs(const Node& node, OpClass op_class,
                                                    const Partition& output, Layout layout) {
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const TensorId id = node.inputs[i];
    if (id == TensorId::none || is_parameter(context_.tensor(id))) continue;
    const Partition needed = partition_of_input(context_.graph, node, op_class, i, output);
    const StorageId storage = place_.storages.of(id);
    const bool broadcast =
        context_.tensor(id).elements() != context_.tensor(node.outputs[0]).elements();
    const bool own_layout = storage != no_storage && keeps_layout(op_class) && broadcast && i > 0;
    operands.push_back(
        place_.operands.prepare(id, needed, own_layout ? place_.storages[storage].layout : layout));
  }
  return operands;
}

// What sorts the places of an image before a convolution does so in tiles: those of a flat one are
// converted first, band by band.
bool VectorLowering::sorts_places(const Node& node) const {
  return context_.cuts_resident && context_.moves_tiles &&
         (node.op.starts_with("SpaceToDepth") || node.op == "Decimate") &&
         node.op != "SpaceToDepth" && context_.images[std::uint32_t(node.outputs[0])];
}

void VectorLowering::lower(const Node& node, OpClass op_class, const VectorKernel& kernel) {
  if (op_class == OpClass::reduction && lower_split_reduction(node, kernel.name)) return;
  if (node.op == "Concat" && node.inputs.size() > max_parts_at_once) {
    return lower_concat_by_parts(node, op_class, kernel);
  }
  const Partition partition = choose_partition(context_, place_.storages, node, op_class);
  VectorKernel placed = kernel;
  placed.in_place = op_class == OpClass::elementwise || op_class == OpClass::scatter;
  placed.row_elements = elements_at_once(context_.graph, node, op_class);
  placed.by_rows = goes_by_rows(context_, node, op_class);
  Layout layout = Layout::flat;
  const StorageId first = place_.storages.of(node.inputs.empty() ? TensorId::none : node.inputs[0]);
  const bool rows = context_.target.vector_tile_bytes > 0 && op_class == OpClass::elementwise &&
                    (node.op == "Relu" || node.op == "Clip") &&
                    context_.tensor(node.outputs[0]).shape.size() < 4 &&
                    bits_of(context_.type_of(node.outputs[0])) == 16;
  const bool keeps = (keeps_layout(op_class) && !rows) || moves_whole_tiles(context_, node);
  if (keeps && first != no_storage) layout = place_.storages[first].layout;
  if (layout == Layout::weights_d32) layout = Layout::flat;
  if (sorts_places(node)) layout = Layout::d32;
  auto operands = prepare_inputs(node, op_class, partition, layout);
  std::vector<BufferId> halos;
  for (Operand& operand : operands)
    halos.push_back(exchange_halo(context_, writer_, place_, node, operand, partition));
  if (node.op.starts_with("DepthToSpaceFlat")) layout = Layout::flat;  // from tiles
  if (gathers_columns(node)) layout = Layout::d32;                     // into tiles
  VectorTiles(context_, writer_, place_).run(node, placed, partition, layout, operands, halos);
  for (Operand& operand : operands) place_.operands.finish(operand);
  for (BufferId halo : halos) place_.residency.release(halo);
  for (TensorId id : std::set<TensorId>(node.inputs.begin(), node.inputs.end())) {
    // Parameters that are computed, not constant, were not prepared but are used up all the same.
    if (id != TensorId::none && is_parameter(context_.tensor(id))) place_.residency.use_done(id);
  }
}

}  // namespace npuscope::npu::nsp
