#include "npu/tune/trial.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "npu/graph/import_onnx.hpp"
#include "npu/targets/ipu/compile.hpp"
#include "npu/targets/ipu/simulate.hpp"
#include "npu/targets/nsp/compile/compile.hpp"
#include "npu/targets/nsp/simulate/events.hpp"
#include "npu/targets/nsp/simulate/simulate.hpp"
#include "npu/targets/torq/compile.hpp"
#include "npu/targets/torq/execute.hpp"
#include "npuscope/npu/torq/build.hpp"

namespace npuscope::npu {
namespace {

ImportOptions import_of(const TuneRequest& request, const TuneConfiguration& configuration) {
  ImportOptions import = request.import;
  import.batch = configuration.batch;
  return import;
}

class NspTrial : public Trial {
 public:
  NspTrial(std::shared_ptr<const std::vector<nsp::CompiledNetwork>> networks, nsp::Target target)
      : networks_(std::move(networks)), target_(std::move(target)) {
    const nsp::CompiledNetwork& network = networks_->front();
    batch = network.program.batch_size;
    const auto& by_core = network.metrics.cores;
    const auto idle = std::ranges::find_if(by_core.rbegin(), by_core.rend(),
                                           [](const auto& core) { return core.tasks > 0; });
    cores = std::max(1u, std::uint32_t(by_core.rend() - idle));
    max_activations = target_.cores / network.program.cores;
    has_queue = true;
  }

  Result<Served> serve(std::uint32_t activations, std::uint32_t queued) const override {
    nsp::SimulationOptions options;
    options.activations = activations;
    options.set_size = queued;
    options.samples = 0;
    TRY_AS(result, nsp::simulate(networks_->front().program, target_, options));
    const nsp::RequestTimes times = nsp::request_times(*result);
    Served served{times.median_s, times.percentile_99_s, nsp::samples_per_second(*result, batch),
                  nsp::to_seconds(result->total)};
    for (const nsp::SimulatedInference& inference : result->inferences) {
      served.least_device_s = std::min(
          served.least_device_s, nsp::to_seconds(inference.device_end - inference.device_begin));
    }
    return served;
  }

 private:
  std::shared_ptr<const std::vector<nsp::CompiledNetwork>> networks_;
  nsp::Target target_;
};

// One inference after the other, none queued.
class SerialTrial : public Trial {
 public:
  SerialTrial(double inference_s, std::uint32_t samples, std::uint32_t on_cores)
      : inference_s_(inference_s) {
    batch = samples;
    cores = on_cores;
  }
  Result<Served> serve(std::uint32_t, std::uint32_t) const override {
    return Served{inference_s_, inference_s_, batch / inference_s_, inference_s_};
  }

 private:
  double inference_s_;
};

Result<std::unique_ptr<Trial>> compile_nsp(const TuneRequest& request,
                                           const TuneConfiguration& configuration) {
  TRY_AS(target, nsp::find_target(configuration.target));
  nsp::BuildRequest build;
  build.target = configuration.target;
  build.import = import_of(request, configuration);
  build.options.cores = configuration.cores;
  build.options.convert_to_fp16 = configuration.precision == TunePrecision::fp16;
  build.options.retained_state = request.retained_state;
  build.options.mxfp6_matmul = request.mxfp6_matmul;
  build.options.mxint8_state = request.mxint8_state;
  TRY_AS(built, nsp::build(request.model, build));
  return std::make_unique<NspTrial>(std::move(built->networks), std::move(*target));
}

Result<std::unique_ptr<Trial>> compile_ipu(const TuneRequest& request,
                                           const TuneConfiguration& configuration) {
  TRY_AS(file, find_target_file(configuration.target));
  TRY_AS(target, ipu::read_target(*file));
  ipu::BuildRequest build{.target = configuration.target, .import = request.import, .options = {}};
  build.import.batch = 0;
  build.options.cores = configuration.cores;
  build.options.batch = std::max(1u, configuration.batch);
  TRY_AS(built, ipu::build(request.model, build));
  const sigmastar::Image& image = built->compiled->image;
  const ipu::Inference inference = ipu::simulate(image.own->program, *target, false);
  return std::make_unique<SerialTrial>(ipu::invoke_seconds(inference, image, *target),
                                       build.options.batch, configuration.cores);
}

Result<std::unique_ptr<Trial>> compile_torq(const TuneRequest& request,
                                            const TuneConfiguration& configuration) {
  const ImportOptions import = import_of(request, configuration);
  TRY_AS(graph, import_onnx_file(request.model, import));
  TRY_AS(built, torq::build(request.model, {configuration.target, import}));
  const torq::Compilation& compilation = *built->compilation;
  TRY_AS(run, torq::run(compilation.program, *built->target, {.inferences = 1, .log = false}));
  const Interval& inference = run->truth.inferences.front();
  return std::make_unique<SerialTrial>(double(inference.end - inference.begin) * 1e-9,
                                       batch_of(*graph), 1);
}

}  // namespace

Result<TrialSpace> trial_space(const std::string& target) {
  TRY_AS(file, find_target_file(target));
  switch (file->architecture) {
    case TargetArchitecture::nsp: {
      TRY_AS(nsp, nsp::find_target(target));
      return TrialSpace{file->architecture, nsp->cores, true, true};
    }
    case TargetArchitecture::ipu: {
      TRY_AS(ipu, ipu::read_target(*file));
      return TrialSpace{file->architecture, ipu->cores, false, true};
    }
    case TargetArchitecture::torq: break;
  }
  return TrialSpace{file->architecture, 0, false, false};
}

Result<std::unique_ptr<Trial>> compile_trial(const TuneRequest& request,
                                             const TuneConfiguration& configuration) {
  switch (configuration.architecture) {
    case TargetArchitecture::nsp: return compile_nsp(request, configuration);
    case TargetArchitecture::ipu: return compile_ipu(request, configuration);
    case TargetArchitecture::torq: break;
  }
  return compile_torq(request, configuration);
}

}  // namespace npuscope::npu
