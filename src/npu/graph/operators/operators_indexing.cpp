// Reading and writing by index, and operators whose result is an order.
#include <algorithm>

#include "npu/graph/limits.hpp"
#include "npu/graph/operators.hpp"

namespace npuscope::npu {
namespace operators_indexing {

void infer_gather(Operation& op) {
  const Shape& data = op.shape_of_rank_from(0, 1);
  const Shape& indices = op.shape(1);
  op.check_whole(1);
  const std::size_t axis = normal_axis(op.attribute("axis", 0), data.size());
  Shape out(data.begin(), data.begin() + std::ptrdiff_t(axis));
  out.insert(out.end(), indices.begin(), indices.end());
  out.insert(out.end(), data.begin() + std::ptrdiff_t(axis) + 1, data.end());
  op.set(0, op.type(0), std::move(out));
}

void fold_gather(Operation& op) {
  const auto indices = op.known_integers(1);
  if (!indices || !op.values(0)) return;
  const Shape& data = op.shape(0);
  const auto axis = std::ptrdiff_t(normal_axis(op.attribute("axis", 0), data.size()));
  const auto index_rank = std::ptrdiff_t(op.rank(1));
  fold_movement(op, 0, [&](const Shape& place) -> ElementSource {
    const auto begin = place.begin() + axis;
    std::int64_t at = (*indices)[position_of({begin, begin + index_rank}, op.shape(1))];
    const std::int64_t extent = data[std::size_t(axis)];
    if (at < 0) at += extent;
    if (at < 0 || at >= extent) fail("it reads index {} of a dimension of {}", at, extent);
    Shape index(place.begin(), begin);
    index.push_back(at);
    index.insert(index.end(), begin + index_rank, place.end());
    return {0, position_of(index, data)};
  });
}

void infer_gather_elements(Operation& op) {
  op.shape_of_rank(1, op.rank(0));
  op.check_whole(1);
  op.set(0, op.type(0), op.shape(1));
}

// indices [..., k]: each names a sub-tensor below the batch dimensions and k more.
void infer_gather_nd(Operation& op) {
  const Shape& data = op.shape_of_rank_from(0, 1);
  const Shape& indices = op.shape_of_rank_from(1, 1);
  op.check_whole(1);
  const std::int64_t batch = op.attribute("batch_dims", 0), depth = indices.back();
  const auto rank = std::int64_t(data.size());
  if (batch < 0 || batch > rank || depth < 0 || depth > rank - batch) {
    fail("indices {} with {} batch dimensions do not fit {}", to_text(indices), batch,
         to_text(data));
  }
  Shape out(indices.begin(), indices.end() - 1);
  out.insert(out.end(), data.begin() + batch + depth, data.end());
  op.set(0, op.type(0), std::move(out));
}

// com.microsoft: rows of a table quantized in blocks (data, indices, scales, zero points).
void infer_gather_block_quantized(Operation& op) {
  Shape data = op.shape_of_rank_from(0, 1);
  const std::int64_t bits = op.attribute("bits", 4);
  if (bits_of(op.type(0)) == 8 && bits == 4) data.back() = multiply(data.back(), 2);
  const Shape& indices = op.shape(1);
  op.check_whole(1);
  const std::size_t axis = normal_axis(op.attribute("gather_axis", 0), data.size());
  Shape out(data.begin(), data.begin() + std::ptrdiff_t(axis));
  out.insert(out.end(), indices.begin(), indices.end());
  out.insert(out.end(), data.begin() + std::ptrdiff_t(axis) + 1, data.end());
  op.set(0, op.type(2), std::move(out));
}

// (indices, depth, [off, on]): a new dimension of `depth` at `axis`.
void infer_one_hot(Operation& op) {
  const auto depth = op.floats(1);
  if (depth.size() != 1 || !(depth[0] >= 1 && depth[0] < 0x1p56))
    fail("its depth must be one number from 1 on");
  Shape out = op.shape(0);
  const std::size_t axis = normal_axis(op.attribute("axis", -1), out.size() + 1);
  out.insert(out.begin() + std::ptrdiff_t(axis), std::int64_t(depth[0]));
  op.set(0, op.type(2), std::move(out));
}

void infer_top_k(Operation& op) {
  Shape out = op.shape_of_rank_from(0, 1);
  std::int64_t& dimension = out[normal_axis(op.attribute("axis", -1), out.size())];
  const std::int64_t k = op.has_attribute("k") ? op.attribute("k", 0) : op.integer(1);
  if (k < 0 || k > dimension) fail("it wants {} of {} elements", k, dimension);
  dimension = k;
  op.set(0, op.type(0), out);
  op.set(1, DataType::int64, std::move(out));
}

// Exporters write NonZero of a constant for index arithmetic; of anything else its size is unknown.
void infer_non_zero(Operation& op) {
  const auto values = op.values(0);
  if (!values || values->are_floats()) {
    fail_size("how many elements are not zero is only known at run time");
  }
  const std::size_t rank = op.rank(0);
  std::vector<Shape> found;
  ShapeWalk walk(op.shape(0));
  for (const std::int64_t value : values->integers) {
    if (value != 0) found.push_back(walk.index());
    walk.next();
  }
  Values out{DataType::int64, {}, {}};
  for (std::size_t axis = 0; axis < rank; ++axis) {
    for (const Shape& index : found) out.integers.push_back(index[axis]);
  }
  op.set(0, DataType::int64, {std::int64_t(rank), std::int64_t(found.size())});
  op.set_values(0, std::move(out));
}

// (data, indices, updates)
void infer_scatter(Operation& op) {
  op.check_whole(1);
  infer_same(op);
}

void infer_data_dependent(Operation&) {
  fail_size("the size of its output depends on data that is only known at run time");
}

// The most that one of these finds: every element.
void bound_non_zero(Operation& op) {
  op.set(0, DataType::int64, {std::int64_t(op.rank(0)), std::int64_t(op.input(0).elements())});
}

// (x, condition): along an axis, or of the elements as a list.
void bound_compress(Operation& op) {
  Shape out = {std::int64_t(op.input(0).elements())};
  std::size_t axis = 0;
  if (op.has_attribute("axis")) {
    out = op.shape(0);
    axis = normal_axis(op.attribute("axis", 0), out.size());
  }
  out[axis] = std::min(out[axis], op.shape_of_rank(1, 1)[0]);
  op.set(0, op.type(0), std::move(out));
}

// -> (y, first places, places in y of all, counts)
void bound_unique(Operation& op) {
  const Shape list = {std::int64_t(op.input(0).elements())};
  const bool has_axis = op.has_attribute("axis");
  const Shape out = has_axis ? op.shape(0) : list;
  const Shape found = {has_axis ? out[normal_axis(op.attribute("axis", 0), out.size())] : list[0]};
  op.set(0, op.type(0), out);
  for (std::size_t i = 1; i < 4; ++i) op.set(i, DataType::int64, found);
}

// Boxes of every class of every image: (boxes [N, B, 4], scores [N, C, B], boxes of a class, ...)
void bound_boxes(Operation& op) {
  const Shape& boxes = op.shape_of_rank(0, 3);
  const Shape& scores = op.shape_of_rank(1, 3);
  const std::int64_t of_class = std::clamp<std::int64_t>(op.integer(2), 0, boxes[1]);
  op.set(0, DataType::int64, {multiply(multiply(scores[0], scores[1]), of_class), 3});
}

// TensorRT's, as exporters of detectors write it: (boxes [N, B, 4], scores [N, B, C]) -> how many
// boxes of each image, then so many places of boxes, scores and classes.
void infer_efficient_nms(Operation& op) {
  const std::int64_t images = op.shape_of_rank_from(0, 3)[0];
  const std::int64_t most = op.required_attribute("max_output_boxes");
  op.set(0, DataType::int32, {images, 1});
  op.set(1, op.type(0), {images, most, 4});
  op.set(2, op.type(1), {images, most});
  op.set(3, DataType::int32, {images, most});
}

constexpr auto gather = OpClass::gather;
constexpr auto scatter = OpClass::scatter;
constexpr auto sort = OpClass::sort;

constexpr OperatorRow rows[] = {
    {"Compress", sort, infer_data_dependent, nullptr, bound_compress},
    {"CumProd CumSum", sort, infer_same},
    {"Gather", gather, infer_gather, fold_gather},
    {"GatherElements", gather, infer_gather_elements},
    {"GatherND com.microsoft.GatherND", gather, infer_gather_nd},
    {"NonMaxSuppression", sort, infer_data_dependent, nullptr, bound_boxes},
    {"NonZero", sort, infer_non_zero, nullptr, bound_non_zero},
    {"OneHot", scatter, infer_one_hot},
    {"Scatter ScatterElements ScatterND", scatter, infer_scatter},
    {"TensorScatter", scatter, infer_same},
    {"TopK", sort, infer_top_k},
    {"TRT.EfficientNMS_TRT", sort, infer_efficient_nms},
    {"Unique", sort, infer_data_dependent, nullptr, bound_unique},
    {"com.microsoft.GatherBlockQuantized", gather, infer_gather_block_quantized},
};

}  // namespace operators_indexing

std::span<const OperatorRow> indexing_operators() { return operators_indexing::rows; }

}  // namespace npuscope::npu
