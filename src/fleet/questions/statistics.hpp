// What a fleet's questions need beyond the statistics of two sets of samples
// (npuscope/analysis/statistics.hpp).
//
//   q_values({0.001, 0.04, 0.03})          // {0.003, 0.04, 0.04}: Benjamini and Hochberg
//   change_point({1, 1, 2, 9, 9, 8})       // {.at = 3, .p = 0.16}: Pettitt
//   robust_distances({10, 11, 9, 30})      // by median and median absolute deviation
//   explained_share({1, 2, 8, 9}, {0, 0, 1, 1})  // 0.7 of how they differ is their groups
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "fleet/questions/answer.hpp"
#include "fleet/questions/choice.hpp"

namespace npuscope::fleet {

// The least rate of false discoveries at which each is one, of all of them together (Benjamini and
// Hochberg 1995): discoveries are those of at most the rate that is wanted.
std::vector<double> q_values(const std::vector<double>& p);

struct ChangePoint {
  std::size_t at = 0;  // the first sample after the change
  double p = 1;        // how rarely chance alone parts samples so at any point
};

// Where the samples' level changes most, by ranks (Pettitt 1979, p by his approximation; ties by
// their mean rank). Only between samples of different `places`, which are in order; empty: each has
// its own. None with less than two places.
std::optional<ChangePoint> change_point(const std::vector<double>& samples,
                                        const std::vector<std::size_t>& places = {});

// (sample - median) / (1.4826 * median absolute deviation): as many standard deviations where the
// samples are normal, whatever a few of them are. Where more than half are equal, the scale is the
// mean absolute deviation (times 1.2533); none where all are.
std::optional<std::vector<double>> robust_distances(const std::vector<double>& samples);

// How much of the variance of the samples' ranks their groups explain, less what as many groups
// explain by chance: (H - k + 1) / (n - k) of the H of Kruskal and Wallis (1952), n samples and k
// groups. At most 1; around 0 where groups mean nothing; 0 where it cannot be told (one group, or
// each sample its own). Groups are numbers from 0.
double explained_share(const std::vector<double>& samples, const std::vector<std::size_t>& groups);

// The median of each op in each run, and of each inference's wall: a sample a run, because the
// inferences of one run are no independent ones.
struct OpName {
  std::string name, kind;
};

struct RunMedian {
  Id run = 0;
  double value = 0;
};

struct RunMedians {
  bool cold_only = false;
  std::map<Id, std::vector<RunMedian>> ops;  // 0: the wall of the inference
  std::map<Id, OpName> names;
};

// Of warm inferences, or of cold ones where `cold`.
Result<RunMedians> run_medians(Store& store, const ChosenRuns& runs, const CommonClock& clock,
                               const std::string& measure, bool cold);

// Whether any warm inference has the measure.
Result<bool> has_warm_ops(Store& store, const ChosenRuns& runs, const std::string& measure);

// Which tags explain how runs of one device differ, so that a reader learns what to compare within.
//
//   influential_tags(store, {{17, 1.08}, {18, 1.0}, ...}, {"device"})
//       // {{.key = "build", .share = 0.83, .slowest = 1.07}}
struct InfluentialTag {
  std::string key;
  double share = 0;    // of how the runs differ (explained_share), at least a half
  double slowest = 1;  // the median of its slowest value, to that of its fastest
};

// Of some runs, each with its latency relative to the median of its group; the most influential tag
// first. `used` are not asked for. Values of a tag that has more than a third as many as runs, or
// that differ by less than 1 %, are no influence.
Result<std::vector<InfluentialTag>> influential_tags(
    Store& store, const std::unordered_map<Id, double>& relative_of_runs,
    const std::vector<std::string>& used);

}  // namespace npuscope::fleet
