#include "npu/graph/operation.hpp"

#include <algorithm>
#include <numeric>

#include "npu/graph/limits.hpp"

namespace npuscope::npu {

Operation::Operation(Graph& graph, const Node& node, std::int64_t opset,
                     const Attributes& attributes, std::size_t& folded_elements)
    : graph_(graph),
      node_(node),
      opset_(opset),
      attributes_(attributes),
      folded_elements_(folded_elements) {}

bool Operation::has(std::size_t i) const { return node_.has_input(i); }

const Tensor& Operation::input(std::size_t i) const {
  if (!has(i)) fail("it lacks its input {}", i);
  return graph_[node_.inputs[i]];
}

std::int64_t Operation::dimension(std::size_t i, std::int64_t axis) const {
  return shape(i)[normal_axis(axis, rank(i))];
}

const Shape& Operation::shape_of_rank(std::size_t i, std::size_t wanted) const {
  if (rank(i) != wanted) {
    fail("input {} '{}' is {} but must have {} dimensions", i, input(i).name, to_text(shape(i)),
         wanted);
  }
  return shape(i);
}

const Shape& Operation::shape_of_rank_from(std::size_t i, std::size_t min) const {
  if (rank(i) < min) {
    fail("input {} '{}' is {} but must have at least {} dimensions", i, input(i).name,
         to_text(shape(i)), min);
  }
  return shape(i);
}

void Operation::check_whole(std::size_t i) const {
  const Tensor& tensor = input(i);
  if (is_float(tensor.type) || tensor.type == DataType::string) {
    fail("input {} '{}' is of {} but must be of integers", i, tensor.name, name_of(tensor.type));
  }
}

namespace {

[[noreturn]] void fail_unknown_values(std::size_t i, const Tensor& tensor) {
  fail_size(
      "its output size needs the values of input {} '{}', which are not known at compile time", i,
      tensor.name);
}

}  // namespace

std::vector<std::int64_t> Operation::integers(std::size_t i) const {
  check_whole(i);
  const Tensor& tensor = input(i);
  if (!tensor.values) fail_unknown_values(i, tensor);
  return *tensor.values;
}

std::optional<std::vector<std::int64_t>> Operation::known_integers(std::size_t i) const {
  check_whole(i);
  return input(i).values;
}

std::int64_t Operation::integer(std::size_t i) const {
  const auto all = integers(i);
  if (all.size() != 1) fail("input {} '{}' must be one number", i, input(i).name);
  return all[0];
}

std::vector<double> Operation::floats(std::size_t i) const {
  const Tensor& tensor = input(i);
  if (tensor.float_values) return *tensor.float_values;
  if (!tensor.values) fail_unknown_values(i, tensor);
  return {tensor.values->begin(), tensor.values->end()};
}

std::optional<Values> Operation::values(std::size_t i) const {
  const Tensor& tensor = input(i);
  if (is_float(tensor.type) && tensor.float_values)
    return Values{tensor.type, {}, *tensor.float_values};
  if (!is_float(tensor.type) && tensor.values) return Values{tensor.type, *tensor.values, {}};
  return std::nullopt;
}

std::int64_t Operation::required_attribute(std::string_view name) const {
  if (!has_attribute(name)) fail("it lacks its attribute '{}'", name);
  return attribute(name, 0);
}

bool Operation::has_graph(std::string_view name) const {
  const auto found = attributes_.find(name);
  return found != attributes_.end() && found->second.graph.has_value();
}

std::optional<Tensor> Operation::tensor_attribute(std::string_view name) const {
  const auto found = attributes_.find(name);
  if (found == attributes_.end()) return std::nullopt;
  if (found->second.tensor) return read_tensor(*found->second.tensor);
  if (found->second.sparse_tensor) return read_sparse_tensor(*found->second.sparse_tensor);
  return std::nullopt;
}

std::vector<std::int64_t> Operation::attribute_or_input(std::string_view name,
                                                        std::size_t i) const {
  if (has_attribute(name)) return node_.ints_attribute(name);
  return has(i) ? integers(i) : std::vector<std::int64_t>{};
}

bool Operation::makes(std::size_t i) const {
  return i < node_.outputs.size() && node_.outputs[i] != TensorId::none;
}

const Tensor& Operation::output(std::size_t i) const { return graph_[node_.outputs[i]]; }

void Operation::set(std::size_t i, DataType type, Shape shape) {
  if (!makes(i)) return;
  Tensor& tensor = mutable_output(i);
  tensor.type = type;
  tensor.shape = std::move(shape);
  if (const auto problem = limits::problem_of(tensor)) fail("its output {} {}", i, *problem);
}

bool Operation::folds(std::size_t i) const {
  if (!makes(i)) return false;
  const Tensor& tensor = output(i);
  const std::size_t limit = is_float(tensor.type)                   ? limits::folded_floats
                            : limits::folds_as_integer(tensor.type) ? limits::folded_integers
                                                                    : 0;
  const std::uint64_t count = tensor.elements();
  return limit > 0 && count <= limit && folded_elements_ + count <= limits::folded_in_all;
}

namespace {

std::int64_t wrap(std::int64_t value, DataType type) {
  switch (type) {
    case DataType::int8: return std::int8_t(value);
    case DataType::uint8: return std::uint8_t(value);
    case DataType::int16: return std::int16_t(value);
    case DataType::uint16: return std::uint16_t(value);
    case DataType::int32: return std::int32_t(value);
    case DataType::uint32: return std::uint32_t(value);
    case DataType::boolean: return value != 0 ? 1 : 0;
    default: return value;
  }
}

}  // namespace

void Operation::set_values(std::size_t i, Values values) {
  if (!folds(i)) return;
  Tensor& tensor = mutable_output(i);
  if (values.are_floats() != is_float(tensor.type) || values.size() != tensor.elements()) return;
  if (tensor.type == DataType::float32) {
    for (double& value : values.floats) value = double(float(value));
  }
  for (std::int64_t& value : values.integers) value = wrap(value, tensor.type);
  folded_elements_ += values.size();
  tensor.constant = true;
  if (values.are_floats()) {
    tensor.float_values = std::move(values.floats);
  } else {
    tensor.values = std::move(values.integers);
  }
}

bool Operation::complete() const {
  return std::ranges::all_of(node_.outputs, [&](TensorId id) {
    return id == TensorId::none || graph_[id].type != DataType::undefined;
  });
}

std::string to_text(const Shape& shape) {
  std::string text = "[";
  for (const std::int64_t dimension : shape) {
    if (text.size() > 1) text += 'x';
    text += std::to_string(dimension);
  }
  return text + ']';
}

std::size_t normal_axis(std::int64_t axis, std::size_t rank) {
  const auto signed_rank = std::int64_t(rank);
  if (axis < -signed_rank || axis >= signed_rank) {
    fail("axis {} does not exist in a tensor of {} dimensions", axis, rank);
  }
  return std::size_t(axis < 0 ? axis + signed_rank : axis);
}

std::vector<std::size_t> normal_axes(const std::vector<std::int64_t>& axes, std::size_t rank) {
  std::vector<std::size_t> normal;
  std::vector<bool> seen(rank);
  for (const std::int64_t axis : axes) {
    normal.push_back(normal_axis(axis, rank));
    if (seen[normal.back()]) fail("axis {} is given twice", axis);
    seen[normal.back()] = true;
  }
  return normal;
}

std::vector<std::int64_t> first_axes(std::size_t count) {
  std::vector<std::int64_t> axes(count);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

std::int64_t add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) fail("{} + {} is too large for a dimension", a, b);
  return sum;
}

std::int64_t multiply(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) fail("{} * {} is too large for a dimension", a, b);
  return result;
}

std::int64_t product(const Shape& shape, std::size_t begin, std::size_t end) {
  std::int64_t result = 1;
  for (std::size_t i = begin; i < end; ++i) result = multiply(result, shape[i]);
  return result;
}

Shape broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const std::size_t shift = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& dimension = result[shift + i];
    if (dimension == 1) {
      dimension = shorter[i];
    } else if (shorter[i] != 1 && shorter[i] != dimension) {
      fail("the shapes {} and {} do not fit each other", to_text(a), to_text(b));
    }
  }
  return result;
}

std::optional<std::string> limits::problem_of(const Tensor& tensor) {
  // 2^56 bytes: a thousand times what any machine holds, and sums of them do not overflow.
  constexpr std::int64_t largest = std::int64_t(1) << 56;
  if (tensor.shape.size() > limits::rank) {
    return fmt::format("has {} dimensions and {} are the limit", tensor.shape.size(), limits::rank);
  }
  for (const std::int64_t dimension : tensor.shape) {
    if (dimension < 0 || dimension >= largest)
      return fmt::format("has a dimension of {}", dimension);
  }
  if (tensor.elements() >= std::uint64_t(largest) || tensor.bytes() >= std::uint64_t(largest)) {
    return "would have more than 2^56 bytes";
  }
  return std::nullopt;
}

}  // namespace npuscope::npu
