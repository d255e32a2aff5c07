// What `npuscope compile` and `npuscope run` say of a model for an IPU.
#pragma once

#include <string>

#include "npu/targets/ipu/compile.hpp"
#include "npuscope/npu/ipu/run.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

// What `npuscope compile` says of a model for an IPU: what was written, and its layers.
//
//   COMPILED
//     wrote              resnet50_fixed.sim, resnet50_fixed.sim_sgsimg.img
//     operators          76
//     layers             57
//     …
//   LAYERS
//     layer  operators  type     output  MACs  tiles  load  weights  inputs  again  store
struct IpuCompileFiles {
  std::string model;  // fixed.sim
  std::string image;
  std::vector<std::string> warnings = {};  // of the model's import
};

Document make_ipu_compile_document(const npu::ipu::Compiled& compiled,
                                   const IpuCompileFiles& files);

// What `npuscope run` says of an inference on an IPU: the block that the board's tool prints
// (prog_dla_dla_show_img_info), and its JSON twin.
//
//   NAME(0): resnet50_fixed.sim_sgsimg.img
//   Invoke Time: 6.42071 ms
//   IPU Time: 6.23971 ms
//   BandWidth: 58.21 MB
//   Variable size: 2408448
//   work_mode: dual core
//   …
//
// The names are those of the vendor's pages; how its newest tool spaces them is not public.

std::string ipu_run_text(const npu::ipu::RunOutcome& outcome, const std::string& image);

Document make_ipu_run_document(const npu::ipu::RunOutcome& outcome, const std::string& image);

// What was measured while a log was written is no performance figure; empty without logging.
std::string ipu_logging_remark(const npu::ipu::RunOutcome& outcome);

}  // namespace npuscope::report
