// Every profile that there is to ask: what opens of ../shared/data and of tests/data, files alone
// and files that belong together, and runs of the reference NPU.
//
//   for (const Sample& sample : all_samples()) sample.analysis.units() …
#pragma once

#include <string>
#include <vector>

#include "npuscope/analysis/analysis.hpp"

namespace npuscope::report::identities {

struct Sample {
  std::string name;  // "qnn/chain8 #0", for people
  analysis::Analysis analysis;

  const Profile& profile() const { return analysis.profile(); }
};

struct Samples {
  std::vector<Sample> all;
  std::size_t files = 0;      // of which any profile was made
  std::size_t sets = 0;       // of several files each
  std::size_t reference = 0;  // profiles of the reference NPU
  std::size_t left_out = 0;   // files too large for a test
  bool has_shared = false;    // whether ../shared/data is there
};

// Opened once.
const Samples& all_samples();

// The profiles of runs of the reference NPU: inferences of a Cloud AI 100, optrace sets of an HTP,
// of generated programs and a model; a Torq's log; latency files of a runner.
std::vector<std::pair<std::string, Profile>> reference_runs();

}  // namespace npuscope::report::identities
