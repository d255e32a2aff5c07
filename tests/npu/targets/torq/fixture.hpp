// The target and models of these tests.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "npu/graph/import_onnx.hpp"
#include "npu/graph/parsed_onnx.hpp"
#include "npu/targets/torq/compile.hpp"
#include "npu/targets/torq/execute.hpp"
#include "npu/targets/torq/target.hpp"

namespace npuscope::npu::torq {

inline const Target& sl2610() {
  static const Target target = *read_target(*find_target_file("torq-sl2610"));
  return target;
}

// The target with a line of its file replaced.
inline std::string changed_toml(std::string_view line, std::string_view replacement) {
  std::string text = sl2610().toml;
  const std::size_t at = text.find(line);
  EXPECT_NE(at, std::string::npos) << line;
  return text.replace(at, line.size(), replacement);
}

inline Graph repository_graph(const std::string& file) {
  auto graph = import_onnx_file(std::string(NPUSCOPE_SOURCE_DIR) + "/models/" + file, {});
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().message);
  return graph ? *graph : Graph{};
}

inline Compilation compiled(const Graph& graph, const Target& target = sl2610()) {
  auto compilation = compile(graph, target, "model");
  EXPECT_TRUE(compilation) << (compilation ? "" : compilation.error().message);
  return compilation ? std::move(*compilation) : Compilation{};
}

// A program of one dispatch and one NSS program, task by task.
class ProgramMaker {
 public:
  ProgramMaker() {
    program.name = "made";
    program.dispatches = {{"main_dispatch_0", 2}};
    program.actions = {{ActionKind::start_nss}, {ActionKind::wait_nss}};
    program.nss_programs = {{0}};
  }
  ProgramMaker& task(std::initializer_list<Step> steps) {
    program.tasks.push_back({std::uint32_t(steps.size()), false});
    program.steps.insert(program.steps.end(), steps);
    ++program.nss_programs.back().tasks;
    return *this;
  }
  ProgramMaker& transfer(Unit unit, std::uint64_t bytes) {
    return task({start(unit, bytes), wait(unit)});
  }
  std::uint32_t kernel(std::uint64_t cycles, std::uint64_t device_cycles, bool css = false) {
    program.kernels.push_back({"kernel", cycles, device_cycles, css});
    return std::uint32_t(program.kernels.size() - 1);
  }
  static Step start(Unit unit, std::uint64_t bytes) {
    return {.unit = unit, .starts = true, .bytes = bytes};
  }
  static Step run(Unit unit, std::uint32_t kernel, std::uint8_t slice = 0) {
    return {.unit = unit, .starts = true, .slice = slice, .kernel = kernel};
  }
  static Step wait(Unit unit, std::uint8_t slice = 0) { return {.unit = unit, .slice = slice}; }

  Program program;
};

}  // namespace npuscope::npu::torq
