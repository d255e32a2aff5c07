// How often each rule of diagnose speaks over the chosen runs, and how many of them lost data.
//
//   const auto findings = findings_of(store, {.by = {"build"}});
//   findings->rows[0].rule      // "memory-bound"
//   findings->rows[0].found     // in 412 of 640 runs that could be judged
//   findings->losses[0].damaged // runs of which records are missing
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/questions/choice.hpp"

namespace npuscope::fleet {

struct FleetFinding {
  std::vector<Value> by;
  std::string rule;
  std::uint64_t found = 0, tried = 0, untried = 0;  // runs
  std::optional<double> gain_p50;                   // share of the wall, where it was found
  double share() const { return tried > 0 ? double(found) / double(tried) : 0; }
};

struct FleetLosses {
  std::vector<Value> by;
  std::uint64_t runs = 0, damaged = 0, with_warnings = 0, with_failed_checks = 0;
};

struct LossMessage {
  std::string severity, message;
  std::uint64_t runs = 0, count = 0;
};

struct FleetFindings {
  std::vector<std::string> by;
  std::uint64_t runs = 0;
  std::vector<FleetFinding> rows;     // what occurs in the largest share first
  std::vector<FleetLosses> losses;    // damaged runs included
  std::vector<LossMessage> messages;  // of warnings and errors, of most runs first
  std::vector<std::string> remarks;
};

Result<FleetFindings> findings_of(Store& store, const Choice& choice);

}  // namespace npuscope::fleet
