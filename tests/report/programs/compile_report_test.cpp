// What `npuscope compile -aic-perf-metrics` prints: the vendor's lines, readable by the reader of
// the vendor's logs, and the same figures as JSON.
#include "report/programs/compile_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "formats/qaic/text/read_text.hpp"
#include "npu/graph/import_onnx.hpp"
#include "npuscope/npu/models/generate_onnx.hpp"

namespace npuscope::report::compile_report_test {
namespace {

npu::nsp::CompiledNetwork compile_for(const npu::Graph& graph, std::uint32_t cores,
                                      std::uint32_t stats_level = 40) {
  npu::nsp::CompileOptions options;
  options.cores = cores;
  options.convert_to_fp16 = true;
  options.retained_state = true;
  options.stats_level = stats_level;
  auto network = npu::nsp::compile_network(graph, *npu::nsp::builtin_target("aic100"), options);
  EXPECT_TRUE(network) << (network ? "" : network.error().message);
  return std::move(*network);
}

npu::Graph squeezenet() {
  return *npu::import_onnx_file(std::string(NPUSCOPE_SOURCE_DIR) + "/models/light_squeezenet.onnx",
                                {});
}

// An encoder so large for one core that its activations do not stay in VTCM.
npu::nsp::CompiledNetwork spilling() {
  npu::ArchitectureChanges changes;
  changes.layers = 1;
  changes.vocabulary_size = 4096;
  const auto model =
      npu::generate_onnx(*npu::make_architecture("bert-base", changes), {8, 128, 0}, {});
  return compile_for(*npu::import_onnx(as_byte_span(model->bytes), "bert", {}), 1);
}

npu::ArchitectureChanges one_layer() {
  npu::ArchitectureChanges changes;
  changes.layers = 1;
  return changes;
}

nlohmann::json traffic_of(const npu::nsp::CompiledNetwork& network) {
  return nlohmann::json::parse(
      json_text([&](Json& json) { write_compile_metrics(json, network); }))["traffic"];
}

TEST(CompileReport, HasAllLinesOfTheVendors) {
  std::ifstream file(NPUSCOPE_TEST_DATA "/compile/squeezenet_2core.txt");
  const std::string expected((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(compile_metrics_text(compile_for(squeezenet(), 2)), expected);
}

TEST(CompileReport, IsReadBackAsACompilersLogWithoutARest) {
  const std::string text = compile_metrics_text(compile_for(squeezenet(), 3, 70));
  const auto profiles = qaic::read_text(qaic::TextKind::compiler_log, text, "log");
  ASSERT_TRUE(profiles) << profiles.error().message;
  for (const Note& note : profiles->at(0).notes) ADD_FAILURE() << note.message;
  EXPECT_GE(profiles->at(0).checks.size(), 4u);
  for (const Check& check : profiles->at(0).checks) {
    EXPECT_EQ(check.outcome, Check::Outcome::passed) << check.name << ": " << check.detail;
  }
}

TEST(CompileReport, TotalsInJsonAreTheSumsOfHostAndCores) {
  const auto json = traffic_of(compile_for(squeezenet(), 5, 70));
  std::uint64_t read = 0, written = 0, tensors = 0;
  for (const auto& [purpose, traffic] : json["host"].items()) {
    read += traffic["read_bytes"].get<std::uint64_t>();
    written += traffic["write_bytes"].get<std::uint64_t>();
  }
  const std::uint64_t of_host = read + written;
  for (const auto& core : json["cores"]) {
    for (const auto& [purpose, traffic] : core.items()) {
      read += traffic["read_bytes"].get<std::uint64_t>();
      written += traffic["write_bytes"].get<std::uint64_t>();
      if (purpose == "statistics") tensors += traffic["write_bytes"].get<std::uint64_t>();
    }
  }
  for (const auto& tensor : json["tensors"]) {
    tensors += tensor["read_bytes"].get<std::uint64_t>();
    tensors += tensor["write_bytes"].get<std::uint64_t>();
  }
  EXPECT_EQ(json["total"]["ddr_read_bytes"], read);
  EXPECT_EQ(json["total"]["ddr_write_bytes"], written);
  EXPECT_EQ(tensors, read + written - of_host);
}

TEST(CompileReport, NamesWhatIsSpilledWhyAndForHowLong) {
  const auto network = spilling();
  const auto json = traffic_of(network)["spills"];
  ASSERT_FALSE(json.empty());
  bool came_back = false;
  for (const auto& spill : json) {
    EXPECT_FALSE(spill["tensor"].get<std::string>().empty());
    EXPECT_FALSE(spill["node"].get<std::string>().empty());
    if (spill["back_s"].is_null()) continue;
    came_back = true;
    EXPECT_GE(spill["back_s"].get<double>(), spill["out_s"].get<double>());
  }
  EXPECT_TRUE(came_back);
  const auto& warnings = network.metrics.performance_warnings;
  const auto says = std::find_if(warnings.begin(), warnings.end(), [](const std::string& warning) {
    return warning.find("are spilled to DDR") != warning.npos;
  });
  ASSERT_NE(says, warnings.end());
  EXPECT_NE(says->find("KB on one core"), says->npos) << *says;
  EXPECT_NE(says->find("us by estimate, until '"), says->npos) << *says;
}

TEST(PerformanceWarnings, SayThatADecoderIsBoundByMemoryAndPadsItsRows) {
  const auto model =
      npu::generate_onnx(*npu::make_architecture("amber-7b", one_layer()), {1, 1, 128}, {});
  const auto warnings = compile_for(*npu::import_onnx(as_byte_span(model->bytes), "amber", {}), 14)
                            .metrics.performance_warnings;
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_TRUE(warnings[0].starts_with("memory bound: DDR traffic takes ")) << warnings[0];
  EXPECT_TRUE(warnings[1].starts_with("96.9% of the HMX's multiply-accumulates are padding"))
      << warnings[1];
}

}  // namespace
}  // namespace npuscope::report::compile_report_test
