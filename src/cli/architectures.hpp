// How an architecture joins `npuscope compile` and `npuscope run`: a file of each folder adds the
// flags that only its targets or programs have, and does the work. The commands choose, by the
// target's architecture or by the content of the program, and refuse the flags of the others by
// name.
//
//   compile/command.cpp, run/command.cpp   flags of all architectures, the choice
//   nsp.cpp    Cloud AI 100 and Hexagon: QPC
//   ipu.cpp    SigmaStar IPU: fixed model and offline image
//   torq.cpp   Synaptics Torq: a program of its own, timeline, debug information, runtime logs
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <string>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "npu/core/target_file.hpp"
#include "npu/graph/import_onnx.hpp"
#include "npuscope/base/files.hpp"

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

// An architecture and the flags that it added to the command.
template <class Architecture>
struct Joined {
  npu::TargetArchitecture architecture;
  const char* title;  // of its flags in the help
  std::unique_ptr<Architecture> does;
  std::vector<const Flag*> flags;

  const Flag* given_flag() const {  // null: none is given
    const auto found = std::ranges::find_if(flags, &Flag::is_given);
    return found == flags.end() ? nullptr : *found;
  }
};

// All of them, in the order of the help.
template <class Architecture>
std::vector<Joined<Architecture>> join_architectures(
    Command& command, std::unique_ptr<Architecture> (*nsp)(Command&),
    std::unique_ptr<Architecture> (*ipu)(Command&),
    std::unique_ptr<Architecture> (*torq)(Command&)) {
  std::vector<Joined<Architecture>> all;
  for (const auto& [architecture, title, add] :
       {std::tuple(npu::TargetArchitecture::nsp, "Cloud AI 100 and Hexagon", nsp),
        std::tuple(npu::TargetArchitecture::ipu, "SigmaStar IPU", ipu),
        std::tuple(npu::TargetArchitecture::torq, "Synaptics Torq", torq)}) {
    const std::size_t before = command.flags.size();
    command.begin_group(title);
    all.push_back({architecture, title, add(command), {}});
    for (const Flag& flag : command.flags | std::views::drop(before)) {
      all.back().flags.push_back(&flag);
    }
  }
  return all;
}

inline void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    print(stderr, "npuscope: warning: {}\n", printable(warning));
  }
}

// A run's input files are not read.
inline void print_idle_input(const char* flag) {
  print(stderr,
        "npuscope: note: {} has no effect: what an inference costs does not depend on its data\n",
        flag);
}

}  // namespace npuscope::cli
