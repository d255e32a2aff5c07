// Which kernel on HVX a node is, and what it costs there.
#include <algorithm>

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

}  // namespace

bool moves_whole_tiles(const CompileContext& context, const Node& node) {
  if (context.target.vector_tile_bytes == 0) return false;
  const auto in_blocks = [&](TensorId id) {
    const Shape& shape = context.tensor(id).shape;
    return shape.size() == 4 && shape[1] % context.target.hmx_alignment == 0;
  };
  if (node.op == "Resize") return in_blocks(node.outputs[0]);
  return node.op == "Concat" && node.int_attribute("axis", 0) == 1 &&
         std::ranges::all_of(present(node.inputs), in_blocks);
}

std::string kernel_of(const CompileContext& context, const Node& node, OpClass op_class) {
  const bool tiles = context.target.vector_tile_bytes > 0;
  if (tiles && node.op == "BatchNormalization") return "aicbatchnormd32";
  if (tiles && node.op == "AveragePool") return "aicavgwindowd32";
  if (tiles && node.op == "LRN") return "aiclrnd32";
  if (tiles && op_class == OpClass::softmax) {
    constexpr std::uint64_t narrow = 128;
    return softmax_extent(context.graph, node) <= narrow ? "aicsoftmaxnarrow" : "aicsoftmax";
  }
  if (tiles && node.op == "MaxPool") {  // windows across the border take longer
    const auto pads = node.ints_attribute("pads");
    const bool inside = std::ranges::all_of(pads, [](std::int64_t pad) { return pad == 0; });
    if (inside) return "aicmaxpoold32";
    const auto strides = node.ints_attribute("strides");
    if (strides.empty() || strides.back() < 2) return "aicmaxpoolpaddedd32";
    constexpr std::int64_t most_places = 96;  // in a row; from where on is between 97 and 112
    const bool wide = context.tensor(node.inputs[0]).shape.back() > most_places;
    return wide ? "aicmaxpoolwided32" : "aicmaxpoolnarrowd32";
  }
  if (tiles && node.op == "Transpose") {
    const auto order = node.ints_attribute("perm");
    const bool moves_rows = !order.empty() && order.back() == std::int64_t(order.size()) - 1;
    if (moves_rows) return "aictransposerows";
    if (order.size() > 4) return "aictransposechannels";
    if (order.size() < 4) return "aictransposematrix";
  }
  if (!moves_whole_tiles(context, node)) return vector_kernel(context.graph, node, op_class);
  if (node.op == "Resize") {
    const bool copies = node.string_attribute("mode", "nearest") == "nearest";
    return copies ? "aicresized32" : "aicresizelineard32";
  }
  // Products with no other reader put their channels where they belong.
  const bool in_place = std::ranges::all_of(present(node.inputs), [&](TensorId id) {
    const NodeId producer = context.tensor(id).producer;
    if (producer == NodeId::none || context.tensor(id).consumers.size() != 1) return false;
    const NodePlan& plan = context.plans[std::uint32_t(producer)];
    return plan.fate == NodeFate::fused || plan.op_class == OpClass::convolution;
  });
  return in_place ? "aicjoind32" : "aicconcatd32";
}

VectorKernel kernel_named(const CompileContext& context, const Node& node,
                          const std::string& name) {
  VectorKernel kernel;
  kernel.name = name;
  auto outputs = present(node.outputs);
  if (outputs.empty()) return kernel;
  std::uint64_t all = 0;  // several results are made together
  for (const TensorId id : outputs) all += context.bytes_of(id);
  VectorSize whole = vector_size(context, *outputs.begin());
  if (name.starts_with("aicsoftmax")) {
    const auto elements = double(context.tensor(*outputs.begin()).elements());
    whole.rows = elements / double(std::max<std::uint64_t>(softmax_extent(context.graph, node), 1));
  }
  const KernelCost& cost = kernel_cost(context.target, name, whole);
  const bool by_input = cost.by_input && node.has_input(0);
  double places = 1;
  if (cost.by_window)
    for (const std::int64_t extent : node.ints_attribute("kernel_shape"))
      places *= double(std::max<std::int64_t>(extent, 1));
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
