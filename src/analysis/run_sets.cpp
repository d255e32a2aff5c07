#include "npuscope/analysis/run_sets.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/run_identity.hpp"
#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {
namespace {

double wall_of(const Profile& profile) { return double(length_of(timeline_of(profile))); }

// The first inference of a session, where others are there.
bool is_first(const Profile& profile) { return only_inference(profile) == 0u; }

void measure(RunSet& set, std::span<const Profile* const> profiles) {
  const bool has_others = std::any_of(set.profiles.begin(), set.profiles.end(),
                                      [&](std::size_t i) { return !is_first(*profiles[i]); });
  std::vector<std::size_t> warm;
  for (const std::size_t i : set.profiles) {
    if (!has_others || !is_first(*profiles[i])) warm.push_back(i);
  }
  set.cold = set.profiles.size() - warm.size();
  std::vector<double> walls;
  for (const std::size_t i : warm) walls.push_back(wall_of(*profiles[i]));
  set.walls = spread_of(walls);
  const auto nearest = std::min_element(walls.begin(), walls.end(), [&](double a, double b) {
    return std::abs(a - set.walls.median) < std::abs(b - set.walls.median);
  });
  set.nearest_median = warm[std::size_t(nearest - walls.begin())];
}

}  // namespace

std::vector<RunSet> run_sets(std::span<const Profile* const> profiles) {
  std::vector<RunSet> sets;
  std::map<RunIdentity, std::size_t> known;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    std::size_t place = sets.size();
    const bool is_sample = only_inference(*profiles[i]) && wall_of(*profiles[i]) > 0;
    if (is_sample) place = known.try_emplace(run_identity(*profiles[i]), place).first->second;
    if (place == sets.size()) sets.emplace_back();
    sets[place].profiles.push_back(i);
  }
  for (RunSet& set : sets) measure(set, profiles);
  return sets;
}

}  // namespace npuscope::analysis
