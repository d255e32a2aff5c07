// Profiling files into a fleet's store: opened set by set (open_inputs.hpp), several small ones at
// once, added in batches of which each is there as a whole or not at all.
//
//   AddRequest request{.store = "fleet.db", .files = {"nightly/"}};
//   request.labels = *fleet::Labels::parse({"build=123"});
//   const auto outcome = add_to_fleet(request);
//   outcome->added.runs      // 412; again: 0, and known is 412
//
// An interrupted run leaves the batches that were complete; the same command goes on from there.
#pragma once

#include <filesystem>
#include <vector>

#include "fleet/store.hpp"
#include "fleet/tags.hpp"
#include "npuscope/formats/open.hpp"

namespace npuscope::jobs {

struct AddRequest {
  std::filesystem::path store;
  std::vector<std::filesystem::path> files;
  std::vector<std::filesystem::path> with;  // opened with each set: a program, a model
  fleet::Labels labels;
  bool spans = false;
  OpenOptions open;  // its progress counts sets
};

struct AddOutcome {
  fleet::Added added;
  std::uint64_t damaged = 0;   // of the runs that were opened
  std::uint64_t sets = 0;      // of files
  std::uint64_t unopened = 0;  // of these, without a profile
  std::vector<Note> notes;
};

// An error where the store cannot be used, or nothing could be opened. Sets that cannot be opened
// are notes.
Result<AddOutcome> add_to_fleet(const AddRequest& request);

}  // namespace npuscope::jobs
