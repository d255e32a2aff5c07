#include "report/programs/opstats_json.hpp"

#include "formats/qaic/qpc/program.hpp"
#include "profile/pmu_events.hpp"
#include "report/document/document_json.hpp"

namespace npuscope::report {
namespace {

std::optional<double> percent_of(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return std::nullopt;
  return 100.0 * double(part) / double(whole);
}

void write_row(Json& json, const qaic::OpstatsRow& row, const qaic::OpstatsCore& core) {
  using Type = qaic::OpstatsRow::Type;
  json.member("type", row.type == Type::op ? "op" : row.type == Type::sync ? "sync" : "barrier");
  json.member("group", row.group);
  json.member("count", row.count);
  json.member("ucycles", row.ucycles);
  json.member("ucycles_percent", percent_of(row.ucycles, core.ucycles()));
  if (row.type != Type::op) return;
  json.member("kind", row.kind);
  json.member("memory", row.memory);
  json.member("types", row.types);
  json.member("pcycles", row.pcycles);
  json.member("pcycles_percent", percent_of(row.pcycles, core.pcycles()));
  json.member("output_kilobytes", row.output_kilobytes);
  json.member("ucycles_per_kilobyte", row.ucycles_per_kilobyte());
  json.member("pcycles_per_kilobyte", row.pcycles_per_kilobyte());
  json.member("pcycles_per_kilobyte_stddev",
              row.output_kilobytes > 0 ? std::optional(row.stddev_per_kilobyte) : std::nullopt);
}

void write_thread(Json& json, const qaic::OpstatsThread& thread) {
  json.member("thread", thread.thread);
  json.member("group", thread.group);
  json.member("begin_ticks", thread.begin);
  json.member("end_ticks", thread.end);
  json.member("ucycles", thread.ucycles);
  json.member("pcycles", thread.pcycles);
  json.member("utilization_percent", thread.utilization);
}

void write_pmu(Json& json, const qaic::OpstatsPmu& pmu) {
  const PmuEventInfo* const event = find_pmu_event(pmu.event);
  const auto known = [&](auto member) {
    return event != nullptr ? std::optional(event->*member) : std::nullopt;
  };
  json.member("thread", pmu.thread);
  json.member("event", fmt::format("0x{:x}", pmu.event));
  json.member("name", known(&PmuEventInfo::name));
  json.member("unit", known(&PmuEventInfo::unit));
  json.member("meaning", known(&PmuEventInfo::meaning));
  json.member("count", pmu.count);
}

void write_core(Json& json, const qaic::OpstatsCore& core, Hertz utimer) {
  json.member("core", core.core);
  json.member("ucycles", core.ucycles());
  json.member("pcycles", core.pcycles());
  json.member("inference_pcycles", core.inference_pcycles);
  json.member("effective_mhz", core.effective_megahertz(utimer));
  json.objects("threads", core.threads, [&](const auto& thread) { write_thread(json, thread); });
  json.objects("ops", core.rows, [&](const auto& row) { write_row(json, row, core); });
  json.objects("ports", core.ports, [&](const auto& port) {
    json.member("thread", port.thread);
    json.member("port", port.port);
    json.member("wait_ucycles", port.ucycles);
  });
  json.objects("activations", core.activations, [&](const auto& activation) {
    json.member("thread", activation.thread);
    json.member("ucycles", activation.ucycles);
  });
  json.objects("pmu", core.pmu, [&](const auto& pmu) { write_pmu(json, pmu); });
  json.objects("kernel_util", core.pmu_use(), [&](const auto& use) {
    json.member("event", find_pmu_event(use.event)->name);
    json.member("count", use.count);
    json.member("pcycles", use.pcycles);
    json.member("percent", percent_of(use.count, use.pcycles));
  });
  json.key("ddr");
  if (!core.ddr) return json.null();
  json.object([&] {
    json.member("read_bytes", core.ddr->read_bytes);
    json.member("write_bytes", core.ddr->write_bytes);
  });
}

}  // namespace

std::string opstats_json(const qaic::OpstatsSummary& summary, std::span<const Note> notes) {
  const auto text = json_text([&](Json& json) {
    json.member("network", summary.network);
    json.member("batch_size", summary.batch_size);
    json.member("timer_hz", summary.utimer.value);
    json.member("begin_ticks", summary.begin());
    json.member("end_ticks", summary.end());
    json.member("ucycles", summary.ucycles());
    json.member("seconds", summary.seconds());
    json.member("batches_per_second", summary.batches_per_second());
    json.member("inferences_per_second", summary.inferences_per_second());
    json.member("max_input_wait_ucycles", summary.longest_wait(qaic::host_input_port));
    json.member("max_output_wait_ucycles", summary.longest_wait(qaic::host_output_port));
    json.objects("cores", summary.cores,
                 [&](const qaic::OpstatsCore& core) { write_core(json, core, summary.utimer); });
    json.objects("host", summary.host, [&](const qaic::HostTime& time) {
      json.member("name", time.name);
      json.member("microseconds", time.microseconds);
    });
    write_notes(json, notes);
  });
  return with_json_head("opstats", text);
}

}  // namespace npuscope::report
