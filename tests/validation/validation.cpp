#include "validation/validation.hpp"

#include <algorithm>

#include "formats/qaic/opstats/opstats_summary.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"
#include "npu/graph/import_onnx.hpp"
#include "npu/models/summary.hpp"
#include "npu/targets/nsp/simulate/simulate.hpp"
#include "npuscope/npu/models/generate_onnx.hpp"

namespace npuscope::validation {
namespace {

Result<npu::nsp::CompiledNetwork> compile_case(const ValidationCase& run,
                                               const npu::Architecture& architecture,
                                               const npu::nsp::Target& target,
                                               std::uint32_t stats_level) {
  const auto model = npu::generate_onnx(architecture, run.sizes, {});
  if (!model) return tl::unexpected(model.error());
  const auto graph = npu::import_onnx(as_byte_span(model->bytes), run.preset, {});
  if (!graph) return tl::unexpected(graph.error());
  npu::nsp::CompileOptions options;
  options.cores = run.cores;
  options.convert_to_fp16 = true;
  options.retained_state = true;
  options.stats_level = stats_level;
  return npu::nsp::compile_network(*graph, target, options);
}

// The summary of the warm inference, from the bytes that the device wrote.
Result<qaic::OpstatsSummary> execute(const ValidationCase& run,
                                     const npu::nsp::CompiledNetwork& network,
                                     const npu::nsp::Target& target) {
  npu::nsp::SimulationOptions options;
  options.inferences = run.warm_up + 1;
  options.first_sample = run.warm_up;
  const auto simulated = npu::nsp::simulate(network.program, target, options);
  if (!simulated) return tl::unexpected(simulated.error());
  const auto decoder = qaic::StatsNetwork::create(network.descriptor, &network.program);
  if (!decoder) return tl::unexpected(decoder.error());
  for (const npu::nsp::SimulatedInference& inference : simulated->inferences) {
    if (inference.stats_buffer.empty()) continue;
    const auto profile = qaic::decode_stats_buffer(inference.stats_buffer, run.name, *decoder);
    if (!profile) return tl::unexpected(profile.error());
    return qaic::summarise(*profile);
  }
  return input_error("{}: the run left no statistics", run.name);
}

double share_of_kind(const qaic::OpstatsCore& core, std::string_view kind) {
  std::uint64_t cycles = 0;
  for (const qaic::OpstatsRow& row : core.rows) {
    if (row.kind == kind) cycles += row.pcycles;
  }
  return double(cycles) / double(std::max<std::uint64_t>(core.pcycles(), 1));
}

void take_utilization(const qaic::OpstatsSummary& summary, ValidationOutcome& outcome) {
  double hmx_threads = 0, hvx_threads = 0;
  for (const qaic::OpstatsCore& core : summary.cores) {
    outcome.convolution_share += share_of_kind(core, "aicconvolutiond32");
    outcome.softmax_share += share_of_kind(core, "aicsoftmax");
    for (const qaic::OpstatsThread& thread : core.threads) {
      const double busy = thread.utilization.value_or(0) / 100;
      if (thread.group == "HMX") outcome.hmx_utilization += busy, ++hmx_threads;
      if (thread.group == "HVX") outcome.hvx_utilization += busy, ++hvx_threads;
    }
  }
  const auto cores = double(std::max<std::size_t>(summary.cores.size(), 1));
  outcome.convolution_share /= cores;
  outcome.softmax_share /= cores;
  outcome.hmx_utilization /= std::max(hmx_threads, 1.0);
  outcome.hvx_utilization /= std::max(hvx_threads, 1.0);
}

std::uint64_t sum_of_cores(const npu::nsp::CompileMetrics& metrics,
                           std::uint64_t npu::nsp::CoreMetrics::*figure) {
  std::uint64_t sum = 0;
  for (const npu::nsp::CoreMetrics& core : metrics.cores) sum += core.*figure;
  return sum;
}

}  // namespace

std::uint64_t ValidationOutcome::read_kilobytes() const {
  return (sum_of_cores(compiled, &npu::nsp::CoreMetrics::ddr_read_bytes) +
          compiled.host.total().read_bytes) /
         1024;
}
std::uint64_t ValidationOutcome::constant_kilobytes() const {
  return sum_of_cores(compiled, &npu::nsp::CoreMetrics::ddr_read_constant_bytes) / 1024;
}
std::uint64_t ValidationOutcome::write_kilobytes() const {
  return (sum_of_cores(compiled, &npu::nsp::CoreMetrics::ddr_write_bytes) +
          compiled.host.total().write_bytes) /
         1024;
}

std::uint64_t ValidationOutcome::hoisted_kilobytes() const {
  return sum_of_cores(compiled, &npu::nsp::CoreMetrics::hoisted_bytes) / 1024;
}

double ValidationFigure::difference() const {
  if (unit == Unit::share) return ours - real;
  return real == 0 ? 0 : (ours - real) / real;
}

bool Validation::all_met() const {
  return std::all_of(figures.begin(), figures.end(),
                     [](const ValidationFigure& figure) { return figure.met(); });
}

Result<ValidationOutcome> run_validation_case(const ValidationCase& run,
                                              const npu::nsp::Target& target) {
  const auto architecture = npu::make_architecture(run.preset, {});
  if (!architecture) return tl::unexpected(architecture.error());
  ValidationOutcome outcome;
  outcome.run = run;
  outcome.by_hand = roofline_by_hand(run, *architecture, target);
  auto network = compile_case(run, *architecture, target, run.stats_level);
  if (!network) return tl::unexpected(network.error());
  outcome.compiled = network->metrics;
  if (run.stats_level < 70) return outcome;  // asked for its traffic only
  const auto summary = execute(run, *network, target);
  if (!summary) return tl::unexpected(summary.error());
  outcome.device_s = summary->seconds();
  take_utilization(*summary, outcome);
  return outcome;
}

Result<Validation> validate(const npu::nsp::Target& target) {
  Validation result;
  for (const ValidationCase& run : {amber_decode_case(), amber_prefill_case(), bert_case()}) {
    auto outcome = run_validation_case(run, target);
    if (!outcome) return tl::unexpected(outcome.error());
    result.real.push_back(std::move(*outcome));
  }
  for (const ValidationCase& run : predicted_cases()) {
    auto outcome = run_validation_case(run, target);
    if (!outcome) return tl::unexpected(outcome.error());
    result.predicted.push_back(std::move(*outcome));
  }
  for (const PublishedThroughput& run : published_throughputs()) {
    auto outcome = run_published(run, target);
    if (!outcome) return tl::unexpected(outcome.error());
    result.published.push_back(std::move(*outcome));
  }
  result.figures = figures_of(result.real[0], result.real[1], result.real[2]);
  result.traffic = reconcile(result.real[0], result.real[1], result.real[2]);
  return result;
}

}  // namespace npuscope::validation
