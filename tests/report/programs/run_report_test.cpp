#include "report/programs/run_report.hpp"
#include "npu/targets/nsp/simulate/simulate.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace npuscope::report::run_report_test {
namespace {

// The figures of a real run (Amber 7B decode on 14 cores), as they were printed.
RunReport amber() {
  RunReport report;
  report.inference_count = 10;
  report.total_duration_us = 2242274;
  report.batch_size = 1;
  report.inferences_per_second = 10 / 2.242274;
  report.metrics = {
      {"ExecTimeUs", 40, Distribution{124826.111, 124682.969, 124958.542, 93.740}},
      {"InputWaitTimeUs", 50, Distribution{103266.866, 78898.594, 178349.688, 34244.603}},
      {"OutputWaitTimeUs", 50, Distribution{0.113, 0.104, 0.156, 0.019}}};
  return report;
}

nlohmann::json json_of(const RunReport& report) {
  return nlohmann::json::parse(json_text([&](Json& json) { write_run_report(json, report); }));
}

TEST(PrintRunReport, LooksLikeTheVendorsBlock) {
  EXPECT_EQ(print_run_report(amber()),
            " ---- Stats ----\n"
            "InferenceCnt 10 TotalDuration 2242274us BatchSize 1 Inf/Sec 4.460\n"
            "Device Performance: \n"
            "Metric,          Avg,           Min,           Max,           Std            \n"
            "ExecTimeUs,      124826.111,    124682.969,    124958.542,    93.740         \n"
            "InputWaitTimeUs, 103266.866,    78898.594,     178349.688,    34244.603      \n"
            "OutputWaitTimeUs,0.113,         0.104,         0.156,         0.019          \n"
            "\n");
}

TEST(PrintRunReport, ShowsWhatIsNotMeasuredAsNotAvailable) {
  RunReport report = amber();
  report.metrics[1].values.reset();
  EXPECT_NE(print_run_report(report).find(
                "InputWaitTimeUs, N/A,           N/A,           N/A,           N/A            \n"),
            std::string::npos);
  const auto json = json_of(report);
  EXPECT_EQ(json["device_performance"]["InputWaitTimeUs"]["measured"], false);
  EXPECT_EQ(json["device_performance"]["InputWaitTimeUs"]["needs_stats_level"], 50);
  EXPECT_EQ(json["device_performance"]["ExecTimeUs"]["avg"], 124826.111);
}

TEST(PrintRunReport, ComparesTheDevicesThroughputWithTheSystems) {
  RunReport report = amber();
  // The figures above: execution and waiting for inputs make up the time between two inferences.
  report.throughput = analysis::judge_throughput(
      {.period = 228093, .execution = 124826, .input_wait = 103267, .queue_depth = 1}, 1e6);
  report.throughput->batch = 1;
  EXPECT_TRUE(print_run_report(report).ends_with(
      "\n\nThroughput of an activation: device 8.01 Inf/Sec, system 4.38 Inf/Sec, 45.3 % less.\n"
      "The device waits for inputs, because only one inference is under way: the next is sent when "
      "it is done. Keep more queued (-S).\n\n"));
  EXPECT_EQ(json_of(report)["throughput"]["cause"], "input_wait");
  EXPECT_TRUE(json_of(amber())["throughput"].is_null());
}

TEST(ReportRun, LeavesTheFirstInferenceOfEachActivationOutOfTheThroughput) {
  npu::nsp::ProgramRun run;
  run.stats_level = 50;
  run.timer = Hertz{1e6};
  npu::nsp::SimulationResult result;
  for (const std::uint32_t activation : {0u, 1u}) {
    for (std::int64_t number = 0; number < 3; ++number) {
      npu::nsp::SimulatedInference inference;
      inference.activation = activation;
      inference.device_ticks = number == 0 ? 900 : 100;
      inference.input_wait_ticks = number == 0 ? 5000 : 20;
      inference.device_end = Picoseconds{(1000 + 125 * number) * 1'000'000};
      inference.in_queue = 4;
      result.inferences.push_back(inference);
    }
  }
  run.result = std::make_shared<const npu::nsp::SimulationResult>(result);
  const auto throughput = report_run(run).throughput;
  ASSERT_TRUE(throughput);
  EXPECT_DOUBLE_EQ(throughput->period, 125);
  EXPECT_DOUBLE_EQ(throughput->execution, 100);
  EXPECT_DOUBLE_EQ(throughput->device, 1e4);
  EXPECT_DOUBLE_EQ(throughput->system, 8e3);
  EXPECT_EQ(throughput->cause, analysis::ThroughputGap::input_wait);
  result.inferences.resize(1);
  run.result = std::make_shared<const npu::nsp::SimulationResult>(result);
  EXPECT_FALSE(report_run(run).throughput);
}

TEST(ReportRun, SaysHowLongTheApplicationWaits) {
  npu::nsp::ProgramRun run;
  npu::nsp::SimulationResult result;
  for (std::int64_t number = 0; number < 200; ++number) {
    npu::nsp::SimulatedInference inference;
    inference.queued = Picoseconds{number * 1'000'000};
    inference.finished = inference.queued + Picoseconds{(1 + (number * 7) % 200) * 1'000'000};
    result.inferences.push_back(inference);
  }
  run.result = std::make_shared<const npu::nsp::SimulationResult>(result);
  const RunReport report = report_run(run);
  EXPECT_DOUBLE_EQ(report.request->median_s, 100.5e-6);
  EXPECT_DOUBLE_EQ(report.request->percentile_99_s, 198.01e-6);
  EXPECT_NE(print_run_report(report).find("Latency of an inference, from the host's queue to its "
                                          "result: median 100.500 us, 99 % 198.010 us.\n"),
            std::string::npos);
  EXPECT_EQ(json_of(report)["request_latency"]["median_seconds"], report.request->median_s);
  EXPECT_TRUE(json_of(RunReport{})["request_latency"].is_null());
}

TEST(Distribution, OfValues) {
  const auto some = distribution_of(std::vector<double>{2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(some->average, 5);
  EXPECT_EQ(some->min, 2);
  EXPECT_EQ(some->max, 9);
  EXPECT_EQ(some->deviation, 2);
}

TEST(Distribution, OfEqualValuesIsExactlyThatValue) {
  const auto equal = distribution_of(std::vector<double>(1001, 0.1));
  EXPECT_EQ(equal->average, 0.1);
  EXPECT_EQ(equal->deviation, 0);
}

TEST(Distribution, OfNothingIsNone) { EXPECT_FALSE(distribution_of({}).has_value()); }

TEST(ReportRun, MeasuresInWholeTicksOfTheDevicesTimer) {
  npu::nsp::ProgramRun run;
  run.stats_level = 50;
  run.batch_size = 8;
  run.timer = aic_utimer;
  npu::nsp::SimulationResult result;
  for (const std::uint64_t ticks : {100u, 200u}) {
    npu::nsp::SimulatedInference inference;
    inference.device_ticks = ticks;
    inference.output_wait_ticks = 2;
    result.inferences.push_back(inference);
  }
  result.total = Picoseconds{16'000'000'000};
  run.result = std::make_shared<const npu::nsp::SimulationResult>(result);
  const RunReport report = report_run(run);
  EXPECT_EQ(report.inferences_per_second, 1000);  // 16 in 16 ms
  EXPECT_DOUBLE_EQ(report.metrics[0].values->min, 100 / 19.2);
  EXPECT_DOUBLE_EQ(report.metrics[0].values->max, 200 / 19.2);
  EXPECT_DOUBLE_EQ(report.metrics[2].values->average, 2 / 19.2);
  run.stats_level = 40;
  EXPECT_TRUE(report_run(run).metrics[0].values.has_value());
  EXPECT_FALSE(report_run(run).metrics[1].values.has_value());
}

}  // namespace
}  // namespace npuscope::report::run_report_test
