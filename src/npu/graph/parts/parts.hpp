// Operators that are several to a compiler (attention, recurrent layers), taken apart:
//
//   Attention q, k, v, mask  ->  Mul, Transpose, MatMul, Add, Softmax, MatMul
//   LSTM of 2 steps          ->  MatMul of both inputs, then for each step Slice, MatMul, Add, ...
//
// What a part makes lies between the operator's own inputs and outputs, whose tensors stay.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "npu/graph/graph.hpp"

namespace npuscope::npu {

// How an LSTM's gates are computed: as columns of one product, or each with a product of its own,
// which HTPs do.
enum class Gates { joined, apart };

// Nothing where the graph has no such operator. One whose inputs are of a form that is not taken
// apart stays as it is.
std::optional<Graph> taken_apart(const Graph& graph, Gates gates = Gates::joined);

// Attention over a long sequence, in blocks of queries: scores that no core can hold at once are
// made, masked and used up block by block.
//
//   MatMul q, k -> Add mask -> Softmax -> MatMul v    becomes, for each block of the queries' rows,
//   Slice q, MatMul k, Slice mask, Add, Softmax, MatMul v, and a Concat of what they make
//
// `blocks_for`: how many blocks scores of that shape need; 1: none. Nothing where no attention
// needs any.
std::optional<Graph> with_query_blocks(
    const Graph& graph, const std::function<std::int64_t(const Tensor& scores)>& blocks_for);

// Products with keys or values that were written once for each query that shares them: the queries
// of a group become rows of one product, and nothing is written twice.
//
//   MatMul q [B, H, S, D], Reshape(Expand(Unsqueeze(k [B, KV, D, T])))     becomes
//   Reshape q to [B, KV, H / KV * S, D], MatMul k, Reshape to [B, H, S, T]
//
// Nothing where the graph has none.
std::optional<Graph> with_grouped_heads(const Graph& graph);

// Convolutions and what stands between them depth first: a band of an image's rows, or some images
// of a batch, goes through several of them before the next does, so that what lies between need not
// be there whole. Bands overlap by the rows that windows reach beyond them.
//
//   Conv 3x3 -> Relu -> Conv 3x3      becomes, for each band of rows,
//   Slice (the rows, two more above and below), Conv, Relu, Conv, and a Concat of what they make
struct BandLimits {
  std::function<std::uint64_t(const Tensor&)> bytes_of;  // on the device
  std::uint64_t resident_bytes = 0;  // where the largest tensor is larger, bands are made
  std::uint64_t live_bytes = 0;      // of a band, at once
  std::uint64_t weight_bytes = 0;    // of the operators that a band goes through
  std::size_t windows = 0;           // of them with a window of more than one row
  // Fewer rows of what a band has are taken from there; else they are read again.
  bool trims_in_place = true;
};
// Nothing where no operators need it.
std::optional<Graph> with_image_bands(const Graph& graph, const BandLimits& limits);

// The graph that is made, node after node. Shapes follow from the operators' own rules; a part that
// does not fit throws OperatorFailure.
class Parts {
 public:
  using Attributes = std::map<std::string, Attribute, std::less<>>;

  explicit Parts(const Graph& graph, Gates gates = Gates::joined);

  const Graph& graph() const { return graph_; }  // its tensors
  Gates gates() const { return gates_; }
  // Throw OperatorFailure for TensorId::none, which a part may not lack.
  const Tensor& operator[](TensorId id) const;
  Shape shape(TensorId id) const { return (*this)[id].shape; }

  void keep(const Node& node);
  void begin(const std::string& node) { prefix_ = node + "/"; }  // parts of this node follow
  // All parts of `node`, or, where they do not fit, none: false.
  bool replace(const Node& node, void (*make)(Parts&, const Node&));

  // "context" of node "attention" is the node "attention/context", and so is what it makes, unless
  // that is a tensor which is there already.
  TensorId add(std::string_view part, std::string_view op, std::vector<TensorId> inputs,
               Attributes attributes = {}, TensorId into = TensorId::none);
  // Of a part with several results; those after the first are called "context:1", ...
  std::vector<TensorId> add_outputs(std::string_view part, std::string_view op,
                                    std::vector<TensorId> inputs, std::size_t count,
                                    Attributes attributes = {}, TensorId into = TensorId::none);
  std::vector<TensorId> split(std::string_view part, TensorId whole, std::int64_t axis,
                              const std::vector<std::int64_t>& extents);
  TensorId reshape(std::string_view part, TensorId from, const Shape& shape,
                   TensorId into = TensorId::none);
  TensorId transpose(std::string_view part, TensorId from, std::vector<std::int64_t> order,
                     TensorId into = TensorId::none);
  // Has the type, and stands for the values, of another.
  void is_like(TensorId id, const Tensor& other);
  // Shared by all nodes that ask for the same.
  TensorId integers(const std::vector<std::int64_t>& values);
  TensorId scalar(DataType type, double value);
  TensorId constant(std::string_view name, DataType type, const Shape& shape);
  // Written anew in every inference.
  TensorId zeros(std::string_view part, DataType type, const Shape& shape);

  Graph take();

 private:
  TensorId add_tensor(Tensor tensor);
  std::string unique(std::string name);

  Graph graph_;
  Gates gates_;
  std::vector<Node> nodes_;
  std::string prefix_;
  std::set<std::string, std::less<>> names_;
  std::map<std::vector<std::int64_t>, TensorId> integers_;
  std::map<std::pair<DataType, double>, TensorId> scalars_;
  std::map<std::tuple<std::string, DataType, Shape>, TensorId> constants_;
};

inline TensorId input_of(const Node& node, std::size_t i) {
  return node.has_input(i) ? node.inputs[i] : TensorId::none;
}
inline TensorId output_of(const Node& node, std::size_t i) {
  return i < node.outputs.size() ? node.outputs[i] : TensorId::none;
}

// How each is taken apart.
void make_attention(Parts& parts, const Node& node);
void make_recurrent(Parts& parts, const Node& node);
void make_linear_attention(Parts& parts, const Node& node);
void make_causal_convolution(Parts& parts, const Node& node);
void make_experts(Parts& parts, const Node& node);

}  // namespace npuscope::npu
