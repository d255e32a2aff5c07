// What a run will execute: the programs of a QPC, read and checked before anything starts.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "formats/qaic/qpc/network_descriptor.hpp"
#include "formats/qaic/qpc/program.hpp"
#include "formats/qaic/qpc/schematic.hpp"
#include "npu/targets/nsp/simulate/simulate.hpp"
#include "npu/targets/nsp/target/target.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/npu/nsp/simulate/run.hpp"

namespace npuscope::npu::nsp {

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
  std::vector<std::uint32_t> devices;
  // One; of a multi-device program one per device, in order of their slices.
  std::vector<std::shared_ptr<const LoadedProgram>> parts;

  const LoadedProgram& first() const { return *parts.front(); }
  bool is_multi_device() const { return parts.size() > 1; }
  std::vector<const qaic::Program*> programs() const {
    std::vector<const qaic::Program*> all;
    for (const auto& part : parts) all.push_back(&part->program);
    return all;
  }
  std::string label() const;  // of the whole program
};

// Refuses what can be refused without running: folders that cannot be written, programs that do
// not fit the device or do not record what is asked for, samples that no inference can give.
Result<std::vector<PlannedRun>> plan_run(const RunRequest& request);

}  // namespace npuscope::npu::nsp
