// How an architecture joins `npuscope compile`: a file of this folder adds the flags that only its
// targets have, and compiles for them. command.cpp chooses by the target's architecture and refuses
// the flags of the others by name.
//
//   command.cpp   flags of all architectures, the choice
//   nsp.cpp       Cloud AI 100 and Hexagon: QPC
//   ipu.cpp       SigmaStar IPU: fixed model and offline image
//   torq.cpp      Synaptics Torq: a program of its own, timeline, debug information
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cli/flags.hpp"
#include "npu/core/target_file.hpp"
#include "npu/graph/import_onnx.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::cli {

// What every architecture takes.
struct CompileArguments {
  std::string model;
  std::string target;  // empty until chosen: remembered, else aic100
  npu::ImportOptions import;
  std::string output;  // of those whose program is one file; empty: not given
  bool json = false;
};

class CompileArchitecture {
 public:
  virtual ~CompileArchitecture() = default;
  virtual Status compile(const CompileArguments& arguments, const npu::TargetFile& target) = 0;
};

std::unique_ptr<CompileArchitecture> add_nsp_compilation(Command& command);
std::unique_ptr<CompileArchitecture> add_ipu_compilation(Command& command);
std::unique_ptr<CompileArchitecture> add_torq_compilation(Command& command);

}  // namespace npuscope::cli
