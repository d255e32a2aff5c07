// What `npuscope tune` prints: the front of latency and throughput, the configuration that was
// asked for with the commands that compile and run it, how far its times are judged, and what was
// not tried.
//
//   FRONT
//     precision  batch  cores  activations  queued   latency      99 %  per second
//     fp16           1     16          1       1  0.742 ms  0.749 ms       1,349
//     fp16           1      8          2       1  0.811 ms  0.823 ms       2,466
//   CHOSEN ...
#pragma once

#include "npu/tune/tune.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

// For a shell, with the model's path as `request` has it.
std::string compile_command(const npu::TuneRequest& request,
                            const npu::TuneConfiguration& configuration);
std::string run_command(const npu::TuneRequest& request,
                        const npu::TuneConfiguration& configuration);

Document tune_document(const npu::TuneRequest& request, const npu::TuneResult& result);

// What nothing reaches, in a sentence; empty: it is reached.
std::string unreached_goal(const npu::TuneRequest& request, const npu::TuneResult& result);

}  // namespace npuscope::report
