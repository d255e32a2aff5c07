// Between floating point and integers, and elementwise operators on quantized tensors.
#include "npu/graph/operators.hpp"

namespace npuscope::npu {
namespace operators_quantization {

// (x, scale, zero point): the zero point's type, else output_dtype, else uint8.
void infer_quantize(Operation& op) {
  DataType type = op.has(2) ? op.type(2) : DataType::uint8;
  if (!op.has(2) && op.attribute("output_dtype", 0) != 0) {
    type = data_type_of(op.attribute("output_dtype", 0));
    if (type == DataType::undefined) fail("its output_dtype is not known");
  }
  op.set(0, type, op.shape(0));
}

// (x, scale, zero point): the scale's type unless output_dtype says otherwise.
void infer_dequantize(Operation& op) {
  DataType type = op.type(1);
  if (op.attribute("output_dtype", 0) != 0) type = data_type_of(op.attribute("output_dtype", 0));
  if (type == DataType::undefined) fail("its output_dtype is not known");
  op.set(0, type, op.shape(0));
}

void infer_dynamic_quantize(Operation& op) {
  op.set(0, DataType::uint8, op.shape(0));
  op.set(1, DataType::float32, {});
  op.set(2, DataType::uint8, {});
}

// com.microsoft (a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero)
void infer_qlinear_binary(Operation& op) {
  op.set(0, op.type(0), broadcast(op.shape(0), op.shape(3)));
}

// com.microsoft (y_scale, y_zero, x0, scale0, zero0, x1, ...)
void infer_qlinear_concat(Operation& op) {
  Shape out = op.shape(2);
  const std::size_t axis = normal_axis(op.required_attribute("axis"), out.size());
  for (std::size_t i = 5; i < op.input_count(); i += 3) {
    const Shape& part = op.shape_of_rank(i, out.size());
    out[axis] = add(out[axis], part[axis]);
  }
  op.set(0, op.type(2), std::move(out));
}

constexpr auto elementwise = OpClass::elementwise;

constexpr Operator rows[] = {
    {"DequantizeLinear", elementwise, infer_dequantize},
    {"DynamicQuantizeLinear", elementwise, infer_dynamic_quantize},
    {"QuantizeLinear", elementwise, infer_quantize},
    {"com.microsoft.DequantizeLinear", elementwise, infer_dequantize},
    {"com.microsoft.QLinearAdd", elementwise, infer_qlinear_binary},
    {"com.microsoft.QLinearConcat", OpClass::copy, infer_qlinear_concat},
    {"com.microsoft.QLinearLeakyRelu", elementwise, infer_same},
    {"com.microsoft.QLinearMul", elementwise, infer_qlinear_binary},
    {"com.microsoft.QLinearSigmoid", elementwise, infer_same},
    {"com.microsoft.QLinearSoftmax", OpClass::softmax, infer_same},
    {"com.microsoft.QuantizeLinear", elementwise, infer_quantize},
};

}  // namespace operators_quantization

std::span<const Operator> quantization_operators() { return operators_quantization::rows; }

}  // namespace npuscope::npu
