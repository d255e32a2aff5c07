// The file of -custom-IO-list-file: in which precision the host gives and takes inputs and outputs.
// A list of YAML, as the vendor's exporter and compiler write it:
//
//   - IOName: past_key.0
//     Precision: mxint8
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "npu/graph/graph.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::npu::nsp {

struct IoPrecision {
  std::string name;
  std::string precision;
};

// The word of such a file for a type that kernels print as i8, ui8 or index64: int8, uint8, int64.
std::string io_precision_of(DataType type);

// Input errors say the line: no list of such entries, a name without a precision or given twice.
Result<std::vector<IoPrecision>> read_io_list(std::string_view yaml, std::string_view file);

}  // namespace npuscope::npu::nsp
