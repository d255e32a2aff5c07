// A model graph with every shape known: what the ONNX importer makes and the compiler takes. Nodes
// are in topological order. Only shapes, types and small integer constants (which shape arithmetic
// needs) are kept; weights are sizes, not data.
//
//   node "conv1"  op Conv   inputs data [1x3x224x224], w [64x3x7x7] const   outputs [1x64x112x112]
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace npuscope::npu {

enum class DataType : std::uint8_t {
  undefined,
  float32,
  float16,
  bfloat16,
  float64,
  float8,
  float4,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  int4,
  uint4,
  int2,
  uint2,
  boolean,
  string,
  // As tensors lie in memory: blocks of 32 elements share a scale of 8 bits (OCP microscaling).
  mxfp6,
  mxint8,
};
inline constexpr std::size_t data_type_count = std::size_t(DataType::mxint8) + 1;

// As kernels print it: float, float16, i8, index64 ...
std::string_view name_of(DataType type);
// Bits of one element (int4 is 4), without the scale of its block; 0 for undefined and string.
std::uint32_t bits_of(DataType type);
bool is_float(DataType type);

enum class TensorId : std::uint32_t { none = std::numeric_limits<std::uint32_t>::max() };
enum class NodeId : std::uint32_t { none = std::numeric_limits<std::uint32_t>::max() };

// Operands without those that were left out.
inline auto present(const std::vector<TensorId>& ids) {
  return ids | std::views::filter([](TensorId id) { return id != TensorId::none; });
}

using Shape = std::vector<std::int64_t>;

// Of all dimensions, or of the first `count`; of a shape that a tensor can have.
inline std::uint64_t elements_of(const Shape& shape, std::size_t count = ~std::size_t{0}) {
  std::uint64_t elements = 1;
  for (const std::int64_t extent :
       shape | std::views::take(std::ptrdiff_t(std::min(count, shape.size()))))
    elements *= std::uint64_t(extent);
  return elements;
}

// What the integers of a quantised tensor stand for: real = (integer - zero point) * step.
struct TensorScale {
  double step = 1;  // finite, above 0
  std::int64_t zero_point = 0;
};

struct Tensor {
  std::string name;
  DataType type = DataType::undefined;
  Shape shape;            // all dimensions known and >= 0
  bool constant = false;  // weights and everything computed from constants alone
  // The element values of small (<= 4096 elements) integer or boolean tensors known at compile
  // time, row-major: shapes, axes, indices. Float scalars that shape arithmetic needs (Resize
  // scales) are in `float_values`.
  std::optional<std::vector<std::int64_t>> values;
  std::optional<std::vector<double>> float_values;
  // Where the operators that say it were folded (fold_quantization.hpp).
  std::optional<TensorScale> scale = {};
  NodeId producer = NodeId::none;  // none: graph input or initializer
  std::vector<NodeId> consumers;

  std::uint64_t elements() const;  // saturates at 2^63-1
  std::uint64_t bytes() const;     // rounded up to whole bytes
};

using Attribute =
    std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>>;

struct Node {
  std::string name;              // unique; made from op type and position where ONNX has none
  std::string op;                // ONNX operator, e.g. Conv
  std::string domain;            // "" is ai.onnx
  std::vector<TensorId> inputs;  // none for an omitted optional input
  std::vector<TensorId> outputs;
  std::map<std::string, Attribute, std::less<>> attributes;
  bool unknown = false;  // taken with allow_unknown: costed as elementwise

  bool has_input(std::size_t i) const { return i < inputs.size() && inputs[i] != TensorId::none; }
  std::int64_t int_attribute(std::string_view name, std::int64_t otherwise) const;
  std::vector<std::int64_t> ints_attribute(std::string_view name) const;
  std::string string_attribute(std::string_view name, std::string_view otherwise) const;
  double float_attribute(std::string_view name, double otherwise) const;
};

struct Graph {
  std::string name;
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;
  std::vector<TensorId> inputs;  // without initializers
  std::vector<TensorId> outputs;
  std::vector<std::string> warnings;  // e.g. unknown operators that were allowed

  const Tensor& operator[](TensorId id) const { return tensors[std::uint32_t(id)]; }
  Tensor& operator[](TensorId id) { return tensors[std::uint32_t(id)]; }
  const Node& operator[](NodeId id) const { return nodes[std::uint32_t(id)]; }
};

// Samples of an inference: the first extent of the first input of two dimensions or more.
std::uint32_t batch_of(const Graph& graph);

// Tables of operators, as texts.

// "add mul": its words, one space between them.
inline auto words_of(std::string_view text) {
  return text | std::views::split(' ') | std::views::transform([](auto word) {
           return std::string_view(word.begin(), word.end());
         });
}

// "Add=ADD Neg=NEG": what stands after the sign, by what stands before it.
inline std::map<std::string_view, std::string_view> word_pairs(std::string_view text) {
  std::map<std::string_view, std::string_view> pairs;
  for (const std::string_view word : words_of(text)) {
    const std::size_t sign = word.find('=');
    pairs[word.substr(0, sign)] = word.substr(sign + 1);
  }
  return pairs;
}

}  // namespace npuscope::npu
