// The main job in memory: a model compiled, executed and decoded, by bytes alone as between
// programs.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "formats/qaic/opstats/opstats_summary.hpp"
#include "formats/qaic/qpc/qpc.hpp"
#include "formats/qaic/qpc/schematic.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"
#include "npu/targets/nsp/compile/compile.hpp"
#include "npu/targets/nsp/simulate/simulate.hpp"
#include "npuscope/npu/models/generate_onnx.hpp"
#include "npuscope/npu/nsp/compile/build.hpp"

namespace npuscope {

struct ModelFlow {
  std::vector<std::byte> qpc;
  qaic::Program program;  // as read back from the container
  qaic::NetworkDescriptor descriptor;
  npu::nsp::SimulationResult simulated;
  std::vector<Profile> profiles;  // of the sampled inferences
};

inline npu::nsp::BuildRequest request_for(std::uint32_t cores, std::uint32_t stats_level) {
  npu::nsp::BuildRequest request;
  request.options.cores = cores;
  request.options.convert_to_fp16 = true;
  request.options.retained_state = true;
  request.options.stats_level = stats_level;
  return request;
}

template <class T>
void must(const Result<T>& result) {
  ASSERT_TRUE(result) << result.error().message;
}

inline ModelFlow run_flow(const std::filesystem::path& model, const npu::nsp::BuildRequest& request,
                          npu::nsp::SimulationOptions options = {}) {
  ModelFlow flow;
  auto built = npu::nsp::build(model, request);
  must(built);
  if (!built) return flow;
  flow.qpc = std::move(built->qpc);
  const auto programs = qaic::find_programs(flow.qpc, "programqpc.bin");
  must(programs);
  const qaic::Qpc& qpc = programs->at(0).qpc;
  const auto program = qaic::read_program(qpc.find(qaic::segment_program)->bytes, "program");
  const auto descriptor = qaic::read_network_descriptor(
      qpc.find(qaic::segment_network_descriptor)->bytes, "descriptor");
  const auto target =
      npu::nsp::parse_target(as_text(qpc.find(qaic::segment_target)->bytes), "target");
  must(program);
  must(descriptor);
  must(target);
  flow.program = *program;
  flow.descriptor = *descriptor;
  if (options.inferences == 40) options.inferences = 2;
  auto simulated = npu::nsp::simulate(flow.program, *target, options);
  must(simulated);
  flow.simulated = std::move(*simulated);
  const auto network =
      qaic::StatsNetwork::create(flow.descriptor, &flow.program, {.dependencies = true});
  must(network);
  for (const auto& inference : flow.simulated.inferences) {
    if (inference.stats_buffer.empty()) continue;
    auto profile = qaic::decode_stats_buffer(inference.stats_buffer, "buffer", *network);
    must(profile);
    flow.profiles.push_back(std::move(*profile));
  }
  return flow;
}

struct CompiledForHtp {
  qaic::Program program;
  qaic::Schematic schematic;
  std::uint64_t spill_bytes = 0;  // as the compiler estimates
};

inline CompiledForHtp compiled_for_htp(const std::filesystem::path& model) {
  npu::nsp::BuildRequest request = request_for(1, 70);
  request.target = "htp-v75";
  const auto built = npu::nsp::build(model, request);
  must(built);
  const auto programs = qaic::find_programs(built->qpc, "programqpc.bin");
  must(programs);
  const qaic::Qpc& qpc = programs->at(0).qpc;
  const auto program = qaic::read_program(qpc.find(qaic::segment_program)->bytes, "program");
  const auto schematic =
      qaic::read_schematic(qpc.find(qaic::segment_schematic)->bytes, "schematic");
  must(program);
  must(schematic);
  return {*program, *schematic, built->networks->at(0).metrics.spill_bytes};
}

inline std::filesystem::path repository_model(const std::string& name) {
  return std::filesystem::path(NPUSCOPE_SOURCE_DIR) / "models" / name;
}

}  // namespace npuscope
