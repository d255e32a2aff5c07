#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "flow/flow.hpp"
#include "flow/generated_run.hpp"
#include "formats/qaic/text/latency.hpp"
#include "npuscope/analysis/run_sets.hpp"
#include "npuscope/formats/open.hpp"
#include "npuscope/npu/torq/build.hpp"
#include "npuscope/npu/torq/run.hpp"
#include "report/identities/samples.hpp"
#include "sanitized.hpp"

namespace npuscope::report::identities {
namespace {

namespace fs = std::filesystem;

// What opens of the files that `write` makes in a folder.
std::vector<Profile> opened(const std::function<fs::path(const fs::path& folder)>& write) {
  const fs::path folder =
      fs::path(testing::TempDir()) / ("npuscope-identities-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const fs::path file = write(folder);
  auto opened = open_profiles({&file, 1});
  must(opened);
  fs::remove_all(folder);
  return opened ? std::move(opened->profiles) : std::vector<Profile>{};
}

// The runtime's log of three inferences.
fs::path torq_log(const fs::path& folder) {
  const auto built = npu::torq::build(repository_model("light_squeezenet.onnx"), {});
  must(built);
  if (!built) return {};
  std::ofstream(folder / "model.torq", std::ios::binary)
      .write(reinterpret_cast<const char*>(built->program.data()),
             std::streamsize(built->program.size()));
  npu::torq::RunRequest request{folder / "model.torq", 3, folder / "runtime.csv", {}};
  must(npu::torq::run(request));
  return request.log;
}

// Of a runner whose queue of four fills at first.
fs::path latency_file(const fs::path& folder, std::uint64_t first_sample) {
  qaic::LatencyReport report{0, "graph", 20, {}};
  for (std::uint32_t i = 0; i < 20; ++i) {
    qaic::LatencySample sample;
    sample.sample = first_sample + i;
    sample.queue_depth = 4;
    sample.in_queue = std::min(4u, i + 1);
    sample.exec_to_complete_us = 200 * sample.in_queue + 7 * (i % 5);
    sample.exec_total_us = sample.host_round_trip_us = sample.exec_to_complete_us;
    sample.total_round_trip_us = sample.exec_total_us + 10;
    report.samples.push_back(sample);
  }
  std::ofstream(folder / "latency.txt") << qaic::print_latency(report);
  return folder / "latency.txt";
}

}  // namespace

std::vector<std::pair<std::string, Profile>> reference_runs() {
  std::vector<std::pair<std::string, Profile>> runs;
  const auto add = [&](const std::string& name, std::vector<Profile> profiles) {
    for (Profile& profile : analysis::join_runs(std::move(profiles))) {
      runs.emplace_back("reference NPU, " + name, std::move(profile));
    }
  };
  const npu::nsp::Target htp = *npu::nsp::builtin_target("htp-v75");
  for (std::uint64_t seed = 1; seed <= test_support::rounds(3); ++seed) {
    for (const Shape shape : all_shapes) {
      const std::string name = fmt::format("seed {}, shape {}", seed, int(shape));
      GeneratedOptions generated{.seed = seed, .cores = 2, .tasks = 80, .shape = shape};
      generated.inferences = std::uint32_t(1 + seed);
      add(name, device_run(generated, exact_target()).profiles);
      generated.cores = generated.inferences = 1;
      add("HTP, " + name, optrace_run(generated, htp).profiles);
    }
  }
  npu::nsp::SimulationOptions options;
  options.inferences = 3;
  add("SqueezeNet",
      run_flow(repository_model("light_squeezenet.onnx"), request_for(2, 70), options).profiles);
  add("Torq", opened(torq_log));
  for (const std::uint64_t first : {0, 30}) {
    add("latencies from " + std::to_string(first),
        opened([&](const fs::path& folder) { return latency_file(folder, first); }));
  }
  return runs;
}

}  // namespace npuscope::report::identities
