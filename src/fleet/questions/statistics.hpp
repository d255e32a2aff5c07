// What a fleet's questions need beyond the statistics of two sets of samples
// (npuscope/analysis/statistics.hpp).
//
//   q_values({0.001, 0.04, 0.03})          // {0.003, 0.04, 0.04}: Benjamini and Hochberg
//   change_point({1, 1, 2, 9, 9, 8})       // {.at = 3, .p = 0.16}: Pettitt
//   robust_distances({10, 11, 9, 30})      // by median and median absolute deviation
//   explained_share({1, 2, 8, 9}, {0, 0, 1, 1})  // 0.7 of how they differ is their groups
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

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

}  // namespace npuscope::fleet
