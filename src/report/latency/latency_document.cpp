#include "report/latency/latency_document.hpp"

#include <fmt/format.h>

#include "profile/names.hpp"
#include "report/document/provenance.hpp"
#include "report/latency/throughput_text.hpp"

namespace npuscope::report {
namespace {

using analysis::Latency;
using analysis::Throughput;

Section steps_section(const Latency& latency) {
  Section section{.key = "latency", .title = "LATENCY"};
  section.table.fields = {{"step", "step"},
                          {"kind", "kind"},
                          {"samples", "", Format::count},
                          {"mean", "mean", Format::ticks},
                          {"least", "min", Format::ticks}};
  section.table.fields.back().needed = false;
  for (const double percent : analysis::latency_percentiles) {
    section.table.fields.push_back({fmt::format("percentile_{:.0f}", percent),
                                    fmt::format("{:.0f} %", percent), Format::ticks});
    section.table.fields.back().needed = percent != 75 && percent != 90;
  }
  section.table.fields.push_back({"most", "max", Format::ticks});
  for (const analysis::LatencyRow& row : latency.rows) {
    std::vector<Value> values{row.name, stable_name(row.kind),
                              row.samples > 0 ? Value(row.samples) : Value(), row.mean, row.min};
    for (const auto& percentile : row.percentiles) values.emplace_back(percentile);
    values.emplace_back(row.max);
    section.table.rows.push_back(std::move(values));
  }
  if (!latency.rows.empty() && latency.rows.front().samples > 0) {
    section.remarks.push_back(fmt::format(
        "Of {} samples; percentiles lie between samples linearly.", latency.rows.front().samples));
  }
  section.remarks.push_back("Times are of a batch, whatever its size.");
  return section;
}

// Each figure of a batch and, where its size is known, of an inference.
Section call_throughput_section(const Throughput& throughput, bool of_log) {
  Section section{.key = "throughput", .title = "THROUGHPUT"};
  const double batch = throughput.per_batch(), all = throughput.activations;
  section.facts = {{{"device_batches_per_second", "device, batches/s", Format::number},
                    throughput.device * all}};
  const bool has_batch = throughput.batch > 0;
  const auto add = [&](Field field, Value value) {
    section.facts.push_back({std::move(field), std::move(value)});
  };
  if (has_batch) {
    add({"device_inferences_per_second", "device, inferences/s", Format::number},
        throughput.device_inferences());
  }
  add({"system_batches_per_second", "system, batches/s", Format::number}, throughput.system * all);
  if (has_batch) {
    add({"system_inferences_per_second", "system, inferences/s", Format::number},
        throughput.system_inferences());
  }
  add({"gap_share_of_device", "gap, of the device's", Format::share}, throughput.gap_share);
  add({"cause", "cause"}, stable_name(throughput.cause));
  if (throughput.queue_depth > 0) {
    add({"under_way", "batches under way", Format::number}, throughput.queue_depth);
  }
  if (of_log) add({"activations", "activations (derived)", Format::number}, all);
  add({"period", "between batches", Format::ticks}, throughput.period);
  add({"execution", "execution, per batch", Format::ticks}, throughput.execution);
  if (has_batch) {
    add({"execution_per_inference", "execution, per inference", Format::ticks},
        throughput.execution / batch);
  }
  add({"input_wait", "waiting for inputs", Format::ticks}, throughput.input_wait);
  add({"output_wait", "waiting for outputs", Format::ticks}, throughput.output_wait);
  if (has_batch) {
    add({"inferences_per_batch", "inferences per batch", Format::number}, throughput.batch);
  }
  section.remarks = {
      of_log ? "device: batches that it would do without a break, 1 / mean execution, by all "
               "activations. system: batches by the duration of the run, as the log's Inf/Sec. The "
               "log does not say how many activations shared the work: so many as the device's "
               "execution and waits need for it."
             : "device: batches that it would do without a break, 1 / mean execution. system: "
               "batches under way / mean round trip (Little's law), so of the sampled time only.",
      std::string(throughput_explanation(throughput))};
  return section;
}

}  // namespace

Result<Latency> latency_answer(const analysis::Analysis& analysis) {
  const Profile& profile = analysis.profile();
  Latency latency = analysis::analyse_latency(profile);
  if (!latency.rows.empty()) return latency;
  return input_error(
      "{}: neither a latency file nor a runner's log; make one with npuscope run "
      "--aic-profiling-type=latency",
      files_text(profile));
}

Result<Document> latency_document(const analysis::Analysis& analysis) {
  const auto found = latency_answer(analysis);
  if (!found) return tl::unexpected(found.error());
  const Latency& latency = *found;
  Document document{.profile = &analysis.profile()};
  document.sections.push_back(steps_section(latency));
  if (latency.all_of_beginning) {
    document.sections.back().remarks.push_back(
        "No throughput: all samples are of the run's beginning, while its queue was being filled; "
        "sample later (--aic-profiling-start-iter) or keep fewer queued (-S).");
  }
  if (latency.throughput) {
    const bool of_log = latency.rows.front().samples == 0;
    document.sections.push_back(call_throughput_section(*latency.throughput, of_log));
  }
  return document;
}

}  // namespace npuscope::report
