// What two sides are judged by: the warm end-to-end call, percentiles of it, and findings.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/compare/compare_sides.hpp"

namespace npuscope::analysis {

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
