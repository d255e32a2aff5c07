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
#include "npuscope/npu/nsp/compile/build.hpp"
#include "report/document/document_json.hpp"

namespace npuscope::report {

// "0 B", "8162 KB", "12852 MB": the unit in which the figure has at most five digits, cut off.
std::string compiler_size(std::uint64_t bytes);

std::string compile_metrics_text(const npu::nsp::CompiledNetwork& network);
// How much less DDR holds of what lies there as blocks, and what is assumed of unpacking it; empty:
// nothing does.
std::string blocks_text(const npu::nsp::CompiledNetwork& network);
// The members of an object.
void write_compile_metrics(Json& json, const npu::nsp::CompiledNetwork& network);

// What `npuscope compile` says of a multi-device program.
//
//   Partition0: 2 devices of 16 cores share the model
//   QAicGraph_slice00: 6426 MB of constants, 2,048 transfers of 4096 KB to other devices per
//   inference

// Empty for a program of one device. Specialisations follow one another.
std::string devices_text(const npu::nsp::BuildResult& result);
void write_devices(Json& json, const npu::nsp::BuildResult& result);  // "devices"

}  // namespace npuscope::report
