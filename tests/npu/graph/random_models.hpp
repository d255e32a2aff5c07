// Random models in ONNX's text form: every operator class, awkward sizes, branches and joins.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <random>
#include <string>
#include <vector>

namespace npuscope::npu {

class RandomModel {
 public:
  explicit RandomModel(unsigned seed) : random_(seed) {
    const long channels = pick({3, 16, 32, 40, 64, 96});
    const long size = pick({7, 14, 28, 56, 113});
    values_.push_back({"x", {pick({1, 2, 5}), channels, size, size}});
    input_ = values_[0];
    for (int step = 0; step < 14; ++step) add_operator();
  }

  std::string text() const {
    const Value& output = values_.back();
    return fmt::format(
        "<ir_version: 8, opset_import: [\"\" : 13]>\n"
        "random (float[{}] x) => (float[{}] {}) {{\n{}}}\n",
        fmt::join(input_.shape, ","), fmt::join(output.shape, ","), output.name, body_);
  }

 private:
  using Shape = std::vector<long>;
  struct Value {
    std::string name;
    Shape shape;
  };

  long pick(std::vector<long> choices) { return choices[random_() % choices.size()]; }
  // Recent values more often, but any value may get another consumer.
  const Value& any_value() {
    const std::size_t back = std::min<std::size_t>(random_() % 4, values_.size() - 1);
    return random_() % 5 == 0 ? values_[random_() % values_.size()]
                              : values_[values_.size() - 1 - back];
  }
  std::string fresh() { return fmt::format("v{}", next_++); }
  void line(const std::string& text) { body_ += "  " + text + "\n"; }

  std::string weights(const Shape& shape) {
    const std::string sizes = fresh(), name = fresh();
    line(fmt::format("{} = Constant <value_ints = [{}]> ()", sizes, fmt::join(shape, ",")));
    line(fmt::format("{} = ConstantOfShape ({})", name, sizes));
    return name;
  }
  void result(const std::string& expression, const Shape& shape) {
    const std::string name = fresh();
    line(fmt::format("{} = {}", name, expression));
    values_.push_back({name, shape});
  }

  void add_operator() {
    const Value value = any_value();
    const Shape& s = value.shape;
    switch (random_() % 15) {
      case 0: result(fmt::format("Relu ({})", value.name), s); break;
      case 1: result(fmt::format("Sigmoid ({})", value.name), s); break;
      case 2: result(fmt::format("Add ({}, {})", value.name, value.name), s); break;
      case 3: result(fmt::format("Mul ({}, {})", value.name, weights({1, s[1], 1, 1})), s); break;
      case 4: convolution(value, 1); break;
      case 5: convolution(value, pick({3, 5})); break;
      case 6: depthwise(value); break;
      case 7: result(fmt::format("Softmax <axis = {}> ({})", pick({1, 3}), value.name), s); break;
      case 8:
        result(fmt::format("Transpose <perm = [0,2,3,1]> ({})", value.name),
               {s[0], s[2], s[3], s[1]});
        break;
      case 9: product(value); break;
      case 10:
        result(fmt::format("MaxPool <kernel_shape = [3,3], strides = [1,1], pads = [1,1,1,1]> ({})",
                           value.name),
               s);
        break;
      case 11:
        result(fmt::format("ReduceMean <axes = [{}], keepdims = 1> ({})", 3, value.name),
               {s[0], s[1], s[2], 1});
        break;
      case 12:
        result(fmt::format("Concat <axis = 1> ({}, {})", value.name, value.name),
               {s[0], 2 * s[1], s[2], s[3]});
        break;
      case 13: attention(value); break;
      default: reshape(value); break;
    }
  }

  void convolution(const Value& value, long kernel) {
    const Shape& s = value.shape;
    const long filters = pick({8, 32, 48, 128});
    const long pad = kernel / 2;
    result(fmt::format("Conv <kernel_shape = [{0},{0}], pads = [{1},{1},{1},{1}]> ({2}, {3})",
                       kernel, pad, value.name, weights({filters, s[1], kernel, kernel})),
           {s[0], filters, s[2], s[3]});
  }
  void depthwise(const Value& value) {
    const Shape& s = value.shape;
    result(fmt::format("Conv <kernel_shape = [3,3], pads = [1,1,1,1], group = {}> ({}, {})", s[1],
                       value.name, weights({s[1], 1, 3, 3})),
           s);
  }
  void product(const Value& value) {
    const Shape& s = value.shape;
    const long columns = pick({10, 32, 320, 1000});
    result(fmt::format("MatMul ({}, {})", value.name, weights({s[3], columns})),
           {s[0], s[1], s[2], columns});
  }
  void attention(const Value& value) {
    const Shape& s = value.shape;
    if (s[2] * s[2] > 20000) return;
    result(fmt::format("Transpose <perm = [0,1,3,2]> ({})", value.name), {s[0], s[1], s[3], s[2]});
    const std::string transposed = values_.back().name;
    result(fmt::format("MatMul ({}, {})", value.name, transposed), {s[0], s[1], s[2], s[2]});
  }
  void reshape(const Value& value) {
    const Shape& s = value.shape;
    const std::string sizes = fresh();
    const Shape to =
        random_() % 2 == 0 ? Shape{s[0], s[1] * s[2], 1, s[3]} : Shape{1, s[0] * s[1], s[2], s[3]};
    line(fmt::format("{} = Constant <value_ints = [{}]> ()", sizes, fmt::join(to, ",")));
    result(fmt::format("Reshape ({}, {})", value.name, sizes), to);
  }

  std::mt19937 random_;
  int next_ = 0;
  Value input_;
  std::vector<Value> values_;
  std::string body_;
};

}  // namespace npuscope::npu
