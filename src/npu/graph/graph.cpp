#include "npu/graph/graph.hpp"

#include <array>

namespace npuscope::npu {
namespace {

struct TypeFacts {
  std::string_view name;
  std::uint32_t bits;
};

// In the order of DataType; names as kernels print them.
constexpr std::array<TypeFacts, 18> type_facts{{{"undefined", 0},
                                                {"float", 32},
                                                {"float16", 16},
                                                {"bfloat16", 16},
                                                {"float64", 64},
                                                {"float8", 8},
                                                {"i8", 8},
                                                {"ui8", 8},
                                                {"i16", 16},
                                                {"ui16", 16},
                                                {"index32", 32},
                                                {"ui32", 32},
                                                {"index64", 64},
                                                {"ui64", 64},
                                                {"i4", 4},
                                                {"ui4", 4},
                                                {"bool", 8},
                                                {"string", 0}}};
static_assert(type_facts.size() == std::size_t(DataType::string) + 1);

constexpr std::uint64_t largest_count = std::uint64_t(std::numeric_limits<std::int64_t>::max());

template <class T>
const T* find_attribute(const Node& node, std::string_view name) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? nullptr : std::get_if<T>(&found->second);
}

}  // namespace

std::string_view name_of(DataType type) { return type_facts[std::size_t(type)].name; }

std::uint32_t bits_of(DataType type) { return type_facts[std::size_t(type)].bits; }

bool is_float(DataType type) { return type >= DataType::float32 && type <= DataType::float8; }

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

}  // namespace npuscope::npu
