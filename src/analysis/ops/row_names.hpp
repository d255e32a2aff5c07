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

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace npuscope::analysis {

class RowNames {
 public:
  // `labels` are what each op is called before: its node, else its own name. Without `folds_layers`
  // each layer's nodes keep their names.
  RowNames(const std::vector<std::string_view>& labels, bool folds_layers);

  std::string_view of(std::size_t op) const { return names_[of_op_[op].name].text; }
  std::uint32_t layers(std::size_t op) const { return names_[of_op_[op].name].layers; }
  std::uint32_t layer(std::size_t op) const { return of_op_[op].layer; }

 private:
  struct Name {
    std::string text;
    std::uint32_t layers = 1;
  };
  struct Place {
    std::uint32_t name = 0;
    std::uint32_t layer = 0;
  };
  std::vector<Name> names_;
  std::vector<Place> of_op_;
};

}  // namespace npuscope::analysis
