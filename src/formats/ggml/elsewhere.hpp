// The ops of a phase that ran elsewhere than on the NPU: without times, which no log has, but with
// the reason where it has that.
#pragma once

#include "formats/ggml/log.hpp"
#include "formats/ggml/steps.hpp"

namespace npuscope::ggml {

void add_ops_elsewhere(const Log& log, const Steps& steps, const StepGroup& group,
                       Profile& profile);

}  // namespace npuscope::ggml
