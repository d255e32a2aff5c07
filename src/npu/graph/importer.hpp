// From the source of a model to its graph: names become ids, functions and decided branches are
// put in place of the nodes that call them, and every node's outputs get their shapes.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "npu/graph/import_onnx.hpp"
#include "npu/graph/onnx_source.hpp"
#include "npu/graph/operation.hpp"

namespace npuscope::npu {

// Values of symbolic dimensions. Exporters also write sums and products of symbols ("past + 1",
// "2*heads"), so a dimension that is not a symbol itself is read as such an expression.

struct SymbolValue {
  std::optional<std::int64_t> value;
  std::string missing;  // without a value: the first symbol that nobody defined, or the whole text
};

SymbolValue evaluate_dimension(std::string_view text, const Symbols& symbols);

// The order in which nodes can be taken: as the file has them when that works, which ONNX asks
// for, else sorted so that every node follows those it reads from.

// Indices of `nodes`; linear in nodes and names. Throws ImportFailure for a cycle (naming its
// nodes) and for a name that two nodes make.
std::vector<std::uint32_t> topological_order(const std::vector<NodeSource>& nodes);

struct Operator;

std::int64_t opset_of(const Opsets& opsets, std::string_view domain);

class Importer {
 public:
  // Source and options must outlive the importer.
  Importer(const ModelSource& model, const ImportOptions& options);

  Graph run();  // throws ImportFailure

 private:
  struct UnknownOperator {
    std::string first_node;
    std::size_t count = 0;
  };

  // Where names of a graph, branch or function have their meaning.
  struct Scope {
    const Scope* outer = nullptr;  // of a branch: it sees the names around it
    const Opsets* opsets = nullptr;
    const Attributes* attributes = nullptr;  // of the calling node, for a function's references
    std::string prefix;                      // for names of nodes and tensors
    std::size_t depth = 0;
    std::unordered_map<std::string_view, TensorId> tensors;
    std::unordered_map<std::string_view, std::string> renamed;  // outputs take the caller's names
  };

  void add_initializers(const GraphSource& source, Scope& scope);
  void add_inputs(const GraphSource& source, Scope& scope);
  void set_given_value(Tensor& tensor, std::string_view name);
  std::string deciding_input(TensorId id) const;
  void add_outputs(const GraphSource& source, const Scope& scope);
  void add_nodes(const std::vector<NodeSource>& nodes, Scope& scope);
  void add_node(const NodeSource& source, std::size_t position, Scope& scope);
  void add_operator(const NodeSource& source, Node node, const Attributes& attributes,
                    Scope& scope);

  // Nodes that stand for others
  void inline_function(const FunctionSource& function, const NodeSource& call, const Node& node,
                       const Attributes& attributes, Scope& scope);
  void bind(std::string_view name, TensorId id, Scope& scope) const;

  // Branches (importer_branches.cpp)
  struct Mark {
    std::size_t tensors, nodes, warnings, names, folded_elements;
    std::map<std::string, UnknownOperator> unknown;
  };
  void inline_branch(const NodeSource& source, const Node& node, const Attributes& attributes,
                     Scope& scope);
  void inline_dearer_branch(const NodeSource& source, const Node& node,
                            const Attributes& attributes, Scope& scope);
  void add_branch(bool taken, const NodeSource& source, const Node& node,
                  const Attributes& attributes, Scope& scope);
  Mark mark() const;
  void roll_back(const Mark& to);
  std::optional<std::int64_t> given_to(const Node& node);
  void charge(const NodeSource& source, const Attributes& attributes, const Scope& scope);
  void bind_results(const NodeSource& call, const std::vector<std::string_view>& results,
                    const Scope& inner, Scope& scope);
  Scope nested(const Scope& scope, const Node& node) const;

  // Loops (importer_loops.cpp)
  struct Body {
    GraphSource graph;
    std::vector<std::string_view> inputs, outputs;
    Scope weights;  // its initializers, which all trips share
  };
  void unroll_scan(const NodeSource& source, const Node& node, const Attributes& attributes,
                   Scope& scope);
  void unroll_loop(const NodeSource& source, const Node& node, const Attributes& attributes,
                   Scope& scope);
  Body read_body(const Node& node, const Attributes& attributes, Scope& scope);
  // The results of the body; its first ones take these names where there are some.
  std::vector<TensorId> add_trip(const Body& body, const Node& node, std::size_t trip,
                                 const std::vector<TensorId>& given,
                                 const std::vector<std::string>& names);
  void stack_trips(const NodeSource& call, const Node& node, std::size_t output,
                   std::vector<TensorId> parts, std::int64_t axis, Scope& scope);
  void give_states(const NodeSource& call, const std::vector<TensorId>& states, Scope& scope) const;
  static std::vector<std::string> names_of(const NodeSource& call, std::size_t count,
                                           const Scope& scope);
  TensorId add_made(std::string_view op, std::string_view result,
                    const std::vector<TensorId>& inputs, std::int64_t axis, Scope& scope);
  void add_made(std::string_view op, const std::vector<std::string_view>& results,
                const std::vector<TensorId>& inputs, std::int64_t axis, Scope& scope);
  TensorId add_integers(std::string name, std::vector<std::int64_t> values, bool is_list,
                        Scope& scope);

  // Sequences (importer_sequences.cpp)
  bool add_sequence(const NodeSource& source, const Node& node, Scope& scope);
  const std::vector<TensorId>& sequence_of(const Node& node, std::size_t input) const;
  std::size_t place_in(const Node& node, std::size_t input, std::size_t count,
                       std::size_t otherwise) const;
  void check_length(std::string_view name, std::size_t elements);
  void make_sequence(std::string_view name, std::vector<TensorId> elements, Scope& scope);
  void split_to_sequence(const NodeSource& source, const Node& node, Scope& scope);
  void join_sequence(const NodeSource& source, const Node& node, Scope& scope);

  // Another batch (importer_rewrite.cpp)
  void find_old_batch(const GraphSource& source, const Scope& scope);
  std::int64_t rebatched(std::int64_t first_dimension) const;
  void note_shapes(const Node& node);
  void rebatch_reshape(Node& node, Scope& scope);
  void check_rebatched(const GraphSource& source, const Scope& scope) const;

  // Older meanings of operators (importer_rewrite.cpp)
  bool add_flat_softmax(const NodeSource& source, Node& node, const Attributes& attributes,
                        Scope& scope);

  // Shapes
  void infer(const NodeSource& source, Node& node, const Attributes& attributes,
             const Scope& scope);
  void infer_unknown(const NodeSource& source, Node& node, const Attributes& attributes,
                     const Scope& scope);
  bool use_declared(const NodeSource& source, const Node& node, const Scope& scope);
  bool use_bound(const Operator& row, const Node& node, std::int64_t opset,
                 const Attributes& attributes);
  void set_as_inputs(Operation& operation);
  void note_symbols(std::string_view expression);
  void warn_of_idle_symbols();
  std::int64_t resolve(const DimensionSource& dimension, std::string_view input, std::size_t axis);
  void require_all_symbols() const;
  void warn_of_experts();
  void warn_of_outputs(const GraphSource& source, const Scope& scope);

  TensorId add_tensor(Tensor tensor, std::string_view name, Scope& scope);
  // Nothing for a name that is not known; TensorId::none for a function's input left out.
  std::optional<TensorId> find(std::string_view name, const Scope& scope) const;
  std::string unique_node_name(const NodeSource& source, std::size_t position, const Scope& scope);
  Attributes bound_attributes(const NodeSource& source, const Scope& scope) const;
  const FunctionSource* find_function(const NodeSource& source) const;

  const ModelSource& model_;
  const ImportOptions& options_;
  Graph graph_;
  std::unordered_set<std::string> used_symbols_;
  std::vector<std::string> missing_symbols_;          // of open dimensions that nobody defined
  std::string first_missing_;                         // what the first of them is
  std::map<std::string_view, ValueSource> declared_;  // shapes that the file states
  std::unordered_set<std::string> node_names_;
  std::vector<std::string_view> names_in_order_;  // of nodes, as node_names_ keeps them
  // Elements of sequences, whose tensors only stand for them.
  std::map<TensorId, std::vector<TensorId>> sequences_;
  std::size_t folded_elements_ = 0;
  std::int64_t old_batch_ = 0;              // that the model was exported with; 0: it is kept
  std::unordered_set<TensorId> of_shapes_;  // computed from shapes
  std::deque<std::string> own_names_;       // of tensors that the file does not have
  std::size_t inlined_nodes_ = 0;
  std::size_t inlined_bytes_ = 0;
  using FunctionKey = std::tuple<std::string_view, std::string_view, std::string_view>;
  std::map<FunctionKey, const FunctionSource*> functions_;  // by domain, name, overload
  std::map<std::string, UnknownOperator> unknown_;          // by domain, operator and opset
};

}  // namespace npuscope::npu
