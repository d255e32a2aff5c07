// What `npuscope compile` and `npuscope run` say of a program for a Torq NPU.
#pragma once

#include "npuscope/npu/torq/compile.hpp"
#include "npuscope/npu/torq/run.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

// Dispatches with the compiler's estimates, the longest first; `top` in the text, all in JSON.
Document torq_compilation_document(const npu::TorqCompilation& compilation,
                                   const npu::TorqTarget& target, std::size_t top);

// The time of an inference, what it went to, and what only a simulator knows: each unit's time.
Document torq_run_document(const npu::TorqProgram& program, const npu::TorqTarget& target,
                           const npu::TorqRun& run);

}  // namespace npuscope::report
