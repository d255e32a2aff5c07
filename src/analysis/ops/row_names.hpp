// What an op is called in rows that a reader can act on: the compiler's parts of a node bear the
// node's name, and the same node of repeated layers one name, with a * for the layer's number.
//
//   const RowNames names(labels, true);
//   names.of(op)         "/model/layers.*/mlp/up_proj/MatMul"
//   names.layers(op)     32: layers that have a node of that name; 1: of no repeated layer
//   names.layer(op)      number of its layer among all, from 0
//
// Layers are told by the path to a node (stages.hpp), where a word for layers stands before the
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

}  // namespace npuscope::analysis
