// Which kernel on HVX a node is, and what it costs there.
#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.hpp"
#include "npu/targets/nsp/compile/lower/row_kernels.hpp"
#include "npu/targets/nsp/compile/lower/tile_formats.hpp"
#include "npu/targets/nsp/compile/lower/vector_lowering.hpp"

namespace npuscope::npu::nsp {
namespace {

// Elements that add up to one.
std::uint64_t softmax_extent(const Graph& graph, const Node& node) {
  const Shape& shape = graph[node.outputs[0]].shape;
  const auto rank = std::int64_t(shape.size());
  const std::int64_t axis = node.int_attribute("axis", -1);
  const std::int64_t place = axis < 0 ? axis + rank : axis;
  return place >= 0 && place < rank ? std::uint64_t(shape[std::size_t(place)]) : 1;
}

// Rows are taken in squares of eight by eight, the last of which is whole as well unless its rows
// are eights: up to half of one then takes next to nothing. How many rows that is for each that
// there is.
double squares_of_rows(const Shape& shape) {
  constexpr std::uint64_t square = 64, half = square / 2;
  if (shape.size() < 2 || shape[shape.size() - 2] < 1) return 1;
  const auto rows = std::uint64_t(shape[shape.size() - 2]);
  if (rows == 1) return shape.size() > 2 ? 0.06 : 4;  // of many in one row, or of one alone
  const std::uint64_t whole = rows / square * square, rest = rows - whole;
  if (rest % 8 != 0) return double(rows > few_rows ? round_up(rows, square) : 4) / double(rows);
  const double part = rest > half ? 1.6 * double(rest - half) : rest > 0 ? 2 : 0;
  return (double(whole) + part) / double(rows);
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

// Means of whole float16 images of which one row or column is left beyond full tiles have no
// kernel.
bool is_mean_beyond_tiles(const CompileContext& context, const Node& node) {
  const Shape& from = context.tensor(node.inputs[0]).shape;
  const auto is_left = [](std::int64_t extent) { return extent == 9 || extent == 17; };
  return bits_of(context.type_of(node.inputs[0])) == 16 && from.size() == 4 &&
         (is_left(from[2]) || is_left(from[3]));
}

// Places of a camera's image, sorted for a convolution of float16 that does not fill a tile, take
// longer: 1.6 times for half a tile.
double share_of_unfilled(const CompileContext& context, const Node& node) {
  const bool sorts = context.target.vector_tile_bytes > 0 &&
                     (node.op == "SpaceToDepthFew" || node.op == "SpaceToDepthLarge");
  const auto& readers = context.tensor(node.outputs[0]).consumers;
  if (!sorts || readers.size() != 1 || bits_of(context.type_of(node.outputs[0])) != 16) return 1;
  const Shape& made = context.tensor(context.graph[readers[0]].outputs[0]).shape;
  const auto block = double(context.target.hmx_alignment);
  const double filled = made.size() == 4 ? std::min(1.0, double(made[1]) / block) : 1;
  return 1 + 1.2 * (1 - filled);
}

// A number added to a wide image of one block of channels.
bool is_wide_sum(const CompileContext& context, TensorId id) {
  constexpr std::int64_t least_places = 112;  // in a row; from where on is between 81 and 112
  const Shape& shape = context.tensor(id).shape;
  return context.images[std::uint32_t(id)] && bits_of(context.type_of(id)) == 16 &&
         shape[1] <= channels_of_a_tile && shape[3] >= least_places;
}

// What a kernel takes longer for, where it has one name for all: that of the price.
std::string priced_as(const CompileContext& context, const Node& node, const std::string& name) {
  std::string special;
  if (name == "aicaddsplat" && is_wide_sum(context, node.outputs[0])) special = "aicaddsplatwide";
  if (name == "aicmaxpoold32" && node.op == "MaxPool") special = max_pool_kernel(context, node);
  return context.target.kernels.contains(special) ? special : name;
}

}  // namespace

std::string kernel_of(const CompileContext& context, const Node& node, OpClass op_class) {
  const bool tiles = context.target.vector_tile_bytes > 0;
  if (moves_whole_tiles(context, node)) return kernel_of_tiles(context, node);
  if (std::string name = tiles ? row_kernel(context, node) : ""; !name.empty()) return name;
  if (tiles && node.op == "BatchNormalization") return "aicbatchnormd32";
  if (tiles && node.op == "AveragePool" && !is_of_whole_images(context, node))
    return leaves_border_out(context, node) ? "aicavgborderd32" : "aicavgwindowd32";
  if (tiles && (node.op == "AveragePool" || node.op == "GlobalAveragePool")) {
    if (is_cheap_mean(context, node)) return "aicavgpoolwhole";
    if (is_mean_beyond_tiles(context, node)) return "aicavgbeyond";
  }
  if (tiles && node.op == "InstanceNormalization") return "aicinstancenormd32";
  if (tiles && node.op == "GroupNormalization") return "aicgroupnormd32";
  if (tiles && node.op == "LRN") return "aiclrnd32";
  if (tiles && node.op == "Max" && !broadcasts(context.graph, node)) return "elementlarger";
  if (tiles && op_class == OpClass::softmax) {
    constexpr std::uint64_t narrow = 256;  // 196 still is
    const std::uint64_t extent = softmax_extent(context.graph, node);
    const std::uint64_t block = context.target.hmx_alignment;
    constexpr std::uint64_t few_channels = 16;
    if (context.images[std::uint32_t(node.outputs[0])])
      return extent > few_channels ? "aicsoftmaxchannels" : "aicsoftmaxfewchannels";
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
  if (context.sequences[std::uint32_t(*outputs.begin())]) {
    constexpr std::uint64_t rows_of_a_tile = 8;  // of which one is there
    if (name == "aicinstancenormd32")
      whole = sequence_size(context, *outputs.begin(), rows_of_a_tile);
    if (name == "elementadd" || name == "elementleakyrelualone" || name == "elementpow")
      whole = sequence_size(context, *outputs.begin(), 1);
  }
  if (given == "element" + in_small_letters(node.op) && stays_on_hmx(context, node))
    whole.image = true;
  if (name.starts_with("aicsoftmax")) {
    const auto elements = double(context.tensor(*outputs.begin()).elements());
    const std::uint64_t extent = std::max<std::uint64_t>(softmax_extent(context.graph, node), 1);
    whole.rows = elements / double(extent);
    const KernelCost& cost = kernel_cost(context.target, name, whole);
    if (cost.row_columns > 0)
      whole.rows *= squares_of_rows(context.tensor(*outputs.begin()).shape) *
                    std::max(0.0, 1 - double(extent) / cost.row_columns);
  }
  if (name == "aicsoftmaxchannels") {  // each channel with each
    const auto channels = double(softmax_extent(context.graph, node));
    whole.rows *= channels * channels;
  }
  if (name == "aicsoftmaxheads")
    whole.blocks = double(divide_up(context.tensor(*outputs.begin()).shape[2], std::int64_t{8}));
  if (const std::uint64_t heads = heads_added_to(context, node); heads > 0) {
    whole.blocks = double(heads);
    whole.rows *= double(heads);
  }
  whole.padded_bytes = std::uint64_t(double(whole.padded_bytes) * share_of_unfilled(context, node));
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
