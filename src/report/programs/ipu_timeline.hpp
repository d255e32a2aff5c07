// What `npuscope ipu timeline` says about the logs that it made a timeline of:
//
//   log   records  layers   first to last  conv work  vector work  …
//   core 0  8,176      99        7.85 ms       5.1 ms
#pragma once

#include <string>

#include "formats/sigmastar/op_cost.hpp"
#include "formats/sigmastar/write_timeline.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

// Cycles; text shows them as time too.
Document make_ipu_timeline_document(const sigmastar::IpuTimeline& timeline,
                                    const std::string& output);

// What `npuscope ipu op-cost` prints, as the vendor's get_op_time_cost.py does:
//
//   total: a line for each type, most first      each: a line for each operator of the model
//     CONV_2D 80.743%                              0 CONV_2D 7.880%
//     SOFTMAX 8.033%                               1 CONV_2D 0.000%

std::string op_cost_totals_text(const sigmastar::OperatorCosts& costs, std::size_t rows);
std::string op_cost_each_text(const sigmastar::Model& model, const sigmastar::OperatorCosts& costs,
                              std::size_t rows);

// Both as tables, with the times behind the shares: `operators` and `types`.
Document make_op_cost_document(const sigmastar::Model& model,
                               const sigmastar::OperatorCosts& costs);

}  // namespace npuscope::report
