// How latency is spread over the chosen runs, group by group: percentiles of warm inferences, cold
// ones apart, and the one run that is the group's median.
//
//   const auto latency = latency_of(store, {.by = {"device"}}, {});
//   latency->measure              // "wall_seconds"
//   latency->groups[0].p50        // 0.00103, of the slowest group
//   latency->groups[0].median_run // open its files with show
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/questions/choice.hpp"

namespace npuscope::fleet {

struct MedianRun {
  Id run = 0;
  std::string files;  // one a line
};

struct LatencyGroup {
  std::vector<Value> by;
  std::uint64_t runs = 0, inferences = 0;
  double p50 = 0, p90 = 0, p99 = 0, min = 0, max = 0;
  std::uint64_t cold_inferences = 0;
  std::optional<double> cold_p50, cold_p90;
  std::optional<double> clock_hertz;  // median
  std::optional<MedianRun> median_run;
};

struct FleetLatency {
  std::vector<std::string> by;
  std::string measure;     // the column of inferences
  bool in_ticks = false;   // else seconds
  bool cold_only = false;  // percentiles are of cold inferences, for want of others
  std::uint64_t runs = 0;
  std::vector<LatencyGroup> groups;  // the slowest first
  std::vector<std::string> remarks;
};

struct LatencyRequest {
  std::string measure = {};  // empty: that of most runs, the first of these
};
// latency_seconds, device_latency_seconds, wall_seconds, wall.
const std::vector<std::string>& latency_measures();

Result<FleetLatency> latency_of(Store& store, const Choice& choice, const LatencyRequest& request);

// The files of runs, by id.
Result<std::vector<MedianRun>> files_of(Store& store, const std::vector<Id>& runs);

}  // namespace npuscope::fleet
