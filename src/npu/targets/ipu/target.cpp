#include "npu/targets/ipu/target.hpp"

#include "npu/core/target_reader.hpp"

namespace npuscope::npu::ipu {
namespace {

constexpr double max_cycles = 1e6;  // of what happens once a tile or inference

void read_engines(TargetReader& in, Target& target) {
  in.integer("cores.count", target.cores, 1, 2);  // logs are those of core 0 and core 1
  in.integer("cores.memory_bytes", target.memory_bytes, 1 << 14, 1 << 26);
  in.number("clock.hz", target.clock_hz, 1e6, 1e10);
  in.integer("clock.start_cycles", target.start_cycles, 1, max_cycles);
  in.integer("clock.end_cycles", target.end_cycles, 1, max_cycles);
  in.integer("conv.input_lanes", target.conv_input_lanes, 1, 4096);
  in.integer("conv.output_lanes", target.conv_output_lanes, 1, 4096);
  in.integer("conv.tile_overhead_cycles", target.conv_overhead_cycles, 1, max_cycles);
  in.integer("vector.lanes", target.vector_lanes, 1, 4096);
  in.integer("vector.tile_overhead_cycles", target.vector_overhead_cycles, 1, max_cycles);
}

void read_passes(TargetReader& in, Target& target) {
  in.numbers("vector.passes", target.passes, 0, 1e4);
  for (const char* needed : {"vector.passes.default", "vector.passes.requantize"}) {
    if (!in.has(needed)) in.fail(needed, "a number");
  }
}

void read_memory(TargetReader& in, Target& target) {
  double efficiency = 0;
  // At the slowest, the largest tile takes less than half the range of a log's 32-bit clock.
  in.number("ddr.bytes_per_s", target.ddr_bytes_per_s, 1e9, 1e13);
  in.number("ddr.efficiency", efficiency, 0.1, 1);
  target.ddr_bytes_per_s *= efficiency;
  in.number("ddr.bytes_per_s_per_engine", target.ddr_bytes_per_s_per_engine, 1e9, 1e13);
  in.integer("ddr.latency_cycles", target.ddr_latency_cycles, 0, max_cycles);
  in.integer("dma.issue_cycles", target.dma_issue_cycles, 1, max_cycles);
  in.integer("log.record_cycles", target.record_cycles, 0, max_cycles);
  in.number("host.invoke_s", target.invoke_s, 0, 10);
  in.number("host.sync_bytes_per_s", target.sync_bytes_per_s, 1e6, 1e13);
}

void read_image(TargetReader& in, Target& target) {
  in.text("image.version", target.image_version);
  const std::string_view version = target.image_version;
  if (version.size() < 4 || !version.starts_with("S3.") || version[3] < '0' || version[3] > '9') {
    in.fail("image.version", "a text like S3.1.2");
  }
  in.integer("image.width_alignment", target.width_alignment, 1, 4096);
  in.integer("image.height_alignment", target.height_alignment, 1, 4096);
}

void read_fields_of_ipu(TargetReader& in, Target& target) {
  read_engines(in, target);
  read_passes(in, target);
  read_memory(in, target);
  read_image(in, target);
}

}  // namespace

double Target::passes_of(std::string_view type) const {
  const auto found = passes.find(type);
  return found == passes.end() ? passes.find("default")->second : found->second;
}

namespace {

Result<Target> read(std::string_view toml, const std::string& name, OtherFields others) {
  return read_fields<Target>(toml, name,
                             {TargetArchitecture::ipu, ErrorKind::input,
                              "a target whose architecture is ipu, such as ipu-muffin"},
                             others, read_fields_of_ipu);
}

}  // namespace

Result<Target> read_target(const TargetFile& file) {
  return read(file.toml, file.name, other_fields_of(file));
}

Result<Target> parse_target(std::string_view toml, const std::string& name) {
  return read(toml, name, OtherFields::allowed);
}

}  // namespace npuscope::npu::ipu
