// Models of a few operators, and what their programs do step by step.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "npu/targets/torq/fixture.hpp"

namespace npuscope::npu::torq {

// Everything that the program does but for the blocks of the NSS: "in 64", "0: conv2d 416" for a
// start on slice 0, "0 done", "out 6272".
inline std::vector<std::string> steps_of(const Program& program) {
  std::vector<std::string> steps;
  for (const Step& step : program.steps) {
    const bool is_block = step.unit == Unit::dma_in && step.bytes == 640;
    if (step.unit == Unit::slice && !step.starts)
      steps.push_back(fmt::format("{} done", step.slice));
    if (!step.starts || is_block) continue;
    if (step.unit == Unit::slice) {
      const Kernel& kernel = program.kernels[step.kernel];
      steps.push_back(fmt::format("{}: {} {}", step.slice, kernel.name, kernel.cycles));
    } else if (step.unit == Unit::css) {
      steps.push_back("css");
    } else {
      steps.push_back(fmt::format("{} {}",
                                  step.unit == Unit::dma_in    ? "in"
                                  : step.unit == Unit::dma_out ? "out"
                                                               : "cdma",
                                  step.bytes));
    }
  }
  return steps;
}

inline Compilation compiled(const std::string& body, const std::string& in,
                            const std::string& out) {
  return compiled(parsed(fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 13]>\nm ({} x) => ({} y) {{\n{}}}\n", in, out, body)));
}

inline std::int64_t cycles_of(const Compilation& compilation) {
  return compilation.estimate.dispatches.back();
}

}  // namespace npuscope::npu::torq
