// From the reference NPU through the files of Torq's tools and their readers, back to what the
// simulator really did.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "formats/torq/annotate/annotate.hpp"
#include "formats/torq/annotate/compare.hpp"
#include "formats/torq/overview.hpp"
#include "npu/graph/random_models.hpp"
#include "npu/targets/torq/fixture.hpp"
#include "npuscope/base/byte_source.hpp"

namespace npuscope::npu::torq::round_trip_test {
namespace {

namespace fs = std::filesystem;

// Everything that compile and run write, in a folder.
class RoundTrip : public ::testing::Test {
 protected:
  RoundTrip() {
    folder_ = fs::path(::testing::TempDir()) / ("torq_round_trip_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  ~RoundTrip() override { fs::remove_all(folder_); }

  void make(const Graph& graph, std::uint64_t inferences) {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "debug" / "source");
    compilation_ = compiled(graph);
    put(folder_ / "debug" / compilation_.source_file, compilation_.source_text);
    for (std::size_t i = 0; i < compilation_.program.dispatches.size(); ++i) {
      put(folder_ / "debug" / (compilation_.program.dispatches[i].name + ".mlir"),
          debug_info(compilation_, i, true));
    }
    ASSERT_TRUE(
        npuscope::torq::write_timeline(timeline_of(compilation_), folder_ / "timeline.csv"));
    const auto again = read_program(write_program(compilation_.program), "program");
    ASSERT_TRUE(again) << again.error().message;
    auto run = torq::run(*again, sl2610(), {.inferences = inferences});
    ASSERT_TRUE(run) << run.error().message;
    truth_ = std::move(run->truth);
    ASSERT_TRUE(npuscope::torq::write_log(run->log, folder_ / "runtime.csv"));
  }

  static void put(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  npuscope::torq::Annotation annotation() {
    auto debug = npuscope::torq::load_debug_info(folder_ / "debug");
    EXPECT_TRUE(debug) << (debug ? "" : debug.error().message);
    debug_ = std::move(*debug);
    EXPECT_TRUE(debug_.notes.empty()) << debug_.notes[0].message;
    const auto source = open_byte_source(folder_ / "runtime.csv");
    const auto log = npuscope::torq::read_log(**source);
    EXPECT_TRUE(log && log->notes.empty());
    auto annotation = npuscope::torq::annotate(*log, debug_);
    EXPECT_TRUE(annotation) << (annotation ? "" : annotation.error().message);
    EXPECT_TRUE(annotation->notes.empty()) << annotation->notes[0].message;
    return std::move(*annotation);
  }

  void check_timeline();
  void check_estimates();
  void check_measured(std::uint64_t inferences);
  void check_all(const Graph& graph, std::uint64_t inferences) {
    make(graph, inferences);
    if (HasFatalFailure()) return;
    check_timeline();
    check_measured(inferences);
    check_estimates();
  }

  fs::path folder_;
  Compilation compilation_;
  Truth truth_;
  npuscope::torq::DebugInfo debug_;
};

// Busy cycles of each kind of row are the estimate's own.
void RoundTrip::check_timeline() {
  const auto source = open_byte_source(folder_ / "timeline.csv");
  const auto timeline = npuscope::torq::read_timeline(**source);
  ASSERT_TRUE(timeline) << timeline.error().message;
  EXPECT_TRUE(timeline->notes.empty());
  std::map<int, std::int64_t> read, expected;
  std::int64_t bytes_read = 0, bytes_expected = 0;
  for (const npuscope::torq::TimelineRow& row : timeline->rows) {
    read[int(row.event)] += row.end_cycles - row.start_cycles;
    bytes_read += row.bytes.value_or(0);
  }
  const auto event = [](Unit unit) {
    return unit == Unit::slice     ? npuscope::torq::TimelineEvent::slice
           : unit == Unit::css     ? npuscope::torq::TimelineEvent::css
           : unit == Unit::dma_in  ? npuscope::torq::TimelineEvent::dma_in
           : unit == Unit::dma_out ? npuscope::torq::TimelineEvent::dma_out
                                   : npuscope::torq::TimelineEvent(
                                         int(npuscope::torq::TimelineEvent::cdma_lram_to_dtcm) +
                                         int(unit) - int(Unit::cdma_lram_to_dtcm));
  };
  for (std::size_t i = 0; i < compilation_.program.steps.size(); ++i) {
    const Step& step = compilation_.program.steps[i];
    if (!step.starts) continue;
    expected[int(event(step.unit))] += length_of(compilation_.estimate.steps[i]);
    bytes_expected += std::int64_t(step.bytes);
  }
  // Of CDMA the two orders of kinds differ; together they are the same.
  EXPECT_EQ(read, expected);
  EXPECT_EQ(bytes_read, bytes_expected);
}

// Programs of the debug information: cycles, tasks, units and kernels.
void RoundTrip::check_estimates() {
  const Program& program = compilation_.program;
  std::size_t nss = 0, task = 0, step = 0;
  for (const Dispatch& dispatch : program.dispatches) {
    const npuscope::torq::DispatchInfo* info = debug_.find(dispatch.name);
    ASSERT_NE(info, nullptr) << dispatch.name;
    EXPECT_TRUE(info->notes.empty()) << dispatch.name << ": " << info->notes[0].message;
    ASSERT_EQ(info->actions.size(), dispatch.actions);
    for (const npuscope::torq::ProgramRun& run : info->programs) {
      if (run.executor != npuscope::torq::Executor::nss) continue;
      EXPECT_EQ(run.cycles, compilation_.estimate.programs[nss]);
      ASSERT_EQ(run.task_count, program.nss_programs[nss].tasks);
      npuscope::torq::UnitUse uses{};
      std::set<std::string> kernels;
      for (std::uint32_t i = 0; i < run.task_count; ++i, ++task) {
        EXPECT_EQ(info->tasks[run.first_task + i].id, std::int64_t(task));
        for (std::uint32_t k = 0; k < program.tasks[task].steps; ++k, ++step) {
          const Step& each = program.steps[step];
          const auto unit = each.unit == Unit::slice     ? npuscope::torq::NpuUnit(each.slice)
                            : each.unit == Unit::css     ? npuscope::torq::NpuUnit::css
                            : each.unit == Unit::dma_in  ? npuscope::torq::NpuUnit::dma_in
                            : each.unit == Unit::dma_out ? npuscope::torq::NpuUnit::dma_out
                                                         : npuscope::torq::NpuUnit::cdma;
          uses[std::size_t(unit)] = true;
          if (each.starts && each.unit == Unit::slice) {
            kernels.insert(program.kernels[each.kernel].name);
          }
        }
      }
      EXPECT_EQ(run.uses, uses);
      EXPECT_EQ(std::set<std::string>(run.kernels.begin(), run.kernels.end()), kernels);
      ++nss;
    }
  }
  EXPECT_EQ(nss, program.nss_programs.size());
}

// Measured times are the truth's, cut to microseconds at both ends; units are those that worked;
// names of operators are those of the model's nodes.
void RoundTrip::check_measured(std::uint64_t inferences) {
  const npuscope::torq::Annotation joined = annotation();
  std::vector<std::uint64_t> runs(truth_.programs.size());
  std::map<std::string, std::uint32_t> dispatches;
  for (const Dispatch& each : compilation_.program.dispatches) {
    dispatches.emplace(each.name, std::uint32_t(dispatches.size()));
  }
  for (const npuscope::torq::AnnotatedInvocation& invocation : joined.invocations) {
    const npuscope::torq::DispatchInfo& info = debug_.dispatches[invocation.dispatch];
    for (const npuscope::torq::ProgramRun& run : info.programs) {
      const auto time = npuscope::torq::time_of(joined, invocation, run);
      if (!time || run.executor != npuscope::torq::Executor::nss) continue;
      const auto truth = std::find_if(truth_.programs.begin(), truth_.programs.end(),
                                      [&](const ProgramTruth& each) {
                                        return each.dispatch == dispatches[info.name] &&
                                               std::int32_t(each.start_action) == run.start_action;
                                      });
      ASSERT_NE(truth, truth_.programs.end());
      ++runs[std::size_t(truth - truth_.programs.begin())];
      EXPECT_NEAR(double(length_of(*time)), double(truth->host_nanoseconds) / 1000, 1.0);
      for (std::size_t unit = 0; unit < busy_units; ++unit) {
        EXPECT_EQ(run.uses[unit], truth->device.busy[unit] > 0) << info.name << " unit " << unit;
      }
    }
  }
  for (const std::uint64_t count : runs) EXPECT_EQ(count, inferences);
  std::size_t action = 0;
  for (const Dispatch& each : compilation_.program.dispatches) {
    const npuscope::torq::DispatchInfo* info = debug_.find(each.name);
    const auto& rows = joined.rows[std::size_t(info - debug_.dispatches.data())];
    for (std::uint32_t id = 0; id < each.actions; ++id, ++action) {
      const auto& operation = compilation_.operations[compilation_.action_operations[action]];
      ASSERT_EQ(rows[id].operators.size(), operation.places.size());
      for (std::size_t i = 0; i < operation.places.size(); ++i) {
        EXPECT_THAT(rows[id].operators[i],
                    testing::EndsWith(fmt::format("@L{}", operation.places[i].line)));
      }
    }
  }
}

TEST_F(RoundTrip, SqueezeNet) {
  check_all(repository_graph("light_squeezenet.onnx"), 3);
  const auto annotated = annotation();
  EXPECT_EQ(
      annotated
          .rows[std::size_t(debug_.find("main_dispatch_0_conv2d") - debug_.dispatches.data())][0]
          .operators,
      (std::vector<std::string>{"onnx.Conv@L94", "onnx.Relu@L95"}));
}

TEST_F(RoundTrip, ResNet50) { check_all(repository_graph("light_resnet50.onnx"), 1); }

TEST_F(RoundTrip, ModelsThatNobodyWrote) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const std::string text = RandomModel(seed).text();
    SCOPED_TRACE(text);
    check_all(parsed(text), 2);
    if (HasFailure()) return;
  }
}

TEST_F(RoundTrip, SharedModels) {
  const fs::path models = NPUSCOPE_SHARED_DIR "/models";
  if (!fs::exists(models)) GTEST_SKIP();
  for (const char* name : {"light_shufflenet.onnx", "light_inception_v1.onnx"}) {
    const auto graph = import_onnx_file(models / name, {});
    ASSERT_TRUE(graph) << graph.error().message;
    SCOPED_TRACE(name);
    check_all(*graph, 2);
  }
}

// The overview's rows are unions of what the truth has apart: programs follow each other.
TEST_F(RoundTrip, OverviewAddsUpToTheTruth) {
  make(repository_graph("light_squeezenet.onnx"), 2);
  const npuscope::torq::Annotation joined = annotation();
  const npuscope::torq::Overview overview =
      npuscope::torq::make_overview(npuscope::torq::run_intervals(joined));
  std::int64_t programs = 0;
  for (const ProgramTruth& each : truth_.programs) programs += each.host_nanoseconds;
  const double measured = double(*overview.of(npuscope::torq::OverviewMetric::dma_union));
  const double cut = 2e3 * double(truth_.programs.size());  // microseconds of each program, cut
  EXPECT_NEAR(measured, 2.0 * double(programs), cut);
}

}  // namespace
}  // namespace npuscope::npu::torq::round_trip_test
