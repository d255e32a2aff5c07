// How an architecture joins `npuscope run`: a file of this folder adds the flags that only its
// programs have, recognises its program files by their content, and runs them. command.cpp chooses
// and refuses the flags of the others by name.
//
//   command.cpp   flags of all architectures, the choice
//   nsp.cpp       Cloud AI 100 and Hexagon: QPC
//   ipu.cpp       SigmaStar IPU: offline images
//   torq.cpp      Synaptics Torq
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/flags.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::cli {

// What every architecture takes.
struct RunArguments {
  std::string file;                         // the program; empty: not given
  std::optional<std::uint64_t> inferences;  // none: the architecture's own default
  bool verbose = false;
  bool json = false;
};

class RunArchitecture {
 public:
  virtual ~RunArchitecture() = default;
  // By magic numbers: whether run() takes a file of these bytes.
  virtual bool recognises(ByteSpan program) const = 0;
  virtual Status run(const RunArguments& arguments) = 0;
};

std::unique_ptr<RunArchitecture> add_nsp_run(Command& command);
std::unique_ptr<RunArchitecture> add_ipu_run(Command& command);
std::unique_ptr<RunArchitecture> add_torq_run(Command& command);

}  // namespace npuscope::cli
