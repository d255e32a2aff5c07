#include "npu/models/onnx_builder.hpp"

#include <fmt/format.h>
#include <limits>
#include <protozero/pbf_builder.hpp>

namespace npuscope::npu::models {
namespace {

// The newest that ONNX 1.12, the library of the Debian release, checks.
constexpr std::int64_t newest_ir_version = 8;
constexpr std::int64_t opset = 17;

// Of onnx.proto. Fields are written in ascending order, as protobuf's own writer does.
using Number = protozero::pbf_tag_type;
enum class ModelField : Number {
  ir_version = 1,
  producer_name,
  doc_string = 6,
  graph,
  opset_import
};
enum class OpsetField : Number { domain = 1, version };
enum class GraphField : Number { node = 1, name, initializer = 5, input = 11, output };
enum class NodeField : Number { input = 1, output, name, op_type, attribute };
enum class AttributeField : Number { name = 1, f, i, t = 5, ints = 8, type = 20 };
enum class TensorField : Number {
  dims = 1,
  data_type,
  float_data = 4,
  int32_data,
  int64_data = 7,
  name
};
enum class ValueField : Number { name = 1, type };
enum class TypeField : Number { tensor_type = 1 };
enum class TensorTypeField : Number { elem_type = 1, shape };
enum class ShapeField : Number { dim = 1 };
enum class DimensionField : Number { dim_value = 1, dim_param };
struct AttributeType {
  enum : std::int32_t { number = 1, integer, tensor = 4, integers = 7 };
};
struct DataType {
  enum : std::int32_t { float32 = 1, int64 = 7, float16 = 10 };
};

template <class Field>
struct Message {
  std::string bytes;
  protozero::pbf_builder<Field> out{bytes};
};

using AttributeBuilder = protozero::pbf_builder<AttributeField>;

void add(std::string& bytes, GraphField field, const std::string& text) {
  protozero::pbf_builder<GraphField>(bytes).add_string(field, text);
}

std::int32_t put(AttributeBuilder& attribute, std::int64_t value) {
  attribute.add_int64(AttributeField::i, value);
  return AttributeType::integer;
}

std::int32_t put(AttributeBuilder& attribute, float value) {
  attribute.add_float(AttributeField::f, value);
  return AttributeType::number;
}

std::int32_t put(AttributeBuilder& attribute, const Integers& values) {
  for (const std::int64_t value : values) attribute.add_int64(AttributeField::ints, value);
  return AttributeType::integers;
}

std::int32_t put(AttributeBuilder& attribute, const std::string& tensor) {
  attribute.add_message(AttributeField::t, tensor);
  return AttributeType::tensor;
}

std::string attribute_bytes(std::string_view name, const auto& value) {
  Message<AttributeField> attribute;
  attribute.out.add_string(AttributeField::name, name.data(), name.size());
  attribute.out.add_enum(AttributeField::type, put(attribute.out, value));
  return std::move(attribute.bytes);
}

std::string value_bytes(const std::string& name, std::int64_t type, const Dimensions& dimensions) {
  Message<ShapeField> shape;
  Message<TensorTypeField> tensor;
  Message<TypeField> of_type;
  Message<ValueField> value;
  for (const Dimension& dimension : dimensions) {
    Message<DimensionField> one;
    if (const auto* size = std::get_if<std::int64_t>(&dimension)) {
      one.out.add_int64(DimensionField::dim_value, *size);
    } else {
      one.out.add_string(DimensionField::dim_param, std::get<std::string>(dimension));
    }
    shape.out.add_message(ShapeField::dim, one.bytes);
  }
  tensor.out.add_int64(TensorTypeField::elem_type, type);
  tensor.out.add_message(TensorTypeField::shape, shape.bytes);
  of_type.out.add_message(TypeField::tensor_type, tensor.bytes);
  value.out.add_string(ValueField::name, name);
  value.out.add_message(ValueField::type, of_type.bytes);
  return std::move(value.bytes);
}

// put_data(writer) writes what the tensor holds.
std::string tensor_bytes(const std::string& name, const Integers& dimensions, std::int64_t type,
                         auto put_data) {
  Message<TensorField> tensor;
  for (const std::int64_t dimension : dimensions)
    tensor.out.add_int64(TensorField::dims, dimension);
  tensor.out.add_int64(TensorField::data_type, type);
  put_data(tensor.out);
  if (!name.empty()) tensor.out.add_string(TensorField::name, name);
  return std::move(tensor.bytes);
}

// "/model/layers.0/mlp" -> "model.layers.0.mlp", as weights are called.
std::string dotted(std::string_view path) {
  std::string out(path.substr(path.empty() ? 0 : 1));
  for (char& c : out)
    if (c == '/') c = '.';
  return out;
}

}  // namespace

OnnxBuilder::Scope::Scope(std::string& path, std::string_view module)
    : path_(path), outer_length_(path.size()) {
  path_ += '/';
  path_ += module;
}

OnnxBuilder::Scope::~Scope() { path_.resize(outer_length_); }

std::int64_t OnnxBuilder::type_number(ElementType type) const {
  const bool half = type == ElementType::model && precision_ == FloatType::float16;
  if (type == ElementType::int64) return DataType::int64;
  return half ? DataType::float16 : DataType::float32;
}

Value OnnxBuilder::input(const std::string& name, ElementType type, const Dimensions& dimensions) {
  add(inputs_, GraphField::input, value_bytes(name, type_number(type), dimensions));
  return name;
}

void OnnxBuilder::output(const Value& value, ElementType type, const Dimensions& dimensions) {
  add(outputs_, GraphField::output, value_bytes(value, type_number(type), dimensions));
}

std::string OnnxBuilder::unique_node_name(const std::string& op) {
  std::string name = path_ + '/' + op;
  const int earlier = name_counts_[name]++;
  return earlier == 0 ? name : fmt::format("{}_{}", name, earlier);
}

void OnnxBuilder::add_node(const std::string& name, const std::string& op,
                           const std::vector<Value>& inputs, const Value& output,
                           const std::vector<std::string>& attributes) {
  Message<NodeField> node;
  for (const Value& input : inputs) node.out.add_string(NodeField::input, input);
  node.out.add_string(NodeField::output, output);
  node.out.add_string(NodeField::name, name);
  node.out.add_string(NodeField::op_type, op);
  for (const std::string& bytes : attributes) node.out.add_message(NodeField::attribute, bytes);
  add(nodes_, GraphField::node, node.bytes);
  ++node_count_;
}

Value OnnxBuilder::node(const std::string& op, const std::vector<Value>& inputs,
                        const NodeAttributes& attributes, const std::string& output) {
  std::vector<std::string> messages;
  for (const auto& [name, held] : attributes) {
    messages.push_back(
        std::visit([&](const auto& value) { return attribute_bytes(name, value); }, held));
  }
  const std::string name = unique_node_name(op);
  Value value = output.empty() ? name + "_output_0" : output;
  add_node(name, op, inputs, value, messages);
  return value;
}

Value OnnxBuilder::weight(std::string_view name, const Integers& dimensions, double fill) {
  const Value shape = integers(dimensions);
  const std::string op = "ConstantOfShape", module = dotted(path_);
  Value value = module.empty() ? std::string(name) : fmt::format("{}.{}", module, name);
  add_node(unique_node_name(op), op, {shape}, value,
           {attribute_bytes("value", number_bytes({}, {1}, fill))});
  return value;
}

std::string OnnxBuilder::number_bytes(const std::string& name, const Integers& dimensions,
                                      double value) const {
  return tensor_bytes(name, dimensions, type_number(ElementType::model), [&](auto& out) {
    if (precision_ == FloatType::float16) {  // ONNX keeps float16 bit patterns as integers
      const std::int32_t bits[] = {float16_bits(value)};
      out.add_packed_int32(TensorField::int32_data, std::begin(bits), std::end(bits));
    } else {
      const float values[] = {float(value)};
      out.add_packed_float(TensorField::float_data, std::begin(values), std::end(values));
    }
  });
}

Value OnnxBuilder::integer(std::int64_t value) {
  return integers(fmt::format("int64_{}", value), {value}, {});
}

Value OnnxBuilder::integers(const Integers& values) {
  return integers(fmt::format("int64s_{}", fmt::join(values, "_")), values,
                  {std::int64_t(values.size())});
}

Value OnnxBuilder::integers(const std::string& name, const Integers& values,
                            const Integers& dimensions) {
  return constant(name, [&] {
    return tensor_bytes(name, dimensions, type_number(ElementType::int64), [&](auto& out) {
      out.add_packed_int64(TensorField::int64_data, values.begin(), values.end());
    });
  });
}

Value OnnxBuilder::number(double value) {
  const std::string name = fmt::format("float_{}", value);
  return constant(name, [&] { return number_bytes(name, {}, value); });
}

Value OnnxBuilder::float32s(const std::string& name, const std::vector<float>& values) {
  return constant(name, [&] {
    const Integers dimensions{std::int64_t(values.size())};
    return tensor_bytes(name, dimensions, type_number(ElementType::float32), [&](auto& out) {
      out.add_packed_float(TensorField::float_data, values.begin(), values.end());
    });
  });
}

Value OnnxBuilder::constant(const std::string& name, auto bytes) {
  if (constants_.insert(name).second) add(initializers_, GraphField::initializer, bytes());
  return name;
}

Result<GeneratedModel> OnnxBuilder::finish(const std::string& description) {
  constexpr std::size_t max_bytes = std::numeric_limits<std::int32_t>::max();  // of a protobuf
  GeneratedModel generated{.bytes = {}, .nodes = node_count_};
  std::string& graph = nodes_;
  add(graph, GraphField::name, graph_name_);
  graph.append(initializers_).append(inputs_).append(outputs_);
  if (graph.size() <= max_bytes) {
    Message<OpsetField> opsets;
    opsets.out.add_string(OpsetField::domain, "");
    opsets.out.add_int64(OpsetField::version, opset);
    protozero::pbf_builder<ModelField> model(generated.bytes);
    model.add_int64(ModelField::ir_version, newest_ir_version);
    model.add_string(ModelField::producer_name, "npuscope");
    model.add_string(ModelField::doc_string, description);
    model.add_message(ModelField::graph, graph);
    model.add_message(ModelField::opset_import, opsets.bytes);
  }
  if (graph.size() > max_bytes || generated.bytes.size() > max_bytes) {
    return usage_error("{}: the file would exceed 2 GiB; take fewer layers", graph_name_);
  }
  return generated;
}

Value size_of(OnnxBuilder& builder, const Dimension& dimension, const Value& x, std::int64_t axis,
              Rank rank) {
  const auto constant = [&](std::int64_t value) {
    return rank == Rank::scalar ? builder.integer(value) : builder.integers({value});
  };
  if (const auto* size = std::get_if<std::int64_t>(&dimension)) return constant(*size);
  const Value shape = builder.node("Shape", {x});
  return builder.node("Gather", {shape, constant(axis)}, {{"axis", std::int64_t{0}}});
}

Value attention(OnnxBuilder& builder, const Value& queries, const Value& keys, const Value& values,
                const Value& mask, const Architecture& architecture) {
  const Value turned = builder.node("Transpose", {keys}, {{"perm", Integers{0, 1, 3, 2}}});
  const Value products = builder.node("MatMul", {queries, turned});
  const Value scale = builder.number(1 / std::sqrt(double(architecture.head_size)));
  const Value scores = builder.node("Mul", {products, scale});
  const Value masked = builder.node("Add", {scores, mask});
  const Value shares = builder.node("Softmax", {masked}, {{"axis", std::int64_t{-1}}});
  const Value heads = builder.node("MatMul", {shares, values});
  const Value tokens = swap_heads_and_tokens(builder, heads);
  return builder.node("Reshape", {tokens, builder.integers({0, 0, architecture.query_size()})});
}

}  // namespace npuscope::npu::models
