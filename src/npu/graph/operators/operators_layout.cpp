// The same elements under another shape or in another order.
#include <algorithm>
#include <numeric>

#include "npu/graph/operators.hpp"

namespace npuscope::npu {
namespace operators_layout {

// 0 keeps the input's dimension (unless allowzero), -1 is what remains.
Shape resolve_reshape(const Operation& op, Shape wanted) {
  const Shape& in = op.shape(0);
  std::optional<std::size_t> open;
  std::int64_t known = 1;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == 0 && op.attribute("allowzero", 0) == 0) {
      if (i >= in.size()) fail("it keeps dimension {} of {}, which does not exist", i, to_text(in));
      wanted[i] = in[i];
    }
    if (wanted[i] == -1) {
      if (open) fail("two dimensions of its shape {} are -1", to_text(wanted));
      open = i;
    } else if (wanted[i] < 0) {
      fail("its shape has the dimension {}", wanted[i]);
    } else {
      known = multiply(known, wanted[i]);
    }
  }
  const std::int64_t all = product(in);
  if (open) {
    if (known == 0 ? all != 0 : all % known != 0) {
      fail("{} cannot take the shape {}", to_text(in), to_text(wanted));
    }
    wanted[*open] = known == 0 ? 0 : all / known;
  } else if (known != all) {
    fail("{} cannot take the shape {}", to_text(in), to_text(wanted));
  }
  return wanted;
}

void infer_reshape(Operation& op) {
  const bool old_form = op.has_attribute("shape");
  op.set(0, op.type(0),
         resolve_reshape(op, old_form ? op.node().ints_attribute("shape") : op.integers(1)));
}

void infer_flatten(Operation& op) {
  const Shape& in = op.shape(0);
  const std::int64_t axis = op.attribute("axis", 1);
  // Here the axis may be one past the end.
  const std::size_t split =
      axis == std::int64_t(in.size()) ? in.size() : normal_axis(axis, in.size());
  op.set(0, op.type(0), {product(in, 0, split), product(in, split, in.size())});
}

void infer_squeeze(Operation& op) {
  const Shape& in = op.shape(0);
  const auto axes = op.attribute_or_input("axes", 1);
  std::vector<bool> gone(in.size());
  for (const std::size_t axis : normal_axes(axes, in.size())) {
    if (in[axis] != 1) fail("it drops dimension {} of {}, which is not 1", axis, to_text(in));
    gone[axis] = true;
  }
  Shape out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (axes.empty() ? in[i] != 1 : !gone[i]) out.push_back(in[i]);
  }
  op.set(0, op.type(0), std::move(out));
}

void infer_unsqueeze(Operation& op) {
  const Shape& in = op.shape(0);
  const auto axes = op.attribute_or_input("axes", 1);
  Shape out(in.size() + axes.size(), -1);
  for (const std::size_t axis : normal_axes(axes, out.size())) out[axis] = 1;
  auto next = in.begin();
  for (std::int64_t& dimension : out)
    if (dimension < 0) dimension = *next++;
  op.set(0, op.type(0), std::move(out));
}

std::vector<std::size_t> permutation(const Operation& op) {
  const std::size_t rank = op.rank(0);
  std::vector<std::size_t> from(rank);
  std::iota(from.rbegin(), from.rend(), std::size_t{0});
  if (!op.has_attribute("perm")) return from;
  from = normal_axes(op.node().ints_attribute("perm"), rank);
  if (from.size() != rank) fail("its permutation has {} axes, its input {}", from.size(), rank);
  return from;
}

void infer_transpose(Operation& op) {
  const Shape& in = op.shape(0);
  Shape out;
  for (const std::size_t axis : permutation(op)) out.push_back(in[axis]);
  op.set(0, op.type(0), std::move(out));
}

void fold_transpose(Operation& op) {
  if (!op.values(0)) return;
  const auto from = permutation(op);
  Shape index(from.size());
  fold_movement(op, 0, [&](const Shape& place) -> ElementSource {
    for (std::size_t i = 0; i < from.size(); ++i) index[from[i]] = place[i];
    return {0, position_of(index, op.shape(0))};
  });
}

std::int64_t block_size(const Operation& op) {
  const std::int64_t size = op.required_attribute("blocksize");
  if (size < 1 || size > 65536) fail("its block size is {}", size);
  return size;
}

void infer_depth_to_space(Operation& op) {
  const Shape& in = op.shape_of_rank(0, 4);
  const std::int64_t block = block_size(op);
  if (in[1] % (block * block) != 0)
    fail("{} channels do not divide into blocks of {}", in[1], block);
  op.set(0, op.type(0),
         {in[0], in[1] / (block * block), multiply(in[2], block), multiply(in[3], block)});
}

void infer_space_to_depth(Operation& op) {
  const Shape& in = op.shape_of_rank(0, 4);
  const std::int64_t block = block_size(op);
  if (in[2] % block != 0 || in[3] % block != 0) {
    fail("{} does not divide into blocks of {}", to_text(in), block);
  }
  op.set(0, op.type(0), {in[0], multiply(in[1], block * block), in[2] / block, in[3] / block});
}

// The mask, where asked for, is of the input's shape. Before opset 7 `is_test` said the mode.
void infer_dropout(Operation& op) {
  op.set(0, op.type(0), op.shape(0));
  op.set(1, op.opset() < 10 ? op.type(0) : DataType::boolean, op.shape(0));
}

constexpr auto view = OpClass::view;
constexpr auto transpose = OpClass::transpose;

constexpr OperatorRow rows[] = {
    {"DepthToSpace", transpose, infer_depth_to_space},
    {"Dropout", view, infer_dropout, fold_view},
    {"Flatten", view, infer_flatten, fold_view},
    {"Identity", view, infer_same, fold_view},
    {"Reshape", view, infer_reshape, fold_view},
    {"SpaceToDepth", transpose, infer_space_to_depth},
    {"Squeeze", view, infer_squeeze, fold_view},
    {"Transpose", transpose, infer_transpose, fold_transpose},
    {"Unsqueeze", view, infer_unsqueeze, fold_view},
};

}  // namespace operators_layout

std::span<const OperatorRow> layout_operators() { return operators_layout::rows; }

}  // namespace npuscope::npu
