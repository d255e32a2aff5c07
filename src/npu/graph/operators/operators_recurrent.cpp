// Recurrent layers: x [S, B, I], w [D, gates * H, I], r [D, gates * H, H].
#include "npu/graph/operators.hpp"

namespace npuscope::npu {
namespace operators_recurrent {

void infer_recurrent(Operation& op) {
  const Shape& x = op.shape_of_rank(0, 3);
  const Shape& r = op.shape_of_rank(2, 3);
  const std::int64_t hidden = op.attribute("hidden_size", r[2]), directions = r[0];
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

constexpr Operator rows[] = {
    {"GRU", OpClass::matmul, infer_recurrent},
    {"LSTM", OpClass::matmul, infer_recurrent},
    {"RNN", OpClass::matmul, infer_recurrent},
};

}  // namespace operators_recurrent

std::span<const Operator> recurrent_operators() { return operators_recurrent::rows; }

}  // namespace npuscope::npu
