// programqpc.bin of compiled networks.
#include <array>

#include "base/try.hpp"
#include "formats/qaic/qpc/qpc.hpp"
#include "npu/targets/nsp/compile/compile.hpp"

namespace npuscope::npu::nsp {
namespace {

std::vector<std::byte> copy_of(std::string_view text) {
  const ByteSpan bytes = as_byte_span(text);
  return {bytes.begin(), bytes.end()};
}

// AICConstantDescriptor: u64 static size, u64 dynamic size, two ECC flags, padding to 24 bytes
// (formats/qaic.md section 1). Sizes only: npuscope keeps no weights.
std::vector<std::byte> constants_descriptor(std::uint64_t static_bytes) {
  std::array<std::uint64_t, 3> fields{static_bytes, 0, 0};
  const auto bytes = std::as_bytes(std::span(fields));
  return {bytes.begin(), bytes.end()};
}

std::vector<qaic::QpcSegmentSource> segments_of(const CompiledNetwork& network,
                                                const Target& target) {
  std::vector<qaic::QpcSegmentSource> segments;
  const auto add = [&](std::string_view name, std::vector<std::byte> bytes) {
    segments.push_back({std::string(name), std::move(bytes), 0});
  };
  add(qaic::segment_constants_descriptor, constants_descriptor(network.metrics.constant_bytes));
  add(qaic::segment_network_descriptor, qaic::write_network_descriptor(network.descriptor));
  segments.push_back(
      {std::string(qaic::segment_program),
       {},
       0,
       [&network](std::vector<std::byte>& out) { qaic::write_program(network.program, out); },
       network.metrics.program_bytes});
  add(qaic::segment_target, copy_of(target.toml));
  if (network.schematic) add(qaic::segment_schematic, qaic::write_schematic(*network.schematic));
  return segments;
}

}  // namespace

Result<std::vector<std::byte>> package_qpc(const std::vector<CompiledNetwork>& networks,
                                           const Target& target, std::string_view partition) {
  if (networks.empty()) return usage_error("no network to package");
  if (networks.size() == 1) return qaic::write_qpc(segments_of(networks[0], target));
  std::vector<qaic::QpcSegmentSource> outer;
  for (const CompiledNetwork& network : networks) {
    TRY_AS(inner, qaic::write_qpc(segments_of(network, target)));
    outer.push_back({network.program.network_name, std::move(*inner), 0});
  }
  if (!partition.empty()) {
    outer.push_back({std::string(qaic::segment_partition), copy_of(partition), 0});
  }
  return qaic::write_qpc(std::move(outer));
}

}  // namespace npuscope::npu::nsp
