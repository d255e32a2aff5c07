#include "fleet/questions/statistics.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/sort_rows.hpp"
#include "base/try.hpp"
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

Result<RunMedians> run_medians(Store& store, const ChosenRuns& runs, const CommonClock& clock,
                               const std::string& measure, bool cold) {
  RunMedians medians;
  medians.cold_only = cold;
  const auto take = [&](const std::string& sql) -> Status {
    TRY_AS(rows, answer_of(store, 3, sql));
    for (const AnswerRow& row : *rows) {
      if (const auto value = number_at(row, 2)) {
        medians.ops[integer_at(row, 0)].push_back({integer_at(row, 1), *value});
      }
    }
    return {};
  };
  Status done = take(fmt::format(
      "SELECT op, run, {} FROM {} GROUP BY op, run", store.percentile(clock.value_of(measure), 50),
      runs.facts("op_runs", fmt::format("cold = {} AND {} IS NOT NULL", int(cold), measure))));
  if (done) {
    done = take(fmt::format(
        "SELECT 0, run, {} FROM {} GROUP BY run", store.percentile(clock.value_of("wall"), 50),
        runs.facts("inferences", fmt::format("cold = {} AND wall IS NOT NULL", int(cold)))));
  }
  if (!done) return tl::unexpected(done.error());
  for (auto& [op, of_runs] : medians.ops) {
    std::sort(of_runs.begin(), of_runs.end(),
              [](const RunMedian& a, const RunMedian& b) { return a.run < b.run; });
  }
  TRY_AS(names, answer_of(store, 3, "SELECT id, name, kind FROM ops"));
  for (const AnswerRow& row : *names) {
    if (medians.ops.contains(integer_at(row, 0))) {
      medians.names[integer_at(row, 0)] = {text_at(row, 1), text_at(row, 2)};
    }
  }
  return medians;
}

Result<bool> has_warm_ops(Store& store, const ChosenRuns& runs, const std::string& measure) {
  // One row tells, so the store need not look at all of them.
  for (const char* condition : {"cold = 0 AND ", ""}) {
    TRY_AS(rows, answer_of(store, 1,
                           fmt::format("SELECT op FROM {} LIMIT 1",
                                       runs.facts("op_runs", fmt::format("{}{} IS NOT NULL",
                                                                         condition, measure)))));
    if (!rows->empty()) return condition[0] != '\0';
  }
  return usage_error("none of {} chosen runs has {} of ops; fleet latency may have something",
                     runs.runs(), measure);
}

namespace {

constexpr double min_share = 0.5;
constexpr double min_difference = 0.01;
constexpr std::size_t min_runs_of_value = 3;  // on average

// The slowest value's median to the fastest one's.
double slowest_of(const std::vector<double>& relative, const std::vector<std::size_t>& groups,
                  std::size_t group_count) {
  std::vector<std::vector<double>> of_group(group_count);
  for (std::size_t i = 0; i < relative.size(); ++i) of_group[groups[i]].push_back(relative[i]);
  std::vector<double> medians;
  medians.reserve(group_count);
  for (std::vector<double>& group : of_group) {
    medians.push_back(analysis::median_of(std::move(group)));
  }
  const auto [least, most] = std::minmax_element(medians.begin(), medians.end());
  return *least > 0 ? *most / *least : 1;
}

}  // namespace

Result<std::vector<InfluentialTag>> influential_tags(
    Store& store, const std::unordered_map<Id, double>& relative_of_runs,
    const std::vector<std::string>& used) {
  TRY_AS(keys, tag_keys(store));
  std::vector<InfluentialTag> influential;
  for (const TagKey& tag : *keys) {
    if (tag.values < 2 || tag.values * min_runs_of_value > tag.runs) continue;
    if (std::find(used.begin(), used.end(), tag.key) != used.end()) continue;
    const auto rows =
        answer_of(store, 2, fmt::format("SELECT run, value FROM tags WHERE key = '{}'", tag.key));
    if (!rows) return tl::unexpected(rows.error());
    std::vector<double> relative;
    std::vector<std::size_t> groups;
    std::unordered_map<std::string, std::size_t> places;
    for (const AnswerRow& row : *rows) {
      const auto run = relative_of_runs.find(integer_at(row, 0));
      if (run == relative_of_runs.end()) continue;
      relative.push_back(run->second);
      groups.push_back(places.try_emplace(text_at(row, 1), places.size()).first->second);
    }
    if (places.size() < 2 || places.size() * min_runs_of_value > relative.size()) continue;
    const double share = explained_share(relative, groups);
    const double slowest = slowest_of(relative, groups, places.size());
    if (share < min_share || slowest < 1 + min_difference) continue;
    influential.push_back({tag.key, share, slowest});
  }
  sort_rows(influential.begin(), influential.end(),
            [](const InfluentialTag& a, const InfluentialTag& b) { return a.share > b.share; });
  return influential;
}

}  // namespace npuscope::fleet
