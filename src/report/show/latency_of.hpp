// Which of a profile's numbers is its latency: a call as its host sees it, warm and cold, with the
// part that the NPU has of it; else an inference's wall.
//
//   const LatencyOfCall latency = latency_of(analysis);
//   latency.rows[0]       {"QNN (execute) time", warm 2.439 ms, cold 3.907 ms}
//   latency.outside       0.985: of the warm call, outside the NPU
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "npuscope/analysis/analysis.hpp"

namespace npuscope::report {

struct LatencyRow {
  std::string what;  // "call", "on the NPU", "graph", "inference"
  std::string name;  // as the files have it; empty: they have none
  std::optional<double> warm_seconds, cold_seconds;
  // Neither: the files do not say which of the two the only one is.
  std::optional<double> seconds;
  bool is_of_more = false;  // than the call: a sum over several graphs
};

struct LatencyOfCall {
  std::vector<LatencyRow> rows;   // outermost first; empty: not known
  std::uint64_t warm_count = 0;   // that the warm medians are of
  std::optional<double> outside;  // part of the call that the NPU does not have
  Origin origin = Origin::measured;
  std::optional<double> stated_rate;  // inferences a second, as the file has it

  const LatencyRow* first() const { return rows.empty() ? nullptr : &rows.front(); }
};

LatencyOfCall latency_of(const analysis::Analysis& analysis);

}  // namespace npuscope::report
