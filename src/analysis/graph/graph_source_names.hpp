// Which nodes of a model are meant by ops that name operators by their places in its source
// (Profile::source_operators). An importer writes a model's nodes in their order, each as one
// operator; constants are operators of their own there. So:
//
//   const SourceNames names(profile, expected);
//   names.find("onnx.Conv@L94 onnx.Relu@L95").nodes   // {Conv_0, Relu_0}
//
// Where the operators are not the model's nodes one by one, but come in the order of the nodes (a
// table names only those that ran), those of a kind of which there are as many as nodes that
// execute are meant. Of another model's source no name is found.
#pragma once

#include <string_view>
#include <unordered_map>

#include "analysis/graph/graph_node_names.hpp"

namespace npuscope::analysis {

class SourceNames {
 public:
  SourceNames(const Profile& profile, const ExpectedGraph& expected);

  NodeNames::Found find(std::string_view name) const;

 private:
  std::unordered_map<std::string_view, std::uint32_t> nodes_;  // no_node: ambiguous
};

}  // namespace npuscope::analysis
