// What `npuscope compile` says: the lines of the vendor's compiler (-aic-perf-metrics of SDK 1.12,
// docs/compiler.md says what each means) and their JSON twin, from the same CompileMetrics.
//
//   Original MAC estimate: 6,640,631,808
//   Original Graph operation size histogram:
//        output elts      op count (cumulative)
//                  1                  335   14%
//   …
//   AIC HMX MAC estimate: 212,500,217,856
//   final combined specializations constants size:	12852 MB
//   VTCM0Size:	8183 KB
#pragma once

#include <string>
#include <vector>

#include "npu/targets/nsp/compile/compile.hpp"
#include "report/document/json_text.hpp"

namespace npuscope::report {

// "0 B", "8162 KB", "12852 MB": the unit in which the figure has at most five digits, cut off.
std::string compiler_size(std::uint64_t bytes);

std::string compile_metrics_text(const npu::nsp::CompiledNetwork& network);
// The members of an object.
void write_compile_metrics(Json& json, const npu::nsp::CompiledNetwork& network);

}  // namespace npuscope::report
