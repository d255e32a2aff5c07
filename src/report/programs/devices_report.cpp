#include "report/programs/devices_report.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "report/programs/compile_report.hpp"

namespace npuscope::report {
namespace {

struct PeerTotals {
  std::uint64_t transfers = 0;
  std::uint64_t bytes = 0;
};

PeerTotals sent_by(const qaic::Program& program) {
  PeerTotals totals;
  for (const qaic::PeerTransfer& transfer : program.peer_transfers) {
    if (transfer.incoming != 0) continue;
    totals.transfers += 1;
    totals.bytes += transfer.bytes;
  }
  return totals;
}

}  // namespace

std::string devices_text(const npu::nsp::BuildResult& result) {
  if (!result.partition.is_multi_device()) return {};
  std::string text =
      fmt::format("{}: {} devices of {} cores share the model\n", printable(result.partition.name),
                  result.partition.devices.size(), result.partition.cores);
  for (const npu::nsp::CompiledNetwork& network : *result.networks) {
    const PeerTotals sent = sent_by(network.program);
    text += fmt::format("{}: {} of constants, {} transfers of {} to other devices per inference\n",
                        network.program.network_name, compiler_size(network.metrics.constant_bytes),
                        thousands(sent.transfers), compiler_size(sent.bytes));
  }
  return text;
}

void write_devices(Json& json, const npu::nsp::BuildResult& result) {
  json.objects("devices", *result.networks, [&](const npu::nsp::CompiledNetwork& network) {
    const PeerTotals sent = sent_by(network.program);
    json.member("network", network.program.network_name);
    json.member("device", result.partition.devices[network.program.slice]);
    json.member("slice", network.program.slice);
    json.member("slices", network.program.slices);
    json.member("constant_bytes", network.metrics.constant_bytes);
    json.member("peer_transfers_sent", sent.transfers);
    json.member("peer_bytes_sent", sent.bytes);
  });
}

}  // namespace npuscope::report
