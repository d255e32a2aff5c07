// What an op on the path gains when it takes no time: all that it has of the path, or another chain
// is nearly as long, and has a name.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "npuscope/analysis/path.hpp"

namespace npuscope::test {

// Where freeing the op gains less than its part of the path, the new path must have something that
// the old one has not.
inline std::size_t expect_gains(const Profile& profile, const analysis::PathAnalysis& paths) {
  const analysis::CriticalPath path = paths.observed();
  std::map<OpId, std::int64_t> on_path;
  std::set<std::uint32_t> rows;
  for (const analysis::PathStep& step : path.steps) {
    on_path[step.op] += step.duration;
    rows.insert(step.row);
  }
  constexpr double notable = 0.05, near = 0.03;  // latencies
  const auto wall = double(path.wall);
  std::size_t tried = 0;
  for (const auto& [op, duration] : on_path) {
    const std::size_t place = std::min<std::size_t>(index_of(op), profile.ops.size());
    if (double(duration) < notable * wall || op == OpId::none) continue;
    ++tried;
    analysis::Scaling free;
    free.of_op.assign(profile.ops.size() + 1, 1);
    free.of_op[place] = 0;
    const analysis::WhatIf without = paths.what_if(free);
    const double gain = without.before - without.after;
    if (gain >= double(duration) - near * wall) continue;
    const bool has_other_chain = std::ranges::any_of(
        without.steps, [&](const analysis::PathStep& step) { return !rows.contains(step.row); });
    EXPECT_TRUE(has_other_chain) << profile.text(profile.ops[place].label()) << " has " << duration
                                 << " of " << path.wall << " on the path and gains " << gain;
  }
  return tried;
}

}  // namespace npuscope::test
