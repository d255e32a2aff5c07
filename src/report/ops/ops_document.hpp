// The table of `npuscope ops`: what each group of operations costs.
//
//   OPS BY NODE, by dominant path, in cycles (2 of 13)
//     node      kind     on                 runs  dominant path  of run    work  waiting  …
//     MatMul_0  4 kinds  HVX+DMA issue+HMX     4         32,707  51.9 %  32,707
//     Output    3 kinds  HVX+DMA issue         3         11,208  17.8 %   8,889    2,319
//
//   const auto document = ops_document(profile, {.grouping = Grouping::kind, .top = 0});
//   print(document_text(*document, 120));
#pragma once

#include <string>
#include <vector>

#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/ops.hpp"
#include "report/document/document.hpp"
#include "report/memory/peaks.hpp"

namespace npuscope::report {

struct OpsRequest {
  analysis::Grouping grouping = analysis::Grouping::op;
  std::size_t top = 20;   // rows; 0: all
  double min_share = 0;   // of the column that the table is sorted by; a part of one
  std::string sort = {};  // key of a column; empty: what decides most
  std::vector<std::string> columns = {};  // keys; empty: those that fit, JSON and CSV: all
  bool fold_bookkeeping = false;
  bool owners_as_written = false;              // HMX ops of X_post_reshape do not count for X
  const analysis::Rules* rules = nullptr;      // for Grouping::rule; null: those that fit the graph
  PeakText peaks = {};                         // of the hardware: what bounds a row
  std::vector<analysis::NodeMacs> model = {};  // MACs of nodes, from elsewhere
};

// What the engines did in the windows of ops; no key where the profile has no windows.
Section op_windows_section(const analysis::Analysis& analysis, std::size_t top,
                           const PeakText& peaks);

// A usage error for a column that the profile does not have; it lists those that it has.
Result<Document> ops_document(const analysis::Analysis& analysis, const OpsRequest& request);

}  // namespace npuscope::report
