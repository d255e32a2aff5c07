// What `npuscope compile` and `npuscope run` say of a model for an IPU.
#pragma once

#include <string>

#include "formats/sigmastar/image.hpp"
#include "formats/sigmastar/model.hpp"
#include "formats/sigmastar/op_cost.hpp"
#include "formats/sigmastar/write_timeline.hpp"
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

// What `npuscope ipu info` and `npuscope ipu operators` print of models.

// What `npuscope ipu info` prints of an offline model: the fields of the vendor's show_img_info.py,
// "unknown" where nobody outside knows where the file keeps them, and what the file holds beyond.
//
//   Offline IMG Version                  S3.1.2
//   Offline Model Size                   1,234,567 bytes
//   Offline Model Max Batch Number       unknown

// `chip` as the user named it; empty: not named.
Document make_image_document(const sigmastar::Image& image, const std::string& chip);

// What `npuscope ipu operators` prints: the operators of a fixed model, or of the offline model
// around it, and which of them the hardware runs as one layer.
//
//   index  type      layer  group   first output  shape              dtype  inputs
//       0  CONV_2D       0  first   conv1         [1, 112, 112, 64]  UINT8  images, w1, b1
//       1  ADD           0  member  add1          …
//       2  SOFTMAX       1  alone   …

Document make_ipu_operators_document(const sigmastar::Model& model);

// What `npuscope ipu timeline` says about the logs that it made a timeline of:
//
//   log   records  layers   first to last  conv work  vector work  …
//   core 0  8,176      99        7.85 ms       5.1 ms

// Cycles; text shows them as time too.
Document make_ipu_timeline_document(const sigmastar::IpuTimeline& timeline,
                                    const std::string& output);

// What `npuscope ipu op-cost` prints, as the vendor's get_op_time_cost.py does:
//
//   total: a line for each type, most first      each: a line for each operator of the model
//     CONV_2D 80.743%                              0 CONV_2D 7.880%
//     SOFTMAX 8.033%                               1 CONV_2D 0.000%

std::string op_cost_totals_text(const sigmastar::OperatorCosts& costs, std::size_t rows);
std::string op_cost_each_text(const sigmastar::Model& model, const sigmastar::OperatorCosts& costs,
                              std::size_t rows);

// Both as tables, with the times behind the shares: `operators` and `types`.
Document make_op_cost_document(const sigmastar::Model& model,
                               const sigmastar::OperatorCosts& costs);

}  // namespace npuscope::report
