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
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/string_pool.hpp"

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

}  // namespace npuscope::analysis
