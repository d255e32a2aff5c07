// A graph compiled for a Torq NPU: the program that the reference NPU runs, the compiler's
// estimates, and what profiling tools want to know about it, in the forms of Torq's own compiler.
//
//   auto compiled = compile(*graph, *torq);
//   write_file_atomically("model.torq", write_program(compiled->program));
//   timeline_of(*compiled)          rows for npuscope::torq::write_timeline
//   debug_info(*compiled, 0)     MLIR text for DIR/main_dispatch_0_conv2d.mlir
//
// Locations point into the model as text (source_file, source_text), a line per operator, from
// which Torq's tools take the names of operators: onnx.Conv@L12.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/torq/timeline.hpp"
#include "npu/graph/graph.hpp"
#include "npu/targets/torq/execute.hpp"

namespace npuscope::npu::torq {

struct SourcePlace {
  std::uint32_t line = 0;  // from 1, as columns
  std::uint32_t column = 0;
};

// What one or several operators became.
struct CompiledOperation {
  std::string kernel;               // "conv2d"
  std::string executor;             // "slices", "CSS", "host program", "DMA"
  std::vector<SourcePlace> places;  // of its operators, in source_text
  std::vector<std::string> nodes;   // their names
  std::uint64_t tiles = 0;          // kernels started, and moves
  std::uint64_t lram_bytes = 0;     // that the largest of them needs
};

// Where the parts of a dispatch begin in the tables of a program.
struct DispatchPlace {
  std::size_t action = 0, nss_program = 0, host_program = 0, task = 0, step = 0, kernel = 0;
};

struct Compilation {
  Program program;
  Estimate estimate;
  std::vector<CompiledOperation> operations;
  std::vector<std::uint32_t> action_operations;  // of each action, in operations
  std::vector<std::uint32_t> kernel_operations;  // of each kernel
  std::vector<std::uint32_t> task_operations;    // of each task
  std::vector<DispatchPlace> places;             // of each dispatch, and one behind the last
  std::string source_file;                       // "source/model.mlir", below the debug information
  std::string source_text;
  std::vector<std::string> warnings;
};

// Input errors: what lower and tile cannot do, tensors that XRAM cannot hold, more tasks than a
// program may have. `name` is the model's, for the program and the source file.
Result<Compilation> compile(const Graph& graph, const Target& target, const std::string& name);

// All dispatches one behind the other on one clock; the vendor's compiler writes the file anew for
// each, so that it holds the last.
npuscope::torq::CompileTimeline timeline_of(const Compilation& compilation);

// Of one dispatch, as text; with estimates if `profiling`.
std::string debug_info(const Compilation& compilation, std::size_t dispatch, bool profiling);
// Of all, as one text: the executable-targets phase that the compiler dumped until 2026-02.
std::string phase_dump(const Compilation& compilation, bool profiling);

// What timeline and debug information have in common: places of a dispatch in a compilation's
// tables, and locations as MLIR prints them.

std::vector<DispatchPlace> dispatch_places(const Compilation& compilation);

// "source/model.mlir":12:10, or fused[…] of several.
std::string location_text(const Compilation& compilation, const CompiledOperation& operation);

// The model as text, one operator a line, as torch-mlir's import of ONNX writes it. Profiling tools
// find operators in it by line.
//
//   module {
//     func.func @main(%arg0: !torch.vtensor<[1,3,224,224],f32>) -> !torch.vtensor<[1,1000],f32> {
//       %1 = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<__elided__>} …
//       %2 = torch.operator "onnx.Conv"(%arg0, %1) {torch.onnx.group = 1 : si64} …  // conv1
struct SourceText {
  std::string text;
  std::vector<SourcePlace> places;  // by node: of the operator, behind its results
};

SourceText write_source_text(const Graph& graph);

}  // namespace npuscope::npu::torq
