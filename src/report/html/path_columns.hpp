// The critical path in columns: its steps, and the graph that what-if runs on, with the latencies
// of its constraints written out.
#pragma once

#include <string>

#include "report/html/column_bytes.hpp"
#include "report/html/placed_spans.hpp"

namespace npuscope::report {

struct PathHead {
  std::string left_out = {};  // why the graph, or all, is not there
  std::int64_t wall = 0, begin = 0;
};

// Of a graph of more nodes only the steps.
PathHead add_path_columns(const analysis::Analysis& analysis, const PlacedSpans& placed,
                          std::int64_t begin, std::size_t max_nodes, ColumnBytes& columns);

}  // namespace npuscope::report
