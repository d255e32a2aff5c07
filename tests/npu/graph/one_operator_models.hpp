// Models of one operator as nobody exports them: inputs of every element type, with and without
// values, of rank 0 to 8; attributes of every kind at their limits; no output to three.
//
//   OneOperatorModels models(1);
//   import_onnx(as_byte_span(models.next("Gather")), "one.onnx", {});
//
// In half of the models all shapes are the same and attributes are small, so that many import.
#pragma once

#include <array>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "npu/graph/onnx_writer.hpp"
#include "npu/graph/operators.hpp"

namespace npuscope::npu::test {

// "com.microsoft.Gelu": its domain and its type.
inline NodeText node_of(std::string_view qualified) {
  const std::size_t dot = qualified.rfind('.');
  NodeText node;
  node.op = qualified.substr(dot == std::string_view::npos ? 0 : dot + 1);
  node.domain = qualified.substr(0, dot == std::string_view::npos ? 0 : dot);
  return node;
}

class OneOperatorModels {
 public:
  explicit OneOperatorModels(std::uint32_t seed) : random_(seed) {}

  std::string next(std::string_view qualified_op) {
    node_ = node_of(qualified_op);
    graph_ = {};
    is_tame_ = one_in(2);
    shape_ = any_shape();
    const std::int64_t inputs = one_in(4) ? between(0, 9) : between(1, 4);
    for (std::int64_t i = 0; i < inputs; ++i) add_input("input" + std::to_string(i));
    add_attributes();
    const std::int64_t outputs = one_in(8) ? 0 : between(1, 3);
    for (std::int64_t i = 0; i < outputs; ++i) {
      node_.outputs.push_back(one_in(10) ? "" : "output" + std::to_string(i));
    }
    graph_.node(node_);
    for (const std::string& output : node_.outputs) {
      if (output.empty()) continue;
      graph_.node({"Relu", {output}, {"after_" + output}}).output("after_" + output);
    }
    return model(graph_, between(1, 24));
  }

 private:
  static constexpr std::int64_t max = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t min = std::numeric_limits<std::int64_t>::min();

  std::int64_t between(std::int64_t from, std::int64_t to) {
    return from + std::int64_t(random_() % std::uint32_t(to - from + 1));
  }
  bool one_in(std::int64_t chances) { return between(1, chances) == 1; }
  template <class Values>
  auto pick(const Values& values) {
    return values[random_() % std::size(values)];
  }

  Shape any_shape() {
    constexpr std::array<std::int64_t, 8> sizes{1, 1, 2, 2, 3, 4, 8, 0};
    Shape shape(std::size_t(one_in(3) ? between(0, 8) : between(0, 4)));
    for (std::int64_t& size : shape) size = pick(sizes);
    return shape;
  }

  std::int64_t number() {
    constexpr std::array<std::int64_t, 12> limits{max,
                                                  min,
                                                  max - 1,
                                                  -max,
                                                  -1,
                                                  255,
                                                  std::int64_t{1} << 31,
                                                  std::int64_t{1} << 32,
                                                  std::int64_t{1} << 55,
                                                  std::int64_t{1} << 62,
                                                  -(std::int64_t{1} << 31),
                                                  65536};
    return is_tame_ ? between(-1, 4) : pick(limits);
  }

  double real() {
    constexpr std::array<double, 10> limits{0,
                                            -1,
                                            0.5,
                                            1e-38,
                                            3e38,
                                            -3e38,
                                            9.3e18,
                                            std::numeric_limits<double>::infinity(),
                                            -std::numeric_limits<double>::infinity(),
                                            std::numeric_limits<double>::quiet_NaN()};
    return is_tame_ ? double(between(0, 4)) : pick(limits);
  }

  // 23 and 25 are no element types that npuscope knows.
  int element_type() { return one_in(3) ? onnx_float : int(between(1, 25)); }

  static std::uint64_t bits_of_onnx(int type) {
    const std::uint32_t bits = bits_of(data_type_of(type));
    return bits != 0 ? bits : 8;
  }

  // Where the type's own field lies, or raw data, or another type's field; or no values at all.
  std::string constant(const std::string& name, int type, const Shape& shape) {
    std::uint64_t count = 1;
    for (const std::int64_t size : shape) count *= std::uint64_t(size);
    std::string bytes;
    protozero::pbf_writer writer(bytes);
    for (const std::int64_t size : shape) writer.add_int64(1, size);
    writer.add_int32(2, type);
    writer.add_string(8, name);
    const std::int64_t kind = count > 4096 ? 0 : between(1, 6);
    if (kind <= 3 && kind > 0) {
      std::string raw((count * bits_of_onnx(type) + 7) / 8, '\0');
      for (char& byte : raw) byte = is_tame_ ? char(between(0, 2)) : char(random_());
      writer.add_bytes(9, raw);
    } else if (kind == 4) {
      std::vector<float> floats(count);
      for (float& each : floats) each = float(real());
      writer.add_packed_float(4, floats.begin(), floats.end());
    } else if (kind == 5) {
      std::vector<std::int64_t> values(count);
      for (std::int64_t& each : values) each = number();
      writer.add_packed_int64(type == onnx_int64 ? 7 : 5, values.begin(), values.end());
    }
    return bytes;
  }

  void add_input(const std::string& name) {
    node_.inputs.push_back(one_in(10) ? "" : name);
    const Shape shape = is_tame_ && !one_in(4) ? shape_ : any_shape();
    if (one_in(4)) {  // what shapes, axes and sizes are given as
      std::vector<std::int64_t> values(std::size_t(between(0, 5)));
      for (std::int64_t& value : values) value = number();
      graph_.integers(name, values);
    } else if (one_in(2)) {
      graph_.initializer(constant(name, element_type(), shape));
    } else {
      graph_.input(name, std::vector<Dimension>(shape.begin(), shape.end()), element_type());
    }
  }

  AttributeValue attribute_value(const std::string& name) {
    std::vector<std::int64_t> numbers(std::size_t(between(0, 5)));
    for (std::int64_t& each : numbers) each = number();
    switch (between(1, 10)) {
      case 1: return real();
      case 2: return std::string(pick(std::array{"SAME_UPPER", "VALID", "LEFT", "ab,bc->ac", ""}));
      case 3: return std::vector<double>(numbers.begin(), numbers.end());
      case 4: return Encoded{constant(name, element_type(), any_shape())};
      case 5:
      case 6:
      case 7: return numbers;
      default: return number();
    }
  }

  void add_attributes() {
    for (const char* name : {"K",
                             "N",
                             "allowzero",
                             "auto_pad",
                             "axes",
                             "axis",
                             "batch_axis",
                             "batch_dims",
                             "bits",
                             "block_size",
                             "blocksize",
                             "broadcast",
                             "ceil_mode",
                             "dilations",
                             "direction",
                             "dtype",
                             "end",
                             "equation",
                             "fmod",
                             "group",
                             "height_scale",
                             "hidden_size",
                             "inverse",
                             "k",
                             "keepdims",
                             "kernel_shape",
                             "kv_num_heads",
                             "max",
                             "min",
                             "noop_with_empty_axes",
                             "num_heads",
                             "num_outputs",
                             "onesided",
                             "output_dtype",
                             "output_height",
                             "output_padding",
                             "output_shape",
                             "output_width",
                             "pads",
                             "perm",
                             "pooled_shape",
                             "q_num_heads",
                             "qkv_hidden_sizes",
                             "sample_size",
                             "scales",
                             "shape",
                             "size",
                             "split",
                             "start",
                             "steps",
                             "strides",
                             "time_axis",
                             "to",
                             "transA",
                             "transB",
                             "value",
                             "value_float",
                             "value_floats",
                             "value_int",
                             "value_ints",
                             "value_string",
                             "width_scale"}) {
      if (one_in(8)) node_.attributes[name] = attribute_value(name);
    }
  }

  std::mt19937 random_;
  NodeText node_;
  GraphText graph_;
  Shape shape_;
  bool is_tame_ = false;
};

}  // namespace npuscope::npu::test
