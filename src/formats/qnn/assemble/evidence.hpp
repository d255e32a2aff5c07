// Whether two artifacts are of one run of one graph, by what both of them say:
//
//   graph names            equal, or one is part of the other
//   absolute cycles        ops lie inside a Graph Execute; a summary spans its ops
//   op ids and starts      the same ids start at the same cycles
//   cycles of nodes        the viewer's and the summary's
//   ticks of VTCM acquire  the viewer's and the run trace's
//   estimated cycles       the csv's are the estimate's and six more
//
// What a compiler estimates and what a device did are never one profile, whatever ids they share.
//
// One contradiction keeps them apart, whatever else agrees. A file that was cut off says less, and
// does not contradict by what it lacks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/qnn/read/artifact.hpp"

namespace npuscope::qnn {

struct Evidence {
  std::string graph;
  std::optional<std::pair<std::int64_t, std::int64_t>> cycles;        // of what executed
  std::vector<std::pair<std::int64_t, std::int64_t>> graph_executes;  // intervals, by inference
  // Sorted; the start is `missing` where it is not said. Several for a sliced op.
  std::vector<std::pair<std::uint64_t, std::int64_t>> ops;
  std::map<std::string, std::int64_t> node_cycles;  // of the first execute
  bool cut_off = false;                             // some of the file is lost
  bool sums_lack_ops = false;                       // of node_cycles, for that reason
  std::vector<std::int64_t> vtcm_ticks;             // by inference
  bool is_estimated = false, has_run = false;       // neither: a graph alone
  std::optional<std::int64_t> estimated_cycles;     // as the csv counts them
};

Evidence evidence_of(const Artifact& artifact);

struct Verdict {
  bool agree = false;
  std::string contradiction;  // empty: none
};

Verdict compare(const Evidence& a, const Evidence& b);

// Puts artifacts together that belong together. An artifact that does not belong to any earlier one
// starts a set of its own and notes what contradicts.
std::vector<ArtifactSet> link(std::vector<Artifact>&& artifacts);

}  // namespace npuscope::qnn
