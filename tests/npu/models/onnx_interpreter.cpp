#include "npu/models/onnx_interpreter.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>

namespace npuscope::npu::test_support {
namespace {

using Shape = std::vector<std::int64_t>;

std::int64_t product(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

Shape strides_of(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

// Calls body(index) for every index of `shape`, in row-major order.
void for_each_index(const Shape& shape, const std::function<void(const Shape&)>& body) {
  Shape index(shape.size(), 0);
  for (std::int64_t i = 0, count = product(shape); i < count; ++i) {
    body(index);
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

// The element of `array` that `index` of a shape it broadcasts to shows.
double broadcast_at(const Array& array, const Shape& index) {
  const Shape strides = strides_of(array.shape);
  const std::size_t missing = index.size() - array.shape.size();
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < array.shape.size(); ++d) {
    if (array.shape[d] != 1) offset += index[d + missing] * strides[d];
  }
  return array.values.at(std::size_t(offset));
}

Shape broadcast_shape(const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t from_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t from_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (from_a != from_b && from_a != 1 && from_b != 1) {
      throw std::runtime_error("shapes do not broadcast");
    }
    out[out.size() - 1 - i] = from_a == 1 ? from_b : from_a;
  }
  return out;
}

template <class Function>
Array each(const Array& x, Function function) {
  Array out = x;
  for (double& value : out.values) value = function(value);
  return out;
}

template <class Function>
Array each(const Array& a, const Array& b, Function function) {
  Array out{broadcast_shape(a.shape, b.shape), {}};
  for_each_index(out.shape, [&](const Shape& index) {
    out.values.push_back(function(broadcast_at(a, index), broadcast_at(b, index)));
  });
  return out;
}

Shape integers_of(const Array& array) {
  Shape out;
  for (const double value : array.values) out.push_back(std::int64_t(value));
  return out;
}

Array reshaped(Array x, const Shape& shape) {
  x.shape = shape;
  if (product(shape) != x.size()) throw std::runtime_error("reshape changes the element count");
  return x;
}

class Call {
 public:
  Call(const onnx::NodeProto& node, const Arrays& values) : node_(node), values_(values) {}

  const Array& input(int i) const { return values_.at(node_.input(i)); }
  const onnx::AttributeProto* attribute(std::string_view name) const {
    for (const auto& attribute : node_.attribute()) {
      if (attribute.name() == name) return &attribute;
    }
    return nullptr;
  }
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const {
    const auto* found = attribute(name);
    return found != nullptr ? found->i() : otherwise;
  }
  // An axis attribute, counted from the front of a shape with `rank` dimensions.
  std::size_t axis(std::size_t rank) const {
    const std::int64_t axis = integer("axis", 0);
    return std::size_t(axis < 0 ? axis + std::int64_t(rank) : axis);
  }
  const onnx::NodeProto& node() const { return node_; }

 private:
  const onnx::NodeProto& node_;
  const Arrays& values_;
};

Array gather(const Call& call) {
  const Array& data = call.input(0);
  const Array& indices = call.input(1);
  const std::size_t axis = call.axis(data.shape.size());
  Shape shape(data.shape.begin(), data.shape.begin() + std::int64_t(axis));
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), data.shape.begin() + std::int64_t(axis) + 1, data.shape.end());
  const std::int64_t inner = strides_of(data.shape)[axis];
  const std::int64_t length = data.shape[axis];
  Array out{shape, {}};
  for (std::int64_t outer = 0; outer < data.size() / (inner * length); ++outer) {
    for (const double wanted : indices.values) {
      const auto row = std::int64_t(wanted) + (wanted < 0 ? length : 0);
      for (std::int64_t i = 0; i < inner; ++i) {
        out.values.push_back(data.values.at(std::size_t((outer * length + row) * inner + i)));
      }
    }
  }
  return out;
}

Array concat(const Call& call) {
  const std::size_t axis = call.axis(call.input(0).shape.size());
  Array out{call.input(0).shape, {}};
  out.shape[axis] = 0;
  for (int i = 0; i < call.node().input_size(); ++i) out.shape[axis] += call.input(i).shape[axis];
  for_each_index(out.shape, [&](const Shape& index) {
    Shape local = index;
    int part = 0;
    while (local[axis] >= call.input(part).shape[axis]) {
      local[axis] -= call.input(part++).shape[axis];
    }
    out.values.push_back(broadcast_at(call.input(part), local));
  });
  return out;
}

Array unsqueeze(const Call& call) {
  Shape axes = integers_of(call.input(1));
  std::sort(axes.begin(), axes.end());
  Shape shape = call.input(0).shape;
  for (const std::int64_t axis : axes) shape.insert(shape.begin() + axis, 1);
  return reshaped(call.input(0), shape);
}

Array reshape(const Call& call) {
  Shape shape = integers_of(call.input(1));
  const Array& x = call.input(0);
  std::int64_t known = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) shape[i] = x.shape[i];
    if (shape[i] > 0) known *= shape[i];
  }
  for (std::int64_t& size : shape) size = size < 0 ? x.size() / known : size;
  return reshaped(x, shape);
}

Array transpose(const Call& call) {
  const auto& order = call.attribute("perm")->ints();
  const Array& x = call.input(0);
  Array out;
  for (const std::int64_t from : order) out.shape.push_back(x.shape[std::size_t(from)]);
  for_each_index(out.shape, [&](const Shape& index) {
    Shape source(index.size());
    for (std::size_t i = 0; i < index.size(); ++i) source[std::size_t(order.at(int(i)))] = index[i];
    out.values.push_back(broadcast_at(x, source));
  });
  return out;
}

// Ascending, step one, one axis.
Array slice(const Call& call) {
  const auto begin = std::int64_t(call.input(1).values.at(0));
  const auto end = std::int64_t(call.input(2).values.at(0));
  const auto axis = std::size_t(call.input(3).values.at(0));
  const Array& x = call.input(0);
  Array out{x.shape, {}};
  out.shape[axis] = std::min(end, x.shape[axis]) - begin;
  for_each_index(out.shape, [&](Shape index) {
    index[axis] += begin;
    out.values.push_back(broadcast_at(x, index));
  });
  return out;
}

Array scatter(const Call& call) {
  Array out = call.input(0);
  const Array& indices = call.input(1);
  const Array& updates = call.input(2);
  const auto depth = std::size_t(indices.shape.back());
  const Shape strides = strides_of(out.shape);
  const std::int64_t length = strides[depth - 1];
  for (std::int64_t row = 0; row < indices.size() / std::int64_t(depth); ++row) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < depth; ++d) {
      const double index = indices.values[std::size_t(row) * depth + d];
      if (index < 0 || index >= double(out.shape[d])) throw std::runtime_error("scatter outside");
      offset += std::int64_t(index) * strides[d];
    }
    for (std::int64_t i = 0; i < length; ++i) {
      out.values.at(std::size_t(offset + i)) = updates.values.at(std::size_t(row * length + i));
    }
  }
  return out;
}

Array matmul(const Array& a, const Array& b) {
  const std::int64_t rows = a.shape.end()[-2], depth = a.shape.back(), columns = b.shape.back();
  if (b.shape.end()[-2] != depth) throw std::runtime_error("matrices do not fit");
  Array out{
      broadcast_shape({a.shape.begin(), a.shape.end() - 2}, {b.shape.begin(), b.shape.end() - 2}),
      {}};
  const Shape batches = out.shape;
  out.shape.insert(out.shape.end(), {rows, columns});
  for_each_index(batches, [&](Shape index) {
    index.insert(index.end(), 2, 0);
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        double sum = 0;
        for (std::int64_t k = 0; k < depth; ++k) {
          index.end()[-2] = row, index.back() = k;
          const double left = broadcast_at(a, index);
          index.end()[-2] = k, index.back() = column;
          sum += left * broadcast_at(b, index);
        }
        out.values.push_back(sum);
      }
    }
  });
  return out;
}

Array transposed_right(const Call& call) {
  if (call.integer("transB", 0) != 1) throw std::runtime_error("Gemm without transB");
  const Array& b = call.input(1);
  Array turned{{b.shape[1], b.shape[0]}, {}};
  for_each_index(turned.shape, [&](const Shape& index) {
    turned.values.push_back(broadcast_at(b, {index[1], index[0]}));
  });
  return matmul(call.input(0), turned);
}

// Calls body(first element, length) for every row of the last dimension.
Array each_row(Array x, const std::function<void(double*, std::int64_t)>& body) {
  const std::int64_t length = x.shape.back();
  for (std::int64_t row = 0; row < x.size() / length; ++row)
    body(&x.values[std::size_t(row * length)], length);
  return x;
}

Array softmax(const Array& x) {
  return each_row(x, [](double* row, std::int64_t length) {
    const double highest = *std::max_element(row, row + length);
    double sum = 0;
    for (std::int64_t i = 0; i < length; ++i) sum += row[i] = std::exp(row[i] - highest);
    for (std::int64_t i = 0; i < length; ++i) row[i] /= sum;
  });
}

Array reduce_mean(const Array& x) {
  Array out{x.shape, {}};
  out.shape.back() = 1;
  each_row(x, [&](double* row, std::int64_t length) {
    out.values.push_back(std::accumulate(row, row + length, 0.0) / double(length));
  });
  return out;
}

Array layer_norm(const Call& call) {
  const double epsilon = call.attribute("epsilon")->f();
  return each_row(call.input(0), [&](double* row, std::int64_t length) {
    const double mean = std::accumulate(row, row + length, 0.0) / double(length);
    double variance = 0;
    for (std::int64_t i = 0; i < length; ++i) variance += (row[i] - mean) * (row[i] - mean);
    const double deviation = std::sqrt(variance / double(length) + epsilon);
    for (std::int64_t i = 0; i < length; ++i) {
      row[i] = (row[i] - mean) / deviation * call.input(1).values[std::size_t(i)] +
               call.input(2).values[std::size_t(i)];
    }
  });
}

Array where(const Call& call) {
  const Array chosen = each(call.input(0), call.input(1), [](double condition, double value) {
    return condition != 0 ? value : std::nan("");
  });
  return each(chosen, call.input(2), [](double a, double b) { return std::isnan(a) ? b : a; });
}

Array range(const Call& call) {
  Array out;
  for (double i = call.input(0).values[0]; i < call.input(1).values[0];
       i += call.input(2).values[0]) {
    out.values.push_back(i);
  }
  out.shape = {out.size()};
  return out;
}

Array evaluate(const Call& call) {
  const std::string& op = call.node().op_type();
  if (op == "Add") return each(call.input(0), call.input(1), std::plus<>());
  if (op == "Sub") return each(call.input(0), call.input(1), std::minus<>());
  if (op == "Mul") return each(call.input(0), call.input(1), std::multiplies<>());
  if (op == "Div") return each(call.input(0), call.input(1), std::divides<>());
  if (op == "Greater") return each(call.input(0), call.input(1), std::greater<>());
  if (op == "Pow") {
    return each(call.input(0), call.input(1), [](double a, double b) { return std::pow(a, b); });
  }
  if (op == "Cos") return each(call.input(0), [](double x) { return std::cos(x); });
  if (op == "Sin") return each(call.input(0), [](double x) { return std::sin(x); });
  if (op == "Sqrt") return each(call.input(0), [](double x) { return std::sqrt(x); });
  if (op == "Erf") return each(call.input(0), [](double x) { return std::erf(x); });
  if (op == "Neg") return each(call.input(0), std::negate<>());
  if (op == "Sigmoid") return each(call.input(0), [](double x) { return 1 / (1 + std::exp(-x)); });
  if (op == "Cast") return call.input(0);
  if (op == "Shape") {
    const Shape& shape = call.input(0).shape;
    return {{std::int64_t(shape.size())}, {shape.begin(), shape.end()}};
  }
  if (op == "ConstantOfShape") {
    return random_array(call.node().output(0), integers_of(call.input(0)));
  }
  if (op == "Expand") {
    const Array zeros{integers_of(call.input(1)),
                      std::vector<double>(std::size_t(product(integers_of(call.input(1)))))};
    return each(call.input(0), zeros, std::plus<>());
  }
  if (op == "Gather") return gather(call);
  if (op == "Concat") return concat(call);
  if (op == "Unsqueeze") return unsqueeze(call);
  if (op == "Reshape") return reshape(call);
  if (op == "Transpose") return transpose(call);
  if (op == "Slice") return slice(call);
  if (op == "ScatterND") return scatter(call);
  if (op == "MatMul") return matmul(call.input(0), call.input(1));
  if (op == "Gemm") return transposed_right(call);
  if (op == "Softmax") return softmax(call.input(0));
  if (op == "ReduceMean") return reduce_mean(call.input(0));
  if (op == "LayerNormalization") return layer_norm(call);
  if (op == "Where") return where(call);
  if (op == "Range") return range(call);
  throw std::runtime_error("operator " + op + " is not known to the interpreter");
}

Array constant(const onnx::TensorProto& tensor) {
  Array out{{tensor.dims().begin(), tensor.dims().end()}, {}};
  out.values.insert(out.values.end(), tensor.int64_data().begin(), tensor.int64_data().end());
  out.values.insert(out.values.end(), tensor.float_data().begin(), tensor.float_data().end());
  if (out.size() != product(out.shape)) throw std::runtime_error("constant without its elements");
  return out;
}

}  // namespace

Array random_array(std::string_view name, const Shape& shape) {
  std::uint64_t state = 0x9E3779B97F4A7C15;
  for (const char c : name) state = (state ^ std::uint8_t(c)) * 0x100000001B3;
  Array out{shape, {}};
  for (std::int64_t i = 0; i < product(shape); ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    out.values.push_back(double(state >> 11) / 9007199254740992.0 - 0.5);
  }
  return out;
}

Arrays interpret(const onnx::ModelProto& model, const Arrays& inputs) {
  Arrays values = inputs;
  for (const auto& tensor : model.graph().initializer()) values[tensor.name()] = constant(tensor);
  for (const auto& node : model.graph().node()) {
    values[node.output(0)] = evaluate(Call(node, values));
  }
  return values;
}

}  // namespace npuscope::npu::test_support
