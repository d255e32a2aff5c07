// The critical path in columns: its steps, and the graph that what-if runs on, with the latencies
// of its constraints written out.
#pragma once

#include <nlohmann/json.hpp>

#include "report/html/column_bytes.hpp"
#include "report/html/placed_spans.hpp"

namespace npuscope::report {

// Writes `path_left_out`, `wall` and `path_begin` into the head. Of a graph of more nodes only the
// steps.
void add_path_columns(const analysis::Analysis& analysis, const PlacedSpans& placed,
                      std::int64_t begin, std::size_t max_nodes, nlohmann::ordered_json& head,
                      ColumnBytes& columns);

}  // namespace npuscope::report
