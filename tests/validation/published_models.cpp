#include "validation/published_models.hpp"

#include <fmt/ranges.h>
#include <onnx/defs/parser.h>

#include <map>
#include <vector>

#include "npu/graph/import_onnx.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::validation {
namespace {

using Extents = std::vector<std::int64_t>;

// Writes a network of convolutions in ONNX's text form. Every result is quantised.
class Images {
 public:
  Images(std::string name, std::int64_t batch, std::int64_t extent) : name_(std::move(name)) {
    given_ = {batch, 3, extent, extent};
    text_ = "x = DequantizeLinear(given, scale, zero)\n";
    extents_["x"] = given_;
  }

  const Extents& extents(const std::string& x) const { return extents_.at(x); }

  struct Window {
    std::int64_t kernel = 1, stride = 1, padding = -1;  // -1: half of the kernel
    std::string activation = "Relu";
    bool depthwise = false;
  };

  std::string convolution(const std::string& x, std::int64_t channels, const Window& window) {
    const Extents& in = extents(x);
    const std::int64_t groups = window.depthwise ? in[1] : 1;
    const std::string weights = constant({channels, in[1] / groups, window.kernel, window.kernel});
    const std::string bias = bias_of(channels);
    const std::string made = pass("Conv", fmt::format("{}, {}, {}", x, weights, bias),
                                  fmt::format("{}, group = {}", attributes(window), groups),
                                  after(in, channels, window));
    return quantized(window.activation.empty() ? made : unary(window.activation, made));
  }

  std::string max_pool(const std::string& x, const Window& window) {
    return quantized(
        pass("MaxPool", x, attributes(window), after(extents(x), extents(x)[1], window)));
  }

  std::string sum(const std::string& x, const std::string& y) {
    return quantized(unary("Relu", pass("Add", x + ", " + y, "", Extents(extents(x)))));
  }

  std::string classes(const std::string& x, std::int64_t count) {
    const Extents in = extents(x);
    const std::string mean = quantized(pass("GlobalAveragePool", x, "", {in[0], in[1], 1, 1}));
    const std::string flat = pass("Flatten", mean, "", {in[0], in[1]});
    const std::string weights = constant({count, in[1]}), bias = bias_of(count);
    return quantized(
        pass("Gemm", fmt::format("{}, {}, {}", flat, weights, bias), "transB = 1", {in[0], count}));
  }

  std::string sigmoid(const std::string& x) { return quantized(unary("Sigmoid", x)); }
  // Of the last dimension; not quantised.
  std::string softmax(const std::string& x) {
    return pass("Softmax", x, "axis = -1", Extents(extents(x)));
  }
  std::string transpose(const std::string& x, const Extents& order) {
    return pass("Transpose", x, fmt::format("perm = [{}]", fmt::join(order, ", ")),
                in_order(extents(x), order));
  }
  std::string reshape(const std::string& x, const Extents& made) {
    const std::string shape = "s" + number();
    text_ += fmt::format("{} = Constant <value_ints = [{}]>()\n", shape, fmt::join(made, ", "));
    return quantized(pass("Reshape", x + ", " + shape, "", made));
  }
  std::string concat(const std::vector<std::string>& parts, std::size_t axis) {
    Extents made = extents(parts.front());
    made[axis] = 0;
    for (const std::string& each : parts) made[axis] += extents(each)[axis];
    return quantized(pass("Concat", fmt::format("{}", fmt::join(parts, ", ")),
                          fmt::format("axis = {}", axis), made));
  }

  // A result of the network leaves it as it was quantised, or else as it is.
  void give(const std::string& x) {
    results_.push_back(x.front() == 'd' ? fmt::format("uint8[{}] q{}", shape_of(x), x.substr(1))
                                        : fmt::format("float[{}] {}", shape_of(x), x));
  }

  Result<npu::Graph> graph() const {
    const std::string text = fmt::format(
        "<ir_version: 8, opset_import: [\"\" : 17]>\n{} (uint8[{}] given) => ({})\n"
        "<float scale = {{0.05}}, uint8 zero = {{128}}, int8 none = {{0}}>\n{{\n{}}}\n",
        name_, fmt::join(given_, ","), fmt::join(results_, ", "), text_);
    onnx::ModelProto model;
    onnx::OnnxParser parser(text.c_str());
    const auto status = parser.Parse(model);
    if (!status.IsOK()) return input_error("{}: {}", name_, status.ErrorMessage());
    const std::string bytes = model.SerializeAsString();
    return npu::import_onnx(as_byte_span(bytes), name_, {});
  }

 private:
  static std::string attributes(const Window& window) {
    const std::int64_t padding = window.padding < 0 ? window.kernel / 2 : window.padding;
    return fmt::format(
        "kernel_shape = [{0}, {0}], strides = [{1}, {1}], pads = [{2}, {2}, {2}, {2}]",
        window.kernel, window.stride, padding);
  }
  static Extents after(const Extents& in, std::int64_t channels, const Window& window) {
    const std::int64_t padding = window.padding < 0 ? window.kernel / 2 : window.padding;
    const auto extent = [&](std::int64_t of) {
      return (of + 2 * padding - window.kernel) / window.stride + 1;
    };
    return {in[0], channels, extent(in[2]), extent(in[3])};
  }

  static Extents in_order(const Extents& in, const Extents& order) {
    Extents out;
    for (const std::int64_t axis : order) out.push_back(in[std::size_t(axis)]);
    return out;
  }
  std::string shape_of(const std::string& x) const {
    return fmt::format("{}", fmt::join(extents(x), ","));
  }

  std::string number() { return std::to_string(++count_); }

  std::string pass(const std::string& op, const std::string& inputs, const std::string& attributes,
                   Extents made) {
    std::string result = op + number();
    text_ += fmt::format("{} = {} {}({})\n", result, op,
                         attributes.empty() ? "" : "<" + attributes + "> ", inputs);
    extents_[result] = std::move(made);
    return result;
  }
  std::string unary(const std::string& op, const std::string& x) {
    return pass(op, x, "", Extents(extents(x)));
  }
  std::string quantized(const std::string& x) {
    const std::string n = number();
    text_ += fmt::format(
        "q{0} = QuantizeLinear({1}, scale, zero)\nd{0} = DequantizeLinear(q{0}, scale, zero)\n", n,
        x);
    extents_["d" + n] = extents(x);
    return "d" + n;
  }
  std::string filled(const std::string& value, const Extents& made) {
    const std::string n = number();
    text_ += fmt::format(
        "s{0} = Constant <value_ints = [{1}]>()\nw{0} = ConstantOfShape <value = {2}>(s{0})\n", n,
        fmt::join(made, ", "), value);
    return "w" + n;
  }
  std::string constant(const Extents& made) {
    const std::string weights = filled("int8[1] {1}", made);
    text_ += fmt::format("d{0} = DequantizeLinear({0}, scale, none)\n", weights);
    return "d" + weights;
  }
  std::string bias_of(std::int64_t channels) { return filled("float[1] {0}", {channels}); }

  std::string name_, text_;
  Extents given_;
  std::map<std::string, Extents> extents_;
  std::vector<std::string> results_;
  std::size_t count_ = 0;
};

}  // namespace

Result<npu::Graph> resnet50(std::int64_t batch) {
  Images images("resnet50", batch, 224);
  std::string x = images.convolution("x", 64, {.kernel = 7, .stride = 2});
  x = images.max_pool(x, {.kernel = 3, .stride = 2});
  std::int64_t channels = 64;
  for (const int blocks : {3, 4, 6, 3}) {
    for (int block = 0; block < blocks; ++block) {
      const std::int64_t stride = block == 0 && channels > 64 ? 2 : 1;
      std::string y = images.convolution(x, channels, {});
      y = images.convolution(y, channels, {.kernel = 3, .stride = stride});
      y = images.convolution(y, 4 * channels, {.activation = ""});
      if (block == 0) {
        x = images.convolution(x, 4 * channels, {.stride = stride, .padding = 0, .activation = ""});
      }
      x = images.sum(y, x);
    }
    channels *= 2;
  }
  images.give(images.classes(x, 1000));
  return images.graph();
}

Result<npu::Graph> ssd_mobilenet(std::int64_t batch) {
  struct Step {
    std::int64_t channels, stride;
  };
  Images images("ssd_mobilenet", batch, 300);
  std::string x = images.convolution("x", 32, {.kernel = 3, .stride = 2});
  std::vector<std::string> seen;
  for (const Step step : std::initializer_list<Step>{{64, 1},
                                                     {128, 2},
                                                     {128, 1},
                                                     {256, 2},
                                                     {256, 1},
                                                     {512, 2},
                                                     {512, 1},
                                                     {512, 1},
                                                     {512, 1},
                                                     {512, 1},
                                                     {512, 1},
                                                     {1024, 2},
                                                     {1024, 1}}) {
    if (step.channels == 1024 && step.stride == 2) seen.push_back(x);
    x = images.convolution(x, images.extents(x)[1],
                           {.kernel = 3, .stride = step.stride, .depthwise = true});
    x = images.convolution(x, step.channels, {});
  }
  seen.push_back(x);
  for (const std::int64_t channels : {512, 256, 256, 128}) {
    x = images.convolution(x, channels / 2, {});
    x = images.convolution(x, channels, {.kernel = 3, .stride = 2});
    seen.push_back(x);
  }
  std::vector<std::string> places, classes;
  for (const std::string& each : seen) {
    const std::int64_t boxes = &each == &seen.front() ? 3 : 6;
    for (const std::int64_t values : {4, 91}) {
      const std::string head = images.convolution(each, boxes * values, {.activation = ""});
      const Extents& extents = images.extents(head);
      const std::int64_t count = boxes * extents[2] * extents[3];
      (values == 4 ? places : classes)
          .push_back(images.reshape(images.transpose(head, {0, 2, 3, 1}), {batch, count, values}));
    }
  }
  images.give(images.sigmoid(images.concat(classes, 1)));
  images.give(images.concat(places, 1));
  return images.graph();
}

Result<npu::Graph> ssd_resnet34(std::int64_t batch) {
  Images images("ssd_resnet34", batch, 1200);
  std::string x = images.convolution("x", 64, {.kernel = 7, .stride = 2});
  x = images.max_pool(x, {.kernel = 3, .stride = 2});
  std::int64_t channels = 64;
  for (const int blocks : {3, 4, 6}) {
    for (int block = 0; block < blocks; ++block) {
      const std::int64_t stride = block == 0 && channels == 128 ? 2 : 1;
      std::string y = images.convolution(x, channels, {.kernel = 3, .stride = stride});
      y = images.convolution(y, channels, {.kernel = 3, .activation = ""});
      if (block == 0 && channels > 64) {
        x = images.convolution(x, channels, {.stride = stride, .padding = 0, .activation = ""});
      }
      x = images.sum(y, x);
    }
    channels *= 2;
  }
  struct Step {
    std::int64_t squeezed, channels, stride, padding;
  };
  std::vector<std::string> seen{x};
  for (const Step step : std::initializer_list<Step>{{256, 512, 2, 1},
                                                     {256, 512, 2, 1},
                                                     {128, 256, 2, 1},
                                                     {128, 256, 2, 0},
                                                     {128, 256, 1, 0}}) {
    x = images.convolution(x, step.squeezed, {});
    x = images.convolution(x, step.channels,
                           {.kernel = 3, .stride = step.stride, .padding = step.padding});
    seen.push_back(x);
  }
  constexpr std::int64_t boxes[] = {4, 6, 6, 6, 4, 4};
  std::vector<std::string> places, classes;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    for (const std::int64_t values : {4, 81}) {
      const std::string head = images.convolution(seen[i], boxes[i] * values,
                                                  {.kernel = 3, .stride = 3, .activation = ""});
      const Extents& extents = images.extents(head);
      (values == 4 ? places : classes)
          .push_back(images.reshape(head, {batch, values, boxes[i] * extents[2] * extents[3]}));
    }
  }
  images.give(images.concat(places, 2));
  const std::string chances =
      images.softmax(images.transpose(images.concat(classes, 2), {0, 2, 1}));
  images.give(images.transpose(chances, {0, 2, 1}));
  return images.graph();
}

std::string with_int8_products(const std::string& onnx) {
  onnx::ModelProto model;
  if (!model.ParseFromString(onnx)) return {};
  onnx::GraphProto& graph = *model.mutable_graph();
  const auto scalar = [&](const char* name, auto type, const auto& set) {
    onnx::TensorProto& tensor = *graph.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    set(tensor);
  };
  scalar("scale", onnx::TensorProto::FLOAT, [](auto& tensor) { tensor.add_float_data(0.05f); });
  scalar("zero", onnx::TensorProto::UINT8, [](auto& tensor) { tensor.add_int32_data(128); });
  scalar("none", onnx::TensorProto::INT8, [](auto& tensor) { tensor.add_int32_data(0); });
  std::map<std::string, onnx::NodeProto*> fills;  // by result: stand for weights
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  nodes.Swap(graph.mutable_node());
  for (onnx::NodeProto& node : nodes) {
    if (node.op_type() == "ConstantOfShape") fills[node.output(0)] = &node;
  }
  std::map<std::string, std::string> quantized;  // values by what they are when dequantised
  const auto add = [&](const char* op, const std::string& from, const char* zero,
                       const std::string& to) {
    onnx::NodeProto& node = *graph.add_node();
    node.set_op_type(op);
    node.set_name(to);
    for (const std::string& input : {from, std::string("scale"), std::string(zero)})
      node.add_input(input);
    node.add_output(to);
  };
  for (onnx::NodeProto& node : nodes) {
    if (node.op_type() != "MatMul") {
      *graph.add_node() = node;
      continue;
    }
    for (std::string& input : *node.mutable_input()) {
      std::string& result = quantized[input];
      if (result.empty()) {
        result = input + "_dequantized";
        if (const auto fill = fills.find(input); fill != fills.end()) {
          // Written already: what it is filled with becomes an integer.
          for (onnx::NodeProto& written : *graph.mutable_node()) {
            if (written.output(0) != input) continue;
            onnx::TensorProto& value = *written.mutable_attribute(0)->mutable_t();
            value.clear_float_data();
            value.clear_raw_data();
            value.set_data_type(onnx::TensorProto::INT8);
            value.add_int32_data(1);
          }
          add("DequantizeLinear", input, "none", result);
        } else {
          add("QuantizeLinear", input, "zero", input + "_quantized");
          add("DequantizeLinear", input + "_quantized", "zero", result);
        }
      }
      input = result;
    }
    const std::string made = node.output(0);
    *node.mutable_output(0) = made + "_product";
    *graph.add_node() = node;
    add("QuantizeLinear", made + "_product", "zero", made + "_rounded");
    add("DequantizeLinear", made + "_rounded", "zero", made);
  }
  return model.SerializeAsString();
}

}  // namespace npuscope::validation
