// What public reports and other tools' samples must say (../shared/data: expected.md and
// made_by/README_2.md have the right values and why).
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "analysis/ops/model_parts.hpp"
#include "analysis/units/unit_busy.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/findings.hpp"
#include "npuscope/analysis/samples.hpp"
#include "npuscope/analysis/statistics.hpp"
#include "npuscope/analysis/traffic.hpp"
#include "npuscope/analysis/units.hpp"
#include "npuscope/formats/open.hpp"
#include "profile/self_times.hpp"
#include "report/show/show.hpp"
#include "report/show/show_sections.hpp"

namespace npuscope::report::generic_cases_test {
namespace {

namespace fs = std::filesystem;
using analysis::Analysis;
using analysis::Part;
using ::testing::HasSubstr;
using ::testing::Not;

Profile opened(const fs::path& path) {
  auto all = open_profiles({&path, 1});
  EXPECT_TRUE(all) << all.error().message;
  return all ? std::move(all->profiles.at(0)) : Profile{};
}

// Of the shared folder.
#define SAMPLE(variable, name)                                            \
  const fs::path variable = fs::path(NPUSCOPE_SHARED_DIR "/data") / name; \
  if (!fs::exists(variable)) GTEST_SKIP() << "the shared samples are not here"

// A trace of these events.
struct Inline {
  fs::path path = fs::path(::testing::TempDir()) / ("case_" + std::to_string(::getpid()) + ".json");
  Profile profile;

  explicit Inline(const std::string& events, const std::string& members = "") {
    std::ofstream(path) << R"({"traceEvents": [)" << events << "]" << members << "}";
    profile = opened(path);
  }
  ~Inline() { fs::remove(path); }
};

std::string page_of(const Analysis& analysis) {
  return document_text(first_page(analysis, {.files = "x"}), 100);
}

// Microseconds, as `check` and `diff` have them.
std::vector<double> latencies_of(const Profile& profile) {
  std::vector<double> all;
  const analysis::RunSamples run(profile);
  const Metric* latency = run.metric("latency");
  if (latency == nullptr) return all;
  for (const Sample& sample : latency->samples) {
    all.push_back(sample.value / latency->time.hertz * 1e6);
  }
  return all;
}

TEST(Steps, OfPyTorchHadNoLatency) {
  SAMPLE(path, "kineto_cpu/kineto.json.gz");
  const Analysis looked(opened(path));
  EXPECT_THAT(latencies_of(looked.profile()),
              testing::Pointwise(testing::DoubleNear(0.01), {99026.127, 54408.513, 107981.069}));
  const LatencyOfCall latency = latency_of(looked);
  ASSERT_FALSE(latency.rows.empty());
  EXPECT_EQ(latency.warm_count, 3u);
  EXPECT_NEAR(*latency.rows[0].warm_seconds, 99026.127e-6, 1e-8);
  EXPECT_THAT(page_of(looked), HasSubstr("LATENCY, median of 3"));
}

TEST(Steps, OfJaxHadNoLatency) {
  SAMPLE(path, "xla/vm.trace.json.gz");
  const Analysis looked(opened(path));
  EXPECT_THAT(latencies_of(looked.profile()),
              testing::Pointwise(testing::DoubleNear(0.01),
                                 {44008.843, 15405.458, 30375.007, 33546.585, 23907.459}));
  // The first of all is apart, as in check and diff.
  const LatencyOfCall latency = latency_of(looked);
  ASSERT_FALSE(latency.rows.empty());
  EXPECT_NEAR(*latency.rows[0].cold_seconds, 44008.843e-6, 1e-8);
  EXPECT_NEAR(*latency.rows[0].warm_seconds, (23907.459e-6 + 30375.007e-6) / 2, 1e-8);
}

// Two inferences of a loop, of a host that does not wait for its device.
TEST(Steps, ALoopOfRecordFunctionIsAsManyInferences) {
  std::string events;
  for (int i = 0; i < 4; ++i) {
    const std::string at = std::to_string(1000 * i);
    events += R"({"ph":"X","cat":"user_annotation","name":"infer","pid":1,"tid":1,"ts":)" + at +
              R"(,"dur":)" + std::to_string(900 + i) + "}," +
              R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":)" + at +
              R"(,"dur":800},)";
  }
  events.pop_back();
  const Inline trace(events);
  EXPECT_THAT(latencies_of(trace.profile),
              testing::Pointwise(testing::DoubleNear(1e-3), {900, 901, 902, 903}));
}

TEST(Overview, OpsOfLlamaCppWereAddedToTheirEngines) {
  SAMPLE(path, "public_cases/12-ggml-hexagon-perfetto/optrace.perfetto-trace");
  const Analysis looked(opened(path));
  const auto active = [&](Engine engine) { return looked.overlap().active(engine); };
  EXPECT_EQ(active(Engine::hmx), 900'000);
  EXPECT_EQ(active(Engine::hvx), 521'000);
  EXPECT_EQ(active(Engine::dma), 869'000);
  EXPECT_EQ(looked.coarse().active, 1'221'000);
  EXPECT_EQ(looked.coarse().wall, 1'231'100);
  for (const analysis::EngineRow& row : looked.units().engines) {
    if (row.engine == Engine::dma) {
      EXPECT_EQ(row.work, 1'350'000);
      EXPECT_EQ(row.units, 1u);  // two slots, one track
      EXPECT_EQ(row.domain, 869'000);
    }
  }
  const std::string page = page_of(looked);
  EXPECT_THAT(page, Not(HasSubstr("MUL_MAT")));
}

TEST(Overview, TorqsAnnotatedTraceWasWorkFourTimes) {
  SAMPLE(path, "torq/annotated_new.pb");
  const Analysis looked(opened(path));
  // A program once: the tracks of the units that it uses are as long as the program.
  EXPECT_EQ(looked.overlap().active(Engine::core), 57'000);
  EXPECT_EQ(looked.overlap().active(Engine::compute), 0);
  EXPECT_EQ(looked.overlap().active(Engine::dma), 0);
  EXPECT_EQ(looked.coarse().wall, 108'000);
  EXPECT_THAT(page_of(looked), Not(HasSubstr("OVERALL")));
}

TEST(Copies, CalledMemcpyH2DHadNoBytes) {
  SAMPLE(path, "public_cases/26-privateuse1-accelerator/trace.json");
  const Analysis looked(opened(path));
  EXPECT_EQ(looked.traffic().total(analysis::Route::ddr_write).of_ops, 1'048'576);
  EXPECT_EQ(looked.traffic().total(analysis::Route::ddr_read).of_ops, 262'144);
  EXPECT_EQ(looked.coarse().parts[std::size_t(Part::compute_and_movement)], 50'000);
  EXPECT_EQ(looked.coarse().movement_active, 240'000);
}

// However the tool writes the way.
TEST(Copies, GoTheWayThatTheirNamesSay) {
  const struct {
    const char* name;
    double written, read;
  } ways[] = {{"Memcpy HtoD (Pageable -> Device)", 1, 0},
              {"MEMCPY_D2H", 0, 1},
              {"CopyHostToDevice", 1, 0},
              {"Memcpy DtoD (Device -> Device)", 1, 1},
              {"memcpy device_to_host", 0, 1},
              {"Memcpy P2P", 1, 1},
              {"Memcpy HtoH (Host -> Host)", 0, 0}};
  for (const auto& way : ways) {
    const Inline trace(
        std::string(R"({"ph":"X","cat":"gpu_memcpy","pid":0,"tid":7,"ts":0,"dur":1,"name":")") +
        way.name + R"(","args":{"bytes":1}})");
    const Analysis looked(trace.profile);
    EXPECT_EQ(looked.traffic().total(analysis::Route::ddr_write).of_ops.value_or(0), way.written)
        << way.name;
    EXPECT_EQ(looked.traffic().total(analysis::Route::ddr_read).of_ops.value_or(0), way.read)
        << way.name;
  }
}

void expect_late_rank(const Analysis& looked, double waiting, double tolerance) {
  const analysis::Diagnosis diagnosis = looked.findings({});
  ASSERT_FALSE(diagnosis.findings.empty());
  const analysis::Finding& first = diagnosis.findings.front();
  EXPECT_EQ(first.rule, "exposed-communication");
  EXPECT_THAT(first.title, testing::StartsWith("Another rank is late"));
  double found = 0;
  for (const analysis::Evidence& each : first.evidence) {
    if (each.key == "waiting_for_ranks") found = each.value;
  }
  EXPECT_NEAR(found, waiting, tolerance);
  for (const analysis::Finding& finding : diagnosis.findings) {
    EXPECT_NE(finding.rule, "memory-bound");
    EXPECT_NE(finding.rule, "exposed-dma");
    EXPECT_THAT(finding.advice, Not(HasSubstr("VTCM")));
  }
}

TEST(LateRank, WasMemoryBound) {
  SAMPLE(path, "public_cases/41-late-rank/mini_ascend.json");
  const Analysis looked(opened(path));
  expect_late_rank(looked, 980'000, 0);
  EXPECT_EQ(looked.coarse().parts[std::size_t(Part::communication_alone)], 1'000'000);
}

TEST(LateRank, OfARealCaptureWasExposedDma) {
  SAMPLE(path, "ascend/text_level1_rank0");
  const Analysis looked(opened(path));
  expect_late_rank(looked, 101.7e6, 0.2e6);
  // step_trace_time.csv: communication, and what of it nothing hides.
  EXPECT_NEAR(double(looked.coarse().communication_active), 105'991'878, 200);
  EXPECT_NEAR(double(looked.coarse().parts[std::size_t(Part::communication_alone)]), 101'963'203,
              300'000);
  // Two tasks of 20 ns of the profiler made 177.6 ms of it.
  EXPECT_LT(looked.coarse().wall, 160'000'000);
  const std::string page = page_of(looked);
  EXPECT_THAT(page, HasSubstr("collectives"));
  EXPECT_THAT(page, Not(HasSubstr("reductions 5")));
}

// What each run took, and the kernels without what encloses others, in microseconds.
void expect_session(const fs::path& path, const std::vector<std::int64_t>& runs,
                    std::int64_t kernels) {
  SCOPED_TRACE(path.string());
  const Analysis looked(opened(path));
  const Profile& profile = looked.profile();
  EXPECT_EQ(profile.provenance.format, "ONNX Runtime profile");
  std::vector<std::int64_t> took;
  std::int64_t work = 0;
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    const SpanKind kind = profile.spans.kind[row];
    if (kind == SpanKind::inference) took.push_back(profile.spans.duration[row] / 1000);
    if (kind == SpanKind::host || kind == SpanKind::kernel) work += looked.self_times()[row] / 1000;
  }
  std::ranges::sort(took, std::greater{});
  EXPECT_EQ(took, runs);
  EXPECT_EQ(work, kernels);
}

TEST(OnnxRuntime, SessionsOfEveryKind) {
  SAMPLE(folder, "onnxruntime");
  expect_session(folder / "seq_convnet.json", {544, 309, 295, 273, 260}, 1368);
  // A Loop encloses the nodes of its body: 2664 with both, 1748 once.
  expect_session(folder / "seq_ctrl.json", {497, 375, 368, 336, 331}, 1748);
  // On threads of a pool, not on that of the run.
  expect_session(folder / "par_mbnet.json", {83914, 48217, 28902, 24414, 1323}, 57761);
  expect_session(folder / "openvino_ep_convnet.json", {22281, 2344, 353, 269, 254}, 25337);
}

TEST(OnnxRuntime, ProfiledLatencyIsAnUpperBound) {
  SAMPLE(path, "onnxruntime/seq_convnet.json");
  EXPECT_THAT(page_of(Analysis(opened(path))),
              HasSubstr("Recorded by ONNX Runtime's profiler, which slows the runs"));
}

TEST(Estimates, AnOpenVinoScheduleWasShownAsMeasured) {
  SAMPLE(path, "openvino/compileTimeScheduleTrace.json");
  const Analysis looked(opened(path));
  EXPECT_TRUE(analysis::RunSamples(looked.profile()).is_estimated());
  const std::string page = page_of(looked);
  EXPECT_THAT(page, HasSubstr("times are simulated, nothing ran"));
  EXPECT_THAT(page, HasSubstr("convolution"));
}

TEST(Estimates, OfOpenVinoByItsWorkpointOnly) {
  constexpr const char* event =
      R"({"ph":"X","cat":"DPU","name":"c","pid":1,"tid":1,"ts":0,"dur":1})";
  EXPECT_EQ(Inline(event, R"(, "workpoint": {"freq": 1850.0, "status": "SIM"})")
                .profile.provenance.format,
            "OpenVINO compile-time schedule");
  EXPECT_EQ(
      Inline(event, R"(, "workpoint": {"freq": 1850.0, "status": "OK"})").profile.provenance.format,
      "Chrome trace");
}

TEST(Parts, TilesOfConvolutionsWereLayout) {
  SAMPLE(path, "public_cases/25-openvino-dma-all-zero/profiling.json");
  const Analysis looked(opened(path));
  const auto parts =
      analysis::model_parts(looked.profile(), looked.ops(analysis::options_of_parts()));
  ASSERT_TRUE(parts);
  ASSERT_EQ(parts->parts.size(), 1u);
  EXPECT_EQ(parts->parts[0].name, "convolution");
  EXPECT_DOUBLE_EQ(parts->parts[0].share, 1);
}

}  // namespace
}  // namespace npuscope::report::generic_cases_test
