// Writes an ONNX graph node by node, naming as exported models do: a node is its module's path and
// its operator, numbered when the path has it already, and a value is its node's first output.
//
//   auto scope = builder.enter("mlp");                           // inside /model/layers.0
//   Value y = builder.node("Mul", {gate, up});                   // /model/layers.0/mlp/Mul
//   Value z = builder.node("Mul", {y, y});                       // /model/layers.0/mlp/Mul_1
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "npuscope/base/result.hpp"
#include "npuscope/npu/models/generate_onnx.hpp"

namespace npuscope::npu::models {

// The IEEE 754 binary16 bit pattern nearest to a number.

// |value| must be below 65520, where rounding to infinity starts.
inline std::uint16_t float16_bits(double value) {
  constexpr int mantissa_bits = 10;
  constexpr int smallest_exponent = -14;  // of a normal number; below, the mantissa shrinks
  const int sign = std::signbit(value) ? 1 << 15 : 0;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return std::uint16_t(sign);
  const int exponent = std::max(std::ilogb(magnitude), smallest_exponent);
  // Has its leading one at bit 10 when normal; rounding up to 2048 carries into the exponent.
  const int mantissa = int(std::nearbyint(std::ldexp(magnitude, mantissa_bits - exponent)));
  return std::uint16_t(sign + ((exponent - smallest_exponent) << mantissa_bits) + mantissa);
}

using Value = std::string;
using Dimension = std::variant<std::int64_t, std::string>;  // a size or a symbol
using Dimensions = std::vector<Dimension>;
using Integers = std::vector<std::int64_t>;

// The types that inputs, outputs and casts have; `model` is the precision of weights.
enum class ElementType : std::uint8_t { int64, float32, model };

struct NodeAttribute {
  std::string_view name;
  std::variant<std::int64_t, float, Integers> value;
};
using NodeAttributes = std::vector<NodeAttribute>;

class OnnxBuilder {
 public:
  OnnxBuilder(std::string graph_name, FloatType precision)
      : graph_name_(std::move(graph_name)), precision_(precision) {}
  OnnxBuilder(const OnnxBuilder&) = delete;
  OnnxBuilder& operator=(const OnnxBuilder&) = delete;

  // While it lives, nodes are named inside one more module.
  class Scope {
   public:
    Scope(std::string& path, std::string_view module);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    std::string& path_;
    std::size_t outer_length_;
  };
  [[nodiscard]] Scope enter(std::string_view module) { return {path_, module}; }

  Value input(const std::string& name, ElementType type, const Dimensions& dimensions);
  void output(const Value& value, ElementType type, const Dimensions& dimensions);

  // A node of the current module with one output, named `output` when the graph needs that name.
  Value node(const std::string& op, const std::vector<Value>& inputs,
             const NodeAttributes& attributes = {}, const std::string& output = {});
  // The attribute value of Cast: the number of an element type in ONNX.
  std::int64_t type_number(ElementType type) const;

  // A weight named after the current module: all elements are `fill`.
  Value weight(std::string_view name, const Integers& dimensions, double fill);

  // Constants of the operators; equal ones are one initializer.
  Value integer(std::int64_t value);       // a scalar
  Value integers(const Integers& values);  // one dimension
  Value number(double value);              // a scalar of the model's precision
  // Constants with a name of their own.
  Value integers(const std::string& name, const Integers& values, const Integers& dimensions);
  Value float32s(const std::string& name, const std::vector<float>& values);

  Result<GeneratedModel> finish(const std::string& description);

 private:
  std::string unique_node_name(const std::string& op);
  void add_node(const std::string& name, const std::string& op, const std::vector<Value>& inputs,
                const Value& output, const std::vector<std::string>& attributes);
  std::string number_bytes(const std::string& name, const Integers& dimensions, double value) const;
  Value constant(const std::string& name, auto bytes);

  std::string graph_name_;
  FloatType precision_;
  std::string path_;                                     // "/model/layers.0/mlp"
  std::map<std::string, int> name_counts_;               // nodes of each path and operator
  std::set<std::string> constants_;                      // initializers made so far
  std::string nodes_, initializers_, inputs_, outputs_;  // fields of the graph, as bytes
  std::size_t node_count_ = 0;
};

// What decoder and encoder graphs share.

// Stands in for weights that are not there: matrices get the deviation that models are usually
// initialised with, norms scale by one.
inline constexpr double matrix_fill = 0.02;
inline constexpr double norm_fill = 1;
inline constexpr double bias_fill = 0;

// Added to the scores of positions that are not attended to; within float16, and its exponential
// is zero there.
inline constexpr double masked_score = -10000;

struct InputDimensions {
  Dimension batch, sequence, context;
};

inline InputDimensions input_dimensions(const InputSizes& sizes, bool symbolic) {
  if (symbolic) return {"batch_size", "seq_len", "ctx_len"};
  return {sizes.batch, sizes.sequence, sizes.context};
}

enum class Rank : std::uint8_t { scalar, vector };

// The size of dimension `axis` of `x`, as an operand. A known size is a constant, since the ONNX
// library's shape inference does not follow bounds that are computed.
Value size_of(OnnxBuilder& builder, const Dimension& dimension, const Value& x, std::int64_t axis,
              Rank rank);

// x [... x inputs] times a weight [inputs x outputs] of the module `name`.
inline Value linear(OnnxBuilder& builder, std::string_view name, const Value& x,
                    std::int64_t inputs, std::int64_t outputs) {
  auto scope = builder.enter(name);
  return builder.node("MatMul", {x, builder.weight("weight", {inputs, outputs}, matrix_fill)});
}

// [batch x sequence x heads * head_size] -> [batch x sequence x heads x head_size]
inline Value split_heads(OnnxBuilder& builder, const Value& x, std::int64_t heads,
                         std::int64_t head_size) {
  return builder.node("Reshape", {x, builder.integers({0, 0, heads, head_size})});
}

// The two middle dimensions change places: heads before tokens, or back.
inline Value swap_heads_and_tokens(OnnxBuilder& builder, const Value& x) {
  return builder.node("Transpose", {x}, {{"perm", Integers{0, 2, 1, 3}}});
}

// softmax(queries x keys' / sqrt(head size) + mask) x values, all [batch x heads x tokens x head
// size], back in [batch x sequence x heads * head_size].
Value attention(OnnxBuilder& builder, const Value& queries, const Value& keys, const Value& values,
                const Value& mask, const Architecture& architecture);

void build_decoder(OnnxBuilder& builder, const Architecture& architecture,
                   const InputDimensions& dimensions);
void build_encoder(OnnxBuilder& builder, const Architecture& architecture,
                   const InputDimensions& dimensions);

}  // namespace npuscope::npu::models
