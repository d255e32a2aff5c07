// An ONNX file as views into its bytes (onnx.proto's field numbers, read with protozero): nothing
// is copied, least of all weights, and fields that newer versions add are passed over.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <string_view>
#include <vector>

#include "base/protobuf_fields.hpp"
#include "npu/graph/graph.hpp"
#include "npu/graph/limits.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::npu {

// Walking the fields of a message of an ONNX file.

// Calls take(field, reader) for each field. `take` consumes the field and returns true, or returns
// false for a field that it does not know.
template <class Take>
void for_each_field(std::string_view message, std::string_view what, const Take& take) {
  try {
    protozero::pbf_reader reader(message.data(), message.size());
    while (reader.next())
      if (!take(reader.tag_and_type(), reader)) reader.skip();
  } catch (const protozero::exception&) {
    fail_import("its {} is cut off or damaged; copy or export the file again", what);
  }
}

using Encoded = std::string_view;  // a protobuf message not yet read

struct AttributeSource {
  std::string_view name;
  std::string_view reference;  // name of the calling function's attribute that gives the value
  std::optional<Attribute> value;
  std::optional<Encoded> tensor;
  std::optional<Encoded> sparse_tensor;
  std::optional<Encoded> graph;
};
using Attributes = std::map<std::string_view, AttributeSource>;

struct NodeSource {
  std::string_view name, op, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<Encoded> attributes;
};

struct GraphSource {
  std::string_view name;
  std::vector<NodeSource> nodes;
  std::vector<Encoded> initializers, sparse_initializers;     // TensorProto, SparseTensorProto
  std::vector<Encoded> inputs, outputs, intermediate_values;  // ValueInfoProto
};

using Opsets = std::map<std::string_view, std::int64_t>;  // domain to version; "" is ai.onnx

struct FunctionSource {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<Encoded> default_attributes;
  std::vector<NodeSource> nodes;
  Opsets opsets;
};

struct ModelSource {
  std::int64_t ir_version = 0;
  std::optional<Encoded> graph;
  std::vector<FunctionSource> functions;
  Opsets opsets;
};

struct DimensionSource {
  std::optional<std::int64_t> value;
  std::string_view symbol;
};

struct ValueSource {
  std::string_view name;
  bool is_tensor = false;
  bool is_sequence = false;  // of tensors; an optional tensor is a tensor
  std::int64_t element_type = 0;
  std::optional<std::vector<DimensionSource>> dimensions;
};

// All throw ImportFailure when the bytes are not what they should be.
ModelSource read_model_source(ByteSpan bytes);
GraphSource read_graph_source(Encoded message);
Attributes read_attribute_sources(const std::vector<Encoded>& messages);
ValueSource read_value_source(Encoded message);

// TensorProto: name, type, shape, and the values of small tensors that lie in the file.
// `name`, when asked for, is a view into the message.
Tensor read_tensor(Encoded message, std::string_view* name = nullptr);
// As the dense tensor it stands for, without values.
Tensor read_sparse_tensor(Encoded message, std::string_view* name = nullptr);

DataType data_type_of(std::int64_t onnx_type);

// "ai.onnx" is the long name of the empty domain.
inline std::string_view plain_domain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view{} : domain;
}

}  // namespace npuscope::npu
