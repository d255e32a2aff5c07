// The search against trying everything, and what it says of what it did not try.
#include "npu/tune/tune.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "npu/graph/onnx_writer.hpp"
#include "npu/tune/trial.hpp"
#include "npuscope/npu/models/generate_onnx.hpp"
#include "sanitized.hpp"

namespace npuscope::npu::tune_test {
namespace {

using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Tune : public testing::Test {
 protected:
  Tune() { std::filesystem::create_directories(folder_); }
  ~Tune() override { std::filesystem::remove_all(folder_); }

  // A decoder of a small layer, or an encoder.
  TuneRequest small_model(const char* kind, bool symbolic = false) const {
    ArchitectureChanges changes;
    changes.hidden_size = 256;
    changes.layers = 1;
    changes.heads = 4;
    changes.feed_forward_size = 512;
    changes.vocabulary_size = 1000;
    const bool is_encoder = kind == std::string_view("encoder");
    if (is_encoder) changes.max_positions = 512;
    const auto architecture = make_architecture(kind, changes);
    EXPECT_TRUE(architecture) << architecture.error().message;
    InputSizes sizes;
    if (is_encoder) sizes.context = 0;
    const auto model = generate_onnx(*architecture, sizes, {.symbolic = symbolic});
    EXPECT_TRUE(model) << model.error().message;
    const auto path = folder_ / (std::string(kind) + ".onnx");
    std::ofstream(path, std::ios::binary) << model->bytes;
    return {.model = path, .targets = {"aic100"}};
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("npuscope-tune-" + std::to_string(::getpid()));
};

void expect_front(const TuneResult& result) {
  ASSERT_FALSE(result.front.empty());
  for (std::size_t i = 1; i < result.front.size(); ++i) {
    EXPECT_LT(result.front[i - 1].latency_s, result.front[i].latency_s);
    EXPECT_LT(result.front[i - 1].samples_per_second, result.front[i].samples_per_second);
  }
}

// Few and many cores that divide the target's and that do not, with one activation and with all,
// and some inferences queued.
TEST_F(Tune, LeavesOutNothingThatWouldBeMuchBetter) {
  TuneRequest request = small_model("encoder");
  const auto tuned = tune(request);
  ASSERT_TRUE(tuned) << tuned.error().message;
  expect_front(*tuned);
  std::size_t tried = 0;
  for (const std::uint32_t batch : {1u, 8u}) {
    for (const std::uint32_t cores : {1u, 2u, 3u, 5u, 8u, 11u, 16u}) {
      if (!test_support::takes(tried++)) continue;
      const TuneConfiguration configuration{
          .target = "aic100", .precision = TunePrecision::fp16, .batch = batch, .cores = cores};
      const auto trial = compile_trial(request, configuration);
      ASSERT_TRUE(trial) << trial.error().message;
      for (const std::uint32_t activations : {1u, 16 / cores}) {
        for (std::uint32_t queued = 1; queued <= 3; ++queued) {
          const auto served = (*trial)->serve(activations, queued);
          ASSERT_TRUE(served);
          const bool as_good = std::ranges::any_of(tuned->front, [&](const TunePoint& point) {
            return point.latency_s <= 1.05 * served->latency_s &&
                   1.05 * point.samples_per_second >= served->samples_per_second;
          });
          EXPECT_TRUE(as_good) << "batch " << batch << ", " << cores << " cores, " << activations
                               << " activations, " << queued << " queued";
        }
      }
    }
  }
}

TEST_F(Tune, ChoosesByWhatIsAskedFor) {
  TuneRequest request = small_model("encoder");
  request.cores = {4, 16};
  request.batches = {1, 2};
  request.activations = {1, 2};
  request.queued = {1, 2};
  request.precision = TunePrecision::fp16;
  const auto front = tune(request)->front;
  ASSERT_GT(front.size(), 2U);
  EXPECT_EQ(tune(request)->chosen, std::nullopt);
  request.most_throughput = true;
  EXPECT_EQ(tune(request)->chosen, front.size() - 1);
  request.most_throughput = false;
  request.latency_s = front[1].latency_s;
  EXPECT_EQ(tune(request)->chosen, 1U);
  request.samples_per_second = front[1].samples_per_second;
  EXPECT_EQ(tune(request)->chosen, 1U);
  EXPECT_TRUE(tune(request)->is_reached);
  request.samples_per_second = front[2].samples_per_second;
  EXPECT_EQ(tune(request)->chosen, 1U);
  EXPECT_FALSE(tune(request)->is_reached);
  request.latency_s.reset();
  EXPECT_EQ(tune(request)->chosen, 2U);
  EXPECT_TRUE(tune(request)->is_reached);
  request.latency_s = front[0].latency_s / 2;
  EXPECT_EQ(tune(request)->chosen, 0U);
  EXPECT_FALSE(tune(request)->is_reached);
}

TEST_F(Tune, SaysWhatIsRefusedByKind) {
  TuneRequest request = small_model("encoder");
  request.cores = {2, 17, 40};
  request.activations = {1, 9};
  const auto tuned = tune(request);
  ASSERT_TRUE(tuned) << tuned.error().message;
  ASSERT_THAT(tuned->refused, SizeIs(2));
  EXPECT_THAT(tuned->refused[0].reason, HasSubstr("aic100 has 16 cores"));
  EXPECT_THAT(tuned->refused[1].reason,
              HasSubstr("--activations 9 on 2 cores each: aic100 runs 8 at most"));
  request.cores = {17};
  const auto nothing = tune(request);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().kind, ErrorKind::usage);
  EXPECT_THAT(nothing.error().message, HasSubstr("--cores 17: aic100 has 16 cores; give no more"));
}

TEST_F(Tune, TakesAModelWhoseBatchIsOpen) {
  TuneRequest request = small_model("decoder", true);
  request.import.symbols = {{"seq_len", 1}, {"ctx_len", 64}};
  request.retained_state = true;
  request.batches = {1, 2};
  request.cores = {4};
  const auto tuned = tune(request);
  ASSERT_TRUE(tuned) << tuned.error().message;
  EXPECT_EQ(tuned->family, ModelFamily::decoder);
  EXPECT_THAT(tuned->refused, IsEmpty());
  EXPECT_EQ(tuned->front.back().batch, 2U);
}

TEST_F(Tune, SearchesEveryArchitecture) {
  TuneRequest request{.model = NPUSCOPE_SOURCE_DIR "/models/light_squeezenet.onnx"};
  for (const char* target : {"htp-v75", "ipu-muffin", "torq-sl2610"}) {
    request.targets = {target};
    const auto tuned = tune(request);
    ASSERT_TRUE(tuned) << target << ": " << tuned.error().message;
    expect_front(*tuned);
    EXPECT_EQ(tuned->family, ModelFamily::convolutional);
    EXPECT_THAT(tuned->front,
                Each(Field(&TunePoint::configuration, Field(&TuneConfiguration::activations, 1U))));
  }
}

// A model of four images was counted as one of a single image, a quarter of its throughput.
TEST_F(Tune, SamplesOfATorqAreThoseOfTheModelsOwnBatch) {
  test::GraphText graph;
  graph.input("x", {4, 8, 16, 16}).weight("w", {8, 8, 3, 3});
  graph.node({"Conv", {"x", "w"}, {"y"}}).output("y");
  const auto path = folder_ / "images.onnx";
  std::ofstream(path, std::ios::binary) << test::model(graph);
  const auto tuned = tune({.model = path, .targets = {"torq-sl2610"}});
  ASSERT_TRUE(tuned) << tuned.error().message;
  ASSERT_THAT(tuned->front, SizeIs(1));
  EXPECT_EQ(tuned->front[0].batch, 4U);
  EXPECT_DOUBLE_EQ(tuned->front[0].samples_per_second, 4 / tuned->front[0].latency_s);
}

TEST(TuneTargets, MustExist) {
  const auto tuned = tune({.model = NPUSCOPE_SOURCE_DIR "/models/light_squeezenet.onnx",
                           .targets = {"aic100", "aic101"}});
  ASSERT_FALSE(tuned);
  EXPECT_THAT(tuned.error().message, HasSubstr("target 'aic101' is not built in"));
}

}  // namespace
}  // namespace npuscope::npu::tune_test
