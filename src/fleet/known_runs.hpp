// Which runs of a batch a store has already, and what adding the others comes to.
#pragma once

#include <unordered_set>

#include "fleet/store.hpp"

namespace npuscope::fleet {

struct KnownRuns {
  std::unordered_set<Id> runs;
  std::vector<Id> other_tags;  // of these, whose tags are not those of the batch
};

// An input error where a run of the batch has the id of one with other content.
Result<KnownRuns> known_runs(Store& store, const Batch& batch);

Added added_of(const Batch& batch, KnownRuns&& known);

}  // namespace npuscope::fleet
