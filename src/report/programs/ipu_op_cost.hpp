// What `npuscope ipu op-cost` prints, as the vendor's get_op_time_cost.py does:
//
//   total: a line for each type, most first      each: a line for each operator of the model
//     CONV_2D 80.743%                              0 CONV_2D 7.880%
//     SOFTMAX 8.033%                               1 CONV_2D 0.000%
#pragma once

#include <string>

#include "formats/sigmastar/op_cost.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

std::string op_cost_totals_text(const sigmastar::OperatorCosts& costs, std::size_t rows);
std::string op_cost_each_text(const sigmastar::Model& model, const sigmastar::OperatorCosts& costs,
                              std::size_t rows);

// Both as tables, with the times behind the shares: `operators` and `types`.
Document make_op_cost_document(const sigmastar::Model& model,
                               const sigmastar::OperatorCosts& costs);

}  // namespace npuscope::report
