// Which kernel on HVX a node is, and what it costs there.
#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.hpp"
#include "npu/targets/nsp/compile/lower/tile_formats.hpp"
#include "npu/targets/nsp/compile/lower/vector_lowering.hpp"
#include "npu/targets/nsp/compile/qnn_folds.hpp"

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

// Rows are taken in squares of eight by eight, the last of which is whole as well unless its rows
// are eights: up to half of one then takes next to nothing. How many rows that is for each that
// there is.
double squares_of_rows(const Shape& shape) {
  constexpr std::uint64_t square = 64;
  if (shape.size() < 2 || shape[shape.size() - 2] < 1) return 1;
  const auto rows = std::uint64_t(shape[shape.size() - 2]);
  if (rows == 1) return shape.size() > 2 ? 0.06 : 4;  // of many in one row, or of one alone
  const std::uint64_t whole = rows / square * square, rest = rows - whole;
  if (rest % 8 != 0) return double(rows > few_rows ? round_up(rows, square) : 4) / double(rows);
  const double part = rest > square / 2 ? 1.6 * double(rest - square / 2) : rest > 0 ? 2 : 0;
  return (double(whole) + part) / double(rows);
}

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

// Scores of few heads in integers that a mask is added to, or that a division scales, and whose
// rows do not fill eights: heads next to one another are the rows of a tile, and take next to
// nothing.
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

// A bias of integers whose sums are next seen as heads: how many, each of which is added to alone.
// 0: it is another node.
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
  const bool right = std::ranges::any_of(context.tensor(values).consumers, [&](NodeId reader) {
    const Node& product = context.graph[reader];
    return product.op == "MatMul" && product.has_input(1) && product.inputs[1] == values;
  });
  const auto order = context.graph[turns[0]].ints_attribute("perm");
  return right && order.back() == 3 && are_places_of_image(context, node.outputs[0]);
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
      "Tanh", "Sigmoid", "Gelu", "HardSwish", "LeakyRelu", "Swish", "SwishBeta"};
  return activations.contains(node.op);
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

// Whether the HMX does an activation of float16 on a matrix with the product before it, as it does
// on images.
bool stays_on_hmx(const CompileContext& context, const Node& node) {
  static const std::set<std::string, std::less<>> in_tiles{"LeakyRelu", "Swish"};
  static const std::set<std::string, std::less<>> normalized{"LeakyRelu", "Sigmoid", "Tanh"};
  if (node.op == "SwishBeta" || bits_of(context.type_of(node.outputs[0])) != 16) return false;
  switch (rows_of(context, node.outputs[0])) {
    case Rows::single: return true;
    case Rows::in_tiles: return in_tiles.contains(node.op);
    case Rows::normalized: return normalized.contains(node.op);
    default: return false;
  }
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
  const bool product = plan != nullptr && (convolution || plan->fate == NodeFate::fused ||
                                           plan->op_class == OpClass::matmul);
  const Rows rows = rows_of(context, node.outputs[0]);
  if (node.op == "SwishBeta")
    return rows == Rows::normalized || rows == Rows::flat ? name : name + "rows";
  if (!product) return name + "alone";
  static const std::set<std::string, std::less<>> on_rows{"Tanh", "Sigmoid", "HardSwish"};
  if (!convolution && rows == Rows::in_tiles && on_rows.contains(node.op)) return name + "rows";
  // A transpose after it moves before it: it is then one of a matrix.
  const auto& readers = context.tensor(node.outputs[0]).consumers;
  const bool turns = std::ranges::any_of(
      readers, [&](NodeId reader) { return context.graph[reader].op == "Transpose"; });
  const bool sequence = convolution && context.tensor(from).shape.size() == 3;
  if (sequence && turns) return name + "alone";
  return sequence && along_one_axis.contains(node.op) ? name + "sequence" : "";
}

// Whether a mean of whole float16 images takes next to nothing: those whose last tile of channels
// is not full, and large ones.
bool is_cheap_mean(const CompileContext& context, const Node& node) {
  const Tensor& from = context.tensor(node.inputs[0]);
  constexpr std::uint64_t large_bytes = 401408;  // 56 by 56 of 64 channels still takes its time
  const auto block = std::int64_t(context.target.hmx_alignment);
  if (bits_of(context.type_of(node.inputs[0])) != 16 || from.shape.size() != 4) return false;
  const bool fills = from.shape[1] <= block || from.shape[1] % block == 0;
  return !fills || context.bytes_of(node.inputs[0]) > large_bytes;
}

// Means of float16 with strides that leave out what lies beyond the image have no kernel for strips
// at its border; an image of one strip has.
bool leaves_border_out(const CompileContext& context, const Node& node) {
  const auto pads = node.ints_attribute("pads"), strides = node.ints_attribute("strides");
  const Shape& made = context.tensor(node.outputs[0]).shape;
  return bits_of(context.type_of(node.outputs[0])) == 16 && made.size() == 4 &&
         made[2] > std::int64_t(context.target.hmx_tile_rows) &&
         node.int_attribute("count_include_pad", 0) == 0 && !strides.empty() &&
         strides.front() > 1 && std::ranges::any_of(pads, [](std::int64_t pad) { return pad > 0; });
}

// Of the strips of an image: both of two, the first of more.
double share_at_border(const CompileContext& context, const Node& node) {
  const auto rows = std::uint64_t(context.tensor(node.outputs[0]).shape[2]);
  const auto strips = double(divide_up(rows, std::uint64_t{context.target.hmx_tile_rows}));
  return strips > 2 ? 1 / strips : 1;
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

std::string kernel_of(const CompileContext& context, const Node& node, OpClass op_class) {
  const bool tiles = context.target.vector_tile_bytes > 0;
  if (moves_whole_tiles(context, node)) return kernel_of_tiles(context, node);
  if (std::string name = tiles ? broadcast_kernel(context, node) : ""; !name.empty()) return name;
  if (std::string name = tiles ? activation_kernel(context, node) : ""; !name.empty()) return name;
  if (tiles && is_added_to_attention(context.graph, node)) return "aicflatadd";
  if (tiles && is_added_by_columns(context, node)) return "aicaddcolumns";
  if (tiles && heads_added_to(context, node) > 0)
    return is_added_to_places(context, node)                     ? "aicaddplaces"
           : rows_of(context, node.outputs[0]) == Rows::in_tiles ? "aicaddrows"
                                                                 : "aicaddheads";
  if (tiles && is_mean_of_rows(context, node)) return "aicmeanofrows";
  if (tiles && node.op == "LayerNormalization") return norm_kernel(context, node);
  if (tiles && node.op == "BatchNormalization") return "aicbatchnormd32";
  if (tiles && node.op == "AveragePool" && !is_of_whole_images(context, node))
    return leaves_border_out(context, node) ? "aicavgborderd32" : "aicavgwindowd32";
  if (tiles && (node.op == "AveragePool" || node.op == "GlobalAveragePool") &&
      is_cheap_mean(context, node))
    return "aicavgpoolwhole";
  if (tiles && node.op == "LRN") return "aiclrnd32";
  if (tiles && op_class == OpClass::softmax) {
    constexpr std::uint64_t narrow = 256;  // 196 still is
    const std::uint64_t extent = softmax_extent(context.graph, node);
    const std::uint64_t block = context.target.hmx_alignment;
    if (extent > block && extent <= narrow && are_scores_by_heads(context, node))
      return "aicsoftmaxheads";
    return extent <= block       ? "aicsoftmaxfew"
           : extent <= 2 * block ? "aicsoftmaxshort"
           : extent <= narrow    ? "aicsoftmaxnarrow"
                                 : "aicsoftmax";
  }
  if (tiles && node.op == "MaxPool") return max_pool_kernel(context, node);
  if (tiles && node.op == "Transpose") {
    const auto order = node.ints_attribute("perm");
    const Shape &from = context.tensor(node.inputs[0]).shape,
                &to = context.tensor(node.outputs[0]).shape;
    const std::int64_t run = from.empty() ? 0 : std::min(from.back(), to.back());
    if (run == 2) return "aictransposepairs";
    if (run == 4 && order.size() > 2) return "aictransposefours";
    if (order == Shape{0, 1, 3, 2, 4, 5}) return "aictransposewindows";
    if (order == Shape{0, 2, 1, 3, 4}) return "aictransposechannels";  // a shuffle of groups
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
  if (name == given && is_activation(node) && given == "element" + in_small_letters(node.op))
    whole.image = whole.image || stays_on_hmx(context, node);
  if (name.starts_with("aicsoftmax")) {
    const auto elements = double(context.tensor(*outputs.begin()).elements());
    const std::uint64_t extent = std::max<std::uint64_t>(softmax_extent(context.graph, node), 1);
    whole.rows = elements / double(extent);
    const KernelCost& cost = kernel_cost(context.target, name, whole);
    if (cost.row_columns > 0)
      whole.rows *= squares_of_rows(context.tensor(*outputs.begin()).shape) *
                    std::max(0.0, 1 - double(extent) / cost.row_columns);
  }
  if (name == "aicsoftmaxheads")
    whole.blocks = double(divide_up(context.tensor(*outputs.begin()).shape[2], std::int64_t{8}));
  if (const std::uint64_t heads = heads_added_to(context, node); heads > 0) {
    whole.blocks = double(heads);
    whole.rows *= double(heads);
  }
  if (name == "aicconcatd32") {
    const double share = clipped_share(context, node);
    whole.padded_bytes = std::uint64_t(double(whole.padded_bytes) * share);
    whole.cut_bytes = std::uint64_t(double(whole.cut_bytes) * share);
  }
  const KernelCost& cost = kernel_cost(context.target, name, whole);
  kernel.ddr_reads = cost.ddr_reads;
  kernel.ddr_writes = cost.ddr_writes;
  const bool by_input = cost.by_input && node.has_input(0);
  double places = 1;
  if (cost.by_window) {
    const auto window = node.ints_attribute("kernel_shape");
    for (const std::int64_t extent : window) places *= double(std::max<std::int64_t>(extent, 1));
    // Without strides the places of a row serve several windows: rows first, then columns.
    if (name == "aicmaxpoolpaddedd32") places = std::pow(places, 1 / double(window.size()));
  }
  if (name == "aicavgborderd32") places = share_at_border(context, node);
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
