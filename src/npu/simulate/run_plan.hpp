// What a run will execute: the programs of a QPC, read and checked before anything starts.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "npuscope/base/files.hpp"
#include "npuscope/formats/qaic/network_descriptor.hpp"
#include "npuscope/formats/qaic/program.hpp"
#include "npuscope/formats/qaic/schematic.hpp"
#include "npuscope/npu/simulate/runner.hpp"

namespace npuscope::npu {

struct LoadedProgram {
  std::string path;   // in the QPC, "" for the outer container
  std::string label;  // of the device in traces: QAicGraph_slice00, or the network's name
  qaic::Program program;
  qaic::NetworkDescriptor descriptor;
  std::optional<qaic::Schematic> schematic;
  Target target;
};

struct PlannedRun {
  std::uint32_t number = 0;  // <P>: place in the QPC, times the devices each program runs on
  std::uint32_t device = 0;
  std::shared_ptr<const LoadedProgram> loaded;
};

// Refuses what can be refused without running: folders that cannot be written, programs that do
// not fit the device or do not record what is asked for, samples that no inference can give.
Result<std::vector<PlannedRun>> plan_run(const RunRequest& request);

}  // namespace npuscope::npu
