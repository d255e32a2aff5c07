// Which kernel on HVX a node is, and what it costs there.
#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.hpp"
#include "npu/targets/nsp/compile/lower/tile_formats.hpp"
#include "npu/targets/nsp/compile/lower/vector_lowering.hpp"

namespace npuscope::npu::nsp {
namespace {

// Elements that add up to one. Without an axis it is the last or, in older models, the second.
std::uint64_t softmax_extent(const Graph& graph, const Node& node) {
  const Shape& shape = graph[node.outputs[0]].shape;
  const auto rank = std::int64_t(shape.size());
  const std::int64_t axis =
      node.int_attribute("axis", !shape.empty() && shape.back() == 1 ? 1 : -1);
  const std::int64_t place = axis < 0 ? axis + rank : axis;
  return place >= 0 && place < rank ? std::uint64_t(shape[std::size_t(place)]) : 1;
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
    return other.shape.back() != 1 ? "" : node.op == "Div" ? "aicdivrows" : "aicmulrows";
  return node.op == "Mul" && other.elements() == columns ? "aicbroadcastmul" : "";
}

// The mean of the rows of a matrix: a window as wide as it is.
bool is_mean_of_rows(const CompileContext& context, const Node& node) {
  if (node.op != "ReduceMean" || !node.has_input(0)) return false;
  const Tensor &from = context.tensor(node.inputs[0]), &made = context.tensor(node.outputs[0]);
  return !context.images[std::uint32_t(node.inputs[0])] && from.shape.size() > 1 &&
         !made.shape.empty() && made.shape.back() == from.shape.back() &&
         made.elements() < from.elements();
}

// Of float16, which the HMX only computes with the product before it: a kernel on HVX where there
// is none, and of what some of them take after a convolution along one axis. Empty: the usual one.
std::string activation_kernel(const CompileContext& context, const Node& node) {
  static const std::set<std::string, std::less<>> alone{"Tanh",      "Sigmoid",   "Gelu",
                                                        "HardSwish", "LeakyRelu", "Swish"};
  static const std::set<std::string, std::less<>> along_one_axis{"Gelu", "HardSwish", "LeakyRelu"};
  const TensorId from = node.inputs.empty() ? TensorId::none : node.inputs[0];
  if (from == TensorId::none || !alone.contains(node.op) || bits_of(context.type_of(from)) != 16)
    return {};
  const std::string name = "element" + in_small_letters(node.op);
  const NodeId producer = context.tensor(from).producer;
  const NodePlan* plan =
      producer == NodeId::none ? nullptr : &context.plans[std::uint32_t(producer)];
  const bool convolution = plan != nullptr && plan->op_class == OpClass::convolution;
  const bool product = plan != nullptr && (convolution || plan->fate == NodeFate::fused ||
                                           plan->op_class == OpClass::matmul);
  if (!product) return name + "alone";
  const bool sequence = convolution && context.tensor(from).shape.size() == 3;
  return sequence && along_one_axis.contains(node.op) ? name + "sequence" : "";
}

// A window as large as the image.
bool is_of_whole_images(const CompileContext& context, const Node& node) {
  const Tensor& made = context.tensor(node.outputs[0]);
  return made.shape.size() > 2 && made.elements() == elements_of(made.shape, 2);
}

// Windows across the border take longer.
std::string max_pool_kernel(const CompileContext& context, const Node& node) {
  const auto pads = node.ints_attribute("pads");
  const bool inside = std::ranges::all_of(pads, [](std::int64_t pad) { return pad == 0; });
  if (inside) return "aicmaxpoold32";
  const auto strides = node.ints_attribute("strides");
  if (strides.empty() || strides.back() < 2) return "aicmaxpoolpaddedd32";
  constexpr std::int64_t most_places = 96;  // in a row; from where on is between 97 and 112
  const bool wide = context.tensor(node.inputs[0]).shape.back() > most_places;
  return wide ? "aicmaxpoolwided32" : "aicmaxpoolnarrowd32";
}

// What a kernel takes longer for, where it has one name for all: that of the price.
std::string priced_as(const CompileContext& context, const Node& node, const std::string& name) {
  if (name != "aicmaxpoold32" || node.op != "MaxPool") return name;
  std::string special = max_pool_kernel(context, node);
  return context.target.kernels.contains(special) ? special : name;
}

}  // namespace

std::string kernel_of(const CompileContext& context, const Node& node, OpClass op_class) {
  const bool tiles = context.target.vector_tile_bytes > 0;
  if (moves_whole_tiles(context, node)) return kernel_of_tiles(context, node);
  if (std::string name = tiles ? broadcast_kernel(context, node) : ""; !name.empty()) return name;
  if (std::string name = tiles ? activation_kernel(context, node) : ""; !name.empty()) return name;
  if (tiles && is_added_to_attention(context.graph, node)) return "aicflatadd";
  if (tiles && is_mean_of_rows(context, node)) return "aicmeanofrows";
  if (tiles && node.op == "BatchNormalization") return "aicbatchnormd32";
  if (tiles && node.op == "AveragePool" && !is_of_whole_images(context, node))
    return "aicavgwindowd32";
  if (tiles && node.op == "LRN") return "aiclrnd32";
  if (tiles && op_class == OpClass::softmax) {
    constexpr std::uint64_t narrow = 256;  // 196 still is
    const std::uint64_t extent = softmax_extent(context.graph, node);
    const std::uint64_t block = context.target.hmx_alignment;
    return extent <= block       ? "aicsoftmaxfew"
           : extent <= 2 * block ? "aicsoftmaxshort"
           : extent <= narrow    ? "aicsoftmaxnarrow"
                                 : "aicsoftmax";
  }
  if (tiles && node.op == "MaxPool") return max_pool_kernel(context, node);
  if (tiles && node.op == "Transpose") {
    const auto order = node.ints_attribute("perm");
    if (order == Shape{0, 1, 3, 2, 4, 5}) return "aictransposewindows";
    const bool moves_rows = !order.empty() && order.back() == std::int64_t(order.size()) - 1;
    if (moves_rows) return "aictransposerows";
    if (order.size() > 4) return "aictransposechannels";
    if (order.size() < 4) return "aictransposematrix";
  }
  return vector_kernel(context.graph, node, op_class);
}

VectorKernel kernel_named(const CompileContext& context, const Node& node,
                          const std::string& given) {
  VectorKernel kernel;
  kernel.name = given;
  const std::string name = priced_as(context, node, given);
  auto outputs = present(node.outputs);
  if (outputs.empty()) return kernel;
  std::uint64_t all = 0;  // several results are made together
  for (const TensorId id : outputs) all += context.bytes_of(id);
  VectorSize whole = vector_size(context, *outputs.begin());
  if (name.starts_with("aicsoftmax")) {
    const auto elements = double(context.tensor(*outputs.begin()).elements());
    whole.rows = elements / double(std::max<std::uint64_t>(softmax_extent(context.graph, node), 1));
  }
  if (name == "aicconcatd32") {
    const double share = clipped_share(context, node);
    whole.padded_bytes = std::uint64_t(double(whole.padded_bytes) * share);
    whole.cut_bytes = std::uint64_t(double(whole.cut_bytes) * share);
  }
  if (name.starts_with("aicconcatblock")) {
    const double blocks = double(divide_up(std::uint64_t(context.tensor(*outputs.begin()).shape[1]),
                                           std::uint64_t{context.target.hmx_alignment}));
    const double share = double(moved_blocks(context, node)) / blocks;
    whole.padded_bytes = std::uint64_t(double(whole.padded_bytes) * share);
    whole.cut_bytes = std::uint64_t(double(whole.cut_bytes) * share);
  }
  const KernelCost& cost = kernel_cost(context.target, name, whole);
  const bool by_input = cost.by_input && node.has_input(0);
  double places = 1;
  if (cost.by_window) {
    const auto window = node.ints_attribute("kernel_shape");
    for (const std::int64_t extent : window) places *= double(std::max<std::int64_t>(extent, 1));
    // Without strides the places of a row serve several windows: rows first, then columns.
    if (name == "aicmaxpoolpaddedd32") places = std::pow(places, 1 / double(window.size()));
  }
  const std::uint64_t cut_bytes = whole.cut_bytes;
  if (by_input) whole = vector_size(context, node.inputs[0]);
  whole.cut_bytes = cut_bytes;
  kernel.work = [&target = context.target, name, whole, all, by_input,
                 places](std::uint64_t bytes) {
    const std::uint64_t made = by_input ? all : whole.bytes;
    VectorSize size = whole.part(double(bytes) / double(std::max<std::uint64_t>(made, 1)));
    if (!by_input) size.bytes = bytes;
    size.places = places;
    return vector_work(target, name, size);
  };
  return kernel;
}

}  // namespace npuscope::npu::nsp
