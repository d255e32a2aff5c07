// What a store holds: its runs, or groups of them, and the tags that they have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/questions/choice.hpp"

namespace npuscope::fleet {

struct ListedRun {
  Id run = 0;
  std::int64_t time = 0;
  std::optional<std::string> model, device, soc, sdk;
  std::string format, temperature;
  std::uint64_t inferences = 0;
  bool damaged = false;
  std::string tags;   // "build=17 lab=berlin"
  std::string files;  // one a line
};

struct ListedGroup {
  std::vector<Value> by;
  std::uint64_t runs = 0, damaged = 0, devices = 0, models = 0;
  std::optional<std::int64_t> first, last;  // times
};

struct FleetListing {
  std::vector<std::string> by;
  std::uint64_t runs = 0, op_runs = 0, ops = 0;
  ListedGroup all;
  std::vector<TagKey> tags;
  std::vector<ListedRun> newest;    // without --by, the newest first
  std::vector<ListedGroup> groups;  // with --by
  std::vector<std::string> remarks;
};

Result<FleetListing> list_of(Store& store, const Choice& choice, std::size_t top);

// The ids of the chosen runs, damaged ones included, that are older than a time.
Result<std::vector<Id>> runs_before(Store& store, const Choice& choice, std::int64_t time);

}  // namespace npuscope::fleet
