// Makes the rows of one run out of its profile.
//
//   Batch batch;
//   add_facts(profile, {.content = hash, .file_time = 1'700'000'000, .labels = labels}, batch);
//   batch.op_runs[0].work          32707 ticks of runs.clock
//
// Numbers are those that diff and ops have of the same profile; of a snapshot what it holds.
#pragma once

#include "fleet/rows.hpp"
#include "fleet/tags.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::fleet {

struct RunOptions {
  std::string content;         // ContentHashes::of_profile()
  std::int64_t file_time = 0;  // seconds since 1970-01-01, where no tag says when it was
  Labels labels;
  bool spans = false;  // also every span
};

void add_facts(const Profile& profile, const RunOptions& options, Batch& batch);

}  // namespace npuscope::fleet
