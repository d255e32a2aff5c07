// A gate of check that asks where the nodes of a model ran (--expect-provider), with what ran
// elsewhere and what it cost.
//
//   GATES
//   gate 'nodes elsewhere than on QNNExecutionProvider < 1' failed: 7 (one sample)
//
//   NODES ELSEWHERE, by work
//   node   kind  provider                  work  of all nodes
//   conv3  Conv  CPUExecutionProvider  90.50 us        40.6 %
#pragma once

#include <string>
#include <vector>

#include "report/compare/diff_document.hpp"

namespace npuscope::report {

// Adds the gate, and one that is not judged where a run does not say who ran its nodes.
void expect_provider(const std::string& wanted, Diff& check);

// Nothing where no provider is expected.
std::vector<Section> provider_sections(const Diff& check);

}  // namespace npuscope::report
