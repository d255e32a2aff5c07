// What an op is called in rows that a reader can act on: the compiler's parts of a node bear the
// node's name, and the same node of repeated layers one name, with a * for the layer's number.
//
//   const RowNames names(labels, true);
//   names.of(op)         "/model/layers.*/mlp/up_proj/MatMul"
//   names.layers(op)     32: layers that have a node of that name; 1: of no repeated layer
//   names.layer(op)      number of its layer among all, from 0
//
// Layers are told by the path to a node (stage_of), where a word for layers stands before the
// number: "features.3" and "conv1" number unlike things.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/string_pool.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

class RowNames {
 public:
  // `labels` are what each op is called before: its node, else its own name. Without `folds_layers`
  // each layer's nodes keep their names.
  RowNames(const std::vector<std::string_view>& labels, bool folds_layers);

  // The view is as valid as this.
  std::string_view of(std::size_t op) const { return texts_[of_op_[op].name]; }
  std::uint32_t layers(std::size_t op) const {
    return std::max(1u, layers_[std::uint32_t(of_op_[op].name)]);
  }
  std::uint32_t layer(std::size_t op) const { return of_op_[op].layer; }

 private:
  struct Place {
    StringId name = StringId::empty;
    std::uint32_t layer = 0;
  };
  StringPool texts_;
  std::vector<std::uint32_t> layers_;  // by text; 0: of no layer
  std::vector<Place> of_op_;
};

// The stage of a model that an operator belongs to, by its node's name: the path to its layer.
//
//   stage_of("/model/layers.12/self_attn/q_proj/MatMul")   "/model/layers.12"
//   stage_of("model.layers.12.mlp.up_proj")                "model.layers.12"
//   stage_of("_model_layers_12_mlp_MatMul")                "_model_layers_12"
//   stage_of("/embeddings/Gather_3")                       "/embeddings": it has no layer
//   stage_of("MatMul_0")                                   "": a name, no path
//
// A layer is the first part of the path that is a number, or ends in one, and that has something
// inside. Between underscores, where any word may have a number, only one after a word for layers
// (layer, block, stage, h) counts.

// A part of `node`, from its beginning.
std::string_view stage_of(std::string_view node);

// "layers", "block", "h": words that models put before the number of a layer.
bool is_word_for_layers(std::string_view word);

// What compilers make of the names of a model's nodes.
//
//   without_ordinals("layer.3/n165/__0")   // "layer.3/n165"
//   without_ordinals("MatMul_0:OpId_18")   // "MatMul_0"
//   last_ordinal("n165/__3")               // 3
//   name_parts("conv1+relu1")              // conv1, relu1

// Without the numbers that compilers append: they differ between compiles of one model. A number
// that is a part of the node's own name stays.
std::string without_ordinals(std::string_view name);

// "/layer.0/MatMul/__3" without the number of its tile.
std::string_view without_tile(std::string_view name);

// The number behind the last "__"; none where the name does not end so.
std::optional<std::uint64_t> last_ordinal(std::string_view name);

// The names that a fused op's name consists of; none where it is one name.
std::vector<std::string_view> name_parts(std::string_view name);

// Ops that are part of the measurement, not of the model: on Cloud AI 100 each thread's last, which
// writes the statistics buffer.

inline bool is_instrumentation(std::string_view kernel) {
  return kernel.starts_with("aicendcyclestats");
}

inline bool is_instrumentation(const Profile& profile, OpId op) {
  return index_of(op) < profile.ops.size() &&
         is_instrumentation(profile.text(profile.ops[index_of(op)].kind));
}

}  // namespace npuscope::analysis
