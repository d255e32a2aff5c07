// The runs of one side of a comparison as one set of samples.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "npuscope/analysis/compare.hpp"

namespace npuscope::analysis {

// Samples of one number, by what is known of them.
struct Pool {
  std::vector<double> values;
  bool cold = false;    // for want of others
  bool of_run = false;  // numbers of whole runs of several inferences
};

class RunSide {
 public:
  explicit RunSide(std::span<const RunSamples> runs);

  std::span<const RunSamples> runs() const { return runs_; }
  std::uint64_t apart() const;  // inferences
  bool is_cold_only() const;    // no inference is known to be warm, some are known to be cold

  // `factors`: one for each run, by which its samples are multiplied.
  Pool pool(std::string_view metric, const std::vector<double>& factors) const;

  // Whether this inference of a run is no sample where there are others; of every_instance never.
  bool is_cold(std::size_t run, std::uint32_t inference) const;

 private:
  std::span<const RunSamples> runs_;  // may be none
  bool begins_at_first_ = false;      // files of one inference each, and some of later ones
};

// What times of these clocks are compared in, and by what each is multiplied; none where they have
// no known relation.
struct CommonTime {
  MeasuredIn unit = MeasuredIn::ticks;
  std::vector<double> factors;
};
std::optional<CommonTime> common_time(const std::vector<TimeBase>& clocks);

// A number of both sides by its name.
using ComparedMetric = tl::expected<MetricChange, RefusedMetric::Why>;
ComparedMetric compare_metric(const RunSide& a, const RunSide& b, std::string_view name);

// What two sides are judged by: the warm end-to-end call, percentiles of it, and findings.

// The sides of a comparison, and what they have of the same runs in other formats.
struct ComparedSides {
  const RunSide &a, &b, &more_a, &more_b;

  bool is_alone() const { return a.runs().empty(); }  // B has nothing to be compared with
  const RunSide& reference() const { return is_alone() ? b : a; }
};

// latency, device_latency, throughput, p50 to p99.
bool is_call_metric(std::string_view name);
// From the runs, else from what is beside them; warm before cold, measured before derived.
ComparedMetric compare_call_metric(const ComparedSides& sides, std::string_view name);

// Those that both sides have, as Comparison::call says.
std::vector<MetricChange> compare_call(const ComparedSides& sides);

// "findings(high)".
bool is_findings_metric(std::string_view name);
Result<MetricChange> compare_findings(const ComparedSides& sides, std::string_view name);

}  // namespace npuscope::analysis
