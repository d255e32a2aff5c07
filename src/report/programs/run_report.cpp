#include "report/programs/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "report/latency/latency_document.hpp"

namespace npuscope::report {
namespace {

double microseconds(Picoseconds time) { return double(time.value) * 1e-6; }

RunMetric metric(const npu::nsp::ProgramRun& run, std::string name, std::uint32_t needs_level,
                 std::uint64_t npu::nsp::SimulatedInference::*ticks) {
  RunMetric result{std::move(name), needs_level, std::nullopt};
  if (run.stats_level < needs_level) return result;
  std::vector<double> values;
  values.reserve(run.result->inferences.size());
  for (const npu::nsp::SimulatedInference& inference : run.result->inferences) {
    values.push_back(double(inference.*ticks) / run.timer.value * 1e6);
  }
  result.values = distribution_of(values);
  return result;
}

// Of each activation from its second inference on: before the first the device waits for what no
// other inference waits for.
std::optional<analysis::Throughput> steady_throughput(const npu::nsp::ProgramRun& run) {
  if (run.stats_level < 40) return std::nullopt;
  std::map<std::uint32_t, Picoseconds> first_end, last_end;
  analysis::ThroughputTimes sum;
  std::uint64_t count = 0;
  for (const npu::nsp::SimulatedInference& inference : run.result->inferences) {
    last_end[inference.activation] = inference.device_end;
    if (first_end.try_emplace(inference.activation, inference.device_end).second) continue;
    ++count;
    sum.execution += double(inference.device_ticks);
    sum.input_wait += double(inference.input_wait_ticks);
    sum.output_wait += double(inference.output_wait_ticks);
    sum.queue_depth += double(inference.in_queue);
  }
  for (const auto& [activation, end] : last_end) {
    sum.period += microseconds(end - first_end[activation]) * 1e-6 * run.timer.value;
  }
  if (!(sum.execution > 0) || !(sum.period > 0)) return std::nullopt;
  const double each = 1 / double(count);
  auto throughput =
      analysis::judge_throughput({sum.period * each, sum.execution * each, sum.input_wait * each,
                                  sum.output_wait * each, sum.queue_depth * each},
                                 run.timer.value);
  throughput.batch = run.batch_size;
  return throughput;
}

std::string throughput_text(const analysis::Throughput& throughput) {
  return fmt::format(
      "Throughput of an activation: device {:.2f} Inf/Sec, system {:.2f} Inf/Sec, {:.1f} % "
      "less.\n{}\n\n",
      throughput.device * throughput.batch, throughput.system * throughput.batch,
      throughput.gap_share * 100, throughput_explanation(throughput));
}

void write_throughput(Json& json, const analysis::Throughput& throughput) {
  json.member("device_inferences_per_second", throughput.device * throughput.batch);
  json.member("system_inferences_per_second", throughput.system * throughput.batch);
  json.member("gap_share_of_device", throughput.gap_share);
  json.member("cause", stable_name(throughput.cause));
}

void write_request(Json& json, const std::optional<npu::nsp::RequestTimes>& request) {
  if (!request) return json.null();
  json.object([&] {
    json.member("median_seconds", request->median_s);
    json.member("percentile_99_seconds", request->percentile_99_s);
  });
}

void write_metric(Json& json, const RunMetric& metric) {
  json.object(metric.name, [&] {
    json.member("needs_stats_level", metric.needs_level);
    json.member("measured", metric.values.has_value());
    if (!metric.values) return;
    json.member("avg", metric.values->average);
    json.member("min", metric.values->min);
    json.member("max", metric.values->max);
    json.member("std", metric.values->deviation);
  });
}

}  // namespace

std::optional<Distribution> distribution_of(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  const auto [min, max] = std::ranges::minmax_element(values);
  const double count = double(values.size());
  // Measured from the least, so that equal values have exactly their own average.
  double above_least = 0;
  for (const double value : values) above_least += value - *min;
  const double average = *min + above_least / count;
  double squares = 0;
  for (const double value : values) squares += (value - average) * (value - average);
  return Distribution{average, *min, *max, std::sqrt(squares / count)};
}

RunReport report_run(const npu::nsp::ProgramRun& run) {
  using Inference = npu::nsp::SimulatedInference;
  RunReport report;
  report.program = run.number;
  report.device = run.device;
  report.devices = run.devices;
  report.network = run.network;
  report.stats_level = run.stats_level;
  report.activations = run.activations;
  report.samples = run.samples;
  report.inference_count = run.result->inferences.size();
  report.total_duration_us = microseconds(run.result->total);
  report.batch_size = run.batch_size;
  report.inferences_per_second = npu::nsp::samples_per_second(*run.result, run.batch_size);
  if (report.inference_count > 0) report.request = npu::nsp::request_times(*run.result);
  report.metrics = {
      metric(run, "ExecTimeUs", 40, &Inference::device_ticks),
      metric(run, "InputWaitTimeUs", 50, &Inference::input_wait_ticks),
      metric(run, "OutputWaitTimeUs", 50, &Inference::output_wait_ticks),
  };
  report.throughput = steady_throughput(run);
  return report;
}

std::string print_run_report(const RunReport& report) {
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, " ---- Stats ----\n");
  fmt::format_to(out, "InferenceCnt {} TotalDuration {:.0f}us BatchSize {} Inf/Sec {:.3f}\n",
                 report.inference_count, report.total_duration_us, report.batch_size,
                 report.inferences_per_second);
  const auto row = [&](std::string_view name, const std::string& average, const std::string& min,
                       const std::string& max, const std::string& deviation) {
    fmt::format_to(out, "{:<17}{:<15}{:<15}{:<15}{:<15}\n", fmt::format("{},", name), average + ",",
                   min + ",", max + ",", deviation);
  };
  fmt::format_to(out, "Device Performance: \n");
  row("Metric", "Avg", "Min", "Max", "Std");
  for (const RunMetric& metric : report.metrics) {
    const auto cell = [&](double Distribution::*value) {
      return metric.values ? fmt::format("{:.3f}", (*metric.values).*value) : "N/A";
    };
    row(metric.name, cell(&Distribution::average), cell(&Distribution::min),
        cell(&Distribution::max), cell(&Distribution::deviation));
  }
  text += '\n';
  if (report.request) {
    fmt::format_to(out,
                   "Latency of an inference, from the host's queue to its result: median {:.3f} "
                   "us, 99 % {:.3f} us.\n\n",
                   report.request->median_s * 1e6, report.request->percentile_99_s * 1e6);
  }
  if (report.throughput) text += throughput_text(*report.throughput);
  return text;
}

void write_run_report(Json& json, const RunReport& report) {
  json.member("program", report.program);
  json.member("device", report.device);
  json.member("devices", report.devices);
  json.member("network", report.network);
  json.member("stats_level", report.stats_level);
  json.member("activations", report.activations);
  json.member("samples", report.samples);
  json.member("inference_count", report.inference_count);
  json.member("total_duration_us", report.total_duration_us);
  json.member("batch_size", report.batch_size);
  json.member("inferences_per_second", report.inferences_per_second);
  json.key("request_latency");
  write_request(json, report.request);
  json.object("device_performance", [&] {
    for (const RunMetric& metric : report.metrics) write_metric(json, metric);
  });
  json.key("throughput");
  if (!report.throughput) return json.null();
  json.object([&] { write_throughput(json, *report.throughput); });
}

std::string run_outcome_json(const npu::nsp::RunOutcome& outcome) {
  return json_text([&](Json& json) {
    json.objects("programs", outcome.programs,
                 [&](const npu::nsp::ProgramRun& run) { write_run_report(json, report_run(run)); });
    json.array("files", outcome.files, [&](const auto& file) { json.value(file.string()); });
    json.member("warnings", outcome.warnings);
  });
}

}  // namespace npuscope::report
