#include "npu/targets/nsp/compile/lower/tile_formats.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace npuscope::npu::nsp {
namespace tile_formats {

bool in_blocks(const CompileContext& context, std::int64_t channels) {
  return channels > 0 && channels % context.target.hmx_alignment == 0;
}

bool is_image(const CompileContext& context, TensorId id) {
  return context.images[std::uint32_t(id)];
}

bool fills_tiles(const CompileContext& context, TensorId id) {
  return context.tensor(id).shape[1] >= std::int64_t(context.target.hmx_alignment);
}

bool is_matrix(const CompileContext& context, TensorId id) {
  return !is_image(context, id) && context.tensor(id).shape.size() > 1;
}

// The one value of a parameter, if it has one.
std::optional<std::int64_t> only_value(const CompileContext& context, const Node& node,
                                       std::size_t input) {
  if (!node.has_input(input)) return std::nullopt;
  const auto& values = context.tensor(node.inputs[input]).values;
  if (!values || values->size() != 1) return std::nullopt;
  return values->front();
}

// Where the channels of an image begin that a Slice takes.
std::optional<std::int64_t> first_channel(const CompileContext& context, const Node& node) {
  if (node.op != "Slice" || !is_image(context, node.inputs[0])) return std::nullopt;
  const auto axis = only_value(context, node, 3);
  if (axis != 1 && axis != -3) return std::nullopt;
  if (node.has_input(4) && only_value(context, node, 4) != 1) return std::nullopt;
  return only_value(context, node, 1);
}

// Along the channels of images.
bool along_channels(const CompileContext& context, const Node& node) {
  if (!node.has_input(0)) return false;
  if (node.op == "Slice") return first_channel(context, node).has_value();
  if (node.int_attribute("axis", 0) != 1) return false;
  const auto all_images = [&](const std::vector<TensorId>& ids) {
    return std::ranges::all_of(present(ids), [&](TensorId id) { return is_image(context, id); });
  };
  if (node.op == "Split") return is_image(context, node.inputs[0]) && all_images(node.outputs);
  return node.op == "Concat" && all_images(node.inputs);
}

// Into columns of whole blocks of a product that nothing else reads: it puts them where they
// belong.
bool splits_product(const CompileContext& context, const Node& node) {
  if (node.op != "Split" || !node.has_input(0) || !is_matrix(context, node.inputs[0])) return false;
  const Tensor& from = context.tensor(node.inputs[0]);
  const auto last = std::int64_t(from.shape.size()) - 1, axis = node.int_attribute("axis", 0);
  if ((axis != -1 && axis != last) || from.consumers.size() != 1) return false;
  NodeId maker = from.producer;
  while (maker != NodeId::none && context.graph[maker].op == "Reshape" &&
         context.tensor(context.graph[maker].inputs[0]).shape.back() == from.shape.back())
    maker = context.tensor(context.graph[maker].inputs[0]).producer;
  if (maker == NodeId::none) return false;
  const NodePlan& plan = context.plans[std::uint32_t(maker)];
  const bool product = plan.fate == NodeFate::fused || plan.op_class == OpClass::matmul;
  return product && std::ranges::all_of(present(node.outputs), [&](TensorId id) {
           return in_blocks(context, context.tensor(id).shape.back());
         });
}

// A step of what a product makes of all steps of a recurrent layer lies where it was made.
bool takes_step(const CompileContext& context, const Node& node) {
  if (node.op != "Slice" || !is_matrix(context, node.inputs[0])) return false;
  const Tensor &from = context.tensor(node.inputs[0]), &made = context.tensor(node.outputs[0]);
  if (from.producer == NodeId::none || from.shape.size() != 3 || made.shape.size() != 3 ||
      made.shape[0] != 1 || made.shape[1] != from.shape[1] || made.shape[2] != from.shape[2])
    return false;
  const NodePlan& plan = context.plans[std::uint32_t(from.producer)];
  return plan.fate == NodeFate::fused || plan.op_class == OpClass::matmul;
}

enum class Border { none, channels, mirrored };

// What a Pad adds to an image in tiles: channels at the end, which the tiles have room for, or
// places like those next to them.
Border border_of(const CompileContext& context, const Node& node) {
  if (node.op != "Pad" || !node.has_input(0) || !is_image(context, node.inputs[0]) ||
      !is_image(context, node.outputs[0]))
    return Border::none;
  if (node.string_attribute("mode", "constant") != "constant") return Border::mirrored;
  const Shape &from = context.tensor(node.inputs[0]).shape,
              &made = context.tensor(node.outputs[0]).shape;
  if (from[0] != made[0] || from[2] != made[2] || from[3] != made[3]) return Border::none;
  Shape pads = node.ints_attribute("pads");
  if (node.has_input(1)) pads = context.tensor(node.inputs[1]).values.value_or(Shape{});
  return pads.size() == 8 && pads[1] == 0 ? Border::channels : Border::none;
}

// Where the parts of a Concat along channels begin and end, those of Concats among them as well.
void add_parts(const CompileContext& context, TensorId id, std::size_t depth,
               std::vector<std::int64_t>& extents) {
  constexpr std::size_t max_depth = 64, max_parts = 4096;
  const NodeId producer = context.tensor(id).producer;
  const bool joined = producer != NodeId::none && depth < max_depth && extents.size() < max_parts &&
                      context.graph[producer].op == "Concat" &&
                      along_channels(context, context.graph[producer]);
  if (!joined) return extents.push_back(context.tensor(id).shape[1]);
  for (const TensorId part : present(context.graph[producer].inputs))
    add_parts(context, part, depth + 1, extents);
}

// Parts of whole blocks, but for the last.
bool parts_in_blocks(const CompileContext& context, const std::vector<TensorId>& parts) {
  return std::all_of(parts.begin(), parts.end() - (parts.empty() ? 0 : 1), [&](TensorId id) {
    return id == TensorId::none || in_blocks(context, context.tensor(id).shape[1]);
  });
}

// Heads, which keep their width: rows and heads change places.
bool moves_heads(const CompileContext& context, const Node& node) {
  if (node.op != "Transpose" || !node.has_input(0)) return false;
  const Shape& shape = context.tensor(node.inputs[0]).shape;
  const auto order = node.ints_attribute("perm");
  const bool heads = order == Shape{0, 2, 1, 3} || order == Shape{0, 2, 3, 1};
  return heads && context.target.moves_heads && shape.size() == 4 &&
         is_matrix(context, node.inputs[0]) && in_blocks(context, shape.back());
}

// Blocks of channels of a Concat that several of its operands share: parts of them are moved.
std::int64_t moved_blocks(const CompileContext& context, const Node& node) {
  const std::int64_t grain = context.target.hmx_alignment;
  std::int64_t moved = 0, at = 0, begin = 0;
  std::size_t operands = 0;  // of this node, from `begin` on
  std::vector<std::int64_t> extents;
  for (const TensorId id : present(node.inputs)) {
    extents.clear();
    add_parts(context, id, 0, extents);
    bool first = true;  // part of this operand in the block
    for (const std::int64_t extent : extents) {
      if (at % grain == 0) {
        if (operands > 1) moved += (at - begin) / grain;
        begin = at;
        operands = 0;
        first = true;
      }
      if (std::exchange(first, false)) ++operands;
      at += extent;
    }
  }
  if (operands > 1) moved += (at - begin + grain - 1) / grain;
  return moved;
}

// By a convolution of more places than one.
bool is_read_by_windows(const CompileContext& context, TensorId id) {
  return std::ranges::any_of(context.tensor(id).consumers, [&](NodeId reader) {
    const auto kernel = context.graph[reader].ints_attribute("kernel_shape");
    return context.plans[std::uint32_t(reader)].op_class == OpClass::convolution &&
           std::ranges::any_of(kernel, [](std::int64_t extent) { return extent > 1; });
  });
}

}  // namespace tile_formats

bool is_right_side(const CompileContext& context, TensorId id) {
  return std::ranges::any_of(context.tensor(id).consumers, [&](NodeId reader) {
    const Node& node = context.graph[reader];
    return node.op == "MatMul" && node.has_input(1) && node.inputs[1] == id;
  });
}

bool moves_whole_tiles(const CompileContext& context, const Node& node) {
  using namespace tile_formats;
  if (!context.moves_tiles) return false;
  if (node.op == "Resize") return is_image(context, node.outputs[0]);
  if (node.op == "DepthToSpace" || node.op == "SpaceToDepth")
    return is_image(context, node.inputs[0]) && is_image(context, node.outputs[0]) &&
           (fills_tiles(context, node.outputs[0]) ||
            (node.op == "DepthToSpace" && context.target.kernels.contains("aicdepthtospaceshort")));
  return along_channels(context, node) || moves_heads(context, node) ||
         splits_product(context, node) || takes_step(context, node) ||
         border_of(context, node) != Border::none;
}

bool sees_same_tiles(const CompileContext& context, const Node& node) {
  using namespace tile_formats;
  if (context.target.vector_tile_bytes == 0 || !node.has_input(0) || node.outputs.size() != 1)
    return false;
  const Shape& from = context.tensor(node.inputs[0]).shape;
  const Shape& to = context.tensor(node.outputs[0]).shape;
  if (node.op == "Transpose") return true;  // between the two ways in which images are written
  if (!is_matrix(context, node.inputs[0]) || !is_matrix(context, node.outputs[0])) return false;
  if (from.back() == to.back()) return true;
  const Shape& narrow = from.back() < to.back() ? from : to;
  const Shape& wide = from.back() < to.back() ? to : from;
  return in_blocks(context, narrow.back()) &&
         narrow.back() * narrow[narrow.size() - 2] == wide.back();
}

double clipped_share(const CompileContext& context, const Node& node) {
  std::uint64_t all = 0, clipped = 0;
  for (const TensorId id : present(node.inputs)) {
    const std::uint64_t bytes = context.bytes_of(id);
    all += bytes;
    const NodeId producer = context.tensor(id).producer;
    if (producer == NodeId::none) continue;
    const NodePlan& plan = context.plans[std::uint32_t(producer)];
    const bool product = plan.fate == NodeFate::fused || plan.op_class == OpClass::convolution;
    const bool moved = context.graph[producer].op == "Resize";
    if (moved || (product && context.tensor(id).consumers.size() > 1)) clipped += bytes;
  }
  return all > 0 ? double(clipped) / double(all) : 0;
}

std::string kernel_of_tiles(const CompileContext& context, const Node& node) {
  using namespace tile_formats;
  if (node.op == "Resize") {
    const bool copies = node.string_attribute("mode", "nearest") == "nearest";
    const bool corners =
        node.string_attribute("coordinate_transformation_mode", "") == "align_corners";
    return copies ? "aicresized32" : corners ? "aicresizecornersd32" : "aicresizelineard32";
  }
  if (node.op == "DepthToSpace" || node.op == "SpaceToDepth")
    return fills_tiles(context, node.outputs[0]) ? "aicdepthtospace" : "aicdepthtospaceshort";
  if (node.op == "Pad") {
    constexpr std::int64_t places_of_a_tile = 32;
    if (border_of(context, node) == Border::channels) return "aicjoind32";
    const bool narrow = context.tensor(node.inputs[0]).shape[3] < places_of_a_tile;
    return narrow ? "aicmirrornarrowd32" : "aicmirrord32";
  }
  if (node.op == "Transpose") {
    constexpr std::int64_t many_rows =
        96;  // fewer lie in another way; from where on is between 80 and 96
    const bool few = context.tensor(node.inputs[0]).shape[1] < many_rows;
    if (node.ints_attribute("perm").back() == 1)
      return few ? "aictransposefewkeys" : "aictransposekeys";
    if (is_right_side(context, node.outputs[0])) return "aictransposevalues";
    const NodeId producer = context.tensor(node.inputs[0]).producer;
    const bool made = producer != NodeId::none && context.graph[producer].op == "MatMul";
    return made ? "aicjoind32" : few ? "aictransposefewheads" : "aictransposeheads";
  }
  if (node.op == "Slice") {
    if (takes_step(context, node)) return "aicjoind32";
    const bool whole =
        in_blocks(context, *first_channel(context, node)) || first_channel(context, node) == 0;
    return whole ? "aicjoind32" : "aicsplitblocks";
  }
  if (node.op == "Split")
    return splits_product(context, node) || parts_in_blocks(context, node.outputs)
               ? "aicjoind32"
               : "aicsplitblocks";
  const std::int64_t moved = moved_blocks(context, node);
  if (moved > 0) {
    constexpr std::ptrdiff_t many = 8;
    const auto& kernels = context.target.kernels;
    const std::string name = moved == 1 ? "aicconcatblock" : "aicconcatblocks",
                      again = name + "again";
    if (kernels.contains("aicconcatmany") && std::ranges::distance(present(node.inputs)) >= many)
      return "aicconcatmany";
    // Of rows that windows share, each is joined for every strip that reads it.
    return kernels.contains(again) && is_read_by_windows(context, node.outputs[0]) ? again : name;
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

}  // namespace npuscope::npu::nsp
