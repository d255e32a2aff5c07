// Writes small ONNX models for tests, field by field, so that also wrong ones can be made.
//
//   Model model;
//   model.input("x", {1, 3}).node({"Relu", {"x"}, {"y"}}).output("y");
//   import_onnx(as_byte_span(model.bytes()), "test.onnx", {});
#pragma once

#include <map>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <variant>
#include <vector>

#include "npu/graph/graph.hpp"

namespace npuscope::npu::test {

enum OnnxType {
  onnx_float = 1,
  onnx_uint8 = 2,
  onnx_int8 = 3,
  onnx_int32 = 6,
  onnx_int64 = 7,
  onnx_bool = 9,
  onnx_float16 = 10
};

using Dimension = std::variant<std::int64_t, std::string>;  // a size, or a symbol ("": none)

inline std::string tensor(const std::string& name, int type, const Shape& shape,
                          const std::vector<std::int64_t>& values = {}) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  for (const std::int64_t dimension : shape) writer.add_int64(1, dimension);
  writer.add_int32(2, type);
  if (!values.empty()) {
    if (type == onnx_float) {
      std::vector<float> floats(values.begin(), values.end());
      writer.add_packed_float(4, floats.begin(), floats.end());
    } else {
      writer.add_packed_int64(type == onnx_int64 ? 7 : 5, values.begin(), values.end());
    }
  }
  writer.add_string(8, name);
  return bytes;
}

struct Graphs {  // an attribute that holds a graph, encoded
  std::string bytes;
};
struct Reference {  // to the calling function's attribute
  std::string name;
};
struct Encoded {  // a tensor
  std::string bytes;
};
using AttributeValue = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>,
                                    std::vector<double>, Encoded, Graphs, Reference>;

struct NodeText {
  std::string op;
  std::vector<std::string> inputs, outputs;
  std::map<std::string, AttributeValue> attributes = {};
  std::string domain = {};
  std::string name = {};
};

inline std::string attribute(const std::string& name, const AttributeValue& value) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_string(1, name);
  struct Visitor {
    protozero::pbf_writer& out;
    void operator()(std::int64_t v) const { out.add_int64(3, v), out.add_int32(20, 2); }
    void operator()(double v) const { out.add_float(2, float(v)), out.add_int32(20, 1); }
    void operator()(const std::string& v) const { out.add_bytes(4, v), out.add_int32(20, 3); }
    void operator()(const std::vector<std::int64_t>& v) const {
      for (const std::int64_t each : v) out.add_int64(8, each);
      out.add_int32(20, 7);
    }
    void operator()(const std::vector<double>& v) const {
      for (const double each : v) out.add_float(7, float(each));
      out.add_int32(20, 6);
    }
    void operator()(const Encoded& v) const { out.add_message(5, v.bytes), out.add_int32(20, 4); }
    void operator()(const Graphs& v) const { out.add_message(6, v.bytes), out.add_int32(20, 5); }
    void operator()(const Reference& v) const { out.add_string(21, v.name); }
  };
  std::visit(Visitor{writer}, value);
  return bytes;
}

inline std::string encode(const NodeText& node) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  for (const std::string& each : node.inputs) writer.add_string(1, each);
  for (const std::string& each : node.outputs) writer.add_string(2, each);
  if (!node.name.empty()) writer.add_string(3, node.name);
  writer.add_string(4, node.op);
  for (const auto& [name, value] : node.attributes) writer.add_message(5, attribute(name, value));
  if (!node.domain.empty()) writer.add_string(7, node.domain);
  return bytes;
}

inline std::string value_info(const std::string& name, const std::vector<Dimension>& shape,
                              int type) {
  std::string shape_bytes, tensor_bytes, type_bytes, bytes;
  protozero::pbf_writer shape_writer(shape_bytes);
  for (const Dimension& dimension : shape) {
    std::string one;
    protozero::pbf_writer writer(one);
    if (const auto* size = std::get_if<std::int64_t>(&dimension)) {
      writer.add_int64(1, *size);
    } else if (!std::get<std::string>(dimension).empty()) {
      writer.add_string(2, std::get<std::string>(dimension));
    }
    shape_writer.add_message(1, one);
  }
  protozero::pbf_writer tensor_writer(tensor_bytes);
  tensor_writer.add_int32(1, type);
  tensor_writer.add_message(2, shape_bytes);
  protozero::pbf_writer(type_bytes).add_message(1, tensor_bytes);
  protozero::pbf_writer writer(bytes);
  writer.add_string(1, name);
  writer.add_message(2, type_bytes);
  return bytes;
}

class GraphText {
 public:
  GraphText& input(const std::string& name, const std::vector<Dimension>& shape,
                   int type = onnx_float) {
    return add(11, value_info(name, shape, type));
  }
  GraphText& output(const std::string& name) { return add(12, named(name)); }
  GraphText& output(const std::string& name, const std::vector<Dimension>& shape) {
    return add(12, value_info(name, shape, onnx_float));
  }
  GraphText& stated(const std::string& name, const std::vector<Dimension>& shape,
                    int type = onnx_float) {
    return add(13, value_info(name, shape, type));
  }
  GraphText& weight(const std::string& name, const Shape& shape, int type = onnx_float) {
    return add(5, tensor(name, type, shape));
  }
  GraphText& integers(const std::string& name, const std::vector<std::int64_t>& values) {
    return add(5, tensor(name, onnx_int64, {std::int64_t(values.size())}, values));
  }
  GraphText& scalar(const std::string& name, std::int64_t value, int type = onnx_int64) {
    return add(5, tensor(name, type, {}, {value}));
  }
  GraphText& initializer(const std::string& encoded) { return add(5, encoded); }
  GraphText& node(const NodeText& node) { return add(1, encode(node)); }
  const std::string& bytes() const { return bytes_; }

 private:
  static std::string named(const std::string& name) {
    std::string bytes;
    protozero::pbf_writer(bytes).add_string(1, name);
    return bytes;
  }
  GraphText& add(std::uint32_t field, const std::string& message) {
    protozero::pbf_writer(bytes_).add_message(field, message);
    return *this;
  }
  std::string bytes_;
};

struct FunctionText {
  std::string domain, name;
  std::vector<std::string> inputs, outputs;
  std::vector<NodeText> nodes;
  std::map<std::string, AttributeValue> defaults = {};
};

inline std::string opset(const std::string& domain, std::int64_t version) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_string(1, domain);
  writer.add_int64(2, version);
  return bytes;
}

inline std::string encode(const FunctionText& function) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_string(1, function.name);
  for (const std::string& each : function.inputs) writer.add_string(4, each);
  for (const std::string& each : function.outputs) writer.add_string(5, each);
  for (const NodeText& each : function.nodes) writer.add_message(7, encode(each));
  writer.add_message(9, opset("", 18));
  writer.add_string(10, function.domain);
  for (const auto& [name, value] : function.defaults)
    writer.add_message(11, attribute(name, value));
  return bytes;
}

inline std::string model(const GraphText& graph, std::int64_t version = 18,
                         const std::vector<FunctionText>& functions = {}) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_int64(1, 8);
  writer.add_message(8, opset("", version));
  writer.add_message(8, opset("com.microsoft", 1));
  for (const FunctionText& function : functions) writer.add_message(25, encode(function));
  writer.add_message(7, graph.bytes());
  return bytes;
}

}  // namespace npuscope::npu::test
