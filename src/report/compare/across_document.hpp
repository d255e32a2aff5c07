// The nodes of one model on two NPUs or runtimes, side by side (npuscope diff --across):
//
//   A       seq_convnet.json: ONNX Runtime profile, CPUExecutionProvider; work, measured, 223.0 us
//   B       convnet.csv: Vela's estimate for an Ethos-U; op cycles, estimated, 60,670 cycles
//   joined  8 of 8 nodes of A (100.0 %), 9 of 36 of B (91.2 %)
//
//   NODES, in the order of A
//   node   in B            kind  A         of A    B       of B    joined by
//   conv3  conv3 + relu3   Conv  90.50 us  40.6 %  21,093  34.8 %  name
//
//   ONLY IN B
//
// Each side keeps its own unit; a ratio stands only where both are times.
#pragma once

#include "analysis/compare/across.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

Document across_document(const Profile& a, const Profile& b, const analysis::Across& across);

}  // namespace npuscope::report
