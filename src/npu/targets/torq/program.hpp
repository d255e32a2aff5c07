// A model compiled for a Torq NPU, as the reference NPU runs it: dispatches of actions of the host,
// which start programs of the NSS, whose tasks start units of the NPU and wait for them.
//
//   dispatch main_dispatch_2_conv2d
//     action 0  start  NSS program 0      task 0  configure and start DMA in, 264 bytes; wait
//     action 1  wait                      task 1  start slice 0, kernel conv2d_0
//                                         task 2  configure and start DMA in; wait
//                                         task 3  wait for slice 0
//
// Everything is in flat tables; what belongs to one dispatch, program or task lies together, in
// order, and nothing is shared. docs/formats/torq-program.md has the byte table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/files.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::npu::torq {

enum class Unit : std::uint8_t {
  slice,
  css,
  dma_in,             // XRAM to LRAM
  dma_out,            // LRAM to XRAM
  cdma_lram_to_dtcm,  // to the data memory of the CSS
  cdma_lram_to_itcm,  // to its code memory
  cdma_dtcm_to_lram,
};
inline constexpr std::size_t unit_count = 7;

constexpr bool is_dma(Unit unit) { return unit == Unit::dma_in || unit == Unit::dma_out; }
constexpr bool is_cdma(Unit unit) { return unit >= Unit::cdma_lram_to_dtcm; }

// A transfer is configured by the step that starts it. A wait for any CDMA waits for all.
struct Step {
  Unit unit = Unit::slice;
  bool starts = false;       // false: waits
  std::uint8_t slice = 0;    // of slices
  std::uint32_t kernel = 0;  // in Program::kernels, of slices and CSS that start
  std::uint64_t bytes = 0;   // of transfers that start
};

struct Task {
  std::uint32_t steps = 0;
  bool begins_block = false;  // of the program's code
};

// A program of a slice or the CSS.
struct Kernel {
  std::string name;                 // "conv2d_0"
  std::uint64_t cycles = 0;         // of the cost model
  std::uint64_t device_cycles = 0;  // that the device computes for, stalls and start left out
  bool css = false;
};

struct NssProgram {
  std::uint32_t tasks = 0;
};

struct HostProgram {
  std::uint64_t elements = 0;  // that it writes
  std::uint64_t multiply_accumulates = 0;
};

enum class ActionKind : std::uint8_t { host_copy, start_nss, wait_nss, start_host, wait_host };

// Its id is its place in the dispatch. Programs are started in their order, each once, and waited
// for by the action behind.
struct Action {
  ActionKind kind = ActionKind::host_copy;
  std::uint64_t bytes = 0;  // of a copy
  std::uint64_t runs = 0;   // of contiguous bytes that it copies
};

struct Dispatch {
  std::string name;  // "main_dispatch_0_conv2d"
  std::uint32_t actions = 0;
};

struct Program {
  std::string name;  // of the model
  std::string target_toml;
  std::vector<Dispatch> dispatches;
  std::vector<Action> actions;
  std::vector<NssProgram> nss_programs;
  std::vector<HostProgram> host_programs;
  std::vector<Task> tasks;
  std::vector<Step> steps;
  std::vector<Kernel> kernels;
};

// What a program may hold, so that nothing about it overflows or takes for ever.
inline constexpr std::uint64_t max_tasks = 1 << 22;
inline constexpr std::uint64_t max_cycles = std::uint64_t{1} << 50;  // of all kernels together
inline constexpr std::uint64_t max_bytes = std::uint64_t{1} << 50;   // of all transfers

// Of hostile bytes or of our own: an input error says what does not fit together. `slices` is how
// many the target has.
Status check_program(const Program& program, std::uint32_t slices, std::string_view name);

bool looks_like_program(ByteSpan bytes);
std::vector<std::byte> write_program(const Program& program);
// Not yet checked; names are as they were written.
Result<Program> read_program(ByteSpan bytes, const std::string& name);

}  // namespace npuscope::npu::torq
