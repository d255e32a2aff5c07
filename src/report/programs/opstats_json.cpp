#include "report/programs/opstats_json.hpp"

#include "formats/qaic/qpc/program.hpp"
#include "profile/pmu_events.hpp"
#include "report/document/json_head.hpp"
#include "report/document/json_text.hpp"

namespace npuscope::report {
namespace {

using Json = nlohmann::ordered_json;

Json optional_number(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }

Json percent_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? Json(nullptr) : Json(100.0 * double(part) / double(whole));
}

Json row_json(const qaic::OpstatsRow& row, const qaic::OpstatsCore& core) {
  using Type = qaic::OpstatsRow::Type;
  Json json;
  json["type"] = row.type == Type::op ? "op" : row.type == Type::sync ? "sync" : "barrier";
  json["group"] = row.group;
  json["count"] = row.count;
  json["ucycles"] = row.ucycles;
  json["ucycles_percent"] = percent_of(row.ucycles, core.ucycles());
  if (row.type != Type::op) return json;
  json["kind"] = row.kind;
  json["memory"] = row.memory;
  json["types"] = row.types;
  json["pcycles"] = row.pcycles;
  json["pcycles_percent"] = percent_of(row.pcycles, core.pcycles());
  json["output_kilobytes"] = row.output_kilobytes;
  json["ucycles_per_kilobyte"] = optional_number(row.ucycles_per_kilobyte());
  json["pcycles_per_kilobyte"] = optional_number(row.pcycles_per_kilobyte());
  json["pcycles_per_kilobyte_stddev"] =
      row.output_kilobytes > 0 ? Json(row.stddev_per_kilobyte) : Json(nullptr);
  return json;
}

Json threads_json(const qaic::OpstatsCore& core) {
  Json threads = Json::array();
  for (const qaic::OpstatsThread& thread : core.threads) {
    threads.push_back({{"thread", thread.thread},
                       {"group", thread.group},
                       {"begin_ticks", thread.begin},
                       {"end_ticks", thread.end},
                       {"ucycles", thread.ucycles},
                       {"pcycles", thread.pcycles},
                       {"utilization_percent", optional_number(thread.utilization)}});
  }
  return threads;
}

Json core_json(const qaic::OpstatsCore& core, Hertz utimer) {
  Json json;
  json["core"] = core.core;
  json["ucycles"] = core.ucycles();
  json["pcycles"] = core.pcycles();
  json["inference_pcycles"] = core.inference_pcycles;
  json["effective_mhz"] = core.effective_megahertz(utimer);
  json["threads"] = threads_json(core);
  json["ops"] = Json::array();
  for (const qaic::OpstatsRow& row : core.rows) json["ops"].push_back(row_json(row, core));
  json["ports"] = Json::array();
  for (const qaic::OpstatsPort& port : core.ports) {
    json["ports"].push_back(
        {{"thread", port.thread}, {"port", port.port}, {"wait_ucycles", port.ucycles}});
  }
  json["activations"] = Json::array();
  for (const qaic::OpstatsActivation& activation : core.activations) {
    json["activations"].push_back({{"thread", activation.thread}, {"ucycles", activation.ucycles}});
  }
  json["pmu"] = Json::array();
  for (const qaic::OpstatsPmu& pmu : core.pmu) {
    const PmuEventInfo* const event = find_pmu_event(pmu.event);
    const auto known = [&](auto member) {
      return event != nullptr ? Json(event->*member) : Json();
    };
    json["pmu"].push_back({{"thread", pmu.thread},
                           {"event", fmt::format("0x{:x}", pmu.event)},
                           {"name", known(&PmuEventInfo::name)},
                           {"unit", known(&PmuEventInfo::unit)},
                           {"meaning", known(&PmuEventInfo::meaning)},
                           {"count", pmu.count}});
  }
  json["kernel_util"] = Json::array();
  for (const qaic::OpstatsPmuUse& use : core.pmu_use()) {
    json["kernel_util"].push_back({{"event", find_pmu_event(use.event)->name},
                                   {"count", use.count},
                                   {"pcycles", use.pcycles},
                                   {"percent", percent_of(use.count, use.pcycles)}});
  }
  json["ddr"] = nullptr;
  if (core.ddr) {
    json["ddr"] = {{"read_bytes", core.ddr->read_bytes}, {"write_bytes", core.ddr->write_bytes}};
  }
  return json;
}

Json note_json(const Note& note) {
  constexpr const char* severities[] = {"info", "warning", "error"};
  return {{"severity", severities[std::size_t(note.severity)]},
          {"file", note.file},
          {"offset", note.offset},
          {"count", note.count},
          {"message", note.message}};
}

}  // namespace

std::string opstats_json(const qaic::OpstatsSummary& summary, std::span<const Note> notes) {
  Json json;
  json["network"] = summary.network;
  json["batch_size"] = summary.batch_size;
  json["timer_hz"] = summary.utimer.value;
  json["begin_ticks"] = summary.begin();
  json["end_ticks"] = summary.end();
  json["ucycles"] = summary.ucycles();
  json["seconds"] = summary.seconds();
  json["batches_per_second"] = summary.batches_per_second();
  json["inferences_per_second"] = summary.inferences_per_second();
  const auto wait = [&](std::uint32_t port) {
    const auto ticks = summary.longest_wait(port);
    return ticks ? Json(*ticks) : Json(nullptr);
  };
  json["max_input_wait_ucycles"] = wait(qaic::host_input_port);
  json["max_output_wait_ucycles"] = wait(qaic::host_output_port);
  json["cores"] = Json::array();
  for (const qaic::OpstatsCore& core : summary.cores) {
    json["cores"].push_back(core_json(core, summary.utimer));
  }
  json["host"] = Json::array();
  for (const qaic::HostTime& time : summary.host) {
    json["host"].push_back({{"name", time.name}, {"microseconds", time.microseconds}});
  }
  json["notes"] = Json::array();
  for (const Note& note : notes) json["notes"].push_back(note_json(note));
  return with_json_head("opstats", json_text(json));
}

}  // namespace npuscope::report
