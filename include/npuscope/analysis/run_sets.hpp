// Which profiles are runs of one program: files of one inference each, as raw buffers are.
//
//   const auto sets = run_sets(profiles);
//   sets[0].profiles         // {0, 1, 2, 3, 4}: inferences 0 to 4 of one program
//   sets[0].cold             // 1: inference 0 is apart
//   sets[0].walls            // of the other four: from 1.028 to 1.035 ms
//   sets[0].nearest_median   // 3: the one to look at
//   join_runs(std::move(opened.profiles))   // one profile of five inferences
//
// Of one program are those of the same format and version, device, graph, instrumentation, clock,
// program and activation, with as many ops.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "npuscope/analysis/coarse.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

struct RunSet {
  std::vector<std::size_t> profiles;  // in their order; a profile of another sort is alone
  std::size_t nearest_median = 0;     // of them, by wall: place in what run_sets() was given
  std::uint64_t cold = 0;             // of them: apart, because there are others
  Spread walls;                       // of several: of those not apart, in ticks of the base clock
};

// Every profile is in one set; sets are in the order of their first profiles.
std::vector<RunSet> run_sets(std::span<const Profile* const> profiles);

// Runs of one program as one profile of several inferences, where they also have the same units,
// ops and edges, and their inferences have different numbers and on each unit times one after the
// other; what differs otherwise stays by itself. A joined profile stands where its first run stood.
std::vector<Profile> join_runs(std::vector<Profile> profiles);

}  // namespace npuscope::analysis
