// `npuscope torq annotate`: a runtime log and its debug information in, an annotated run out.
//
//   const auto done = run_torq_annotate({.debug = "debug_info", .runtime = "run.csv", .output =
//   "run.pb"});
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/torq/annotate/annotate.hpp"
#include "formats/torq/trace.hpp"
#include "npuscope/base/progress.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::jobs {

struct TorqAnnotateRequest {
  std::string debug;  // a folder or file
  std::string runtime;
  std::string output;                    // .csv, .xlsx or .pb decides the form
  std::optional<torq::OlderForm> older;  // of a .csv
  std::vector<std::string> sources;      // more folders to look for the model's source in
  double mhz = torq::compile_clock_mhz;
  bool keep_going = false;  // also where dispatches have no debug information
};

struct TorqAnnotateOutcome {
  std::uint64_t rows = 0;
  std::string coverage;  // what of the run the rows are of; empty: all
  std::vector<Note> notes;
};
// An input error where dispatches have no debug information, unless `keep_going`.
Result<TorqAnnotateOutcome> run_torq_annotate(const TorqAnnotateRequest& request,
                                              const ProgressReport& progress = {});

}  // namespace npuscope::jobs
