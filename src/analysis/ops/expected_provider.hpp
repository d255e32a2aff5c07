// Whether the nodes of a model ran on the execution provider that its user expects (ONNX Runtime:
// a provider that was asked for and could not be made leaves no trace but nodes on the CPU).
//
//   const auto found = expected_provider(analysis, "QNN");
//   found->name                    // "QNNExecutionProvider"
//   found->providers[0]            // {"CPUExecutionProvider", 7 nodes, 223.0 us}
//   found->elsewhere[0]            // {"conv3", "Conv", "CPUExecutionProvider", 90.5 us}
//
// A node that a provider made of a part of the model counts once. Times are the work of an
// inference, of several the median of those after the first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/analysis/analysis.hpp"

namespace npuscope::analysis {

struct ExpectedProvider {
  struct Provider {
    std::string name;
    std::uint64_t nodes = 0;
    double work = 0;  // ticks
  };
  struct Node {
    std::string name, kind, provider;
    double work = 0;  // ticks
  };
  std::string name;
  std::vector<Provider> providers;  // the one with most work first
  std::vector<Node> elsewhere;      // the one with most work first
  double work = 0;                  // of all nodes
  bool of_warm_median = false;      // times are medians of the inferences after the first
};

// `wanted` with or without "ExecutionProvider", in any case. None where the profile does not say
// which providers ran its nodes.
std::optional<ExpectedProvider> expected_provider(const Analysis& analysis,
                                                  std::string_view wanted);

}  // namespace npuscope::analysis
