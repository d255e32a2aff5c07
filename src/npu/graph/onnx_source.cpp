#include "npu/graph/onnx_source.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "npu/graph/limits.hpp"

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

// An optional tensor is read as the tensor.
void read_type(std::string_view message, ValueSource& value, bool is_optional = false) {
  for_each_field(message, "type", [&](std::uint32_t field, pbf_reader& reader) {
    switch (field) {
      case bytes_field(1): read_tensor_type(bytes_of(reader), value); return true;
      case bytes_field(4): value.is_sequence = true; return false;
      case bytes_field(9):
        if (is_optional) return false;
        for_each_field(bytes_of(reader), "type", [&](std::uint32_t held, pbf_reader& type) {
          if (held != bytes_field(1)) return false;
          read_type(bytes_of(type), value, true);
          return true;
        });
        return true;
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
      case bytes_field(2): read_type(bytes_of(reader), value); return true;
      default: return false;
    }
  });
  return value;
}

namespace {

using protozero::pbf_reader;

double from_float16(std::uint16_t bits) {
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

double from_bfloat16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t(bits) << 16); }

template <class T>
T little_endian(std::string_view raw, std::size_t index) {
  static_assert(std::endian::native == std::endian::little);
  T value;
  std::memcpy(&value, raw.data() + index * sizeof(T), sizeof(T));
  return value;
}

std::int64_t raw_integer(DataType type, std::string_view raw, std::size_t i) {
  const auto nibble = [&] { return (std::uint8_t(raw[i / 2]) >> (i % 2 * 4)) & 15; };
  const auto pair = [&] { return (std::uint8_t(raw[i / 4]) >> (i % 4 * 2)) & 3; };
  switch (type) {
    case DataType::int8: return little_endian<std::int8_t>(raw, i);
    case DataType::uint8:
    case DataType::boolean: return little_endian<std::uint8_t>(raw, i);
    case DataType::int16: return little_endian<std::int16_t>(raw, i);
    case DataType::uint16: return little_endian<std::uint16_t>(raw, i);
    case DataType::int32: return little_endian<std::int32_t>(raw, i);
    case DataType::uint32: return little_endian<std::uint32_t>(raw, i);
    case DataType::uint4: return nibble();
    case DataType::int4: return nibble() >= 8 ? nibble() - 16 : nibble();
    case DataType::uint2: return pair();
    case DataType::int2: return pair() >= 2 ? pair() - 4 : pair();
    default: return little_endian<std::int64_t>(raw, i);
  }
}

double raw_float(DataType type, std::string_view raw, std::size_t i) {
  switch (type) {
    case DataType::float16: return from_float16(little_endian<std::uint16_t>(raw, i));
    case DataType::bfloat16: return from_bfloat16(little_endian<std::uint16_t>(raw, i));
    case DataType::float64: return little_endian<double>(raw, i);
    default: return little_endian<float>(raw, i);
  }
}

bool has_folded_floats(DataType type) { return is_float(type) && bits_of(type) > 8; }

// The typed fields, as far as small tensors need them.
struct TypedData {
  std::vector<std::int64_t> integers;
  std::vector<double> floats;

  template <class T>
  void take(std::vector<T>& into, T value) {
    if (into.size() <= limits::folded_integers) into.push_back(value);
  }
};

void use_values(Tensor& tensor, std::string_view raw, const TypedData& typed) {
  const std::uint64_t count = tensor.elements();
  if (has_folded_floats(tensor.type)) {
    if (count > limits::folded_floats) return;
    std::vector<double> values;
    if (!raw.empty() || count == 0) {
      for (std::size_t i = 0; i < count; ++i) values.push_back(raw_float(tensor.type, raw, i));
    } else if (typed.floats.size() == count) {
      values = typed.floats;
    } else if (typed.integers.size() == count) {  // 16-bit floats travel as integers
      for (const std::int64_t bits : typed.integers) {
        values.push_back(tensor.type == DataType::bfloat16 ? from_bfloat16(std::uint16_t(bits))
                                                           : from_float16(std::uint16_t(bits)));
      }
    } else {
      return;
    }
    tensor.float_values = std::move(values);
  } else if (limits::folds_as_integer(tensor.type) && count <= limits::folded_integers) {
    if (!raw.empty() || count == 0) {
      std::vector<std::int64_t> values;
      for (std::size_t i = 0; i < count; ++i) values.push_back(raw_integer(tensor.type, raw, i));
      tensor.values = std::move(values);
    } else if (typed.integers.size() == count && bits_of(tensor.type) >= 8) {
      tensor.values = typed.integers;
    }
  }
}

}  // namespace

DataType data_type_of(std::int64_t onnx_type) {
  using enum DataType;  // complex numbers (14, 15) and types after 26 are not known
  constexpr DataType types[] = {undefined, float32,   uint8,    int8,    uint16,  int16,  int32,
                                int64,     string,    boolean,  float16, float64, uint32, uint64,
                                undefined, undefined, bfloat16, float8,  float8,  float8, float8,
                                uint4,     int4,      float4,   float8,  uint2,   int2};
  return onnx_type >= 0 && std::size_t(onnx_type) < std::size(types) ? types[onnx_type] : undefined;
}

Tensor read_tensor(Encoded message, std::string_view* name) {
  Tensor tensor;
  tensor.constant = true;
  std::string_view raw;
  TypedData typed;
  std::string_view own_name;
  std::int64_t onnx_type = 0;
  const auto take_dimension = [&](std::int64_t dimension) {
    if (tensor.shape.size() == limits::rank)
      fail_import("an initializer has over {} dimensions; export the model again", limits::rank);
    tensor.shape.push_back(dimension);
  };
  for_each_field(message, "tensor", [&](std::uint32_t field, pbf_reader& reader) {
    switch (field) {
      case varint_field(1): take_dimension(reader.get_int64()); return true;
      case bytes_field(1):
        for (const std::int64_t each : reader.get_packed_int64()) take_dimension(each);
        return true;
      case varint_field(2): onnx_type = reader.get_int64(); return true;
      case fixed32_field(4): typed.take(typed.floats, double(reader.get_float())); return true;
      case bytes_field(4):
        for (const float each : reader.get_packed_float()) {
          if (typed.floats.size() > limits::folded_floats) break;
          typed.take(typed.floats, double(each));
        }
        return true;
      case varint_field(5):
      case varint_field(7):
      case varint_field(11): typed.take(typed.integers, reader.get_int64()); return true;
      case bytes_field(5):
      case bytes_field(7):
      case bytes_field(11):
        for (const std::int64_t each : reader.get_packed_int64()) {
          if (typed.integers.size() > limits::folded_integers) break;
          typed.take(typed.integers, each);
        }
        return true;
      case fixed64_field(10): typed.take(typed.floats, reader.get_double()); return true;
      case bytes_field(10):
        for (const double each : reader.get_packed_double()) {
          if (typed.floats.size() > limits::folded_floats) break;
          typed.take(typed.floats, each);
        }
        return true;
      case bytes_field(8): own_name = bytes_of(reader); return true;
      case bytes_field(9): raw = bytes_of(reader); return true;
      default: return false;
    }
  });
  tensor.name = own_name;
  if (name != nullptr) *name = own_name;
  tensor.type = data_type_of(onnx_type);
  if (tensor.type == DataType::undefined) {
    fail_import(
        "tensor '{}' has the element type {}, which npuscope does not know; export the model "
        "with another type",
        tensor.name, onnx_type);
  }
  if (const auto problem = limits::problem_of(tensor)) {
    fail_import("tensor '{}' {}; export the model again", tensor.name, *problem);
  }
  if (!raw.empty() && raw.size() != tensor.bytes() && tensor.type != DataType::string) {
    fail_import("tensor '{}' needs {} bytes of data but has {}; export the model again",
                tensor.name, tensor.bytes(), raw.size());
  }
  use_values(tensor, raw, typed);
  return tensor;
}

Tensor read_sparse_tensor(Encoded message, std::string_view* name) {
  Tensor tensor;
  Shape shape;
  for_each_field(message, "sparse tensor", [&](std::uint32_t field, pbf_reader& reader) {
    switch (field) {
      case bytes_field(1): tensor = read_tensor(bytes_of(reader), name); return true;
      case varint_field(3): shape.push_back(reader.get_int64()); return true;
      case bytes_field(3):
        for (const std::int64_t each : reader.get_packed_int64()) shape.push_back(each);
        return true;
      default: return false;
    }
  });
  tensor.shape = std::move(shape);
  tensor.values.reset();
  tensor.float_values.reset();
  tensor.constant = true;
  const auto problem = limits::problem_of(tensor);
  if (problem || tensor.type == DataType::undefined) {
    fail_import("sparse tensor '{}' {}; export the model again", tensor.name,
                problem.value_or("has no element type"));
  }
  return tensor;
}

}  // namespace npuscope::npu
