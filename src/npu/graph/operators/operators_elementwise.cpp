// One output element from the same (broadcast) element of the inputs.
#include "npu/graph/operators.hpp"

namespace npuscope::npu {
namespace operators_elementwise {

// Before opset 7, broadcast=1 aligned the second input's dimensions with those of the first that
// start at `axis` (at the end without it), and nothing else was stretched.
Shape legacy_broadcast(const Operation& op) {
  const Shape& a = op.shape(0);
  const Shape& b = op.shape(1);
  if (!op.has_attribute("axis")) return broadcast(a, b);
  const std::size_t axis = normal_axis(op.attribute("axis", 0), a.size());
  if (axis + b.size() > a.size()) {
    fail("{} at axis {} does not fit into {}", to_text(b), axis, to_text(a));
  }
  Shape aligned(a.size(), 1);
  std::copy(b.begin(), b.end(), aligned.begin() + std::ptrdiff_t(axis));
  return broadcast(a, aligned);
}

Shape binary_shape(const Operation& op) {
  if (op.input_count() != 2) fail("it has {} inputs, not 2", op.input_count());
  return op.opset() < 7 && op.attribute("broadcast", 0) != 0 && op.node().domain.empty()
             ? legacy_broadcast(op)
             : broadcast(op.shape(0), op.shape(1));
}

void infer_binary(Operation& op) { op.set(0, op.type(0), binary_shape(op)); }

void infer_comparison(Operation& op) { op.set(0, DataType::boolean, binary_shape(op)); }

// The legacy alignment is not NumPy's, so only plain broadcasts are computed.
void fold_plain_binary(Operation& op) {
  if (!op.has_attribute("axis")) fold_binary(op);
}

void infer_test(Operation& op) { op.set(0, DataType::boolean, op.shape(0)); }

void infer_variadic(Operation& op) {
  Shape shape = op.shape(0);
  for (std::size_t i = 1; i < op.input_count(); ++i) shape = broadcast(shape, op.shape(i));
  op.set(0, op.type(0), std::move(shape));
}

void infer_where(Operation& op) {
  op.check_whole(0);
  op.set(0, op.type(1), broadcast(broadcast(op.shape(0), op.shape(1)), op.shape(2)));
}

// Before opset 6 `to` is the type's name.
DataType cast_target(const Operation& op) {
  const std::string name = op.node().string_attribute("to", "");
  constexpr std::string_view names[] = {"UNDEFINED", "FLOAT",  "UINT8",  "INT8",   "UINT16",
                                        "INT16",     "INT32",  "INT64",  "STRING", "BOOL",
                                        "FLOAT16",   "DOUBLE", "UINT32", "UINT64"};
  std::int64_t number = op.attribute("to", 0);
  for (std::size_t i = 0; i < std::size(names); ++i)
    if (name == names[i]) number = std::int64_t(i);
  const DataType type = data_type_of(number);
  if (type == DataType::undefined)
    fail("it casts to the element type {}{}, which npuscope does not know", name, number);
  return type;
}

void infer_cast(Operation& op) { op.set(0, cast_target(op), op.shape(0)); }
// The same bytes as elements of another type.
void infer_bit_cast(Operation& op) {
  const DataType type = cast_target(op);
  if (bits_of(type) != bits_of(op.type(0))) {
    fail("it takes {} as {}, which have other sizes", name_of(op.type(0)), name_of(type));
  }
  op.set(0, type, op.shape(0));
}

void infer_cast_like(Operation& op) { op.set(0, op.type(1), op.shape(0)); }

void fold_clip(Operation& op) {
  const auto in = op.values(0);
  if (!in || !op.folds(0) || op.has_attribute("min") || op.has_attribute("max")) return;
  Values out = *in;
  for (const std::size_t bound : {1, 2}) {
    if (!op.has(bound)) continue;
    const auto limit = op.values(bound);
    if (!limit || limit->size() != 1 || limit->are_floats() != in->are_floats()) return;
    for (double& value : out.floats) {
      value = bound == 1 ? std::max(value, limit->floats[0]) : std::min(value, limit->floats[0]);
    }
    for (std::int64_t& value : out.integers) {
      value =
          bound == 1 ? std::max(value, limit->integers[0]) : std::min(value, limit->integers[0]);
    }
  }
  op.set_values(0, std::move(out));
}

// com.microsoft: (x, bias) with bias along the last dimension, which halves for split forms.
void infer_bias_split(Operation& op) {
  Shape shape = op.shape_of_rank_from(0, 1);
  shape.back() /= 2;
  op.set(0, op.type(0), std::move(shape));
}

constexpr auto elementwise = OpClass::elementwise;

constexpr OperatorRow rows[] = {
    {"Abs BitwiseNot Ceil Exp Floor Log Neg Reciprocal Relu Round Sign Sqrt", elementwise,
     infer_same, fold_unary},
    {"Acos Acosh Affine Asin Asinh Atan Atanh Celu Cos Cosh Elu Erf Gelu HardSigmoid HardSwish "
     "ImageScaler LeakyRelu Mish PRelu ParametricSoftplus ScaledTanh Selu Shrink Sigmoid Sin Sinh "
     "Softplus Softsign SwiGLU Swish Tan Tanh ThresholdedRelu com.microsoft.BiasAdd "
     "com.microsoft.BiasGelu com.microsoft.FastGelu com.microsoft.Gelu com.microsoft.QuickGelu",
     elementwise, infer_same},
    {"Add BitShift BitwiseAnd BitwiseOr BitwiseXor Div Mod Mul Pow Sub", elementwise, infer_binary,
     fold_plain_binary},
    {"And Equal Greater GreaterOrEqual Less LessOrEqual Or Xor", elementwise, infer_comparison,
     fold_plain_binary},
    {"com.microsoft.ComplexMul com.microsoft.ComplexMulConj", elementwise, infer_binary},
    {"BitCast", elementwise, infer_bit_cast},
    {"Cast", elementwise, infer_cast, fold_cast},
    {"CastLike", elementwise, infer_cast_like, fold_cast},
    {"Clip", elementwise, infer_same, fold_clip},
    {"IsInf IsNaN", elementwise, infer_test},
    {"Max Min Sum", elementwise, infer_variadic, fold_binary},
    {"Mean", elementwise, infer_variadic},
    {"Not", elementwise, infer_test, fold_unary},
    {"Where", elementwise, infer_where, fold_where},
    {"com.microsoft.BiasSplitGelu", elementwise, infer_bias_split},
};

}  // namespace operators_elementwise

std::span<const OperatorRow> elementwise_operators() { return operators_elementwise::rows; }

}  // namespace npuscope::npu
