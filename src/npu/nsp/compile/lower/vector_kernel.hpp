// A kernel on HVX (or, of compound operators, on the HMX) and how a node uses it.
#pragma once

#include <functional>
#include <string>

#include "npu/nsp/compile/place/storages.hpp"
#include "npu/nsp/compile/tasks/kernels.hpp"

namespace npuscope::npu::nsp {

struct VectorKernel {
  std::string name;
  std::function<std::uint64_t(std::uint64_t output_bytes)> cycles;
  bool reads_ddr = false;           // as many bytes as it puts out, element by element
  TensorId table = TensorId::none;  // of this
  StorageId source = no_storage;    // which lies here; no storage: a constant
  bool in_place = false;            // may write over an input of the same size
  std::uint64_t hmx_macs = 0;       // of the whole operator; then it runs on the HMX
  // What must be computed at once: so many elements that follow one another; 0: everything.
  std::uint64_t row_elements = 0;
};

// One whose cycles the target's description gives.
inline VectorKernel kernel_named(const Target& target, const std::string& name) {
  VectorKernel kernel;
  kernel.name = name;
  kernel.cycles = [&target, name](std::uint64_t bytes) {
    return vector_cycles(target, name, bytes);
  };
  return kernel;
}

}  // namespace npuscope::npu::nsp
