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
#pragma once

#include <string_view>

namespace npuscope::analysis {

// A part of `node`, from its beginning.
std::string_view stage_of(std::string_view node);

// "layers", "block", "h": words that models put before the number of a layer.
bool is_word_for_layers(std::string_view word);

}  // namespace npuscope::analysis
