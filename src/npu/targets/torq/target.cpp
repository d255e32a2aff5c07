#include "npu/targets/torq/target.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "npu/core/target_reader.hpp"

namespace npuscope::npu::torq {
namespace {

constexpr double max_cycles = 1e9;

void read_npu(TargetReader& in, Target& target) {
  in.number("npu.clock_hz", target.clock_hz, 1e6, 1e11);
  in.integer("npu.xram_bytes", target.xram_bytes, 1 << 20, 1ll << 40);
  in.integer("lram.bytes", target.lram_bytes, 1 << 15, 1ll << 32);
  in.integer("lram.reserved_bytes", target.lram_reserved_bytes, 0, 1ll << 32);
  if (target.lram_reserved_bytes + (1 << 14) > target.lram_bytes) {
    in.fail("lram.reserved_bytes", "at least 16 KiB less than lram.bytes");
  }
}

void read_slices(TargetReader& in, Target::Slices& slices) {
  in.integer("slices.count", slices.count, 1, 2);  // the vendor's files know slices 0 and 1
  in.integer("slices.alu_width", slices.alu_width, 4, 1 << 20);
  in.integer("slices.group_width", slices.group_width, 4, 1 << 20);
  in.integer("slices.act_width", slices.act_width, 4, 1 << 20);
  in.integer("slices.program_bytes", slices.program_bytes, 0, 1 << 13);
  in.integer("slices.segment_bytes", slices.segment_bytes, 1, 1 << 20);
  in.integer("slices.shared_elements", slices.shared_elements, 1, 1 << 20);
  in.integer("slices.kept_bytes", slices.kept_bytes, 0, 1 << 30);
  in.number("slices.uneven_segments", slices.uneven_segments, 1, 100);
  for (const char* table : {"slices.elements_a_cycle", "slices.code_bytes"}) {
    if (!in.has(fmt::format("{}.default", table)))
      in.fail(table, "a table with an entry `default`");
  }
  in.numbers("slices.elements_a_cycle", slices.elements_a_cycle, 0.01, 1e6);
  in.numbers("slices.code_bytes", slices.code_bytes, 1, 1 << 20);
  if (!in.error().empty()) return;
  if (slices.group_width > slices.alu_width || slices.alu_width % slices.group_width != 0) {
    in.fail("slices.group_width", "a divisor of alu_width");
  }
}

void read_cost_model(TargetReader& in, Target& target) {
  in.integer("nss.block_bytes", target.nss.block_bytes, 64, 1 << 20);
  in.integer("nss.block_tasks", target.nss.block_tasks, 2, 1 << 20);
  in.number("dma.bytes_per_cycle", target.dma.bytes_per_cycle, 0.01, 1e6);
  in.number("dma.factor", target.dma.factor, 0.01, 1);
  in.integer("dma.mtu_in", target.dma.mtu_in, 0, 16);
  in.integer("dma.mtu_out", target.dma.mtu_out, 0, 16);
  in.number("dma.mtu_overhead_beats", target.dma.mtu_overhead_beats, 0, 1e6);
  in.number("cdma.bytes_per_cycle", target.cdma.bytes_per_cycle, 0.01, 1e6);
  in.number("cdma.factor", target.cdma.factor, 0.01, 1);
  in.integer("css.estimated_cycles", target.css.estimated_cycles, 0, max_cycles);
  in.integer("css.data_bytes", target.css.data_bytes, 1024, 1ll << 32);
  in.integer("css.code_bytes", target.css.code_bytes, 1, 1ll << 32);
  in.integer("css.small_code_bytes", target.css.small_code_bytes, 1, 1ll << 32);
  in.integer("css.softmax_code_bytes", target.css.softmax_code_bytes, 1, 1ll << 32);
  const auto newer = [&](std::string_view field, std::uint64_t& bytes) {  // than some programs
    bytes = target.css.softmax_code_bytes;
    if (in.has(field)) in.integer(field, bytes, 1, 1ll << 32);
  };
  newer("css.normalization_code_bytes", target.css.normalization_code_bytes);
  newer("css.pooling_code_bytes", target.css.pooling_code_bytes);
  newer("css.power_code_bytes", target.css.power_code_bytes);
  in.integer("css.stack_bytes", target.css.stack_bytes, 1, 1ll << 32);
  if (!in.has("css.cycles_per_element.default")) {
    in.fail("css.cycles_per_element", "a table with an entry `default`");
  }
  in.numbers("css.cycles_per_element", target.css.cycles_per_element, 0, 1e6);
}

// Slower than this, and the time of a large program is beyond what 64 bits hold.
void check_rates(TargetReader& in, const Target& target) {
  constexpr double min = 0.01;
  if (!in.error().empty()) return;
  for (const Direction direction : {Direction::in, Direction::out}) {
    if (target.dma_rate(direction) < min) {
      in.fail("dma.factor", fmt::format("larger: transfers must have {} bytes a cycle", min));
    }
  }
  if (target.cdma_rate() < min) {
    in.fail("cdma.factor", fmt::format("larger: transfers must have {} bytes a cycle", min));
  }
}

void read_device(TargetReader& in, Target::Device& device) {
  in.integer("device.dma_latency_cycles", device.dma_latency_cycles, 0, max_cycles);
  in.integer("device.cdma_latency_cycles", device.cdma_latency_cycles, 0, max_cycles);
  in.number("device.xram_bytes_per_cycle", device.xram_bytes_per_cycle, 0.01, 1e6);
  in.integer("device.configure_cycles", device.configure_cycles, 0, max_cycles);
  in.integer("device.step_cycles", device.step_cycles, 0, max_cycles);
  in.integer("device.block_cycles", device.block_cycles, 0, max_cycles);
  in.integer("device.slice_start_cycles", device.slice_start_cycles, 0, max_cycles);
  in.integer("device.css_start_cycles", device.css_start_cycles, 0, max_cycles);
  in.number("device.slice_stall", device.slice_stall, 0, 100);
}

void read_host(TargetReader& in, Target& target) {
  Target::Host& host = target.host;
  in.number("host.start_s", host.start_s, 0, 10);
  in.number("host.wait_s", host.wait_s, 0, 10);
  in.number("host.copy_call_s", host.copy_call_s, 0, 10);
  in.number("host.copy_bytes_per_s", host.copy_bytes_per_s, 1e3, 1e15);
  in.number("host.copy_run_s", host.copy_run_s, 0, 1);
  in.number("host.program_call_s", host.program_call_s, 0, 10);
  in.number("host.program_elements_per_s", host.program_elements_per_s, 1e3, 1e15);
  in.number("host.program_macs_per_s", host.program_macs_per_s, 1e3, 1e15);
  Target::Runtime& runtime = target.runtime;
  in.number("runtime.queue_s", runtime.queue_s, 0, 10);
  in.number("runtime.dispatch_s", runtime.dispatch_s, 0, 10);
  in.number("runtime.resources_s", runtime.resources_s, 0, 10);
  in.number("runtime.bindings_s", runtime.bindings_s, 0, 10);
  in.number("runtime.open_s", runtime.open_s, 0, 10);
  in.number("runtime.load_s", runtime.load_s, 0, 10);
}

void read_fields_of_torq(TargetReader& in, Target& target) {
  read_npu(in, target);
  read_slices(in, target.slices);
  read_cost_model(in, target);
  read_device(in, target.device);
  read_host(in, target);
  check_rates(in, target);
}

}  // namespace

double Target::dma_rate(Direction direction) const {
  const double beats = double(1u << (direction == Direction::in ? dma.mtu_in : dma.mtu_out));
  return dma.bytes_per_cycle * dma.factor * (beats / (beats + dma.mtu_overhead_beats));
}

namespace {

using Numbers = std::map<std::string, double, std::less<>>;

double of_kernel(const Numbers& numbers, std::string_view kernel) {
  const auto found = numbers.find(kernel);
  return found != numbers.end() ? found->second : numbers.find("default")->second;
}

}  // namespace

double Target::css_cycles_per_element(std::string_view kernel) const {
  // Sixteen products are a vector of four instructions, as long as an element that takes one.
  constexpr double products = 16;
  const bool is_new = kernel == "convolution" && !css.cycles_per_element.contains(kernel);
  return is_new ? of_kernel(css.cycles_per_element, "default") / products
                : of_kernel(css.cycles_per_element, kernel);
}

// The activation unit takes bytes: fewer elements where they are larger.
double Target::elements_a_cycle(std::string_view kernel, std::uint64_t element_bytes) const {
  if (element_bytes != 2) {
    const auto found = slices.elements_a_cycle.find(
        fmt::format("{}_{}", kernel, element_bytes == 1 ? "i8" : "f32"));
    if (found != slices.elements_a_cycle.end()) return found->second;
  }
  return of_kernel(slices.elements_a_cycle, kernel) * 2 /
         double(std::max<std::uint64_t>(2, element_bytes));
}

std::uint64_t Target::code_bytes(std::string_view kernel) const {
  return std::uint64_t(of_kernel(slices.code_bytes, kernel));
}

namespace {

Result<Target> read(std::string_view toml, const std::string& name, OtherFields others) {
  constexpr auto torq = TargetArchitecture::torq;
  return read_fields<Target>(toml, name,
                             {torq, ErrorKind::usage,
                              fmt::format("a {}: {}, or the path of such a .toml file",
                                          family_of(torq), builtin_target_names(torq))},
                             others, read_fields_of_torq);
}

}  // namespace

Result<Target> read_target(const TargetFile& file) {
  return read(file.toml, file.name, other_fields_of(file));
}

Result<Target> parse_target(std::string_view toml, const std::string& name) {
  return read(toml, name, OtherFields::allowed);
}

}  // namespace npuscope::npu::torq
