// Every model at every statistics level: compiles, runs, decodes without a note, and yields a
// summary that reads back the same.
#include <unistd.h>

#include "flow/flow.hpp"
#include "formats/qaic/opstats/opstats_trace.hpp"
#include "sanitized.hpp"

namespace npuscope::all_models_test {
namespace {

constexpr std::uint32_t levels[] = {40, 50, 70, 100};

// Tests run side by side in processes of their own.
std::filesystem::path scratch(const std::string& name) {
  return std::filesystem::path(testing::TempDir()) /
         fmt::format("npuscope-{}-{}", ::getpid(), name);
}

// What the text keeps exactly; sizes are printed to a hundredth of a KB.
void expect_same_rows(const qaic::OpstatsSummary& read, const qaic::OpstatsSummary& written) {
  ASSERT_EQ(read.cores.size(), written.cores.size());
  for (std::size_t core = 0; core < read.cores.size(); ++core) {
    const auto &mine = read.cores[core].rows, &theirs = written.cores[core].rows;
    ASSERT_EQ(mine.size(), theirs.size());
    for (std::size_t i = 0; i < mine.size(); ++i) {
      ASSERT_EQ(mine[i].details(), theirs[i].details());
      ASSERT_EQ(mine[i].ucycles, theirs[i].ucycles);
      ASSERT_EQ(mine[i].pcycles, theirs[i].pcycles);
      ASSERT_EQ(mine[i].count, theirs[i].count);
    }
  }
}

void expect_flow(const std::filesystem::path& model, std::uint32_t cores) {
  for (std::uint32_t level : levels) {
    SCOPED_TRACE(testing::Message() << model.filename() << " at level " << level);
    const ModelFlow flow = run_flow(model, request_for(cores, level));
    ASSERT_EQ(flow.profiles.size(), 1u);
    const Profile& profile = flow.profiles[0];
    EXPECT_TRUE(profile.notes.empty()) << profile.notes[0].message;
    const qaic::OpstatsSummary summary = qaic::summarise(profile);
    const std::string text = qaic::print_summary(summary);
    const auto again = qaic::parse_summary(text, "summary");
    must(again);
    EXPECT_TRUE(again->unread.empty());
    expect_same_rows(*again, summary);
    ASSERT_EQ(summary.cores.size(), cores);
    EXPECT_GT(summary.ucycles(), 0u);
    EXPECT_EQ(summary.cores[0].rows.empty(), level < 50);
    if (level < 70) continue;
    const auto path = scratch(fmt::format("{}.trace.json", level));
    const Profile* profiles[] = {&profile};
    const auto trace = qaic::write_opstats_trace(profiles, {.flow_events = true}, path);
    must(trace);
    EXPECT_GT(trace->events, flow.program.tasks.size());
    std::filesystem::remove(path);
  }
}

std::filesystem::path generated(const std::string& preset, const npu::InputSizes& sizes) {
  auto model = npu::generate_onnx(*npu::make_architecture(preset, {}), sizes, {});
  EXPECT_TRUE(model);
  const auto path = scratch(preset + ".onnx");
  EXPECT_TRUE(write_file_atomically(path, as_byte_span(model->bytes)));
  return path;
}

TEST(AllModels, OfTheRepository) {
  expect_flow(repository_model("light_resnet50.onnx"), 4);
  expect_flow(repository_model("light_squeezenet.onnx"), 4);
}

TEST(AllModels, Amber7b) {
  if (npuscope::test_support::is_sanitized())
    GTEST_SKIP() << "a smaller one of its sort is tried below";
  expect_flow(generated("amber-7b", {1, 1, 128}), 14);
}
TEST(AllModels, Qwen3) { expect_flow(generated("qwen3-0.6b", {1, 32, 128}), 16); }
TEST(AllModels, BertBase) { expect_flow(generated("bert-base", {8, 128, 0}), 2); }

TEST(AllModels, OfTheSharedCollection) {
  const std::filesystem::path folder = std::filesystem::path(NPUSCOPE_SHARED_DIR) / "models";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "the shared models are not here";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    expect_flow(entry.path(), 8);
  }
}

TEST(Levels, EachCostsMoreThanTheOneBelow) {
  std::vector<std::int64_t> lasted;
  for (std::uint32_t level : levels) {
    npu::nsp::SimulationOptions options;
    options.core_hz = 1.4e9;
    npu::nsp::BuildRequest request = request_for(4, level);
    request.pmu_recipe = "KernelUtil";
    const ModelFlow flow = run_flow(repository_model("light_squeezenet.onnx"), request, options);
    const auto& inference = flow.simulated.inferences.at(0);
    lasted.push_back((inference.device_end - inference.device_begin).value);
  }
  EXPECT_LT(lasted[0], lasted[1]);
  EXPECT_LT(lasted[1], lasted[2]);
  EXPECT_LT(lasted[2], lasted[3]);
}

}  // namespace
}  // namespace npuscope::all_models_test
