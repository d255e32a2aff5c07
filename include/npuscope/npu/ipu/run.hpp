// `npuscope run` of an offline image that npuscope's compiler made: executes its program on the
// reference IPU and writes the logs that were asked for.
//
//   ipu::RunRequest request;
//   request.image = "resnet50_fixed.sim_sgsimg.img";
//   request.log_folder = "logs";
//   auto outcome = ipu::run(request);
//
//   logs/resnet50_fixed.sim_sgsimg.img_log_core0.bin, …core1.bin, …corectrl0.bin
//
// A log holds what fits its buffer; the records after that are lost and counted. Writing a log
// costs the engines time, so the times of such a run are not those of the model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "npuscope/base/result.hpp"

namespace npuscope::sigmastar {
struct Image;
}

namespace npuscope::npu::ipu {

inline constexpr std::uint64_t default_log_bytes = 8 << 20;  // as on the board

struct RunRequest {
  std::filesystem::path image;
  std::uint64_t inferences = 1;
  std::filesystem::path log_folder;             // empty: no logs
  std::uint64_t log_bytes = default_log_bytes;  // of each log's buffer
};

struct LogFile {
  std::string log;  // core0, core1, corectrl0
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  std::uint64_t needed_bytes = 0;  // for all records
  std::uint64_t lost_records = 0;
};

struct Inference;  // src/npu/targets/ipu/simulate.hpp: what each engine did

struct RunOutcome {
  std::shared_ptr<const sigmastar::Image> image;  // with its program
  std::uint64_t inferences = 0;
  std::shared_ptr<const Inference> inference;  // each of them
  double clock_hz = 0;
  double ipu_s = 0;     // of one inference, hardware
  double invoke_s = 0;  // with the driver and the outputs' synchronisation
  bool is_logged = false;
  std::vector<LogFile> logs;
  std::vector<std::string> warnings;
};

// Input errors: no image, an image without npuscope's program, a broken one. Output errors as they
// apply; what can be refused is refused before the run.
Result<RunOutcome> run(const RunRequest& request);

}  // namespace npuscope::npu::ipu
