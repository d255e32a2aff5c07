#include "npuscope/analysis/sample_sets.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analysis/compare/only_inference.hpp"
#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {
namespace {

// What samples of one thing have in common.
using Likeness = std::tuple<std::string, std::string, std::string, std::string, std::string, double,
                            std::size_t, double>;

Likeness likeness_of(const Profile& profile) {
  const Provenance& from = profile.provenance;
  std::string clock;
  double rate = 0;
  if (index_of(profile.base_clock) < profile.clocks.size()) {
    const Clock& base = profile.clocks[index_of(profile.base_clock)];
    clock = profile.text(base.name);
    rate = base.rate.value;
  }
  return {from.format,          from.device,
          from.graph,           clock,
          from.instrumentation, rate,
          profile.ops.size(),   number_of_run(profile, "program").value_or(-1)};
}

double wall_of(const Profile& profile) { return double(length_of(timeline_of(profile))); }

// The first inference of a session, where others are there.
bool is_first(const Profile& profile) { return only_inference(profile) == 0u; }

void measure(SampleSet& set, std::span<const Profile> profiles) {
  const bool has_others = std::any_of(set.profiles.begin(), set.profiles.end(),
                                      [&](std::size_t i) { return !is_first(profiles[i]); });
  std::vector<std::size_t> warm;
  for (const std::size_t i : set.profiles) {
    if (!has_others || !is_first(profiles[i])) warm.push_back(i);
  }
  set.cold = set.profiles.size() - warm.size();
  std::vector<double> walls;
  for (const std::size_t i : warm) walls.push_back(wall_of(profiles[i]));
  set.walls = spread_of(walls);
  const auto nearest = std::min_element(walls.begin(), walls.end(), [&](double a, double b) {
    return std::abs(a - set.walls.median) < std::abs(b - set.walls.median);
  });
  set.nearest_median = warm[std::size_t(nearest - walls.begin())];
}

}  // namespace

std::vector<SampleSet> sample_sets(std::span<const Profile> profiles) {
  std::vector<SampleSet> sets;
  std::map<Likeness, std::size_t> known;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    std::size_t place = sets.size();
    const bool is_sample = only_inference(profiles[i]) && wall_of(profiles[i]) > 0;
    if (is_sample) place = known.try_emplace(likeness_of(profiles[i]), place).first->second;
    if (place == sets.size()) sets.emplace_back();
    sets[place].profiles.push_back(i);
  }
  for (SampleSet& set : sets) measure(set, profiles);
  return sets;
}

}  // namespace npuscope::analysis
