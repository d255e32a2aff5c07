#include "report/programs/compile_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace npuscope::report {

namespace {

// The memory traffic of a compilation: the vendor's table (per host, port and core), and what the
// vendor's does not say: the purpose of every byte.
//
//   Compiler estimated memory traffic:
//   …
//      host: DDR traffic  read:      65598 KB (first-inf      65598 KB)
//                constant only:          0 KB (first-inf          0 KB)
//    port02: DDR traffic  read:      65598 KB
//       c00: DDR traffic  read:    1040940 KB (first-inf    1041965 KB)
//   …
//   purpose retained state:     read     131072 KB  write     131072 KB

using npu::nsp::TrafficPurpose;

constexpr std::uint64_t kilobyte = 1024;

// What the table has a line for: the host, a core, all of them.
struct Mover {
  std::string name;
  // Of the host: where outputs leave, where inputs come in.
  std::string port_read = {}, port_write = {};
  npu::nsp::Traffic ddr = {};
  std::uint64_t constant_read = 0;
  std::uint64_t hoisted = 0;  // constants that only the first inference reads
  std::uint64_t multicast_write = 0;
};

std::vector<Mover> movers_of(const npu::nsp::CompileMetrics& metrics) {
  std::vector<Mover> movers;
  movers.push_back({"host", "port02", "port01", metrics.host.total()});
  for (std::size_t core = 0; core < metrics.cores.size(); ++core) {
    const npu::nsp::CoreMetrics& of = metrics.cores[core];
    movers.push_back({fmt::format("c{:02}", core), "", "", of.by_purpose.total(),
                      of.ddr_read_constant_bytes, of.hoisted_bytes, of.multicast_bytes});
  }
  return movers;
}

Mover total_of(const std::vector<Mover>& movers) {
  Mover total{.name = "total"};
  for (const Mover& mover : movers) {
    total.ddr.read_bytes += mover.ddr.read_bytes;
    total.ddr.write_bytes += mover.ddr.write_bytes;
    total.constant_read += mover.constant_read;
    total.hoisted += mover.hoisted;
    total.multicast_write += mover.multicast_write;
  }
  return total;
}

std::string ddr_read(const Mover& mover) {
  const auto with_first = [&](std::string_view label, std::uint64_t bytes) {
    return fmt::format("{} {:>10} KB (first-inf {:>10} KB)\n", label, bytes / kilobyte,
                       (bytes + mover.hoisted) / kilobyte);
  };
  std::string text =
      with_first(fmt::format("{:>7}: DDR traffic  read:", mover.name), mover.ddr.read_bytes);
  text += with_first("             constant only:", mover.constant_read);
  return text;
}

std::string line(std::string_view name, std::string_view what, std::uint64_t bytes) {
  return fmt::format("{:>7}: {} {:>10} KB\n", name, what, bytes / kilobyte);
}

// All multicasts start from VTCM, none reads the constants' memory itself, and none is received
// that was not sent by a core.
std::string multicast_write(const Mover& mover) {
  std::string text = line(mover.name, "MC  traffic write:", mover.multicast_write);
  if (mover.name != "host") text += line(mover.name, "    constant only:", 0);
  return text;
}

std::string purposes_text(const npu::nsp::CompileMetrics& metrics) {
  std::string text;
  for (std::size_t i = 0; i < npu::nsp::traffic_purposes; ++i) {
    npu::nsp::Traffic sum = metrics.host.of[i];
    for (const npu::nsp::CoreMetrics& core : metrics.cores) {
      sum.read_bytes += core.by_purpose.of[i].read_bytes;
      sum.write_bytes += core.by_purpose.of[i].write_bytes;
    }
    text += fmt::format("purpose {:<16} read {:>10} KB  write {:>10} KB\n",
                        fmt::format("{}:", name_of(TrafficPurpose(i))), sum.read_bytes / kilobyte,
                        sum.write_bytes / kilobyte);
  }
  return text;
}

void write_bytes(Json& json, std::string_view key, const npu::nsp::Traffic& traffic) {
  json.object(key, [&] {
    json.member("read_bytes", traffic.read_bytes);
    json.member("write_bytes", traffic.write_bytes);
  });
}

std::string key_of(TrafficPurpose purpose) {
  std::string key(name_of(purpose));
  for (char& c : key) c = c == ' ' ? '_' : c;
  return key;
}

void write_purposes(Json& json, const npu::nsp::PurposeTraffic& traffic) {
  for (std::size_t i = 0; i < npu::nsp::traffic_purposes; ++i) {
    write_bytes(json, key_of(TrafficPurpose(i)), traffic.of[i]);
  }
}

std::string_view name_of_cause(npu::nsp::Spill::Cause cause) {
  constexpr std::string_view names[] = {"pushed_out", "too_large", "no_room", "rearranged"};
  return names[std::size_t(cause)];
}

void write_spill(Json& json, const npu::nsp::Spill& spill) {
  json.member("tensor", spill.tensor);
  json.member("bytes", spill.bytes);
  json.member("bytes_of_core", spill.bytes_of_core);
  json.member("cause", name_of_cause(spill.cause));
  json.member("node", spill.node);
  json.member("wanted_bytes", spill.wanted_bytes);
  json.member("out_s", spill.out_s);
  json.member("back_node", or_null(spill.back_node));
  json.member("back_s", spill.back_node.empty() ? std::nullopt : std::optional(spill.back_s));
}

std::string traffic_text(const npu::nsp::CompileMetrics& metrics) {
  const std::vector<Mover> movers = movers_of(metrics);
  const Mover total = total_of(movers);
  std::string text =
      "Compiler estimated memory traffic:\nPort info:\n port01: host input\n port02: host output\n";
  for (const Mover& mover : movers) {
    text += ddr_read(mover);
    if (!mover.port_read.empty()) {
      text += line(mover.port_read, "DDR traffic  read:", mover.ddr.read_bytes);
    }
  }
  for (const Mover& mover : movers) {
    text += line(mover.name, "DDR traffic write:", mover.ddr.write_bytes);
    if (!mover.port_write.empty()) {
      text += line(mover.port_write, "DDR traffic write:", mover.ddr.write_bytes);
    }
  }
  for (const Mover& mover : movers) text += line(mover.name, "MC  traffic  read:", 0);
  for (const Mover& mover : movers) text += multicast_write(mover);
  text += ddr_read(total) + line(total.name, "DDR traffic write:", total.ddr.write_bytes);
  text += line(total.name, "MC  traffic  read:", 0) + multicast_write(total);
  for (std::size_t core = 0; core < metrics.cores.size(); ++core) {
    text += fmt::format("  c{:02} barriers: {:>10}\n", core, metrics.cores[core].barriers);
  }
  return text + purposes_text(metrics);
}

// The members of an object.
void write_traffic(Json& json, const npu::nsp::CompileMetrics& metrics) {
  const Mover total = total_of(movers_of(metrics));

  json.object("total", [&] {
    json.member("ddr_read_bytes", total.ddr.read_bytes);
    json.member("ddr_read_constant_bytes", total.constant_read);
    json.member("ddr_read_first_inference_only_bytes", total.hoisted);
    json.member("ddr_write_bytes", total.ddr.write_bytes);
    json.member("multicast_bytes", total.multicast_write);
  });
  json.object("host", [&] { write_purposes(json, metrics.host); });
  json.objects("cores", metrics.cores, [&](const npu::nsp::CoreMetrics& core) {
    write_purposes(json, core.by_purpose);
    write_bytes(json, "first_inference_only", {core.hoisted_bytes, 0});
  });
  json.objects("tensors", metrics.tensors, [&](const npu::nsp::TensorTraffic& row) {
    json.member("tensor", row.tensor);
    json.member("purpose", key_of(row.purpose));
    json.member("read_bytes", row.ddr.read_bytes);
    json.member("write_bytes", row.ddr.write_bytes);
    json.member("cores", row.cores);
  });
  json.objects("spills", metrics.spills,
               [&](const npu::nsp::Spill& spill) { write_spill(json, spill); });
}

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
  return std::uint64_t(std::ranges::count_if(
      metrics.cores, [](const npu::nsp::CoreMetrics& core) { return core.multicast_bytes > 0; }));
}

// What cores and host share in DDR: outputs, state, statistics and the places of what is spilled.
std::uint64_t shared_ddr_bytes(const npu::nsp::CompiledNetwork& network) {
  return network.program.output_bytes + network.program.retained_bytes +
         network.metrics.statistics_bytes + network.metrics.spill_place_bytes;
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

namespace {

constexpr const char* unpacking_assumption =
    "assumed: HVX unpacks them on the way, at the rate of a public profile of an AI 100 Ultra, and "
    "packs state at the same";

const char* holding(npu::DataType type) {
  return type == npu::DataType::mxfp6 ? "weights" : "retained states";
}

}  // namespace

std::string blocks_text(const npu::nsp::CompiledNetwork& network) {
  std::string text;
  for (const npu::nsp::PackedTensors& each : network.metrics.packed) {
    text +=
        fmt::format("{}: {} {} lie in DDR as {}, {} instead of {}\n", network.program.network_name,
                    thousands(each.tensors), holding(each.type), npu::name_of(each.type),
                    compiler_size(each.ddr_bytes), compiler_size(each.bytes));
  }
  if (!text.empty())
    text += fmt::format("{}: {}\n", network.program.network_name, unpacking_assumption);
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
  if (!metrics.packed.empty())
    json.objects("packed", metrics.packed, [&](const npu::nsp::PackedTensors& each) {
      json.member("type", npu::name_of(each.type));
      json.member("tensors", each.tensors);
      json.member("float16_bytes", each.bytes);
      json.member("ddr_bytes", each.ddr_bytes);
      json.member("assumption", unpacking_assumption);
    });
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
