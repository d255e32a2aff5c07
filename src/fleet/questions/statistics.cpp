#include "fleet/questions/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/sort_rows.hpp"
#include "npuscope/analysis/statistics.hpp"

namespace npuscope::fleet {
namespace {

std::vector<std::size_t> order_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  sort_rows(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

// From 1; equal values have the mean of theirs.
std::vector<double> ranks_of(const std::vector<double>& values) {
  const std::vector<std::size_t> order = order_of(values);
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = (double(begin + end) + 1) / 2;
    begin = end;
  }
  return ranks;
}

}  // namespace

std::vector<double> q_values(const std::vector<double>& p) {
  const std::vector<std::size_t> order = order_of(p);
  std::vector<double> q(p.size());
  double least = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    least = std::min(least, p[order[i]] * double(p.size()) / double(i + 1));
    q[order[i]] = least;
  }
  return q;
}

std::optional<ChangePoint> change_point(const std::vector<double>& samples,
                                        const std::vector<std::size_t>& places) {
  const std::vector<double> ranks = ranks_of(samples);
  const auto n = double(samples.size());
  std::optional<ChangePoint> found;
  double sum = 0, largest = -1;
  for (std::size_t t = 1; t < samples.size(); ++t) {
    sum += ranks[t - 1];
    if (!places.empty() && places[t] == places[t - 1]) continue;
    const double distance = std::abs(2 * sum - double(t) * (n + 1));  // Pettitt's |U|
    if (distance <= largest) continue;
    largest = distance;
    found = ChangePoint{t, 1};
  }
  if (found) found->p = std::min(1.0, 2 * std::exp(-6 * largest * largest / (n * n * n + n * n)));
  return found;
}

std::optional<std::vector<double>> robust_distances(const std::vector<double>& samples) {
  if (samples.empty()) return std::nullopt;
  const double middle = analysis::median_of(samples);
  std::vector<double> away;
  double sum = 0;
  for (const double sample : samples) {
    away.push_back(std::abs(sample - middle));
    sum += away.back();
  }
  constexpr double of_median = 1.4826, of_mean = 1.2533;  // of a normal distribution
  double scale = of_median * analysis::median_of(away);
  if (scale == 0) scale = of_mean * sum / double(samples.size());
  if (!(scale > 0)) return std::nullopt;
  std::vector<double> distances;
  for (const double sample : samples) distances.push_back((sample - middle) / scale);
  return distances;
}

double explained_share(const std::vector<double>& samples, const std::vector<std::size_t>& groups) {
  const std::vector<double> ranks = ranks_of(samples);
  const auto n = double(samples.size());
  const double mean = (n + 1) / 2;
  std::vector<double> sums, counts;
  double all = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (groups[i] >= sums.size()) {
      sums.resize(groups[i] + 1);
      counts.resize(groups[i] + 1);
    }
    sums[groups[i]] += ranks[i] - mean;
    counts[groups[i]] += 1;
    all += (ranks[i] - mean) * (ranks[i] - mean);
  }
  double between = 0, k = 0;
  for (std::size_t group = 0; group < sums.size(); ++group) {
    if (counts[group] == 0) continue;
    between += sums[group] * sums[group] / counts[group];
    k += 1;
  }
  if (!(all > 0) || k < 2 || k >= n) return 0;
  const double h = (n - 1) * between / all;  // with ties as Kruskal and Wallis correct for them
  return (h - k + 1) / (n - k);
}

}  // namespace npuscope::fleet
