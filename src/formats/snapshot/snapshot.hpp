// A snapshot: the numbers that diff and check need of some runs, as JSON of a few kilobytes with an
// op a line, for a baseline that git holds. docs/formats/snapshot.md says what is where.
//
//   const SnapshotRun run{&profile, samples.numbers()};
//   const Result<std::string> text = write_snapshot({&run, 1});
//   const Result<std::vector<Profile>> profiles = read_snapshot(*text, "baseline.npu");
//   (*profiles)[0].numbers->metrics    // as they were, to the last digit
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/result.hpp"
#include "npuscope/profile/run_numbers.hpp"

namespace npuscope::snapshot {

inline constexpr int version = 1;
// Beyond these a snapshot is neither written nor read: the text, and the numbers of ops in all.
inline constexpr std::size_t max_bytes = std::size_t{64} << 20;
inline constexpr std::size_t max_op_samples = 5'000'000;

struct SnapshotRun {
  const Profile* profile;  // what it was: provenance, clock, notes
  RunNumbers numbers;
};

// The same runs give the same bytes. A usage error for what is too large.
Result<std::string> write_snapshot(std::span<const SnapshotRun> runs);

bool looks_like(std::string_view head);

// A profile for each run, with `numbers` and nothing else that has rows. An input error for what is
// damaged, or of a newer version.
Result<std::vector<Profile>> read_snapshot(std::string_view text, const std::string& file);

}  // namespace npuscope::snapshot
