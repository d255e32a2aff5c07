// The memory traffic of a compilation: the vendor's table (per host, port and core), and what the
// vendor's does not say: the purpose of every byte.
//
//   Compiler estimated memory traffic:
//   …
//      host: DDR traffic  read:      65598 KB (first-inf      65598 KB)
//                constant only:          0 KB (first-inf          0 KB)
//    port02: DDR traffic  read:      65598 KB
//       c00: DDR traffic  read:    1040940 KB (first-inf    1041965 KB)
//   …
//   purpose retained state:     read     131072 KB  write     131072 KB
#pragma once

#include <string>

#include "npu/nsp/compile/compile.hpp"
#include "report/document/json_text.hpp"

namespace npuscope::report {

std::string traffic_text(const npu::nsp::CompileMetrics& metrics);
// The members of an object.
void write_traffic(Json& json, const npu::nsp::CompileMetrics& metrics);

}  // namespace npuscope::report
