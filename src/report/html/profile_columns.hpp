// What a page holds of one profile in columns (web/src/data/report.ts, ProfileDataHead): its spans,
// ops, edges, arrows, counters, the critical path and the graph that what-if runs on.
//
//   ProfileColumns made = profile_columns(analysis, groups, {.max_spans = 2'000'000}, 0);
//   made.head     {"begin": "7997466066676", "length": 64829, …, "columns": […]}
//   made.bytes    of the columns
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "npuscope/analysis/analysis.hpp"

namespace npuscope::report {

struct ColumnLimits {
  std::size_t max_spans = 2'000'000;     // more are merged
  std::size_t max_path_nodes = 300'000;  // of a graph beyond there is no what-if
  std::size_t max_flows = 500'000;       // of more there are none
  std::size_t max_buckets = 400;         // of bandwidth over time
};

// Where the evidence of a finding lies.
struct FindingPlace {
  std::int64_t finding = 0;  // its place on the page "diagnose"
  std::int64_t unit = -1;    // -1: any
  Interval time;
};

// The row of a page's table of ops that counts each op; -1: none.
struct OpRows {
  std::string grouping;  // "node": of page "ops_node"
  std::vector<std::int64_t> row_of_op;
};

struct ProfileColumns {
  std::string head;  // JSON
  std::string bytes;
};

// `first_offset`: bytes of the profiles before it in the page.
ProfileColumns profile_columns(const analysis::Analysis& analysis,
                               const std::vector<OpRows>& op_rows,
                               const std::vector<FindingPlace>& places, const ColumnLimits& limits,
                               std::size_t first_offset);

}  // namespace npuscope::report
