// The whole profiling flow in one program, with nothing but the public interface: import an ONNX
// model, compile it with statistics of every operator, run it on the embedded reference NPU, decode
// the raw buffer that the device wrote, and print the summary.
//
//   profile_model models/light_resnet50.onnx
#include <cstdio>

#include "npuscope/formats/qaic/opstats_summary.hpp"
#include "npuscope/formats/qaic/stats_decoder.hpp"
#include "npuscope/npu/compile/compile.hpp"
#include "npuscope/npu/graph/import_onnx.hpp"
#include "npuscope/npu/simulate/simulate.hpp"

using namespace npuscope;

Result<std::string> profile_model(const char* path) {
  npu::ImportOptions import_options;
  import_options.batch = 1;
  auto graph = npu::import_onnx_file(path, import_options);
  if (!graph) return tl::unexpected(graph.error());
  auto target = npu::builtin_target("aic100");
  if (!target) return tl::unexpected(target.error());

  npu::CompileOptions compile_options;
  compile_options.cores = 4;
  compile_options.convert_to_fp16 = true;
  compile_options.stats_level = 70;
  auto compiled = npu::compile_network(*graph, *target, compile_options);
  if (!compiled) return tl::unexpected(compiled.error());

  npu::SimulationOptions run_options;
  run_options.inferences = 3;
  run_options.first_sample = 2;
  auto run = npu::simulate(compiled->program, *target, run_options);
  if (!run) return tl::unexpected(run.error());

  auto network = qaic::StatsNetwork::create(compiled->descriptor, &compiled->program);
  if (!network) return tl::unexpected(network.error());
  auto profile =
      qaic::decode_stats_buffer(run->inferences[2].stats_buffer, "third inference", *network);
  if (!profile) return tl::unexpected(profile.error());
  return qaic::print_summary(qaic::summarise(*profile));
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: profile_model MODEL.onnx\n");
    return 2;
  }
  const Result<std::string> summary = profile_model(argv[1]);
  if (!summary) {
    std::fprintf(stderr, "profile_model: %s\n", summary.error().message.c_str());
    return 3;
  }
  std::fputs(summary->c_str(), stdout);
}
