// What a simulated inference leaves in the buffers of the IPU's logs.
//
//   const Logs logs = write_logs(inference, {.count = 3, .period = 1'300'000}, layout,
//   size); logs.cores[0].bytes()      core0: layers and engines, in the order in which records were
//   written logs.control.bytes()       corectrl0: begin and end of each inference
#pragma once

#include <cstdint>
#include <vector>

#include "formats/sigmastar/write_log.hpp"
#include "npu/targets/ipu/simulate.hpp"

namespace npuscope::npu::ipu {

struct Logs {
  std::vector<sigmastar::LogWriter> cores;
  sigmastar::LogWriter control;
};

// The same inference several times.
struct Repetition {
  std::uint64_t count = 1;
  std::int64_t period = 0;  // cycles from one's start to the next one's
};

// `buffer_bytes` is the size of each log's buffer.
Logs write_logs(const Inference& inference, const Repetition& repetition,
                const sigmastar::LogLayout& layout, std::uint64_t buffer_bytes);

}  // namespace npuscope::npu::ipu
