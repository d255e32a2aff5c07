// Which nodes of a model the name of a compiled op means.
//
//   const NodeNames names(expected);
//   names.find("libjit_x /layer.0/MatMul/__12").nodes   // {MatMul}
//   names.find("conv1+relu1").nodes                      // {conv1, relu1}
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/graph/graph_expected.hpp"

namespace npuscope::analysis {

// Kinds of work that kernels and operators of different names have in common, and shapes as they
// can be compared across layouts.

// 0: none known. "q::ConvLayer_s1.opt", "aicconvolutiond32", "Gemm" are one family.
std::uint8_t family_of(std::string_view kind);
bool is_product(std::string_view kind);
// What compilers do in the same pass as the product before: activations, norms, sums.
bool is_pointwise(std::string_view kind);

// The extents above 1, sorted: the same for 1, 8, 32, 256 and for 8, 256, 32.
std::vector<std::int64_t> comparable_shape(std::span<const std::int64_t> extents);

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
class SourceNames {
 public:
  SourceNames(const Profile& profile, const ExpectedGraph& expected);

  NodeNames::Found find(std::string_view name) const;

 private:
  std::unordered_map<std::string_view, std::uint32_t> nodes_;  // no_node: ambiguous
};

}  // namespace npuscope::analysis
