// Adds tasks to a program, and divides its code into blocks as long as the NSS can hold.
//
//   tasks.transfer(TorqUnit::dma_in, 4096);   one task: configure, start, wait
//   tasks.add({start_of(...)});               one task with these steps
#pragma once

#include <initializer_list>

#include "npuscope/npu/torq/program.hpp"
#include "npuscope/npu/torq/target.hpp"

namespace npuscope::npu {

class TaskList {
 public:
  TaskList(TorqProgram& program, const TorqTarget::Nss& nss) : program_(program), nss_(nss) {}

  void begin_program() {
    program_.nss_programs.push_back({});
    block_bytes_ = 0;
  }

  void add(std::initializer_list<TorqStep> steps) {
    std::uint64_t bytes = 0;
    for (const TorqStep& step : steps) {
      const bool transfer = step.starts && (is_dma(step.unit) || is_cdma(step.unit));
      bytes += nss_.step_bytes + (transfer ? nss_.configure_bytes : 0);
    }
    const bool begins_block = block_bytes_ > 0 && block_bytes_ + bytes > nss_.block_bytes;
    block_bytes_ = begins_block ? bytes : block_bytes_ + bytes;
    program_.tasks.push_back({std::uint32_t(steps.size()), begins_block});
    program_.steps.insert(program_.steps.end(), steps);
    ++program_.nss_programs.back().tasks;
  }

  void start(TorqUnit unit, std::uint64_t bytes) { add({transfer_start(unit, bytes)}); }
  void wait(TorqUnit unit) { add({{.unit = unit}}); }
  void transfer(TorqUnit unit, std::uint64_t bytes) {
    if (bytes > 0) add({transfer_start(unit, bytes), {.unit = unit}});
  }
  void start_kernel(TorqUnit unit, std::uint8_t slice, std::uint32_t kernel) {
    add({{.unit = unit, .starts = true, .slice = slice, .kernel = kernel}});
  }
  void wait_kernel(TorqUnit unit, std::uint8_t slice) { add({{.unit = unit, .slice = slice}}); }

 private:
  static TorqStep transfer_start(TorqUnit unit, std::uint64_t bytes) {
    return {.unit = unit, .starts = true, .bytes = bytes};
  }

  TorqProgram& program_;
  const TorqTarget::Nss& nss_;
  std::uint64_t block_bytes_ = 0;
};

}  // namespace npuscope::npu
