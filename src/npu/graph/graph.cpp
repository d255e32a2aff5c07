#include "npu/graph/graph.hpp"

#include <array>

namespace npuscope::npu {
namespace {

// In the order of DataType; names as kernels print them.
constexpr std::array<std::string_view, 23> type_names{
    "undefined", "float", "float16", "bfloat16", "float64", "float8",  "float4", "i8",
    "ui8",       "i16",   "ui16",    "index32",  "ui32",    "index64", "ui64",   "i4",
    "ui4",       "i2",    "ui2",     "bool",     "string",  "mxfp6",   "mxint8"};
constexpr std::array<std::uint32_t, 23> type_bits{0,  32, 16, 16, 64, 8, 4, 8, 8, 16, 16, 32,
                                                  32, 64, 64, 4,  4,  2, 2, 8, 0, 6,  8};
static_assert(type_names.size() == data_type_count && type_bits.size() == data_type_count);

constexpr std::uint64_t largest_count = std::uint64_t(std::numeric_limits<std::int64_t>::max());

template <class T>
const T* find_attribute(const Node& node, std::string_view name) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? nullptr : std::get_if<T>(&found->second);
}

}  // namespace

std::string_view name_of(DataType type) { return type_names[std::size_t(type)]; }

std::uint32_t bits_of(DataType type) { return type_bits[std::size_t(type)]; }

bool is_float(DataType type) { return type >= DataType::float32 && type <= DataType::float4; }

std::uint64_t Tensor::elements() const {
  std::uint64_t product = 1;
  bool saturated = false;
  for (const std::int64_t dimension : shape) {
    if (dimension <= 0) return 0;
    saturated |= __builtin_mul_overflow(product, std::uint64_t(dimension), &product);
    saturated |= product > largest_count;
  }
  return saturated ? largest_count : product;
}

std::uint64_t Tensor::bytes() const {
  // Eight elements take bits_of(type) bytes; the rest is rounded up.
  const std::uint64_t count = elements(), bits = bits_of(type);
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(count / 8, bits, &bytes) || bytes > largest_count - 64)
    return largest_count;
  return bytes + ((count % 8) * bits + 7) / 8;
}

std::int64_t Node::int_attribute(std::string_view wanted, std::int64_t otherwise) const {
  const auto* value = find_attribute<std::int64_t>(*this, wanted);
  return value != nullptr ? *value : otherwise;
}

std::vector<std::int64_t> Node::ints_attribute(std::string_view wanted) const {
  const auto* value = find_attribute<std::vector<std::int64_t>>(*this, wanted);
  return value != nullptr ? *value : std::vector<std::int64_t>{};
}

std::string Node::string_attribute(std::string_view wanted, std::string_view otherwise) const {
  const auto* value = find_attribute<std::string>(*this, wanted);
  return std::string(value != nullptr ? std::string_view(*value) : otherwise);
}

double Node::float_attribute(std::string_view wanted, double otherwise) const {
  const auto* value = find_attribute<double>(*this, wanted);
  return value != nullptr ? *value : otherwise;
}

std::uint32_t batch_of(const Graph& graph) {
  for (TensorId id : graph.inputs) {
    const Shape& shape = graph[id].shape;
    if (shape.size() >= 2 && shape[0] > 0) return std::uint32_t(shape[0]);
  }
  return 1;
}

}  // namespace npuscope::npu
