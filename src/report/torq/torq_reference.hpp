// What `npuscope compile` and `npuscope run` say of a program for a Torq NPU.
#pragma once

#include "npu/targets/torq/compile.hpp"
#include "npu/targets/torq/execute.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

// Dispatches with the compiler's estimates, the longest first; `top` in the text, all in JSON.
Document torq_compilation_document(const npu::torq::Compilation& compilation,
                                   const npu::torq::Target& target, std::size_t top);

// The time of an inference, what it went to, and what only a simulator knows: each unit's time.
Document torq_run_document(const npu::torq::Program& program, const npu::torq::Target& target,
                           const npu::torq::Run& run);

}  // namespace npuscope::report
