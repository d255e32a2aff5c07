#include "npu/targets/nsp/target/target.hpp"

#include <fmt/ranges.h>
#include <set>

#include "base/try.hpp"
#include "npu/core/target_file.hpp"
#include "npu/core/target_reader.hpp"
#include "profile/pmu_events.hpp"

namespace npuscope::npu::nsp {
namespace {

constexpr double huge = 1e18;

void read_cores_and_clock(TargetReader& in, Target& target) {
  in.integer("cores.count", target.cores, 1, 64);
  in.integer("cores.hvx_threads", target.hvx_threads, 1, 16);
  in.integer("cores.vtcm_bytes", target.vtcm_bytes, 1 << 18, 1ll << 32);
  in.integer("cores.vtcm_reserved_bytes", target.vtcm_reserved_bytes, 0, 1ll << 32);
  in.integer("cores.l2_bytes", target.l2_bytes, 0, 1ll << 32);
  if (in.has("cores.hoisted_share")) in.number("cores.hoisted_share", target.hoisted_share, 0, 0.5);
  if (target.vtcm_reserved_bytes + (1 << 18) > target.vtcm_bytes) {
    in.fail("cores.vtcm_reserved_bytes", "at least 256 KiB less than vtcm_bytes");
  }
  in.number("clock.core_hz", target.core_hz, 1e6, 1e11);
  in.number("clock.core_hz_min", target.core_hz_min, 1e6, target.core_hz);
  in.number("clock.governor_window_s", target.governor_window_s, 1e-6, 10);
  in.number("clock.core_spread", target.core_spread, 0, 0.1);
  in.number("clock.timer_hz", target.timer_hz, 1e6, 1e10);
}

void read_session_state(TargetReader& in, const std::string& path, SessionState& state) {
  in.number(path + ".enter_s", state.enter_s, 0, 1);
  in.number(path + ".vtcm_acquire_s", state.vtcm_acquire_s, 0, 1);
  in.number(path + ".vtcm_acquire_hz", state.vtcm_acquire_hz, 1e6, 1e11);
  in.number(path + ".between_s", state.between_s, 0, 1);
  in.number(path + ".power_on_s", state.power_on_s, 0, 1);
  in.number(path + ".power_on_hz", state.power_on_hz, 1e6, 1e11);
  in.number(path + ".prepare_s", state.prepare_s, 0, 1);
  in.number(path + ".graph_hz", state.graph_hz, 1e6, 1e11);
  in.number(path + ".leave_s", state.leave_s, 0, 1);
}

// Older descriptions have none.
void read_session_call(TargetReader& in, const std::string& path,
                       std::optional<SessionCall>& call) {
  if (!in.has_table(path)) return;
  call.emplace();
  in.number(path + ".qnn_s", call->qnn_s, 0, 1e3);
  in.number(path + ".rpc_s", call->rpc_s, 0, call->qnn_s);
  in.number(path + ".qnn_accelerator_s", call->qnn_accelerator_s, 0, call->rpc_s);
  in.number(path + ".accelerator_s", call->accelerator_s, 0, call->qnn_accelerator_s);
}

void read_session(TargetReader& in, Target& target) {
  if (in.has("cores.shared_main_thread")) {
    in.boolean("cores.shared_main_thread", target.shared_main_thread);
  }
  if (!in.has_table("session")) return;
  Session& session = target.session.emplace();
  in.number("session.cold_after_s", session.cold_after_s, 0, 1e6);
  in.number("session.cycles_per_packet", session.cycles_per_packet, 1, 1e6);
  in.number("session.polling_cycles_per_packet", session.polling_cycles_per_packet, 1, 1e6);
  if (in.has("session.poll_cycles_min")) {
    in.number("session.poll_cycles_min", session.poll_cycles_min, 0, 1e6);
    in.number("session.poll_cycles_max", session.poll_cycles_max, session.poll_cycles_min, 1e6);
  }
  read_session_state(in, "session.cold", session.cold);
  read_session_state(in, "session.warm", session.warm);
  read_session_call(in, "session.load", session.load);
  read_session_call(in, "session.release", session.release);
  if (target.core_hz_min != target.core_hz) {
    in.fail("clock.core_hz_min",
            "the same as core_hz: with [session] the clock follows its phases");
  }
}

void read_engines(TargetReader& in, Target& target) {
  in.number("hmx.macs_per_cycle_int8", target.hmx_macs_per_cycle_int8, 1, 1e9);
  in.number("hmx.macs_per_cycle_fp16", target.hmx_macs_per_cycle_fp16, 1, 1e9);
  in.number("hmx.efficiency", target.hmx_efficiency, 0.01, 1);
  in.number("hmx.overhead_cycles", target.hmx_overhead_cycles, 0, 1e6);
  in.integer("hmx.alignment", target.hmx_alignment, 1, 4096);
  if (in.has("hmx.int8_power_of_fp16")) {
    in.number("hmx.int8_power_of_fp16", target.hmx_int8_power_of_fp16, 0, 1);
  }
  if (in.has("hmx.channel_macs_per_cycle_fp16")) {
    in.number("hmx.channel_macs_per_cycle_fp16", target.hmx_channel_macs_per_cycle_fp16, 1, 1e9);
  }
  if (in.has("hmx.output_cycles_per_kib_fp16")) {
    in.number("hmx.output_cycles_per_kib_fp16", target.hmx_output_cycles_per_kib_fp16, 0, 1e6);
  }
  if (in.has("hmx.shallow_macs_per_cycle_fp16")) {
    in.number("hmx.shallow_macs_per_cycle_fp16", target.hmx_shallow_macs_per_cycle_fp16, 1, 1e9);
  }
  if (in.has("hmx.output_cycles_per_kib")) {
    in.number("hmx.output_cycles_per_kib", target.hmx_output_cycles_per_kib, 0, 1e6);
  }
  if (in.has("hmx.two_blocks_less_int8"))
    in.number("hmx.two_blocks_less_int8", target.hmx_two_blocks_less_int8, 0, 1e6);
  if (in.has("hmx.dilated_int8")) {
    in.number("hmx.dilated_int8", target.hmx_dilated_int8, 1, 1e3);
    in.number("hmx.dilated_fp16", target.hmx_dilated_fp16, 1, 1e3);
  }
  if (in.has("hmx.strided_sequence_places_fp16")) {
    in.integer("hmx.strided_sequence_places_fp16", target.hmx_strided_sequence_places_fp16, 1,
               1024);
  }
  if (in.has("hmx.tile_rows")) {
    in.integer("hmx.tile_rows", target.hmx_tile_rows, 1, 4096);
    in.integer("hmx.tile_columns", target.hmx_tile_columns, target.hmx_alignment, 1 << 20);
  }
  in.number("hvx.macs_per_cycle_int8", target.hvx_macs_per_cycle_int8, 1, 1e9);
  in.number("hvx.macs_per_cycle_fp16", target.hvx_macs_per_cycle_fp16, 1, 1e9);
  in.number("hvx.macs_per_cycle_fp32", target.hvx_macs_per_cycle_fp32, 1, 1e9);
  if (in.has("hvx.tile_bytes")) {
    in.integer("hvx.tile_bytes", target.vector_tile_bytes, 1024, 1ll << 32);
  }
  const auto may_be = [&](const char* key, bool& value) {
    if (in.has(key)) in.boolean(key, value);
  };
  may_be("graph.qnn", target.qnn_graphs);
  may_be("graph.moves_tiles", target.moves_tiles);
  may_be("graph.moves_heads", target.moves_heads);
  may_be("graph.sorts_places", target.sorts_places);
}

void read_memory_and_host(TargetReader& in, Target& target) {
  in.number("ddr.bytes_per_s", target.ddr_bytes_per_s, 1e6, 1e15);
  in.number("ddr.efficiency", target.ddr_efficiency, 0.01, 1);
  in.number("ddr.bytes_per_s_per_core", target.ddr_bytes_per_s_per_core, 1e6, 1e15);
  in.number("ddr.latency_s", target.ddr_latency_s, 0, 1);
  in.number("dma.issue_cycles", target.dma_issue_cycles, 0, 1e6);
  in.integer("dma.depth", target.dma_depth, 1, 1 << 16);
  if (in.has("dma.unit_bytes")) in.integer("dma.unit_bytes", target.dma_unit_bytes, 1, 1 << 20);
  in.number("dma.multicast_bytes_per_s_per_core", target.multicast_bytes_per_s_per_core, 1e6, 1e15);
  in.number("dma.multicast_latency_s", target.multicast_latency_s, 0, 1);
  if (in.has("ddr.capacity_bytes")) {
    in.integer("ddr.capacity_bytes", target.ddr_capacity_bytes, 1 << 20, 1ll << 50);
  }
  if (in.has_table("peer")) {
    in.number("peer.bytes_per_s", target.peer_bytes_per_s, 1e6, 1e15);
    in.number("peer.latency_s", target.peer_latency_s, 0, 1);
  }
  in.number("host.link_bytes_per_s", target.host_link_bytes_per_s, 1e6, 1e15);
  in.number("host.latency_s", target.host_latency_s, 0, 1);
  in.number("host.submit_s", target.host_submit_s, 0, 1);
  const auto optional = [&](std::string_view path, double& out) {
    if (in.has(path)) in.number(path, out, 0, 1);
  };
  optional("host.enqueue_s", target.host_enqueue_s);
  optional("host.preprocess_s", target.host_preprocess_s);
  optional("host.wake_s", target.host_wake_s);
  optional("host.postprocess_s", target.host_postprocess_s);
}

void read_overheads(TargetReader& in, Target& target) {
  in.number("synchronisation.sync_cycles", target.sync_cycles, 0, 1e6);
  in.number("synchronisation.cross_core_cycles", target.cross_core_sync_cycles, 0, 1e6);
  in.number("synchronisation.barrier_cycles", target.barrier_cycles, 0, 1e6);
  in.number("synchronisation.jitter", target.jitter, 0, 0.5);
  if (in.has_table("noise")) {
    in.number("noise.kernels", target.noise.kernels, 0, 0.2);
    in.number("noise.ddr", target.noise.ddr, 0, 0.1);
    in.number("noise.barrier_s", target.noise.barrier_s, 0, 1e-3);
    in.number("noise.host", target.noise.host, 0, 1);
  }
  in.number("instrumentation.thread_cycles", target.record_cycles_thread, 0, 1e6);
  in.number("instrumentation.port_cycles", target.record_cycles_port, 0, 1e6);
  in.number("instrumentation.op_cycles", target.record_cycles_op, 0, 1e6);
  in.number("instrumentation.op_pmu_cycles", target.record_cycles_op_pmu, 0, 1e6);
  in.number("instrumentation.activation_s", target.activation_s, 0, 10);
}

void read_kernels(TargetReader& in, Target& target) {
  const auto* kernels = in.root()["kernels"].as_table();
  if (kernels == nullptr) return in.fail("kernels", "a table with an entry `default`");
  for (const auto& [key, node] : *kernels) {
    const std::string path = fmt::format("kernels.{}", key.str());
    KernelCost cost;
    if (in.has(path + ".cycles_per_kib") || !in.has(path + ".cycles_per_padded_kib")) {
      in.number(path + ".cycles_per_kib", cost.cycles_per_kib, 0, 1e9);
    }
    in.number(path + ".overhead_cycles", cost.overhead_cycles, 0, 1e9);
    const auto number = [&](const char* field, double& out) {
      if (in.has(path + field)) in.number(path + field, out, 0, 1e9);
    };
    number(".cycles_per_padded_kib", cost.cycles_per_padded_kib);
    number(".cycles_per_row", cost.cycles_per_row);
    number(".row_columns", cost.row_columns);
    number(".first_kib", cost.first_kib);
    number(".cycles_per_first_kib", cost.cycles_per_first_kib);
    number(".ddr_reads", cost.ddr_reads);
    number(".ddr_writes", cost.ddr_writes);
    number(".tile_bytes", cost.tile_bytes);
    number(".tile_cycles", cost.tile_cycles);
    number(".whole_bytes", cost.whole_bytes);
    if (in.has(path + ".by_input")) in.boolean(path + ".by_input", cost.by_input);
    if (in.has(path + ".by_window")) in.boolean(path + ".by_window", cost.by_window);
    if (in.has(path + ".by_block")) in.boolean(path + ".by_block", cost.by_block);
    if (in.has(path + ".on_hmx")) in.boolean(path + ".on_hmx", cost.on_hmx);
    if (key.str() == "default") target.default_kernel = cost;
    target.kernels.emplace(key.str(), cost);
  }
  if (!target.kernels.contains("default")) in.fail("kernels.default", "the cost of other kernels");
}

void read_pmu(TargetReader& in, Target& target) {
  static const std::set<std::string, std::less<>> countable{
      "cycles",         "hmx_macs",        "hmx_cycles",      "hvx_cycles", "dma_cycles",
      "ddr_read_bytes", "ddr_write_bytes", "multicast_bytes", "tasks"};
  if (const auto* events = in.array("pmu.events")) {
    for (std::size_t i = 0; i < events->size(); ++i) {
      const std::string path = fmt::format("pmu.events[{}]", i);
      PmuEvent event;
      in.integer(path + ".code", event.code, 0, 0xFFFFFFFFu);
      in.text(path + ".name", event.name);
      in.text(path + ".counts", event.counts);
      if (!countable.contains(event.counts)) {
        in.fail(path + ".counts", fmt::format("one of {}", fmt::join(countable, ", ")));
      }
      if (in.has(path + ".divisor")) in.integer(path + ".divisor", event.divisor, 1, 1 << 30);
      if (const PmuEventInfo* known = find_pmu_event(event.code);
          known != nullptr && (known->name != event.name || known->counts != event.counts ||
                               known->divisor != event.divisor)) {
        in.fail(path, fmt::format("{}, counts {}, divisor {}: what reports call code 0x{:X}",
                                  known->name, known->counts, known->divisor, known->code));
      }
      target.pmu_events.push_back(event);
    }
  }
  if (const auto* recipes = in.root()["pmu"]["recipes"].as_table()) {
    for (const auto& [key, node] : *recipes) {
      const std::string path = fmt::format("pmu.recipes.{}", key.str());
      const auto* codes = node.as_array();
      if (codes == nullptr || codes->empty() || codes->size() > 8) {
        in.fail(path, "a list of 1 to 8 event codes");
        continue;
      }
      auto& recipe = target.pmu_recipes[std::string(key.str())];
      for (std::size_t i = 0; i < codes->size(); ++i) {
        in.integer(fmt::format("{}[{}]", path, i), recipe.emplace_back(), 0, huge);
      }
      if (const PmuRecipeInfo* known = find_pmu_recipe(key.str());
          known != nullptr && known->events != recipe) {
        in.fail(path, fmt::format("[{:#x}], the events of this recipe in reports",
                                  fmt::join(known->events, ", ")));
      }
    }
  }
}

void read_nsp(TargetReader& in, Target& target) {
  read_cores_and_clock(in, target);
  read_session(in, target);
  read_engines(in, target);
  read_memory_and_host(in, target);
  read_overheads(in, target);
  read_kernels(in, target);
  read_pmu(in, target);
}

}  // namespace

namespace {

Result<Target> read(std::string_view toml, const std::string& name, OtherFields others) {
  return read_fields<Target>(toml, name,
                             {TargetArchitecture::nsp, ErrorKind::input,
                              "a target with HMX and HVX cores, such as aic100 or htp-v75"},
                             others, read_nsp);
}

}  // namespace

Result<Target> parse_target(std::string_view toml, const std::string& name) {
  return read(toml, name, OtherFields::allowed);
}

Result<Target> find_target(const std::string& name_or_path) {
  TRY_AS(file, find_target_file(name_or_path));
  if (file->architecture != TargetArchitecture::nsp) {
    return usage_error(
        "target '{}' is a {}; this needs one with HMX and HVX cores: {}, or the path of such a "
        ".toml file",
        name_or_path, family_of(file->architecture), builtin_target_names(TargetArchitecture::nsp));
  }
  return read(file->toml, file->name, other_fields_of(*file));
}

Result<Target> builtin_target(std::string_view name) { return find_target(std::string(name)); }

}  // namespace npuscope::npu::nsp
