// Which nodes of a model the name of a compiled op means.
//
//   const NodeNames names(expected);
//   names.find("libjit_x /layer.0/MatMul/__12").nodes   // {MatMul}
//   names.find("conv1+relu1").nodes                      // {conv1, relu1}
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/graph/graph_expected.hpp"

namespace npuscope::analysis {

class NodeNames {
 public:
  explicit NodeNames(const ExpectedGraph& expected);

  struct Found {
    std::vector<std::uint32_t> nodes;  // several: they were joined
    MatchEvidence evidence = MatchEvidence::none;
  };
  Found find(std::string_view name) const;

 private:
  std::uint32_t lookup(std::string_view name, MatchEvidence& evidence) const;
  std::uint32_t derived(std::string_view name) const;

  std::unordered_map<std::string_view, std::uint32_t> nodes_, tensors_;
  std::unordered_map<std::string, std::uint32_t> plain_;  // letters and digits; no_node: ambiguous
};

}  // namespace npuscope::analysis
