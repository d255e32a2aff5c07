// Adds tasks to a program, and divides its code into blocks as long as the NSS can hold.
//
//   tasks.transfer(Unit::dma_in, 4096);   one task: configure, start, wait
//   tasks.add({start_of(...)});               one task with these steps
#pragma once

#include <initializer_list>

#include "npu/torq/program.hpp"
#include "npu/torq/target.hpp"

namespace npuscope::npu::torq {

class TaskList {
 public:
  TaskList(Program& program, const Target::Nss& nss) : program_(program), nss_(nss) {}

  void begin_program() {
    program_.nss_programs.push_back({});
    block_bytes_ = 0;
  }

  void add(std::initializer_list<Step> steps) {
    std::uint64_t bytes = 0;
    for (const Step& step : steps) {
      const bool transfer = step.starts && (is_dma(step.unit) || is_cdma(step.unit));
      bytes += nss_.step_bytes + (transfer ? nss_.configure_bytes : 0);
    }
    const bool begins_block = block_bytes_ > 0 && block_bytes_ + bytes > nss_.block_bytes;
    block_bytes_ = begins_block ? bytes : block_bytes_ + bytes;
    program_.tasks.push_back({std::uint32_t(steps.size()), begins_block});
    program_.steps.insert(program_.steps.end(), steps);
    ++program_.nss_programs.back().tasks;
  }

  void start(Unit unit, std::uint64_t bytes) { add({transfer_start(unit, bytes)}); }
  void wait(Unit unit) { add({{.unit = unit}}); }
  void transfer(Unit unit, std::uint64_t bytes) {
    if (bytes > 0) add({transfer_start(unit, bytes), {.unit = unit}});
  }
  void start_kernel(Unit unit, std::uint8_t slice, std::uint32_t kernel) {
    add({{.unit = unit, .starts = true, .slice = slice, .kernel = kernel}});
  }
  void wait_kernel(Unit unit, std::uint8_t slice) { add({{.unit = unit, .slice = slice}}); }

 private:
  static Step transfer_start(Unit unit, std::uint64_t bytes) {
    return {.unit = unit, .starts = true, .bytes = bytes};
  }

  Program& program_;
  const Target::Nss& nss_;
  std::uint64_t block_bytes_ = 0;
};

}  // namespace npuscope::npu::torq
