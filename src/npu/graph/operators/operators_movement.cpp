// Data movement: parts of tensors, and tensors made of parts.
#include <algorithm>
#include <limits>

#include "npu/graph/limits.hpp"
#include "npu/graph/operators.hpp"

namespace npuscope::npu {
namespace operators_movement {

std::size_t concat_axis(const Operation& op) {
  if (op.opset() >= 4) return normal_axis(op.required_attribute("axis"), op.rank(0));
  return normal_axis(op.attribute("axis", 1), op.rank(0));
}

void infer_concat(Operation& op) {
  Shape out = op.shape(0);
  const std::size_t axis = concat_axis(op);
  for (std::size_t i = 1; i < op.input_count(); ++i) {
    const Shape& part = op.shape_of_rank(i, out.size());
    for (std::size_t d = 0; d < out.size(); ++d) {
      if (d == axis) {
        out[d] = add(out[d], part[d]);
      } else if (part[d] != out[d]) {
        fail("{} and {} do not join along axis {}", to_text(op.shape(0)), to_text(part), axis);
      }
    }
  }
  op.set(0, op.type(0), std::move(out));
}

void fold_concat(Operation& op) {
  if (!op.folds(0)) return;
  const std::size_t axis = concat_axis(op);
  fold_movement(op, 0, [&](Shape index) -> ElementSource {
    std::size_t part = 0;
    while (index[axis] >= op.shape(part)[axis]) index[axis] -= op.shape(part++)[axis];
    return {part, position_of(index, op.shape(part))};
  });
}

// Sizes of the parts: as given, or equal (the last one smaller where it does not divide).
std::vector<std::int64_t> split_sizes(const Operation& op, std::int64_t whole) {
  auto sizes = op.attribute_or_input("split", 1);
  const auto parts = std::int64_t(op.output_count());
  if (sizes.empty()) {
    if (op.opset() < 18 && whole % parts != 0)
      fail("{} does not divide into {} parts", whole, parts);
    const std::int64_t each = whole / parts + (whole % parts != 0 ? 1 : 0);
    for (std::int64_t at = 0; at < parts; ++at) {
      sizes.push_back(std::clamp<std::int64_t>(whole - at * each, 0, each));
    }
  }
  std::int64_t sum = 0;
  for (const std::int64_t size : sizes) sum = add(sum, size);
  if (sizes.size() != op.output_count() || sum != whole) {
    fail("its parts {} do not make up {} in {} outputs", to_text(sizes), whole, parts);
  }
  return sizes;
}

void infer_split(Operation& op) {
  Shape shape = op.shape(0);
  const std::size_t axis = normal_axis(op.attribute("axis", 0), shape.size());
  const auto sizes = split_sizes(op, shape[axis]);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    shape[axis] = sizes[i];
    op.set(i, op.type(0), shape);
  }
}

void fold_split(Operation& op) {
  if (!op.values(0)) return;
  const std::size_t axis = normal_axis(op.attribute("axis", 0), op.rank(0));
  const auto sizes = split_sizes(op, op.shape(0)[axis]);
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < op.output_count(); begin += sizes[i++]) {
    fold_movement(op, i, [&](Shape index) -> ElementSource {
      index[axis] += begin;
      return {0, position_of(index, op.shape(0))};
    });
  }
}

struct Slice {
  std::int64_t begin = 0, step = 1, count = 0;
};

Slice resolve_slice(std::int64_t begin, std::int64_t end, std::int64_t step, std::int64_t size) {
  if (step == 0) fail("its step is 0");
  if (size == 0) return {};
  step = std::max(step, -std::numeric_limits<std::int64_t>::max());
  if (begin < 0) begin += size;
  if (end < 0) end += size;
  if (step > 0) {
    begin = std::clamp<std::int64_t>(begin, 0, size);
    end = std::clamp<std::int64_t>(end, 0, size);
    return {begin, step, end > begin ? (end - begin - 1) / step + 1 : 0};
  }
  begin = std::clamp<std::int64_t>(begin, 0, size - 1);
  end = std::clamp<std::int64_t>(end, -1, size - 1);
  return {begin, step, begin > end ? (begin - end - 1) / -step + 1 : 0};
}

std::vector<Slice> slices(const Operation& op) {
  const Shape& in = op.shape(0);
  const auto begins = op.attribute_or_input("starts", 1);
  const auto ends = op.attribute_or_input("ends", 2);
  auto axes = op.attribute_or_input("axes", 3);
  auto steps = op.has(4) ? op.integers(4) : std::vector<std::int64_t>{};
  if (axes.empty()) axes = first_axes(begins.size());
  if (steps.empty()) steps.assign(begins.size(), 1);
  if (begins.size() != ends.size() || begins.size() != axes.size() ||
      begins.size() != steps.size()) {
    fail("its starts, ends, axes and steps differ in number");
  }
  std::vector<Slice> result;
  for (const std::int64_t size : in) result.push_back({0, 1, size});
  const auto normal = normal_axes(axes, in.size());
  for (std::size_t i = 0; i < normal.size(); ++i) {
    result[normal[i]] = resolve_slice(begins[i], ends[i], steps[i], in[normal[i]]);
  }
  return result;
}

void infer_slice(Operation& op) {
  Shape out;
  for (const Slice& slice : slices(op)) out.push_back(slice.count);
  op.set(0, op.type(0), std::move(out));
}

void fold_slice(Operation& op) {
  if (!op.folds(0) || !op.values(0)) return;
  const auto parts = slices(op);
  fold_movement(op, 0, [&](Shape index) -> ElementSource {
    for (std::size_t i = 0; i < index.size(); ++i) {
      index[i] = parts[i].begin + index[i] * parts[i].step;
    }
    return {0, position_of(index, op.shape(0))};
  });
}

void infer_pad(Operation& op) {
  Shape shape = op.shape(0);
  const auto pads = op.attribute_or_input(op.has_attribute("paddings") ? "paddings" : "pads", 1);
  const auto axes = op.has(3) ? op.integers(3) : first_axes(shape.size());
  if (pads.size() != 2 * axes.size()) fail("it has {} pads for {} axes", pads.size(), axes.size());
  const auto normal = normal_axes(axes, shape.size());
  for (std::size_t i = 0; i < normal.size(); ++i) {
    shape[normal[i]] = add(shape[normal[i]], add(pads[i], pads[axes.size() + i]));
  }
  op.set(0, op.type(0), std::move(shape));
}

void infer_tile(Operation& op) {
  Shape shape = op.shape(0);
  if (op.opset() < 6) {  // (input, tiles, axis)
    std::int64_t& dimension = shape[normal_axis(op.integer(2), shape.size())];
    dimension = multiply(dimension, op.integer(1));
  } else {
    const auto repeats = op.integers(1);
    if (repeats.size() != shape.size())
      fail("it has {} repeats for {}", repeats.size(), to_text(shape));
    for (std::size_t i = 0; i < shape.size(); ++i) shape[i] = multiply(shape[i], repeats[i]);
  }
  op.set(0, op.type(0), std::move(shape));
}

void fold_tile(Operation& op) {
  if (!op.values(0)) return;
  fold_movement(op, 0, [&](Shape index) -> ElementSource {
    for (std::size_t i = 0; i < index.size(); ++i) index[i] %= op.shape(0)[i];
    return {0, position_of(index, op.shape(0))};
  });
}

void infer_expand(Operation& op) { op.set(0, op.type(0), broadcast(op.shape(0), op.integers(1))); }

void fold_expand(Operation& op) {
  if (!op.values(0)) return;
  fold_movement(op, 0, [&](const Shape& index) -> ElementSource {
    return {0, position_of(index, op.shape(0))};
  });
}

void infer_center_crop_pad(Operation& op) {
  Shape shape = op.shape(0);
  const auto sizes = op.integers(1);
  const auto normal = normal_axes(
      op.has_attribute("axes") ? op.node().ints_attribute("axes") : first_axes(shape.size()),
      shape.size());
  if (sizes.size() != normal.size())
    fail("it has {} sizes for {} axes", sizes.size(), normal.size());
  for (std::size_t i = 0; i < normal.size(); ++i) shape[normal[i]] = sizes[i];
  op.set(0, op.type(0), std::move(shape));
}

void infer_trilu(Operation& op) {
  op.shape_of_rank_from(0, 2);
  infer_same(op);
}

// Columns [N, C * block area, L] back to images [N, C, H, W ...].
void infer_col2im(Operation& op) {
  const Shape& in = op.shape_of_rank(0, 3);
  const auto image = op.integers(1);
  const std::int64_t area = product(op.integers(2));
  if (area <= 0 || in[1] % area != 0)
    fail("{} does not divide into blocks of {}", to_text(in), area);
  Shape out{in[0], in[1] / area};
  out.insert(out.end(), image.begin(), image.end());
  op.set(0, op.type(0), std::move(out));
}

constexpr auto copy = OpClass::copy;

constexpr OperatorRow rows[] = {
    {"CenterCropPad", copy, infer_center_crop_pad},
    {"Col2Im", copy, infer_col2im},
    {"Concat", copy, infer_concat, fold_concat},
    {"Expand", copy, infer_expand, fold_expand},
    {"Pad com.microsoft.Pad", copy, infer_pad},
    {"ReverseSequence", copy, infer_same},
    {"Slice", copy, infer_slice, fold_slice},
    {"Split", copy, infer_split, fold_split},
    {"Tile", copy, infer_tile, fold_tile},
    {"Trilu com.microsoft.Trilu", copy, infer_trilu},
};

}  // namespace operators_movement

std::span<const OperatorRow> movement_operators() { return operators_movement::rows; }

}  // namespace npuscope::npu
