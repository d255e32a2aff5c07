// The description of a Synaptics Torq NPU (architecture torq; targets/torq-sl2610.toml is built
// in), where every figure says where it comes from. Two parts: what the vendor's cost model knows,
// which makes estimates, and what a device does beyond it, which makes a run differ from them.
//
//   auto torq = read_target(*find_target_file("torq-sl2610"));
//   torq->slices.count       2
//   torq->dma_rate(…in)      4.754286 bytes a cycle
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "npu/core/target_file.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::npu::torq {

enum class Direction : std::uint8_t { in, out };  // to LRAM, from LRAM

struct Target {
  std::string name;
  std::string description;
  double clock_hz = 0;
  std::uint64_t xram_bytes = 0;
  std::uint64_t lram_bytes = 0;
  std::uint64_t lram_reserved_bytes = 0;

  struct Slices {
    std::uint32_t count = 0;
    std::uint64_t alu_width = 0;        // products a cycle of 1-byte elements
    std::uint64_t group_width = 0;      // 1-byte elements
    std::uint64_t act_width = 0;        // 1-byte results a cycle
    std::uint64_t program_bytes = 0;    // of LRAM that a program and its descriptors take
    std::uint64_t shared_elements = 0;  // of an operand, from which slices share an operator
    std::uint64_t kept_bytes = 0;       // larger tensors made in parts go out between
    std::uint64_t segment_bytes = 0;    // rows of parts that are multiples of it
    double uneven_segments = 1;         // what others take longer
    // By kernel, each with an entry "default". Elements of 2 bytes; "add_i8" of 1, "Fill_f32" of 4.
    std::map<std::string, double, std::less<>> elements_a_cycle, code_bytes;
  } slices;
  struct Nss {
    std::uint64_t block_bytes = 0, block_tasks = 0;
  } nss;
  struct Dma {
    double bytes_per_cycle = 0, factor = 0, mtu_overhead_beats = 0;
    std::uint32_t mtu_in = 0, mtu_out = 0;  // powers of two
  } dma;
  struct Cdma {
    double bytes_per_cycle = 0, factor = 0;
  } cdma;
  struct Css {
    std::uint64_t estimated_cycles = 0, data_bytes = 0, code_bytes = 0, small_code_bytes = 0,
                  softmax_code_bytes = 0, normalization_code_bytes = 0, pooling_code_bytes = 0,
                  power_code_bytes = 0;
    std::uint64_t stack_bytes = 0;
    std::map<std::string, double, std::less<>> cycles_per_element;  // with an entry "default"
  } css;

  struct Device {
    std::uint64_t dma_latency_cycles = 0, cdma_latency_cycles = 0;
    double xram_bytes_per_cycle = 0;
    std::uint64_t configure_cycles = 0, step_cycles = 0, block_cycles = 0;  // of the NSS
    std::uint64_t slice_start_cycles = 0, css_start_cycles = 0;
    double slice_stall = 0;  // a share of a kernel's cycles
  } device;
  struct Host {
    double start_s = 0, wait_s = 0, copy_call_s = 0, copy_bytes_per_s = 0, copy_run_s = 0;
    double program_call_s = 0, program_elements_per_s = 0, program_macs_per_s = 0;
  } host;
  struct Runtime {
    double queue_s = 0, dispatch_s = 0, resources_s = 0, bindings_s = 0, open_s = 0, load_s = 0;
  } runtime;

  std::string toml;  // the text it was read from

  // Bytes a cycle of the cost model: theoretical, times what is practical, times what the length of
  // bursts leaves.
  double dma_rate(Direction direction) const;
  double cdma_rate() const { return cdma.bytes_per_cycle * cdma.factor; }
  std::uint64_t lram_for_data() const { return lram_bytes - lram_reserved_bytes; }
  double css_cycles_per_element(std::string_view kernel) const;
  double elements_a_cycle(std::string_view kernel, std::uint64_t element_bytes) const;
  std::uint64_t code_bytes(std::string_view kernel) const;
};

// An input error names the missing, senseless or unknown field, and its line if known; a usage
// error where the file is of another architecture.
Result<Target> read_target(const TargetFile& file);
// Of a program, which an older version may have made: fields that are unknown are passed over.
Result<Target> parse_target(std::string_view toml, const std::string& name);

}  // namespace npuscope::npu::torq
