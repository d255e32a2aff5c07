#include "npu/models/onnx_builder.hpp"

#include <fmt/ranges.h>
#include <onnx/onnx_pb.h>

#include "npu/models/float16.hpp"

namespace npuscope::npu::models {
namespace {

// The newest that ONNX 1.12, the library of the Debian release, checks.
constexpr std::int64_t ir_version = 8;
constexpr std::int64_t opset = 17;

void set(onnx::AttributeProto& attribute, std::int64_t value) {
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

void set(onnx::AttributeProto& attribute, float value) {
  attribute.set_type(onnx::AttributeProto::FLOAT);
  attribute.set_f(value);
}

void set(onnx::AttributeProto& attribute, const Integers& values) {
  attribute.set_type(onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) attribute.add_ints(value);
}

void describe(onnx::ValueInfoProto& info, const std::string& name, std::int64_t type,
              const Dimensions& dimensions) {
  info.set_name(name);
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(int(type));
  auto& shape = *tensor.mutable_shape();
  for (const Dimension& dimension : dimensions) {
    auto& out = *shape.add_dim();
    if (const auto* size = std::get_if<std::int64_t>(&dimension)) {
      out.set_dim_value(*size);
    } else {
      out.set_dim_param(std::get<std::string>(dimension));
    }
  }
}

// "/model/layers.0/mlp" -> "model.layers.0.mlp", as weights are called.
std::string dotted(std::string_view path) {
  std::string out(path.substr(path.empty() ? 0 : 1));
  for (char& c : out) {
    if (c == '/') c = '.';
  }
  return out;
}

}  // namespace

OnnxBuilder::Scope::Scope(std::string& path, std::string_view module)
    : path_(path), outer_length_(path.size()) {
  path_ += '/';
  path_ += module;
}

OnnxBuilder::Scope::~Scope() { path_.resize(outer_length_); }

OnnxBuilder::OnnxBuilder(const std::string& graph_name, FloatType precision)
    : model_(std::make_unique<onnx::ModelProto>()),
      graph_(*model_->mutable_graph()),
      precision_(precision) {
  graph_.set_name(graph_name);
  model_->set_ir_version(ir_version);
  model_->set_producer_name("npuscope");
  auto& import = *model_->add_opset_import();
  import.set_domain("");
  import.set_version(opset);
}

OnnxBuilder::~OnnxBuilder() = default;

std::int64_t OnnxBuilder::type_number(ElementType type) const {
  switch (type) {
    case ElementType::int64: return onnx::TensorProto::INT64;
    case ElementType::float32: return onnx::TensorProto::FLOAT;
    case ElementType::model: break;
  }
  return precision_ == FloatType::float16 ? onnx::TensorProto::FLOAT16 : onnx::TensorProto::FLOAT;
}

Value OnnxBuilder::input(const std::string& name, ElementType type, const Dimensions& dimensions) {
  describe(*graph_.add_input(), name, type_number(type), dimensions);
  return name;
}

void OnnxBuilder::output(const Value& value, ElementType type, const Dimensions& dimensions) {
  describe(*graph_.add_output(), value, type_number(type), dimensions);
}

std::string OnnxBuilder::unique_node_name(const std::string& op) {
  std::string name = path_ + '/' + op;
  const int earlier = name_counts_[name]++;
  return earlier == 0 ? name : fmt::format("{}_{}", name, earlier);
}

onnx::NodeProto& OnnxBuilder::add_node(const std::string& op) {
  auto& node = *graph_.add_node();
  node.set_name(unique_node_name(op));
  node.set_op_type(op);
  return node;
}

Value OnnxBuilder::node(const std::string& op, const std::vector<Value>& inputs,
                        NodeAttributes attributes, const std::string& output) {
  auto& node = add_node(op);
  for (const Value& input : inputs) node.add_input(input);
  for (const NodeAttribute& attribute : attributes) {
    auto& out = *node.add_attribute();
    out.set_name(std::string(attribute.name));
    std::visit([&](const auto& value) { set(out, value); }, attribute.value);
  }
  Value value = output.empty() ? node.name() + "_output_0" : output;
  node.add_output(value);
  return value;
}

Value OnnxBuilder::weight(std::string_view name, const Integers& dimensions, double fill) {
  const Value shape = integers(dimensions);
  auto& node = add_node("ConstantOfShape");
  node.add_input(shape);
  auto& attribute = *node.add_attribute();
  attribute.set_name("value");
  attribute.set_type(onnx::AttributeProto::TENSOR);
  attribute.mutable_t()->add_dims(1);
  put_number(*attribute.mutable_t(), fill);
  const std::string module = dotted(path_);
  Value value = module.empty() ? std::string(name) : fmt::format("{}.{}", module, name);
  node.add_output(value);
  return value;
}

void OnnxBuilder::put_number(onnx::TensorProto& tensor, double value) const {
  tensor.set_data_type(int(type_number(ElementType::model)));
  if (precision_ == FloatType::float16) {
    tensor.add_int32_data(float16_bits(value));  // ONNX keeps float16 bit patterns there
  } else {
    tensor.add_float_data(float(value));
  }
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
  if (!constants_.insert(name).second) return name;
  auto& tensor = *graph_.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::INT64);
  for (const std::int64_t dimension : dimensions) tensor.add_dims(dimension);
  for (const std::int64_t value : values) tensor.add_int64_data(value);
  return name;
}

Value OnnxBuilder::number(double value) {
  const std::string name = fmt::format("float_{}", value);
  if (!constants_.insert(name).second) return name;
  auto& tensor = *graph_.add_initializer();
  tensor.set_name(name);
  put_number(tensor, value);
  return name;
}

Value OnnxBuilder::float32s(const std::string& name, const std::vector<float>& values) {
  if (!constants_.insert(name).second) return name;
  auto& tensor = *graph_.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.add_dims(std::int64_t(values.size()));
  for (const float value : values) tensor.add_float_data(value);
  return name;
}

Result<GeneratedModel> OnnxBuilder::finish(const std::string& description) {
  model_->set_doc_string(description);
  GeneratedModel generated;
  generated.nodes = std::size_t(graph_.node_size());
  if (!model_->SerializeToString(&generated.bytes)) {
    return usage_error("{}: the file would exceed 2 GiB; take fewer layers", graph_.name());
  }
  return generated;
}

}  // namespace npuscope::npu::models
