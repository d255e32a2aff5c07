// `npuscope run` of a program for a Synaptics Torq NPU: executes it on the reference NPU and writes
// the runtime's logs that were asked for.
//
//   auto outcome = torq::run({.program = "model.torq", .inferences = 3, .log = "runtime.csv"});
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "npuscope/base/result.hpp"

namespace npuscope::npu::torq {

struct RunRequest {
  std::filesystem::path program;
  std::uint64_t inferences = 1;
  std::filesystem::path log;      // of the runtime, .csv; empty: none
  std::filesystem::path job_log;  // of the jobs of the NSS, as of 2025; empty: none
};

struct Program;  // src/npu/targets/torq/program.hpp
struct Target;   // src/npu/targets/torq/target.hpp
struct Run;      // src/npu/targets/torq/execute.hpp: the log's events, and what really happened

struct RunOutcome {
  std::shared_ptr<const Program> program;
  std::shared_ptr<const Target> target;
  std::shared_ptr<const Run> run;
};

// Input errors: no program, a broken one, one that does not fit its target. A usage error where the
// log would have more than 20 million rows. Output errors as they apply.
Result<RunOutcome> run(const RunRequest& request);

}  // namespace npuscope::npu::torq
