// Tensors made from attributes and shapes: constants, ranges, random numbers, windows.
#include <cmath>

#include "npu/graph/limits.hpp"
#include "npu/graph/operators.hpp"

namespace npuscope::npu {
namespace operators_generator {

Values values_of(const Tensor& tensor) {
  return {tensor.type, tensor.values.value_or(std::vector<std::int64_t>{}),
          tensor.float_values.value_or(std::vector<double>{})};
}

void set_tensor(Operation& op, const Tensor& tensor) {
  op.set(0, tensor.type, tensor.shape);
  op.set_values(0, values_of(tensor));
}

void infer_constant(Operation& op) {
  const Node& node = op.node();
  if (const auto tensor = op.tensor_attribute("value")) return set_tensor(op, *tensor);
  if (const auto tensor = op.tensor_attribute("sparse_value")) return set_tensor(op, *tensor);
  if (op.has_attribute("value_int")) {
    op.set(0, DataType::int64, {});
    op.set_values(0, {DataType::int64, {op.attribute("value_int", 0)}, {}});
  } else if (op.has_attribute("value_ints")) {
    const auto values = node.ints_attribute("value_ints");
    op.set(0, DataType::int64, {std::int64_t(values.size())});
    op.set_values(0, {DataType::int64, values, {}});
  } else if (op.has_attribute("value_float")) {
    op.set(0, DataType::float32, {});
    op.set_values(0, {DataType::float32, {}, {node.float_attribute("value_float", 0)}});
  } else if (op.has_attribute("value_floats")) {
    const auto* values = std::get_if<std::vector<double>>(&node.attributes.at("value_floats"));
    op.set(0, DataType::float32, {values != nullptr ? std::int64_t(values->size()) : 0});
    if (values != nullptr) op.set_values(0, {DataType::float32, {}, *values});
  } else if (op.has_attribute("value_string")) {
    op.set(0, DataType::string, {});
  } else {
    fail("it has no value that npuscope can read");
  }
}

void infer_constant_of_shape(Operation& op) {
  const auto fill = op.tensor_attribute("value");
  op.set(0, fill ? fill->type : DataType::float32, op.integers(0));
  if (!op.folds(0)) return;
  const auto count = std::size_t(op.output(0).elements());
  Values values{op.output(0).type, {}, {}};
  if (values.are_floats()) {
    const auto& known = fill ? fill->float_values : std::nullopt;
    if (fill && (!known || known->size() != 1)) return;
    values.floats.assign(count, fill ? known->front() : 0.0);
  } else {
    if (!fill->values || fill->values->size() != 1) return;
    values.integers.assign(count, fill->values->front());
  }
  op.set_values(0, std::move(values));
}

void infer_shape(Operation& op) {
  const auto rank = std::int64_t(op.rank(0));
  const auto clamp = [&](std::int64_t axis) {
    return std::clamp<std::int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  const std::int64_t begin = clamp(op.attribute("start", 0));
  const std::int64_t end = std::max(begin, clamp(op.attribute("end", rank)));
  const Shape& shape = op.shape(0);
  op.set(0, DataType::int64, {end - begin});
  op.set_values(0, {DataType::int64, {shape.begin() + begin, shape.begin() + end}, {}});
}

void infer_size(Operation& op) {
  op.set(0, DataType::int64, {});
  op.set_values(0, {DataType::int64, {std::int64_t(op.input(0).elements())}, {}});
}

void infer_range(Operation& op) {
  for (const std::size_t i : {0, 1, 2}) {
    if (op.floats(i).size() != 1) fail("input {} '{}' must be one number", i, op.input(i).name);
  }
  const bool whole = !is_float(op.type(0));
  const double start = op.floats(0)[0], step = op.floats(2)[0];
  const double count = std::ceil((op.floats(1)[0] - start) / step);
  if (step == 0 || !(count < 0x1p56)) fail("it counts without end: limit and step do not fit");
  op.set(0, op.type(0), {count > 0 ? std::int64_t(count) : 0});
  if (!op.folds(0)) return;
  Values values{op.type(0), {}, {}};
  std::uint64_t next = whole ? std::uint64_t(op.integer(0)) : 0;
  for (std::int64_t i = 0; i < op.output(0).shape[0]; ++i) {
    if (whole) {
      values.integers.push_back(std::int64_t(next));
      next += std::uint64_t(op.integer(2));
    } else {
      values.floats.push_back(start + double(i) * step);
    }
  }
  op.set_values(0, std::move(values));
}

DataType type_attribute(const Operation& op, std::string_view name, DataType otherwise) {
  if (!op.has_attribute(name)) return otherwise;
  const DataType type = data_type_of(op.attribute(name, 0));
  if (type == DataType::undefined)
    fail("its {} is an element type that npuscope does not know", name);
  return type;
}

void infer_random(Operation& op) {
  op.set(0, type_attribute(op, "dtype", DataType::float32), op.node().ints_attribute("shape"));
}

void infer_random_like(Operation& op) {
  op.set(0, type_attribute(op, "dtype", op.type(0)), op.shape(0));
}

void infer_multinomial(Operation& op) {
  const Shape& in = op.shape_of_rank(0, 2);
  op.set(0, type_attribute(op, "dtype", DataType::int32), {in[0], op.attribute("sample_size", 1)});
}

void infer_window(Operation& op) {
  op.set(0, type_attribute(op, "output_datatype", DataType::float32), {op.integer(0)});
}

// [frequency bins = dft_length / 2 + 1, mel bins]
void infer_mel_weights(Operation& op) {
  op.set(0, type_attribute(op, "output_datatype", DataType::float32),
         {op.integer(1) / 2 + 1, op.integer(0)});
}

// com.microsoft (table [buckets, heads], queries, keys) -> [1, heads, queries, keys]
void infer_position_bias(Operation& op) {
  op.set(0, op.type(0), {1, op.shape_of_rank(0, 2)[1], op.integer(1), op.integer(2)});
}

constexpr auto copy = OpClass::copy;
constexpr auto elementwise = OpClass::elementwise;

constexpr OperatorRow rows[] = {
    {"Bernoulli RandomNormalLike RandomUniformLike", elementwise, infer_random_like},
    {"BlackmanWindow HammingWindow HannWindow", copy, infer_window},
    {"Constant", copy, infer_constant},
    {"ConstantOfShape", copy, infer_constant_of_shape},
    {"EyeLike", copy, infer_random_like},
    {"MelWeightMatrix", copy, infer_mel_weights},
    {"Multinomial", OpClass::sort, infer_multinomial},
    {"RandomNormal RandomUniform", elementwise, infer_random},
    {"Range com.microsoft.Range", copy, infer_range},
    {"Shape", copy, infer_shape},
    {"Size", copy, infer_size},
    {"com.microsoft.RelativePositionBias", OpClass::gather, infer_position_bias},
};

}  // namespace operators_generator

std::span<const OperatorRow> generator_operators() { return operators_generator::rows; }

}  // namespace npuscope::npu
