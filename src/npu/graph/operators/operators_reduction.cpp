// Reductions along axes.
#include "npu/graph/fold.hpp"
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

constexpr auto reduction = OpClass::reduction;

constexpr Operator rows[] = {
    {"ArgMax", reduction, infer_arg},
    {"ArgMin", reduction, infer_arg},
    {"Det", reduction, infer_det},
    {"ReduceL1", reduction, infer_reduce},
    {"ReduceL2", reduction, infer_reduce},
    {"ReduceLogSum", reduction, infer_reduce},
    {"ReduceLogSumExp", reduction, infer_reduce},
    {"ReduceMax", reduction, infer_reduce, fold_reduce},
    {"ReduceMean", reduction, infer_reduce},
    {"ReduceMin", reduction, infer_reduce, fold_reduce},
    {"ReduceProd", reduction, infer_reduce, fold_reduce},
    {"ReduceSum", reduction, infer_reduce, fold_reduce},
    {"ReduceSumSquare", reduction, infer_reduce},
};

}  // namespace operators_reduction

std::span<const Operator> reduction_operators() { return operators_reduction::rows; }

}  // namespace npuscope::npu
