// Bytes, MACs and spill as the analyses say them against what the program asked for.
#include <unistd.h>

#include <fstream>

#include "flow/flow.hpp"
#include "npu/graph/import_onnx.hpp"
#include "npu/graph/semantics.hpp"
#include "npu/targets/nsp/compile/compile.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/bandwidth.hpp"
#include "npuscope/analysis/macs.hpp"
#include "npuscope/analysis/memory.hpp"
#include "npuscope/analysis/spill.hpp"
#include "sanitized.hpp"

namespace npuscope::memory_test {
namespace {

using analysis::OpTraffic;
using analysis::Route;

struct Asked {
  std::int64_t ddr_read = 0, ddr_write = 0, statistics = 0, multicast = 0;
};

Asked asked_of(const qaic::Program& program) {
  Asked asked;
  for (const qaic::Task& task : program.tasks) {
    asked.ddr_read += std::int64_t(task.ddr_read);
    asked.multicast += std::int64_t(task.multicast);
    const bool statistics = (task.flags & qaic::task_end_stats) != 0;
    (statistics ? asked.statistics : asked.ddr_write) += std::int64_t(task.ddr_write);
  }
  return asked;
}

void expect_bytes(const std::filesystem::path& model, std::uint32_t cores) {
  npu::nsp::BuildRequest request = request_for(cores, 70);
  request.options.ddr_stats = true;
  const ModelFlow flow = run_flow(model, request);
  ASSERT_FALSE(flow.profiles.empty());
  const Profile& profile = flow.profiles[0];
  const OpTraffic traffic(profile);
  const Asked asked = asked_of(flow.program);
  ASSERT_GT(asked.ddr_read, 0);
  EXPECT_EQ(traffic.total(Route::ddr_read).of_ops, asked.ddr_read);
  EXPECT_EQ(traffic.total(Route::ddr_read).told, asked.ddr_read);
  EXPECT_EQ(traffic.total(Route::ddr_write).of_ops, asked.ddr_write);
  EXPECT_EQ(traffic.total(Route::ddr_write).told, asked.ddr_write + asked.statistics);

  // Op by op, on the core and in the place of the queue where the program has it.
  for (std::size_t op = 0; op < profile.ops.size(); ++op) {
    const Op& it = profile.ops[op];
    const std::uint32_t queue = it.core * qaic::thread_groups + it.group;
    const std::uint32_t task = flow.program.queue_begin[queue] + it.position;
    ASSERT_LT(task, flow.program.queue_begin[queue + 1]);
    std::int64_t read = 0;
    for (std::size_t row = 0; row < profile.spans.size(); ++row) {
      if (index_of(profile.spans.op[row]) == op) read += traffic.of_span(Route::ddr_read, row);
    }
    ASSERT_EQ(read, std::int64_t(flow.program.tasks[task].ddr_read)) << profile.text(it.name);
    if (op > 400) break;  // each op looks at all spans
  }

  const auto table = analysis::Analysis(profile).memory();
  std::int64_t of_rows = 0, in_buckets = 0;
  for (const auto& row : table.rows) of_rows += at(row.bytes, Route::ddr_read).value_or(0);
  EXPECT_EQ(of_rows, asked.ddr_read);
  const auto series = analysis::Analysis(profile).bandwidth(50);
  for (const auto bytes : series.bytes[std::size_t(Route::ddr_read)]) in_buckets += bytes;
  EXPECT_EQ(in_buckets, asked.ddr_read);
}

TEST(MemoryAgainstTruth, BytesOfConvolutionsOnFourCores) {
  expect_bytes(repository_model("light_resnet50.onnx"), 4);
}

TEST(MemoryAgainstTruth, BytesOnOneCoreAndOnAll) {
  expect_bytes(repository_model("light_squeezenet.onnx"), 1);
  expect_bytes(repository_model("light_squeezenet.onnx"), 16);
}

// The target with so little VTCM that activations do not fit.
std::filesystem::path small_target() {
  std::string toml = npu::nsp::builtin_target("aic100")->toml;
  const std::string size = "vtcm_bytes = 8388608";
  const auto at = toml.find(size);
  EXPECT_NE(at, std::string::npos);
  toml.replace(at, size.size(), "vtcm_bytes = 1048576");
  const auto path =
      std::filesystem::path(testing::TempDir()) / fmt::format("npuscope-small-{}.toml", ::getpid());
  std::ofstream(path) << toml;
  return path;
}

// All that goes to DDR but the result and the statistics comes back: what the compiler had to
// evict, and what it streams tile by tile because it never fits.
TEST(MemoryAgainstTruth, SpillIsAllThatIsWrittenButTheResult) {
  const auto target = small_target();
  npu::nsp::BuildRequest request = request_for(1, 70);
  request.target = target;
  const auto built = npu::nsp::build(repository_model("light_resnet50.onnx"), request);
  must(built);
  const ModelFlow flow = run_flow(repository_model("light_resnet50.onnx"), request);
  std::filesystem::remove(target);
  const Profile& profile = flow.profiles.at(0);
  const auto spill = analysis::Analysis(profile).spill();
  constexpr std::int64_t result = 1000 * 2;  // classes in fp16
  const std::int64_t expected = asked_of(flow.program).ddr_write - result;
  EXPECT_EQ(at(spill.spill.bytes, Route::ddr_write), expected);
  EXPECT_GT((*built->networks)[0].metrics.spill_bytes, 0u);
  EXPECT_GE(expected, std::int64_t((*built->networks)[0].metrics.spill_bytes));
  EXPECT_GE(at(spill.fill.bytes, Route::ddr_read).value_or(0), expected);
  EXPECT_EQ(spill.unpaired_fills, 0u);
  std::int64_t of_tensors = 0;
  for (const auto& tensor : spill.tensors) of_tensors += tensor.written;
  EXPECT_EQ(of_tensors, expected);
}

std::filesystem::path generated_file(const std::string& preset, const npu::InputSizes& sizes) {
  npu::ArchitectureChanges changes;
  changes.layers = 2;
  const auto made = npu::generate_onnx(*npu::make_architecture(preset, changes), sizes, {});
  must(made);
  const auto path = std::filesystem::path(testing::TempDir()) /
                    fmt::format("npuscope-{}-{}-{}.onnx", preset, sizes.sequence, ::getpid());
  std::ofstream(path, std::ios::binary) << made->bytes;
  return path;
}

// The model's products on the HMX, counted from the graph.
double macs_of_model(const std::filesystem::path& model) {
  const auto graph = npu::import_onnx_file(model, {});
  must(graph);
  double macs = 0;
  for (const npu::Node& node : graph->nodes) {
    macs += double(npu::multiply_accumulates(*graph, node));
  }
  return macs;
}

// A tile had the operands of its whole operator, and a share of its MACs by output size; weights
// were "in DDR", though a transfer had brought them to VTCM. `overlap`: share of the rows of images
// that bands have in common and each computes.
void expect_macs(const std::filesystem::path& model, npu::nsp::BuildRequest request,
                 double overlap = 0) {
  SCOPED_TRACE(fmt::format("{} on {}", model.filename().string(), request.options.cores));
  request.options.op_stats_verbosity = 2;
  const ModelFlow flow = run_flow(model, request);
  const Profile& profile = flow.profiles.at(0);
  const analysis::OpMacs macs(profile);
  double all = 0;
  for (std::size_t op = 0; op < profile.ops.size(); ++op) {
    const Op& it = profile.ops[op];
    if (qaic::ThreadGroup(it.group) != qaic::ThreadGroup::hmx) continue;
    if (profile.text(it.kind) == "aicendcyclestats") continue;
    ASSERT_TRUE(macs.of(OpId(op))) << profile.text(it.operands);
    const double of_op = *macs.of(OpId(op));
    all += of_op;
    // As the device counts them: rows, columns and depth padded.
    const std::uint32_t queue = it.core * qaic::thread_groups + it.group;
    const qaic::Task& task = flow.program.tasks[flow.program.queue_begin[queue] + it.position];
    ASSERT_LE(of_op, double(task.macs)) << profile.text(it.name) << "\n"
                                        << profile.text(it.operands);
  }
  const double written = macs_of_model(model);
  EXPECT_GE(all, written);
  EXPECT_LE(all, written * (1 + overlap));
}

TEST(MemoryAgainstTruth, MacsOfTasksAddUpToThoseOfTheModel) {
  EXPECT_EQ(macs_of_model(repository_model("light_resnet50.onnx")), 4'089'184'256.0);
  const auto small = small_target();
  std::vector<std::filesystem::path> models{
      repository_model("light_resnet50.onnx"),   repository_model("light_squeezenet.onnx"),
      generated_file("bert-base", {1, 128, 0}),  generated_file("bert-base", {2, 384, 0}),
      generated_file("amber-7b", {1, 1, 128}),   generated_file("amber-7b", {1, 32, 128}),
      generated_file("qwen3-0.6b", {1, 32, 128})};
  std::size_t tried = 0;
  for (const auto& model : models) {
    for (const std::uint32_t cores : {1u, 3u, 16u}) {
      if (!test_support::takes(tried++)) continue;
      npu::nsp::BuildRequest request = request_for(cores, 70);
      expect_macs(model, request);
      request.target = small;
      if (npu::nsp::build(model, request)) expect_macs(model, request, 0.1);
    }
  }
  for (std::size_t i = 2; i < models.size(); ++i) std::filesystem::remove(models[i]);
  std::filesystem::remove(small);
}

}  // namespace
}  // namespace npuscope::memory_test
