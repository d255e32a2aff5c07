// What the rules on one sort of kernel share.
#pragma once

#include "analysis/findings/rules/rules.hpp"

namespace npuscope::analysis {

struct KernelShare {
  const char* kernel;  // of rules/kernels.toml
  const char* title;   // of the finding, up to the share: "Softmax takes"
  Wording advice;
};

// A finding when it takes a tenth of the wall, or of all ops where there is no timeline.
RuleOutcome kernel_share(FindingContext& context, const KernelShare& rule);

}  // namespace npuscope::analysis
