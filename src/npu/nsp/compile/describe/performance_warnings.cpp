// -aic-perf-warnings: what costs time, by how much, and what would change it.
#include <algorithm>

#include "npu/nsp/compile/describe/metrics.hpp"

namespace npuscope::npu::nsp {
namespace {

constexpr double kibibyte = 1024;

double share_of(std::uint64_t part, std::uint64_t all) {
  return 100.0 * double(part) / double(std::max<std::uint64_t>(all, 1));
}

// How long the network takes at least on each of the two things that all networks need.
struct Floors {
  double ddr_s = 0;
  double hmx_s = 0;  // of the core with the most work
};

Floors floors_of(const Target& target, const CompileMetrics& metrics) {
  Floors floors;
  double bytes = 0;
  for (const CoreMetrics& core : metrics.cores) {
    bytes += double(core.ddr_read_bytes) + double(core.ddr_write_bytes);
    floors.hmx_s = std::max(floors.hmx_s, double(core.hmx_cycles) / target.core_hz);
  }
  const double all = target.ddr_bytes_per_s * target.ddr_efficiency;
  const double of_cores = target.ddr_bytes_per_s_per_core * double(metrics.cores.size());
  floors.ddr_s = bytes / std::min(all, of_cores);
  return floors;
}

void warn_of_float32(const CompileMetrics& metrics, std::vector<std::string>& warnings) {
  if (metrics.non_hmx_macs == 0) return;
  warnings.push_back(fmt::format(
      "{:.1f}% of the multiply-accumulates run on HVX, not HMX (float32 products and depthwise "
      "convolutions); for float32 models compile with -convert-to-fp16",
      share_of(metrics.non_hmx_macs, metrics.original_macs)));
}

std::string cause_of(const Spill& spill, const Target& target) {
  const double slice = double(spill.bytes_of_core) / kibibyte;
  const double vtcm = double(target.vtcm_bytes - target.vtcm_reserved_bytes) / kibibyte;
  switch (spill.cause) {
    case Spill::Cause::too_large:
      return fmt::format(
          "its {:.0f} KB on one core are more than two fifths of the {:.0f} KB of "
          "VTCM, so it is streamed",
          slice, vtcm);
    case Spill::Cause::pushed_out:
      return fmt::format("its {:.0f} KB on one core made room for {:.0f} KB of '{}'", slice,
                         double(spill.wanted_bytes) / kibibyte, spill.node);
    case Spill::Cause::no_room:
      return fmt::format("its {:.0f} KB on one core did not fit beside what '{}' holds", slice,
                         spill.node);
    case Spill::Cause::rearranged:
      return fmt::format(
          "'{}' needs it split over the cores in another way, and there was no "
          "room for both",
          spill.node);
  }
  return {};
}

void warn_of_spill(const Target& target, const CompileMetrics& metrics,
                   std::vector<std::string>& warnings) {
  if (metrics.spills.empty()) return;
  const Spill& largest =
      *std::max_element(metrics.spills.begin(), metrics.spills.end(),
                        [](const Spill& a, const Spill& b) { return a.bytes < b.bytes; });
  const std::string back =
      largest.back_node.empty()
          ? std::string()
          : fmt::format("; away for {:.0f} us by estimate, until '{}'",
                        (largest.back_s - largest.out_s) * 1e6, largest.back_node);
  warnings.push_back(fmt::format(
      "{:.0f} KB of activations are spilled to DDR ({} tensors) because the VTCM is full; use more "
      "cores or a smaller batch. The largest, '{}': {}{}",
      double(metrics.spill_bytes) / kibibyte, metrics.spills.size(), largest.tensor,
      cause_of(largest, target), back));
}

void warn_of_unknown(const Graph& graph, std::vector<std::string>& warnings) {
  const auto unknown = std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                     [](const Node& node) { return node.unknown; });
  if (unknown == 0) return;
  warnings.push_back(fmt::format("{} operators are unknown and costed as elementwise", unknown));
}

void warn_of_memory_bound(const Target& target, const CompileMetrics& metrics,
                          std::vector<std::string>& warnings) {
  constexpr double clearly = 2;
  const Floors floors = floors_of(target, metrics);
  if (metrics.hmx_macs == 0 || floors.ddr_s < clearly * floors.hmx_s) return;
  std::uint64_t constants = 0, all = 0;
  for (const CoreMetrics& core : metrics.cores) {
    constants += core.ddr_read_constant_bytes;
    all += core.ddr_read_bytes + core.ddr_write_bytes;
  }
  warnings.push_back(fmt::format(
      "memory bound: DDR traffic takes {:.2f} ms at least, {:.0f}% of it constants, and the "
      "products {:.2f} ms; more inputs at once (batch, tokens) share the constants' traffic",
      floors.ddr_s * 1e3, share_of(constants, all), floors.hmx_s * 1e3));
}

void warn_of_padding(const Target& target, const CompileMetrics& metrics,
                     std::vector<std::string>& warnings) {
  const std::uint64_t of_hmx =
      metrics.original_macs - std::min(metrics.original_macs, metrics.non_hmx_macs);
  if (metrics.hmx_macs < 2 * of_hmx || of_hmx == 0) return;
  warnings.push_back(fmt::format(
      "{:.1f}% of the HMX's multiply-accumulates are padding to {} rows and columns; as many as {} "
      "rows (batch, tokens) cost what one does",
      share_of(metrics.hmx_macs - of_hmx, metrics.hmx_macs), target.hmx_alignment,
      target.hmx_alignment));
}

void warn_of_imbalance(const CompileMetrics& metrics, std::vector<std::string>& warnings) {
  constexpr double worth_saying = 1.15;
  std::uint64_t max = 0, all = 0;
  for (const CoreMetrics& core : metrics.cores) {
    max = std::max(max, core.hmx_cycles);
    all += core.hmx_cycles;
  }
  const double even = double(all) / double(std::max<std::size_t>(metrics.cores.size(), 1));
  if (metrics.cores.size() < 2 || metrics.hmx_macs == 0 || double(max) < worth_saying * even)
    return;
  warnings.push_back(fmt::format(
      "the busiest core's HMX has {:.0f}% more work than an even share; a number of cores that "
      "divides the model's batch, heads or columns balances it",
      100 * (double(max) / even - 1)));
}

}  // namespace

std::vector<std::string> performance_warnings(const Graph& graph, const Target& target,
                                              const CompileMetrics& metrics) {
  std::vector<std::string> warnings;
  warn_of_float32(metrics, warnings);
  warn_of_spill(target, metrics, warnings);
  warn_of_memory_bound(target, metrics, warnings);
  warn_of_padding(target, metrics, warnings);
  warn_of_imbalance(metrics, warnings);
  warn_of_unknown(graph, warnings);
  return warnings;
}

}  // namespace npuscope::npu::nsp
