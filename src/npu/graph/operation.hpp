// What a shape function sees: one node with its inputs known, whose outputs it sets.
//
//   void infer_trilu(Operation& op) { op.set(0, op.type(0), op.shape(0)); }
//
// Everything that does not fit throws OperatorFailure, so a function needs no checks of its own
// where the accessors check: an omitted input, an axis out of range, a negative dimension.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "npu/graph/graph.hpp"
#include "npu/graph/limits.hpp"
#include "npu/graph/onnx_source.hpp"

namespace npuscope::npu {

// Element values of a small tensor: the one that `type` says is in use.
struct Values {
  DataType type = DataType::undefined;
  std::vector<std::int64_t> integers;
  std::vector<double> floats;

  bool are_floats() const { return is_float(type); }
  std::size_t size() const { return are_floats() ? floats.size() : integers.size(); }
};

class Operation {
 public:
  Operation(Graph& graph, const Node& node, std::int64_t opset, const Attributes& attributes,
            std::size_t& folded_elements);

  const Node& node() const { return node_; }
  const Graph& graph() const { return graph_; }
  std::int64_t opset() const { return opset_; }

  // Inputs
  std::size_t input_count() const { return node_.inputs.size(); }
  bool has(std::size_t i) const;
  const Tensor& input(std::size_t i) const;
  DataType type(std::size_t i) const { return input(i).type; }
  const Shape& shape(std::size_t i) const { return input(i).shape; }
  std::size_t rank(std::size_t i) const { return shape(i).size(); }
  // `axis` may be negative: from the end.
  std::int64_t dimension(std::size_t i, std::int64_t axis) const;
  // Fails unless the input has exactly, or at least, so many dimensions.
  const Shape& shape_of_rank(std::size_t i, std::size_t rank) const;
  const Shape& shape_of_rank_from(std::size_t i, std::size_t rank) const;
  // Fails unless the elements are integers or booleans: indices, sizes, conditions.
  void check_whole(std::size_t i) const;

  // Values known at compile time: UnknownSize when they are not. Integers of floats: a failure.
  std::vector<std::int64_t> integers(std::size_t i) const;
  std::int64_t integer(std::size_t i) const;  // of exactly one element
  std::vector<double> floats(std::size_t i) const;
  std::optional<Values> values(std::size_t i) const;
  // As values(), of an input that check_whole() lets pass.
  std::optional<std::vector<std::int64_t>> known_integers(std::size_t i) const;

  // Attributes
  bool has_attribute(std::string_view name) const { return node_.attributes.contains(name); }
  bool has_graph(std::string_view name) const;  // an attribute that is a graph
  std::int64_t attribute(std::string_view name, std::int64_t otherwise) const {
    return node_.int_attribute(name, otherwise);
  }
  std::int64_t required_attribute(std::string_view name) const;
  std::optional<Tensor> tensor_attribute(std::string_view name) const;
  // What older opsets have as an attribute and newer ones as an input; empty when neither is there.
  std::vector<std::int64_t> attribute_or_input(std::string_view name, std::size_t i) const;

  // Outputs. Setting one that the node does not have does nothing.
  std::size_t output_count() const { return node_.outputs.size(); }
  bool makes(std::size_t i) const;
  const Tensor& output(std::size_t i) const;
  void set(std::size_t i, DataType type, Shape shape);
  void set_values(std::size_t i, Values values);  // after set(); not kept when too many
  bool folds(std::size_t i) const;                // whether values of this output would be kept
  bool complete() const;                          // every output of the node is set

 private:
  Tensor& mutable_output(std::size_t i) { return graph_[node_.outputs[i]]; }

  Graph& graph_;
  const Node& node_;
  std::int64_t opset_;
  const Attributes& attributes_;
  std::size_t& folded_elements_;
};

// "[1x3x224x224]"
std::string to_text(const Shape& shape);

// 0 <= result < rank, or a failure that names the axis.
std::size_t normal_axis(std::int64_t axis, std::size_t rank);
std::vector<std::size_t> normal_axes(const std::vector<std::int64_t>& axes, std::size_t rank);

std::vector<std::int64_t> first_axes(std::size_t count);  // 0, 1, …

// Arithmetic on dimensions that fails instead of overflowing.
std::int64_t add(std::int64_t a, std::int64_t b);
std::int64_t multiply(std::int64_t a, std::int64_t b);
std::int64_t product(const Shape& shape, std::size_t begin, std::size_t end);
inline std::int64_t product(const Shape& shape) { return product(shape, 0, shape.size()); }

// NumPy's rule: dimensions align at the end, 1 stretches.
Shape broadcast(const Shape& a, const Shape& b);

}  // namespace npuscope::npu
