#include "npu/graph/onnx_source.hpp"

namespace npuscope::npu {
namespace {

using protozero::pbf_reader;

NodeSource read_node(Encoded message) {
  NodeSource node;
  for_each_field(message, "node", [&](std::uint32_t field, pbf_reader& reader) {
    switch (field) {
      case bytes_field(1): node.inputs.push_back(bytes_of(reader)); return true;
      case bytes_field(2): node.outputs.push_back(bytes_of(reader)); return true;
      case bytes_field(3): node.name = bytes_of(reader); return true;
      case bytes_field(4): node.op = bytes_of(reader); return true;
      case bytes_field(5): node.attributes.push_back(bytes_of(reader)); return true;
      case bytes_field(7): node.domain = plain_domain(bytes_of(reader)); return true;
      case bytes_field(8): node.overload = bytes_of(reader); return true;
      default: return false;
    }
  });
  if (node.op.empty())
    fail_import("a node named '{}' has no operator; export the model again", node.name);
  if (node.outputs.empty()) {
    fail_import("node '{}' ({}) has no outputs; export the model again", node.name, node.op);
  }
  return node;
}

void read_opset(Encoded message, Opsets& opsets) {
  std::string_view domain;
  std::int64_t version = 0;
  for_each_field(message, "opset import", [&](std::uint32_t field, pbf_reader& reader) {
    switch (field) {
      case bytes_field(1): domain = plain_domain(bytes_of(reader)); return true;
      case varint_field(2): version = reader.get_int64(); return true;
      default: return false;
    }
  });
  opsets[domain] = version;
}

FunctionSource read_function(Encoded message) {
  FunctionSource function;
  for_each_field(message, "function", [&](std::uint32_t field, pbf_reader& reader) {
    switch (field) {
      case bytes_field(1): function.name = bytes_of(reader); return true;
      case bytes_field(4): function.inputs.push_back(bytes_of(reader)); return true;
      case bytes_field(5): function.outputs.push_back(bytes_of(reader)); return true;
      case bytes_field(7): function.nodes.push_back(read_node(bytes_of(reader))); return true;
      case bytes_field(9): read_opset(bytes_of(reader), function.opsets); return true;
      case bytes_field(10): function.domain = plain_domain(bytes_of(reader)); return true;
      case bytes_field(11): function.default_attributes.push_back(bytes_of(reader)); return true;
      case bytes_field(13): function.overload = bytes_of(reader); return true;
      default: return false;
    }
  });
  return function;
}

AttributeSource read_attribute(Encoded message) {
  AttributeSource attribute;
  std::optional<std::int64_t> integer;
  std::optional<double> number;
  std::optional<std::string_view> text;
  std::vector<std::int64_t> integers;
  std::vector<double> numbers;
  std::int64_t type = 0;
  for_each_field(message, "attribute", [&](std::uint32_t field, pbf_reader& reader) {
    switch (field) {
      case bytes_field(1): attribute.name = bytes_of(reader); return true;
      case fixed32_field(2): number = reader.get_float(); return true;
      case varint_field(3): integer = reader.get_int64(); return true;
      case bytes_field(4): text = bytes_of(reader); return true;
      case bytes_field(5): attribute.tensor = bytes_of(reader); return true;
      case bytes_field(6): attribute.graph = bytes_of(reader); return true;
      case fixed32_field(7): numbers.push_back(reader.get_float()); return true;
      case bytes_field(7):
        for (const float each : reader.get_packed_float()) numbers.push_back(each);
        return true;
      case varint_field(8): integers.push_back(reader.get_int64()); return true;
      case bytes_field(8):
        for (const std::int64_t each : reader.get_packed_int64()) integers.push_back(each);
        return true;
      case varint_field(20): type = reader.get_int64(); return true;
      case bytes_field(21): attribute.reference = bytes_of(reader); return true;
      case bytes_field(22): attribute.sparse_tensor = bytes_of(reader); return true;
      default: return false;
    }
  });
  // Writers may leave out values that equal protobuf's defaults; then only the type says what it
  // is.
  enum { type_float = 1, type_int = 2, type_string = 3, type_floats = 6, type_ints = 7 };
  if (!integers.empty() || type == type_ints) {
    attribute.value = std::move(integers);
  } else if (!numbers.empty() || type == type_floats) {
    attribute.value = std::move(numbers);
  } else if (integer && type != type_float && type != type_string) {
    attribute.value = *integer;
  } else if (number && type != type_int && type != type_string) {
    attribute.value = *number;
  } else if (text && type != type_int && type != type_float) {
    attribute.value = std::string(*text);
  } else if (type == type_int) {
    attribute.value = std::int64_t{0};
  } else if (type == type_float) {
    attribute.value = 0.0;
  } else if (type == type_string) {
    attribute.value = std::string{};
  }
  return attribute;
}

DimensionSource read_dimension(Encoded message) {
  DimensionSource dimension;
  for_each_field(message, "dimension", [&](std::uint32_t field, pbf_reader& reader) {
    switch (field) {
      case varint_field(1): dimension.value = reader.get_int64(); return true;
      case bytes_field(2): dimension.symbol = bytes_of(reader); return true;
      default: return false;
    }
  });
  return dimension;
}

void read_shape(Encoded message, ValueSource& value) {
  value.dimensions.emplace();
  for_each_field(message, "shape", [&](std::uint32_t field, pbf_reader& reader) {
    if (field != bytes_field(1)) return false;
    value.dimensions->push_back(read_dimension(bytes_of(reader)));
    return true;
  });
}

void read_tensor_type(Encoded message, ValueSource& value) {
  value.is_tensor = true;
  for_each_field(message, "tensor type", [&](std::uint32_t field, pbf_reader& reader) {
    switch (field) {
      case varint_field(1): value.element_type = reader.get_int64(); return true;
      case bytes_field(2): read_shape(bytes_of(reader), value); return true;
      default: return false;
    }
  });
}

}  // namespace

ModelSource read_model_source(ByteSpan bytes) {
  ModelSource model;
  for_each_field(as_text(bytes), "model", [&](std::uint32_t field, pbf_reader& reader) {
    switch (field) {
      case varint_field(1): model.ir_version = reader.get_int64(); return true;
      case bytes_field(7): model.graph = bytes_of(reader); return true;
      case bytes_field(8): read_opset(bytes_of(reader), model.opsets); return true;
      case bytes_field(25): model.functions.push_back(read_function(bytes_of(reader))); return true;
      default: return false;
    }
  });
  return model;
}

GraphSource read_graph_source(Encoded message) {
  GraphSource graph;
  for_each_field(message, "graph", [&](std::uint32_t field, pbf_reader& reader) {
    switch (field) {
      case bytes_field(1): graph.nodes.push_back(read_node(bytes_of(reader))); return true;
      case bytes_field(2): graph.name = bytes_of(reader); return true;
      case bytes_field(5): graph.initializers.push_back(bytes_of(reader)); return true;
      case bytes_field(11): graph.inputs.push_back(bytes_of(reader)); return true;
      case bytes_field(12): graph.outputs.push_back(bytes_of(reader)); return true;
      case bytes_field(13): graph.intermediate_values.push_back(bytes_of(reader)); return true;
      case bytes_field(15): graph.sparse_initializers.push_back(bytes_of(reader)); return true;
      default: return false;
    }
  });
  return graph;
}

Attributes read_attribute_sources(const std::vector<Encoded>& messages) {
  Attributes attributes;
  for (const Encoded message : messages) {
    AttributeSource attribute = read_attribute(message);
    attributes.insert_or_assign(attribute.name, std::move(attribute));
  }
  return attributes;
}

ValueSource read_value_source(Encoded message) {
  ValueSource value;
  for_each_field(message, "value description", [&](std::uint32_t field, pbf_reader& reader) {
    switch (field) {
      case bytes_field(1): value.name = bytes_of(reader); return true;
      case bytes_field(2):
        for_each_field(bytes_of(reader), "type", [&](std::uint32_t kind, pbf_reader& type) {
          if (kind != bytes_field(1)) return false;
          read_tensor_type(bytes_of(type), value);
          return true;
        });
        return true;
      default: return false;
    }
  });
  return value;
}

}  // namespace npuscope::npu
