#include "fleet/questions/influence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/sort_rows.hpp"
#include "fleet/questions/choice.hpp"
#include "fleet/questions/statistics.hpp"
#include "npuscope/analysis/statistics.hpp"

namespace npuscope::fleet {
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
  const auto keys = tag_keys(store);
  if (!keys) return tl::unexpected(keys.error());
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
