// Which devices are slow and why, and which runs are unlike their device's.
//
//   const auto outliers = outliers_of(store, {});
//   outliers->groups[0].by          // "pixel-17"
//   outliers->groups[0].reason      // SlowReason::clock: its clock is 0.71 of the others'
//
// Each run's median latency is taken relative to the median of all runs of its model (and of its
// build, with .within = {"build"}), so that devices that ran other models compare; a device's
// slowness is the median of these.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/questions/latency.hpp"

namespace npuscope::fleet {

// The first of these that explains at least half of it.
enum class SlowReason : std::uint8_t {
  none,    // it is not slow
  graph,   // it runs another compiled graph than most
  clock,   // its cores run slower: throttled, or another power limit
  work,    // more cycles of computing
  memory,  // its transfers take longer, or nothing works for longer
  unknown,
};
const char* name_of(SlowReason reason);

struct SlowGroup {
  std::vector<Value> by;
  std::uint64_t runs = 0;
  double relative = 1;  // latency, to the median run of its models
  double distance = 0;  // robust, from the other groups
  bool is_outlier = false;
  SlowReason reason = SlowReason::none;
  // Relative to the median group; none where not known.
  std::optional<double> clock, work, movement, idle, bytes;
  double other_graph = 0;  // share of its runs of another graph than most runs of their model
  MedianRun median_run;    // the one nearest `relative`
};

struct OutlierRun {
  Id run = 0;
  std::vector<Value> by;
  double value = 0;     // seconds, or ticks
  double relative = 1;  // to its group's median
  double distance = 0;
  std::string files;
};

struct FleetOutliers {
  std::vector<std::string> by;
  std::string measure;
  bool in_ticks = false;
  std::uint64_t runs = 0;
  double limit = 0;               // distance from which on something is an outlier
  std::vector<SlowGroup> groups;  // the slowest first
  std::vector<OutlierRun> rows;   // the farthest first
  std::vector<std::string> remarks;
};

struct OutlierRequest : LatencyRequest {
  std::vector<std::string> within = {};  // columns and tags, besides the model
};

// By `device` unless the choice says by what.
Result<FleetOutliers> outliers_of(Store& store, Choice choice, const OutlierRequest& request);

}  // namespace npuscope::fleet
