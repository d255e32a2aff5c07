// Reductions along axes, and normalizations.
#include <algorithm>

#include "npu/graph/operators.hpp"

namespace npuscope::npu {

namespace operators_reduction {

// Axes came as an attribute until opset 17 (ReduceSum: 12). None: all, or nothing to do at all.
std::vector<bool> reduced_axes(const Operation& op) {
  const auto axes = op.attribute_or_input("axes", 1);
  const bool all = axes.empty() && op.attribute("noop_with_empty_axes", 0) == 0;
  std::vector<bool> reduced(op.rank(0), all);
  for (const std::size_t axis : normal_axes(axes, op.rank(0))) reduced[axis] = true;
  return reduced;
}

Shape reduced_shape(const Operation& op, const std::vector<bool>& reduced) {
  const bool keep = op.attribute("keepdims", 1) != 0;
  Shape out;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i]) {
      out.push_back(op.shape(0)[i]);
    } else if (keep) {
      out.push_back(1);
    }
  }
  return out;
}

void infer_reduce(Operation& op) { op.set(0, op.type(0), reduced_shape(op, reduced_axes(op))); }

// Axes that are known when the model runs: so many, of which the shortest leave the most.
void bound_reduce(Operation& op) {
  std::vector<std::size_t> order(op.rank(0));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t axis) { return op.shape(0)[axis]; });
  const std::uint64_t count = op.input(1).elements();
  if (count > order.size()) fail("it has more axes than its input has dimensions");
  const bool all = count == 0 && op.attribute("noop_with_empty_axes", 0) == 0;
  std::vector<bool> reduced(order.size(), all);
  for (std::size_t i = 0; i < count; ++i) reduced[order[i]] = true;
  op.set(0, op.type(0), reduced_shape(op, reduced));
}

void fold_reduce(Operation& op) { fold_reduction(op, reduced_axes(op)); }

void infer_arg(Operation& op) {
  std::vector<bool> reduced(op.shape_of_rank_from(0, 1).size());
  reduced[normal_axis(op.attribute("axis", 0), reduced.size())] = true;
  op.set(0, DataType::int64, reduced_shape(op, reduced));
}

// Determinants of the last two dimensions.
void infer_det(Operation& op) {
  const Shape& in = op.shape_of_rank_from(0, 2);
  op.set(0, op.type(0), {in.begin(), in.end() - 2});
}

// (scores [N, C, ...], targets [N, ...]): a loss for each target or of all; the cross entropy also
// gives its logarithms.
void infer_loss(Operation& op) {
  const bool each = op.node().string_attribute("reduction", "mean") == "none";
  op.set(0, op.type(0), each ? op.shape(1) : Shape{});
  op.set(1, op.type(0), op.shape(0));
}

// com.microsoft (x, x_scale, x_zero, y_scale, y_zero): axes are an attribute.
void infer_qlinear_reduce(Operation& op) {
  std::vector<bool> reduced(op.rank(0), !op.has_attribute("axes"));
  for (const std::size_t axis : normal_axes(op.node().ints_attribute("axes"), op.rank(0)))
    reduced[axis] = true;
  op.set(0, op.type(0), reduced_shape(op, reduced));
}

constexpr auto reduction = OpClass::reduction;

constexpr OperatorRow rows[] = {
    {"ArgMax ArgMin", reduction, infer_arg},
    {"Det", reduction, infer_det},
    {"NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss", reduction, infer_loss},
    {"ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMean ReduceSumSquare", reduction,
     infer_reduce, nullptr, bound_reduce},
    {"ReduceMax ReduceMin ReduceProd ReduceSum", reduction, infer_reduce, fold_reduce,
     bound_reduce},
    {"com.microsoft.QLinearReduceMean", reduction, infer_qlinear_reduce},
};

}  // namespace operators_reduction

std::span<const OperatorRow> reduction_operators() { return operators_reduction::rows; }

// Normalizations: the shape stays; some also give statistics.

namespace operators_normalization {

void infer_softmax(Operation& op) {
  // The default axis was 1 before opset 13; a vector then still counts as [1, n].
  if (op.rank(0) > 0 && op.has_attribute("axis")) {
    const std::int64_t axis = op.attribute("axis", -1);
    if (axis != std::int64_t(op.rank(0))) normal_axis(axis, op.rank(0));
  }
  infer_same(op);
}

// (x, scale, bias, mean, variance); training forms also give running and saved statistics.
void infer_batch_normalization(Operation& op) {
  infer_same(op);
  for (std::size_t i = 1; i < op.output_count(); ++i) op.set(i, op.type(1), op.shape(1));
}

// Mean and 1/deviation keep the dimensions before `axis`, the others become 1.
void infer_layer_normalization(Operation& op) {
  infer_same(op);
  Shape statistics = op.shape_of_rank_from(0, 1);
  const std::size_t axis = normal_axis(op.attribute("axis", -1), statistics.size());
  std::fill(statistics.begin() + std::ptrdiff_t(axis), statistics.end(), 1);
  op.set(1, DataType::float32, statistics);
  op.set(2, DataType::float32, statistics);
}

// com.microsoft (x, skip, gamma ...) -> (y, mean, 1/deviation, x + skip)
void infer_skip_normalization(Operation& op) {
  infer_layer_normalization(op);
  op.set(3, op.type(0), op.shape(0));
}

// com.microsoft (ids [B, S], segments, word [V, H] ...) -> ([B, S, H], mask [B], sum); quantised
// words have a scale at `scale`.
template <std::size_t scale>
void infer_embed_normalization(Operation& op) {
  const Shape& ids = op.shape_of_rank(0, 2);
  const Shape& words = op.shape_of_rank(2, 2);
  const Shape out{ids[0], ids[1], words[1]};
  op.set(0, op.type(scale), out);
  op.set(1, DataType::int32, {ids[0]});
  op.set(2, op.type(scale), out);
}

// com.microsoft (x, gamma, beta, skip, bias) -> (y, x + skip)
void infer_skip_group_norm(Operation& op) {
  infer_same(op);
  op.set(1, op.type(0), op.shape(0));
}

constexpr auto normalization = OpClass::normalization;

constexpr OperatorRow rows[] = {
    {"BatchNormalization", normalization, infer_batch_normalization},
    {"GroupNormalization InstanceNormalization LRN LpNormalization MeanVarianceNormalization "
     "RMSNormalization com.microsoft.GroupNorm",
     normalization, infer_same},
    {"Hardmax LogSoftmax Softmax", OpClass::softmax, infer_softmax},
    // onnxruntime's optimizer puts this one into the standard domain.
    {"LayerNormalization SimplifiedLayerNormalization com.microsoft.LayerNormalization "
     "com.microsoft.SimplifiedLayerNormalization",
     normalization, infer_layer_normalization},
    {"com.microsoft.BiasSoftmax", OpClass::softmax, infer_same},
    {"com.microsoft.EmbedLayerNormalization", normalization, infer_embed_normalization<2>},
    {"com.microsoft.QEmbedLayerNormalization", normalization, infer_embed_normalization<8>},
    {"com.microsoft.SkipGroupNorm", normalization, infer_skip_group_norm},
    {"com.microsoft.SkipLayerNormalization com.microsoft.SkipSimplifiedLayerNormalization",
     normalization, infer_skip_normalization},
};

}  // namespace operators_normalization

std::span<const OperatorRow> normalization_operators() { return operators_normalization::rows; }

}  // namespace npuscope::npu
