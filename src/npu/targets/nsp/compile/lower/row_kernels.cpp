#include "npu/targets/nsp/compile/lower/row_kernels.hpp"
#include "npu/targets/nsp/compile/lower/tile_formats.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "npu/targets/nsp/compile/qnn_folds.hpp"
#include "npu/targets/nsp/compile/tasks/task_writer.hpp"

namespace npuscope::npu::nsp {
namespace {

// Whether what it makes leaves the network, scaled at most.
bool leaves(const CompileContext& context, TensorId id) {
  constexpr int max_steps = 8;
  const Shape& shape = context.tensor(id).shape;
  if (elements_of(shape, shape.size() - 1) % 8 != 0) return false;  // those stay in their tiles
  for (int step = 0; step < max_steps; ++step) {
    if (is_output(context.graph, id)) return true;
    const auto& readers = context.tensor(id).consumers;
    if (readers.size() != 1) return false;
    const Node& node = context.graph[readers[0]];
    const OpClass op_class = context.plans[std::uint32_t(readers[0])].op_class;
    if (op_class != OpClass::elementwise || node.outputs.empty()) return false;
    id = node.outputs[0];
  }
  return false;
}

// Of a matrix and one value for each of its columns, or for each of its rows.
std::string broadcast_kernel(const CompileContext& context, const Node& node) {
  const bool scales = (node.op == "Mul" || node.op == "Div") && node.inputs.size() == 2 &&
                      node.has_input(0) && node.has_input(1);
  if (!scales || context.images[std::uint32_t(node.outputs[0])]) return {};
  const Shape& made = context.tensor(node.outputs[0]).shape;
  if (made.size() < 2 || context.tensor(node.inputs[0]).shape != made) return {};
  const Tensor& other = context.tensor(node.inputs[1]);
  const auto columns = std::uint64_t(made.back());
  if (columns < 2 || other.elements() < 2) return {};
  if (other.elements() * columns == elements_of(made))
    return other.shape.back() != 1            ? ""
           : node.op != "Div"                 ? "aicmulrows"
           : leaves(context, node.outputs[0]) ? "aicdivlastrows"
                                              : "aicdivrows";
  return node.op == "Mul" && other.elements() == columns ? "aicbroadcastmul" : "";
}

// How activations of float16 on the rows of a product find them.
enum class Rows {
  image,
  in_tiles,    // they do not fill eights
  single,      // few, in one row of places
  normalized,  // a LayerNormalization has put them by eights
  flat         // those by eights that are taken out of their tiles
};

Rows rows_of(const CompileContext& context, TensorId id) {
  const Shape& shape = context.tensor(id).shape;
  if (context.images[std::uint32_t(id)] || shape.size() < 2) return Rows::image;
  const std::uint64_t rows = elements_of(shape, shape.size() - 1);
  const bool normalized = context.normalized[std::uint32_t(id)];
  if (rows <= few_rows && (rows % 8 != 0 || !normalized)) return Rows::single;
  if (rows % 8 != 0) return Rows::in_tiles;
  return normalized ? Rows::normalized : Rows::flat;
}

// Rows of a product by eights, which it takes out of their tiles, scaled.
bool scales_flat_rows(const CompileContext& context, const Node& node) {
  if ((node.op != "Mul" && node.op != "Div") || node.inputs.size() != 2 || !node.has_input(0) ||
      !node.has_input(1) || context.tensor(node.inputs[1]).elements() != 1)
    return false;
  const TensorId from = node.inputs[0];
  const NodeId producer = context.tensor(from).producer;
  return bits_of(context.type_of(from)) == 16 && producer != NodeId::none &&
         context.plans[std::uint32_t(producer)].op_class == OpClass::matmul &&
         rows_of(context, from) != Rows::in_tiles;
}

// A bias of float16 whose last block of columns is not full: every block is taken out and put back.
bool is_added_by_columns(const CompileContext& context, const Node& node) {
  if (node.op != "Add" || node.inputs.size() != 2 || !node.has_input(0) || !node.has_input(1))
    return false;
  const TensorId made = node.outputs[0];
  const Shape& shape = context.tensor(made).shape;
  const auto block = std::int64_t(context.target.hmx_alignment);
  if (context.images[std::uint32_t(made)] || bits_of(context.type_of(made)) != 16) return false;
  if (shape.size() < 2 || shape.back() <= block || shape.back() % block == 0) return false;
  return std::ranges::any_of(node.inputs, [&](TensorId id) {
    const Tensor& bias = context.tensor(id);
    return bias.constant && bias.elements() == std::uint64_t(shape.back());
  });
}

// Whether places of an image have become rows with nothing but rows' own operators since then, and
// not an image of eight rows, which is what other rows are as well.
bool are_places_of_image(const CompileContext& context, TensorId id) {
  constexpr int max_steps = 16;
  for (int step = 0; step < max_steps; ++step) {
    const NodeId producer = context.tensor(id).producer;
    if (producer == NodeId::none) return false;
    const Node& node = context.graph[producer];
    if (node.op == "PlacesToRows") return context.tensor(node.inputs[0]).shape[2] != 8;
    TensorId next = TensorId::none;
    for (const TensorId input : present(node.inputs)) {
      if (context.tensor(input).constant) continue;
      if (next != TensorId::none) return false;
      next = input;
    }
    const OpClass op_class = context.plans[std::uint32_t(producer)].op_class;
    const bool own = op_class == OpClass::elementwise || op_class == OpClass::normalization ||
                     node.op == "MatMul";
    if (!own || next == TensorId::none) return false;
    id = next;
  }
  return false;
}

// Of the values of attention on places of an image a bias is added to rows that are in no tiles.
bool is_added_to_places(const CompileContext& context, const Node& node) {
  const Node& view = context.graph[context.tensor(node.outputs[0]).consumers[0]];
  const auto& turns = context.tensor(view.outputs[0]).consumers;
  if (turns.size() != 1 || context.graph[turns[0]].op != "Transpose") return false;
  const TensorId values = context.graph[turns[0]].outputs[0];
  const auto order = context.graph[turns[0]].ints_attribute("perm");
  return is_right_side(context, values) && !order.empty() && order.back() == 3 &&
         are_places_of_image(context, node.outputs[0]);
}

// The mean of the rows of a matrix: a window as wide as it is.
bool is_mean_of_rows(const CompileContext& context, const Node& node) {
  if (node.op != "ReduceMean" || !node.has_input(0)) return false;
  const Tensor &from = context.tensor(node.inputs[0]), &made = context.tensor(node.outputs[0]);
  return !context.images[std::uint32_t(node.inputs[0])] && from.shape.size() > 1 &&
         !made.shape.empty() && made.shape.back() == from.shape.back() &&
         made.elements() < from.elements();
}

bool is_activation(const Node& node) {
  static const std::set<std::string, std::less<>> activations{
      "Tanh", "Sigmoid", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Swish", "SwishBeta"};
  return activations.contains(node.op);
}

bool is_one_row(const CompileContext& context, TensorId id) {
  const Shape& shape = context.tensor(id).shape;
  return !context.images[std::uint32_t(id)] && !shape.empty() &&
         elements_of(shape) == std::uint64_t(shape.back());
}

bool has_window(const Node& node) {
  return std::ranges::any_of(node.ints_attribute("kernel_shape"),
                             [](std::int64_t extent) { return extent > 1; });
}

bool has_no_border(const Node& node) {
  return std::ranges::all_of(node.ints_attribute("pads"),
                             [](std::int64_t pad) { return pad == 0; });
}

// Of float16, which the HMX only computes with the product before it: a kernel on HVX where there
// is none, and of what some of them take after a convolution along one axis. Empty: the usual one.
std::string activation_kernel(const CompileContext& context, const Node& node) {
  static const std::set<std::string, std::less<>> along_one_axis{"Gelu", "HardSwish", "LeakyRelu"};
  const TensorId from = node.inputs.empty() ? TensorId::none : node.inputs[0];
  if (from == TensorId::none || !is_activation(node) || bits_of(context.type_of(from)) != 16)
    return {};
  const std::string name = "element" + in_small_letters(node.op);
  const NodeId producer = context.tensor(from).producer;
  const NodePlan* plan =
      producer == NodeId::none ? nullptr : &context.plans[std::uint32_t(producer)];
  const bool convolution = plan != nullptr && plan->op_class == OpClass::convolution;
  // Sums of images are made on the HMX as well.
  if (plan != nullptr && is_sum(context.graph[producer]) && plan->fate == NodeFate::execute &&
      context.images[std::uint32_t(node.outputs[0])] &&
      !broadcasts(context.graph, context.graph[producer]) && node.op != "SwishBeta")
    return {};
  if (node.int_attribute("with_sum", 0) != 0) return "aicjoind32";
  const bool product = plan != nullptr && (convolution || plan->fate == NodeFate::fused ||
                                           plan->op_class == OpClass::matmul);
  const Rows rows = rows_of(context, node.outputs[0]);
  if (node.op == "SwishBeta")
    return rows == Rows::normalized || rows == Rows::flat ? name : name + "rows";
  // Of a sequence in the host's order, as a normalisation of it leaves it.
  if (!product && node.op == "Gelu" && producer != NodeId::none &&
      context.graph[producer].op == "InstanceNormalization" &&
      context.tensor(from).shape.size() == 3)
    return name + "sequence";
  // What others read as well is not done with the product.
  if (node.op == "HardSigmoid" && convolution && context.tensor(from).consumers.size() > 1)
    return name + "alone";
  const bool sharp = node.op == "Tanh" || node.op == "Sigmoid";
  if (!product) return name + (sharp && is_one_row(context, node.outputs[0]) ? "onerow" : "alone");
  static const std::set<std::string, std::less<>> on_rows{"Tanh", "Sigmoid", "HardSwish"};
  if (!convolution && rows == Rows::in_tiles && on_rows.contains(node.op)) return name + "rows";
  // A transpose after it moves before it: it is then one of a matrix.
  const auto& readers = context.tensor(node.outputs[0]).consumers;
  const bool turns = std::ranges::any_of(
      readers, [&](NodeId reader) { return context.graph[reader].op == "Transpose"; });
  const bool sequence = convolution && context.tensor(from).shape.size() == 3;
  if (sequence && turns) return name + "alone";
  if (!sequence || !along_one_axis.contains(node.op)) return {};
  // Those without a border, and slopes after windows, are done with the convolution.
  const bool window = has_window(context.graph[producer]);
  const bool inside = window && (has_no_border(context.graph[producer]) || node.op == "LeakyRelu");
  return inside ? "" : name + "sequence";
}

// Of integers, rows that do not fill eights take longer; in floating point those of more than one
// chunk of columns.
std::string norm_kernel(const CompileContext& context, const Node& node) {
  const TensorId made = node.outputs[0];
  const Rows rows = rows_of(context, made);
  const bool integer = bits_of(context.type_of(made)) <= 8;
  if (integer && (rows == Rows::in_tiles || rows == Rows::single)) return "aiclayernormrows";
  constexpr std::int64_t columns_of_a_chunk = 256;
  const bool wide = !integer && context.tensor(made).shape.back() > columns_of_a_chunk;
  return wide ? "aiclayernormwide" : "aiclayernormd32";
}

}  // namespace

bool are_scores_by_heads(const CompileContext& context, const Node& node) {
  const Shape& shape = context.tensor(node.outputs[0]).shape;
  if (!node.has_input(0) || bits_of(context.type_of(node.outputs[0])) > 8 || shape.size() != 4)
    return false;
  const NodeId producer = context.tensor(node.inputs[0]).producer;
  if (producer == NodeId::none) return false;
  const std::string& made_by = context.graph[producer].op;
  constexpr std::int64_t heads_of_a_tile = 8;
  return (made_by == "Add" || made_by == "Div") && shape[1] > 1 && shape[1] < heads_of_a_tile &&
         shape[2] > std::int64_t(few_rows) && shape[2] % 8 != 0;
}

std::uint64_t heads_added_to(const CompileContext& context, const Node& node) {
  if (node.op != "Add" || node.inputs.size() != 2 || !node.has_input(0) || !node.has_input(1) ||
      bits_of(context.type_of(node.outputs[0])) > 8)
    return 0;
  const Tensor& made = context.tensor(node.outputs[0]);
  if (made.shape.size() < 2 || made.consumers.size() != 1) return 0;
  const Node& view = context.graph[made.consumers[0]];
  if (view.op != "Reshape") return 0;
  const Shape& heads = context.tensor(view.outputs[0]).shape;
  const auto columns = made.shape.back();
  const bool splits = heads.size() == 4 && heads[2] > 1 && heads[2] * heads[3] == columns;
  const bool bias = std::ranges::any_of(node.inputs, [&](TensorId id) {
    return context.tensor(id).constant && context.tensor(id).elements() == std::uint64_t(columns);
  });
  return splits && bias ? std::uint64_t(heads[2]) : 0;
}

bool stays_on_hmx(const CompileContext& context, const Node& node) {
  static const std::set<std::string, std::less<>> in_tiles{"LeakyRelu", "Swish"};
  static const std::set<std::string, std::less<>> normalized{"LeakyRelu", "Sigmoid", "Tanh"};
  if (!is_activation(node) || node.op == "SwishBeta" ||
      bits_of(context.type_of(node.outputs[0])) != 16)
    return false;
  switch (rows_of(context, node.outputs[0])) {
    case Rows::single: return true;
    case Rows::in_tiles: return in_tiles.contains(node.op);
    case Rows::normalized: return normalized.contains(node.op);
    default: return false;
  }
}

std::string row_kernel(const CompileContext& context, const Node& node) {
  if (std::string name = broadcast_kernel(context, node); !name.empty()) return name;
  if (std::string name = activation_kernel(context, node); !name.empty()) return name;
  if (node.op == "Add" && bits_of(context.type_of(node.outputs[0])) == 16 &&
      is_one_row(context, node.outputs[0]) && !broadcasts(context.graph, node))
    return "aicaddonerow";
  if (scales_flat_rows(context, node)) return "aicscaleflat";
  if (is_added_to_attention(context.graph, node)) return "aicflatadd";
  if (is_added_by_columns(context, node)) return "aicaddcolumns";
  if (heads_added_to(context, node) > 0)
    return is_added_to_places(context, node)                     ? "aicaddplaces"
           : rows_of(context, node.outputs[0]) == Rows::in_tiles ? "aicaddrows"
                                                                 : "aicaddheads";
  if (is_mean_of_rows(context, node)) return "aicmeanofrows";
  return node.op == "LayerNormalization" ? norm_kernel(context, node) : "";
}

}  // namespace npuscope::npu::nsp
