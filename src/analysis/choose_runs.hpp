// Which profiles of two lots are runs that can be compared. A folder of one session often holds the
// same run in several formats and several graphs: only those of one format and graph are samples of
// one thing.
//
//   const auto chosen = choose_runs(opened_a, opened_b);
//   chosen->a            // {0, 1, 2, 3}: the raw buffers, not the trace, not the latency file
//   chosen->left_out[0]  // 2
//   choose_runs(opened_a, opened_b, "resnet50")   // only those of this graph
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

struct ChosenRuns {
  std::vector<std::size_t> a, b;
  std::uint64_t left_out[2] = {};
};

// Those of the format and graph that both sides have and that says most (a timeline of ops before a
// timeline, that before numbers); where they share none, of what says most on either side. A usage
// error when several graphs would do, or when a side has nothing of the graph that was asked for
// (empty: any).
Result<ChosenRuns> choose_runs(std::span<const Profile> a, std::span<const Profile> b,
                               std::string_view graph = {});

// Of one lot, as B: those that say most.
Result<ChosenRuns> choose_runs(std::span<const Profile> b, std::string_view graph = {});

}  // namespace npuscope::analysis
