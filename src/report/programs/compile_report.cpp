#include "report/programs/compile_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "report/programs/compile_traffic.hpp"

namespace npuscope::report {
namespace {

std::string histogram_text(const npu::nsp::CompileMetrics& metrics) {
  std::string text =
      "Original Graph operation size histogram:\n"
      "     output elts      op count (cumulative)\n";
  std::uint64_t total = 0;
  for (const auto& [elements, count] : metrics.op_output_elements) total += count;
  std::uint64_t so_far = 0;
  for (const auto& [elements, count] : metrics.op_output_elements) {
    so_far += count;
    text += fmt::format("{:>16}{:>21}{:>5}%\n", thousands(elements), thousands(so_far),
                        so_far * 100 / total);
  }
  return text;
}

std::uint64_t largest_vtcm(const npu::nsp::CompileMetrics& metrics) {
  std::uint64_t max = 0;
  for (const auto& core : metrics.cores) max = std::max(max, core.vtcm_bytes);
  return max;
}

std::uint64_t largest_multicast(const npu::nsp::CompileMetrics& metrics) {
  std::uint64_t max = 0;
  for (const auto& core : metrics.cores) max = std::max(max, core.multicast_bytes);
  return max;
}

std::uint64_t multicasting_cores(const npu::nsp::CompileMetrics& metrics) {
  return std::uint64_t(
      std::count_if(metrics.cores.begin(), metrics.cores.end(),
                    [](const npu::nsp::CoreMetrics& core) { return core.multicast_bytes > 0; }));
}

// What cores and host share in DDR: outputs, state, statistics and the places of what is spilled.
std::uint64_t shared_ddr_bytes(const npu::nsp::CompiledNetwork& network) {
  std::uint64_t bytes = network.program.output_bytes + network.program.retained_bytes +
                        network.metrics.statistics_bytes;
  for (const npu::nsp::Spill& spill : network.metrics.spills) bytes += spill.bytes;
  return bytes;
}

std::string size_line(std::string_view label, std::uint64_t bytes) {
  return fmt::format("{:<28} {:>12}\n", label, compiler_size(bytes));
}

}  // namespace

std::string compiler_size(std::uint64_t bytes) {
  if (bytes < 100'000) return fmt::format("{} B", bytes);
  if (bytes / 1024 < 100'000) return fmt::format("{} KB", bytes / 1024);
  return fmt::format("{} MB", bytes / (1024 * 1024));
}

std::string compile_metrics_text(const npu::nsp::CompiledNetwork& network) {
  const npu::nsp::CompileMetrics& metrics = network.metrics;
  const std::string constants = compiler_size(metrics.constant_bytes);
  std::string text;
  text += fmt::format("Original MAC estimate: {}\n", thousands(metrics.original_macs));
  text += histogram_text(metrics);
  text += fmt::format("preD32 constants size: {}\n", constants);
  text += fmt::format("AIC HMX MAC estimate: {}\n", thousands(metrics.hmx_macs));
  text += fmt::format("AIC non-HMX MAC estimate: {}\n", thousands(metrics.non_hmx_macs));
  text += fmt::format("d32 constants size: {}\n", compiler_size(metrics.d32_constant_bytes));
  text += fmt::format("final constants size: {}\n", constants);
  text += fmt::format("final combined specializations constants size:\t{}\n", constants);
  for (std::size_t core = 0; core < metrics.cores.size(); ++core) {
    text += fmt::format("VTCM{}Size:\t{}\n", core, compiler_size(metrics.cores[core].vtcm_bytes));
  }
  text += fmt::format("VTCMMaxSize:\t{}\n", compiler_size(largest_vtcm(metrics)));
  text += size_line("StaticSharedDDRSize:", shared_ddr_bytes(network));
  text += size_line("DynamicSharedDDRSize:", 0);
  text += size_line("StaticConstantsSize:", metrics.constant_bytes);
  text += size_line("MulticastStaticVASizeMax:", largest_multicast(metrics));
  text += fmt::format("{}\n", network.program.network_name);
  text += traffic_text(metrics);
  text += size_line("DynamicConstantsSize:", 0);
  text += size_line("Constants size:", metrics.constant_bytes);
  text += fmt::format("constants.bin QPC section size: {}\n", constants);
  text += fmt::format("ELF sections size: {}\n", compiler_size(metrics.program_bytes));
  text += fmt::format("MulticastTableSize: {}\n", multicasting_cores(metrics));
  return text;
}

void write_compile_metrics(Json& json, const npu::nsp::CompiledNetwork& network) {
  const npu::nsp::CompileMetrics& metrics = network.metrics;

  json.member("network", network.program.network_name);
  json.member("stats_level", network.program.stats_level);
  json.member("original_macs", metrics.original_macs);
  json.member("hmx_macs", metrics.hmx_macs);
  json.member("non_hmx_macs", metrics.non_hmx_macs);
  json.objects("operation_size_histogram", metrics.op_output_elements, [&](const auto& size) {
    json.member("output_elements", size.first);
    json.member("count", size.second);
  });
  json.member("constant_bytes", metrics.constant_bytes);
  json.member("d32_constant_bytes", metrics.d32_constant_bytes);
  json.member("spill_bytes", metrics.spill_bytes);
  json.member("vtcm_max_bytes", largest_vtcm(metrics));
  json.objects("cores", metrics.cores, [&](const npu::nsp::CoreMetrics& core) {
    json.member("vtcm_bytes", core.vtcm_bytes);
    json.member("ddr_read_bytes", core.ddr_read_bytes);
    json.member("ddr_read_constant_bytes", core.ddr_read_constant_bytes);
    json.member("ddr_write_bytes", core.ddr_write_bytes);
    json.member("multicast_bytes", core.multicast_bytes);
    json.member("tasks", core.tasks);
    json.member("barriers", core.barriers);
  });
  json.member("statistics_bytes", metrics.statistics_bytes);
  json.member("program_bytes", metrics.program_bytes);
  json.member("shared_ddr_bytes", shared_ddr_bytes(network));
  json.object("traffic", [&] { write_traffic(json, metrics); });
  json.member("performance_warnings", metrics.performance_warnings);
}

}  // namespace npuscope::report
