// What `npuscope compile` says of a model for an IPU: what was written, and its layers.
//
//   COMPILED
//     wrote              resnet50_fixed.sim, resnet50_fixed.sim_sgsimg.img
//     operators          76
//     layers             57
//     …
//   LAYERS
//     layer  operators  type     output  MACs  tiles  load  weights  inputs  again  store
#pragma once

#include <string>

#include "npu/ipu/compile.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

struct IpuCompileFiles {
  std::string model;  // fixed.sim
  std::string image;
  std::vector<std::string> warnings = {};  // of the model's import
};

Document make_ipu_compile_document(const npu::ipu::Compiled& compiled,
                                   const IpuCompileFiles& files);

}  // namespace npuscope::report
