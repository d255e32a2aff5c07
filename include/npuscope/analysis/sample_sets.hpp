// Which profiles are samples of one thing: files of one inference each, as raw buffers are.
//
//   const auto sets = sample_sets(opened.profiles);
//   sets[0].profiles         // {0, 1, 2, 3, 4}: inferences 0 to 4 of one program
//   sets[0].cold             // 1: inference 0 is apart
//   sets[0].walls            // of the other four: from 1.028 to 1.035 ms
//   sets[0].nearest_median   // 3: the one to look at
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "npuscope/analysis/coarse.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

struct SampleSet {
  std::vector<std::size_t> profiles;  // in their order; a profile of another sort is alone
  std::size_t nearest_median = 0;     // of them, by wall: place in what sample_sets() was given
  std::uint64_t cold = 0;             // of them: apart, because there are others
  Spread walls;                       // of those not apart, in ticks of the base clock
};

// Every profile is in one set; sets are in the order of their first profiles.
std::vector<SampleSet> sample_sets(std::span<const Profile> profiles);

}  // namespace npuscope::analysis
