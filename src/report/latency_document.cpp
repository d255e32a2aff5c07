#include "npuscope/report/latency_document.hpp"

#include <fmt/format.h>

#include "npuscope/analysis/latency.hpp"
#include "profile/names.hpp"
#include "report/document/provenance.hpp"
#include "report/throughput_text.hpp"

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
                          {"least", "least", Format::ticks}};
  section.table.fields.back().needed = false;
  for (const double percent : analysis::latency_percentiles) {
    section.table.fields.push_back({fmt::format("percentile_{:.0f}", percent),
                                    fmt::format("{:.0f} %", percent), Format::ticks});
    section.table.fields.back().needed = percent != 75 && percent != 90;
  }
  section.table.fields.push_back({"most", "most", Format::ticks});
  for (const analysis::LatencyRow& row : latency.rows) {
    std::vector<Value> values{row.name, stable_name(row.kind),
                              row.samples > 0 ? Value(row.samples) : Value(), row.mean, row.least};
    for (const auto& percentile : row.percentiles) values.emplace_back(percentile);
    values.emplace_back(row.most);
    section.table.rows.push_back(std::move(values));
  }
  if (!latency.rows.empty() && latency.rows.front().samples > 0) {
    section.remarks.push_back(fmt::format(
        "Of {} samples; percentiles lie between samples linearly.", latency.rows.front().samples));
  }
  return section;
}

Section throughput_section(const Throughput& throughput) {
  Section section{.key = "throughput", .title = "THROUGHPUT"};
  const double batch = throughput.batch;
  section.facts = {
      {{"device_batches_per_second", "device, batches/s", Format::number}, throughput.device},
      {{"system_batches_per_second", "system, batches/s", Format::number}, throughput.system},
      {{"gap_share_of_device", "gap, of the device's", Format::share}, throughput.gap_share},
      {{"cause", "cause"}, stable_name(throughput.cause)},
      {{"under_way", "inferences under way", Format::number}, throughput.queue_depth},
      {{"period", "between batches", Format::ticks}, throughput.period},
      {{"execution", "execution", Format::ticks}, throughput.execution},
      {{"input_wait", "waiting for inputs", Format::ticks}, throughput.input_wait},
      {{"output_wait", "waiting for outputs", Format::ticks}, throughput.output_wait}};
  if (batch > 0) {
    section.facts.push_back(
        {{"inferences_per_batch", "inferences per batch", Format::number}, batch});
  }
  section.remarks = {
      "device: batches that it would do without a break, 1 / mean execution. system: inferences "
      "under way / mean round trip (Little's law), so of the sampled time only.",
      std::string(throughput_explanation(throughput))};
  return section;
}

}  // namespace

Result<Document> latency_document(const Profile& profile) {
  const Latency latency = analysis::analyse_latency(profile);
  if (latency.rows.empty()) {
    return input_error(
        "{}: is no latency file; make one with npuscope run --aic-profiling-type=latency",
        files_text(profile));
  }
  Document document{.profile = &profile};
  document.sections.push_back(steps_section(latency));
  if (latency.all_of_beginning) {
    document.sections.back().remarks.push_back(
        "No throughput: all samples are of the run's beginning, while its queue was being filled; "
        "sample later (--aic-profiling-start-iter) or keep fewer queued (-S).");
  }
  if (latency.throughput) document.sections.push_back(throughput_section(*latency.throughput));
  return document;
}

}  // namespace npuscope::report
