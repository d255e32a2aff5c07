#include "npu/graph/operators.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace npuscope::npu {
namespace {

using Integer = std::optional<std::int64_t>;
using Number = std::optional<double>;

// Two's complement, as the device computes; never undefined.
std::int64_t wrapping(std::uint64_t value) { return std::int64_t(value); }

std::int64_t power(std::int64_t base, std::int64_t exponent) {
  std::uint64_t result = 1, square = std::uint64_t(base);
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 != 0) result *= square;
    square *= square;
  }
  return wrapping(result);
}

Integer divide(std::int64_t a, std::int64_t b) {
  if (b == 0) return std::nullopt;
  return b == -1 ? wrapping(0 - std::uint64_t(a)) : a / b;
}

Integer modulo(std::int64_t a, std::int64_t b, bool like_c) {
  if (b == 0) return std::nullopt;
  if (b == -1) return 0;
  const std::int64_t rest = a % b;
  return !like_c && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Integer shift(std::int64_t a, std::int64_t b, bool left) {
  if (b < 0 || b > 63) return 0;
  return left ? wrapping(std::uint64_t(a) << b) : wrapping(std::uint64_t(a) >> b);
}

Integer integer_binary(const Node& node, std::int64_t a, std::int64_t b) {
  const std::string_view op = node.op;
  const auto ua = std::uint64_t(a), ub = std::uint64_t(b);
  if (op == "Add" || op == "Sum") return wrapping(ua + ub);
  if (op == "Sub") return wrapping(ua - ub);
  if (op == "Mul") return wrapping(ua * ub);
  if (op == "Div") return divide(a, b);
  if (op == "Mod") return modulo(a, b, node.int_attribute("fmod", 0) != 0);
  if (op == "Pow") return b < 0 ? Integer{} : power(a, b);
  if (op == "Min") return std::min(a, b);
  if (op == "Max") return std::max(a, b);
  if (op == "And") return (a != 0 && b != 0) ? 1 : 0;
  if (op == "Or") return (a != 0 || b != 0) ? 1 : 0;
  if (op == "Xor") return (a != 0) != (b != 0) ? 1 : 0;
  if (op == "BitwiseAnd") return a & b;
  if (op == "BitwiseOr") return a | b;
  if (op == "BitwiseXor") return a ^ b;
  if (op == "BitShift") return shift(a, b, node.string_attribute("direction", "") == "LEFT");
  return std::nullopt;
}

Number float_binary(const Node& node, double a, double b) {
  const std::string_view op = node.op;
  if (op == "Add" || op == "Sum") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Div") return a / b;
  if (op == "Mod") return std::fmod(a, b);
  if (op == "Pow") return std::pow(a, b);
  if (op == "Min") return std::min(a, b);
  if (op == "Max") return std::max(a, b);
  return std::nullopt;
}

template <class T>
Integer compare(std::string_view op, T a, T b) {
  if (op == "Equal") return a == b;
  if (op == "Less") return a < b;
  if (op == "LessOrEqual") return a <= b;
  if (op == "Greater") return a > b;
  if (op == "GreaterOrEqual") return a >= b;
  return std::nullopt;
}

Integer integer_unary(std::string_view op, std::int64_t a) {
  if (op == "Neg") return wrapping(0 - std::uint64_t(a));
  if (op == "Abs") return a < 0 ? wrapping(0 - std::uint64_t(a)) : a;
  if (op == "Sign") return a > 0 ? 1 : a < 0 ? -1 : 0;
  if (op == "Not") return a == 0;
  if (op == "BitwiseNot") return ~a;
  if (op == "Identity" || op == "Relu") return op == "Relu" ? std::max<std::int64_t>(a, 0) : a;
  return std::nullopt;
}

Number float_unary(std::string_view op, double a) {
  if (op == "Neg") return -a;
  if (op == "Abs") return std::fabs(a);
  if (op == "Sign") return a > 0 ? 1 : a < 0 ? -1 : 0;
  if (op == "Floor") return std::floor(a);
  if (op == "Ceil") return std::ceil(a);
  if (op == "Round") return std::nearbyint(a);
  if (op == "Sqrt") return std::sqrt(a);
  if (op == "Reciprocal") return 1 / a;
  if (op == "Exp") return std::exp(a);
  if (op == "Log") return std::log(a);
  if (op == "Relu") return std::max(a, 0.0);
  if (op == "Identity") return a;
  return std::nullopt;
}

// Appends a result, or says that there is none.
bool append(Values& values, Integer result) {
  if (result) values.integers.push_back(*result);
  return result.has_value();
}
bool append(Values& values, Number result) {
  if (result) values.floats.push_back(*result);
  return result.has_value();
}

bool combine(const Node& node, const Values& a, std::size_t i, const Values& b, std::size_t j,
             Values& out) {
  if (a.are_floats() != b.are_floats()) return false;
  if (out.type == DataType::boolean) {
    const Integer truth = a.are_floats() ? compare(node.op, a.floats[i], b.floats[j])
                                         : compare(node.op, a.integers[i], b.integers[j]);
    if (truth) return append(out, truth);
  }
  return a.are_floats() ? append(out, float_binary(node, a.floats[i], b.floats[j]))
                        : append(out, integer_binary(node, a.integers[i], b.integers[j]));
}

// One step of a fold over the inputs: `left` (of shape `left_shape`) with input `right`.
std::optional<Values> combine_all(Operation& op, const Values& left, const Shape& left_shape,
                                  std::size_t right) {
  const auto values = op.values(right);
  if (!values) return std::nullopt;
  Values out{op.output(0).type, {}, {}};
  const Shape& shape = op.output(0).shape;
  ShapeWalk walk(shape);
  for (std::uint64_t n = op.output(0).elements(); n > 0; --n, walk.next()) {
    if (!combine(op.node(), left, position_of(walk.index(), left_shape), *values,
                 position_of(walk.index(), op.shape(right)), out)) {
      return std::nullopt;
    }
  }
  return out;
}

bool reduce(std::string_view op, double& into, double value) {
  if (op == "ReduceSum") return into += value, true;
  if (op == "ReduceProd") return into *= value, true;
  if (op == "ReduceMax") return into = std::max(into, value), true;
  if (op == "ReduceMin") return into = std::min(into, value), true;
  return false;
}

bool reduce(std::string_view op, std::int64_t& into, std::int64_t value) {
  const auto a = std::uint64_t(into), b = std::uint64_t(value);
  if (op == "ReduceSum") return into = wrapping(a + b), true;
  if (op == "ReduceProd") return into = wrapping(a * b), true;
  if (op == "ReduceMax") return into = std::max(into, value), true;
  if (op == "ReduceMin") return into = std::min(into, value), true;
  return false;
}

template <class T>
std::vector<T> reduce_all(const Operation& op, const std::vector<T>& values,
                          const std::vector<bool>& reduced) {
  Shape kept = op.shape(0);
  for (std::size_t axis = 0; axis < kept.size(); ++axis)
    if (reduced[axis]) kept[axis] = 1;
  std::vector<T> out(std::size_t(product(kept)));
  std::vector<bool> begun(out.size());
  ShapeWalk walk(op.shape(0));
  for (const T value : values) {
    const std::size_t at = position_of(walk.index(), kept);
    if (!begun[at]) {
      out[at] = value;
      begun[at] = true;
    } else if (!reduce(op.node().op, out[at], value)) {
      return {};
    }
    walk.next();
  }
  return out;
}

}  // namespace

void ShapeWalk::next() {
  for (std::size_t axis = shape_.size(); axis-- > 0;) {
    if (++index_[axis] < shape_[axis]) return;
    index_[axis] = 0;
  }
}

std::size_t position_of(const Shape& index, const Shape& shape) {
  const std::size_t shift = index.size() - shape.size();
  std::size_t position = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::int64_t at = shape[axis] == 1 ? 0 : index[shift + axis];
    position = position * std::size_t(shape[axis]) + std::size_t(at);
  }
  return position;
}

void fold_unary(Operation& op) {
  const auto in = op.values(0);
  if (!in || !op.folds(0)) return;
  Values out{op.output(0).type, {}, {}};
  for (std::size_t i = 0; i < in->size(); ++i) {
    const bool known = in->are_floats() ? append(out, float_unary(op.node().op, in->floats[i]))
                                        : append(out, integer_unary(op.node().op, in->integers[i]));
    if (!known) return;
  }
  op.set_values(0, std::move(out));
}

void fold_binary(Operation& op) {
  auto left = op.values(0);
  if (!left || !op.folds(0)) return;
  if (op.input_count() == 1) return op.set_values(0, std::move(*left));
  Shape left_shape = op.shape(0);
  for (std::size_t right = 1; right < op.input_count(); ++right) {
    left = combine_all(op, *left, left_shape, right);
    if (!left) return;
    left_shape = op.output(0).shape;
  }
  op.set_values(0, std::move(*left));
}

void fold_where(Operation& op) {
  const auto condition = op.known_integers(0);
  if (!condition) return;
  fold_movement(op, 0, [&](const Shape& index) -> ElementSource {
    const std::size_t from = (*condition)[position_of(index, op.shape(0))] != 0 ? 1 : 2;
    return {from, position_of(index, op.shape(from))};
  });
}

void fold_cast(Operation& op) {
  const auto in = op.values(0);
  if (!in || !op.folds(0)) return;
  Values out{op.output(0).type, {}, {}};
  for (std::size_t i = 0; i < in->size(); ++i) {
    if (!in->are_floats()) {
      if (out.are_floats()) {
        out.floats.push_back(double(in->integers[i]));
      } else {
        out.integers.push_back(in->integers[i]);
      }
    } else if (out.are_floats()) {
      out.floats.push_back(in->floats[i]);
    } else if (out.type == DataType::boolean) {
      out.integers.push_back(in->floats[i] != 0);
    } else if (std::fabs(in->floats[i]) < 0x1p63) {  // false for NaN as well
      out.integers.push_back(std::int64_t(in->floats[i]));
    } else {
      return;
    }
  }
  op.set_values(0, std::move(out));
}

void fold_reduction(Operation& op, const std::vector<bool>& reduced) {
  const auto in = op.values(0);
  if (!in || in->size() == 0 || !op.folds(0)) return;
  Values out{in->type, {}, {}};
  if (in->are_floats()) {
    out.floats = reduce_all(op, in->floats, reduced);
  } else {
    out.integers = reduce_all(op, in->integers, reduced);
  }
  op.set_values(0, std::move(out));
}

void fold_movement(Operation& op, std::size_t output,
                   const std::function<ElementSource(const Shape& index)>& source_of) {
  if (!op.folds(output)) return;
  std::vector<std::optional<Values>> inputs(op.input_count());
  Values out{op.output(output).type, {}, {}};
  ShapeWalk walk(op.output(output).shape);
  for (std::uint64_t n = op.output(output).elements(); n > 0; --n, walk.next()) {
    const ElementSource source = source_of(walk.index());
    auto& in = inputs[source.input];
    if (!in) in = op.values(source.input);
    if (!in || in->are_floats() != out.are_floats()) return;
    if (source.position >= in->size()) return;
    if (out.are_floats()) {
      out.floats.push_back(in->floats[source.position]);
    } else {
      out.integers.push_back(in->integers[source.position]);
    }
  }
  op.set_values(output, std::move(out));
}

void fold_view(Operation& op) {
  if (auto in = op.values(0)) op.set_values(0, std::move(*in));
}

}  // namespace npuscope::npu
