// The figures of an IPU, from a target file whose architecture is `ipu` (targets/ipu-muffin.toml).
//
//   auto target = read_target(*file);
//   target->cores                  2
//   target->passes_of("SOFTMAX")   12 passes over each vector
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "npu/core/target_file.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::npu::ipu {

struct Target {
  std::string name;
  std::string description;

  std::uint32_t cores = 1;
  std::uint64_t memory_bytes = 0;  // on chip, of each core

  double clock_hz = 0;
  std::uint32_t start_cycles = 0;  // of an inference, before the first engine
  std::uint32_t end_cycles = 0;    // after the last

  std::uint32_t conv_input_lanes = 0;  // multiply-accumulates a cycle: product of both
  std::uint32_t conv_output_lanes = 0;
  std::uint32_t conv_overhead_cycles = 0;  // of a tile
  std::uint32_t vector_lanes = 0;
  std::uint32_t vector_overhead_cycles = 0;
  std::map<std::string, double, std::less<>> passes;  // by type of operator, and "default"

  double ddr_bytes_per_s = 0;  // what is left of the peak, of all engines together
  double ddr_bytes_per_s_per_engine = 0;
  std::uint32_t ddr_latency_cycles = 0;
  std::uint32_t dma_issue_cycles = 0;
  std::uint32_t record_cycles = 0;  // of an engine, for each record of the log

  double invoke_s = 0;  // CPU, beside the IPU's time
  double sync_bytes_per_s = 0;

  std::string image_version;
  std::uint32_t width_alignment = 1;
  std::uint32_t height_alignment = 1;

  std::string toml;  // the text it was read from

  double passes_of(std::string_view type) const;
};

// An input error names the missing, senseless or unknown field, and its line.
Result<Target> read_target(const TargetFile& file);
// Of a program, which an older version may have made: fields that are unknown are passed over.
Result<Target> parse_target(std::string_view toml, const std::string& name);

}  // namespace npuscope::npu::ipu
