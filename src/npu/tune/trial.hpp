// A program of the search, compiled for one of the architectures, and runs of it: what
// `npuscope compile` and `npuscope run` do, without files.
//
//   TRY_AS(trial, compile_trial(request, configuration));
//   (*trial)->cores()                     those that have work
//   TRY_AS(served, (*trial)->serve(4, 2))   4 activations, 2 inferences queued for each
#pragma once

#include <memory>

#include "npu/tune/tune.hpp"

namespace npuscope::npu {

struct Served {
  double latency_s = 0;
  double latency_99_s = 0;
  double samples_per_second = 0;
  double least_device_s = 0;  // of an inference on the device alone
};

class Trial {
 public:
  virtual ~Trial() = default;
  virtual Result<Served> serve(std::uint32_t activations, std::uint32_t queued) const = 0;

  std::uint32_t batch = 1;
  std::uint32_t cores = 1;
  std::uint32_t max_activations = 1;
  bool has_queue = false;  // of the host, for inferences
};

// How far the search of a target goes.
struct TrialSpace {
  TargetArchitecture architecture = TargetArchitecture::nsp;
  std::uint32_t cores = 0;  // 0: there is no choice
  bool converts_to_fp16 = false;
  bool takes_batches = true;
};
Result<TrialSpace> trial_space(const std::string& target);

Result<std::unique_ptr<Trial>> compile_trial(const TuneRequest& request,
                                             const TuneConfiguration& configuration);

}  // namespace npuscope::npu
