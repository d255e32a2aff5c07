// Matrix products in their many forms, and recurrent layers.
#include "npu/graph/operators.hpp"
#include "npu/graph/operators/attention.hpp"

namespace npuscope::npu {

namespace operators_matmul {

Shape swapped(Shape shape, bool swap) {
  if (swap && shape.size() >= 2) std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  return shape;
}

// NumPy's matmul: vectors gain a dimension of 1 that the result drops.
Shape matmul_shape(Shape a, Shape b) {
  if (a.empty() || b.empty()) fail("a matrix product needs at least one dimension on both sides");
  const std::string shown = fmt::format("{} and {}", to_text(a), to_text(b));
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  if (a.back() != b[b.size() - 2])
    fail("{} do not multiply: {} is not {}", shown, a.back(), b[b.size() - 2]);
  Shape out = broadcast({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  if (!row) out.push_back(a[a.size() - 2]);
  if (!column) out.push_back(b.back());
  return out;
}

void infer_matmul(Operation& op) { op.set(0, op.type(0), matmul_shape(op.shape(0), op.shape(1))); }

void infer_matmul_integer(Operation& op) {
  op.set(0, DataType::int32, matmul_shape(op.shape(0), op.shape(1)));
}

// (a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero)
void infer_qlinear_matmul(Operation& op) {
  op.set(0, op.type(7), matmul_shape(op.shape(0), op.shape(3)));
}

void infer_float_matmul(Operation& op) {
  op.set(0, is_float(op.type(0)) ? op.type(0) : op.type(2), matmul_shape(op.shape(0), op.shape(1)));
}

void infer_fused_matmul(Operation& op) {
  if (op.attribute("transBatchA", 0) != 0 || op.attribute("transBatchB", 0) != 0) {
    fail("its transBatch form is not supported");
  }
  op.set(0, op.type(0),
         matmul_shape(swapped(op.shape(0), op.attribute("transA", 0) != 0),
                      swapped(op.shape(1), op.attribute("transB", 0) != 0)));
}

Shape gemm_shape(const Operation& op, std::size_t a, std::size_t b) {
  // Caffe2's exporter hands over [N, C, 1, 1]: everything after the first dimension is depth.
  Shape left = op.shape_of_rank_from(a, 2);
  if (left.size() > 2) left = {left[0], product(left, 1, left.size())};
  return matmul_shape(swapped(left, op.attribute("transA", 0) != 0),
                      swapped(op.shape_of_rank(b, 2), op.attribute("transB", 0) != 0));
}

void infer_gemm(Operation& op) {
  const Shape out = gemm_shape(op, 0, 1);
  if (op.has(2) && op.opset() >= 7 && broadcast(out, op.shape(2)) != out) {
    fail("its bias {} does not fit {}", to_text(op.shape(2)), to_text(out));
  }
  op.set(0, op.type(0), out);
}

// com.microsoft (a, a_scale, a_zero, b, b_scale, b_zero, bias, y_scale, y_zero)
void infer_qgemm(Operation& op) {
  op.set(0, op.has(8) ? op.type(8) : DataType::float32, gemm_shape(op, 0, 3));
}

// com.microsoft: x [..., K] with packed weights of N columns.
void infer_packed_matmul(Operation& op) {
  Shape out = op.shape_of_rank_from(0, 1);
  const std::int64_t depth = op.required_attribute("K");
  if (out.back() != depth) fail("its input {} does not have the depth {}", to_text(out), depth);
  out.back() = op.required_attribute("N");
  op.set(0, op.type(0), std::move(out));
}

void infer_einsum(Operation& op) {
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < op.input_count(); ++i) shapes.push_back(op.shape(i));
  const Einsum einsum = parse_einsum(op.node().string_attribute("equation", ""), shapes);
  Shape out;
  for (const char letter : einsum.output) out.push_back(einsum.sizes.at(letter));
  op.set(0, op.type(0), std::move(out));
}

constexpr auto matmul = OpClass::matmul;

constexpr OperatorRow rows[] = {
    {"Einsum", matmul, infer_einsum},
    {"Gemm com.microsoft.FusedGemm", matmul, infer_gemm},
    {"MatMul com.microsoft.GemmFastGelu", matmul, infer_matmul},
    {"MatMulInteger com.microsoft.MatMulInteger16", matmul, infer_matmul_integer},
    {"QLinearMatMul", matmul, infer_qlinear_matmul},
    {"com.microsoft.DynamicQuantizeMatMul com.microsoft.MatMulIntegerToFloat", matmul,
     infer_float_matmul},
    {"com.microsoft.FusedMatMul com.microsoft.FusedMatMulActivation com.microsoft.TransposeMatMul",
     matmul, infer_fused_matmul},
    {"com.microsoft.MatMulBnb4 com.microsoft.MatMulFpQ4 com.microsoft.MatMulNBits", matmul,
     infer_packed_matmul},
    {"com.microsoft.QGemm", matmul, infer_qgemm},
};

}  // namespace operators_matmul

std::span<const OperatorRow> matmul_operators() { return operators_matmul::rows; }

// Recurrent layers: x [S, B, I], w [D, gates * H, I], r [D, gates * H, H]; the quantised one has w
// and r the other way round.

namespace operators_recurrent {

void infer_recurrent(Operation& op) {
  const Shape& x = op.shape_of_rank(0, 3);
  const Shape& r = op.shape_of_rank(2, 3);
  const bool turned = op.node().op == "DynamicQuantizeLSTM";
  const std::int64_t hidden = op.attribute("hidden_size", r[turned ? 1 : 2]), directions = r[0];
  const bool batch_first = op.attribute("layout", 0) != 0;
  const std::int64_t steps = x[batch_first ? 1 : 0], batch = x[batch_first ? 0 : 1];
  const Shape all = batch_first ? Shape{batch, steps, directions, hidden}
                                : Shape{steps, directions, batch, hidden};
  const Shape last =
      batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  op.set(0, op.type(0), all);
  op.set(1, op.type(0), last);
  op.set(2, op.type(0), last);  // the cell state of an LSTM
}

constexpr OperatorRow rows[] = {
    {"GRU LSTM RNN com.microsoft.DynamicQuantizeLSTM", OpClass::matmul, infer_recurrent},
};

}  // namespace operators_recurrent

std::span<const OperatorRow> recurrent_operators() { return operators_recurrent::rows; }

}  // namespace npuscope::npu
