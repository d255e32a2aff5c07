// `npuscope path`: the critical path of an inference as a document.
//
//   const auto document = path_document(profile, {.faster = {"MatMul=2x"}});
//
//   CRITICAL PATH
//     wall        64,829
//     work on it  47,120
//     …
//   PARTS OF THE PATH      what the wall is made of, to the tick
//   OPS ON THE PATH        time on it, slack, the wall's gain if an op took no time
//   STEPS                  what ran, how long, and why it did not start earlier
//   DOMINANT PATH (QHAS)   on request: which execution owned each segment of it
//   WHAT IF                the wall with other durations, and where its gain ends
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/ops.hpp"
#include "npuscope/base/result.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

struct PathDocumentOptions {
  std::optional<std::uint32_t> inference = {};  // none: the one nearest the median
  analysis::Grouping grouping = analysis::Grouping::op;
  std::size_t top = 10;  // rows of ops and units
  // Steps: those that took longest, gaps before them included, in the order of time.
  std::size_t steps = 20;
  // The vendor's dominant path too, its longest segments, so many; none: not asked for.
  std::optional<std::size_t> vendor_segments = {};
  // "PATTERN=2x": twice as fast; "=50%": half of its time; "=0": none. A pattern is found in an
  // op's name, kind or node, or after "unit:" in a unit's name within its parents'. Several of one
  // op multiply.
  std::vector<std::string> faster = {};
  std::vector<std::string> slower = {};  // "PATTERN=2x": twice the time; "=150%" of it
};

// Usage errors: rules that cannot be read or match nothing, an inference that is not there, a
// profile without a timeline, or without the dominant path that is asked for.
Result<Document> path_document(const analysis::Analysis& analysis,
                               const PathDocumentOptions& options);

}  // namespace npuscope::report
