#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/units/unit_numbers.hpp"
#include "report/document/damage.hpp"
#include "report/document/json_text.hpp"
#include "report/document/names.hpp"
#include "report/document/pmu_section.hpp"
#include "report/document/provenance.hpp"
#include "report/document/quantity.hpp"
#include "report/document/scope.hpp"
#include "report/ops/op_column_name.hpp"
#include "report/show/show.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;
using Json = nlohmann::ordered_json;

// JSON has no infinity and no NaN.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

Json spread(const Spread& values) {
  if (values.count == 0) return nullptr;
  return {{"count", values.count},
          {"first", number(values.first)},
          {"median_of_rest", values.count > 1 ? number(values.median_of_rest) : Json(nullptr)},
          {"median", number(values.median)},
          {"least", number(values.min)},
          {"most", number(values.max)}};
}

class PageJson {
 public:
  explicit PageJson(const Page& page) : page_(page), profile_(*page.profile) {}

  Json make() const;

 private:
  Json text(StringId id) const { return std::string(profile_.text(id)); }
  Json clock(ClockId id) const { return clock_json(profile_, id); }
  Json provenance() const;
  Json counts() const;
  Json wall() const;
  Json call() const;
  Json throughput() const;
  Json phases() const;
  Json ops(const OpTable& table) const;
  Json engines() const;
  Json units() const;
  Json traffic(const Traffic& traffic) const;
  Json unit_numbers() const;
  Json pmu() const;
  Json clocks() const;
  Json peers() const;
  Json numbers() const;
  Json counters() const;
  Json checks() const;
  Json findings() const;

  const Page& page_;
  const Profile& profile_;
};

Json PageJson::provenance() const {
  const Provenance& from = profile_.provenance;
  return {{"files", from.files},
          {"format", from.format},
          {"version", from.version},
          {"device", from.device},
          {"graph", from.graph},
          {"instrumentation", from.instrumentation},
          {"inferences", from.inferences > 0 ? Json(from.inferences) : Json(nullptr)},
          {"temperature", stable_name(from.temperature)},
          {"partial", is_damaged(profile_)},
          {"structure_only", page_.structure_only}};
}

Json PageJson::counts() const {
  return {{"spans", profile_.spans.size()},
          {"ops", profile_.ops.size()},
          {"units", profile_.units.size()},
          {"phases", profile_.phases.size()},
          {"counter_samples", profile_.counters.size()},
          {"flows", profile_.flows.size()},
          {"edges", profile_.edges.size()},
          {"tensors", profile_.tensors.size()},
          {"measures", profile_.measures.size()}};
}

Json PageJson::wall() const {
  const Coarse& coarse = page_.coarse;
  if (coarse.wall == 0) return nullptr;
  constexpr const char* names[part_count] = {
      "compute_alone", "compute_and_movement", "movement_alone", "other_work",
      "host_alone",    "waiting_for_dma",      "other_waiting",  "idle"};
  Json parts = Json::object();
  for (std::size_t i = 0; i < part_count && coarse.has_parts(); ++i)
    parts[names[i]] = coarse.parts[i];
  if (!coarse.has_parts()) parts = nullptr;
  return {{"begin", coarse.timeline.begin},
          {"end", coarse.timeline.end},
          {"ticks", coarse.wall},
          {"seconds",
           page_.rate ? number(double(coarse.wall) / page_.rate->rate.value) : Json(nullptr)},
          {"hertz", page_.rate ? number(page_.rate->rate.value) : Json(nullptr)},
          {"hertz_origin", page_.rate ? Json(stable_name(page_.rate->origin)) : Json(nullptr)},
          {"hertz_error", page_.rate ? number(page_.rate->error) : Json(nullptr)},
          {"parts", parts},
          {"active", coarse.active},
          {"work", coarse.work},
          {"compute_active", coarse.compute_active},
          {"movement_active", coarse.movement_active},
          {"host_active", coarse.host_active},
          {"units_at_once", page_.overlap.concurrency.time_at},
          {"gaps", coarse.gaps},
          {"longest_gap", coarse.longest_gap},
          {"inferences", spread(coarse.inferences)},
          {"inferences_per_second", number(coarse.inferences_per_second)}};
}

Json PageJson::call() const {
  if (!page_.call) return nullptr;
  const Call& call = *page_.call;
  Json layers = Json::array();
  for (std::size_t i = 0; i < call.layers.size(); ++i) {
    layers.push_back({{"layer", call.layers[i].name},
                      {"seconds", call.layers[i].seconds},
                      {"own_seconds", call.layers[i].own},
                      {"on_device", i >= call.device}});
  }
  return {{"warm", call.warm},
          {"count", call.count},
          {"seconds", call.seconds()},
          {"device_seconds", call.device_seconds()},
          {"layers", layers}};
}

Json PageJson::phases() const {
  Json rows = Json::array();
  for (const PhaseRow& row : page_.phases) {
    rows.push_back({{"name", text(row.name)},
                    {"depth", row.depth},
                    {"ticks", spread(row.ticks)},
                    {"microseconds", spread(row.microseconds)},
                    {"self_ticks", spread(row.self_ticks)},
                    {"self_microseconds", spread(row.self_microseconds)},
                    {"hertz", spread(row.hertz)}});
  }
  return rows;
}

Json PageJson::ops(const OpTable& table) const {
  Json columns = Json::array();
  for (const OpColumn& column : table.columns) {
    columns.push_back(
        {{"name", column.name},
         {"kind", stable_name(column.kind)},
         {"origin", stable_name(column.origin)},
         {"clock", column.kind == MeasureKind::count ? Json(nullptr) : clock(column.clock)},
         {"per_inference", column.per_inference},
         {"of", column.of_inferences ? Json(inferences_text(profile_, column, false)) : Json()},
         {"total", number(column.total)},
         {"whole", number(column.whole)}});
  }
  Json rows = Json::array();
  for (const OpRow& row : table.rows) {
    Json values = Json::array();
    for (const auto& value : row.values) values.push_back(number(value));
    Json engines = Json::array();
    for (const Engine engine : row.engines) engines.push_back(stable_name(engine));
    rows.push_back({{"name", text(row.label)},
                    {"kind", text(row.kind)},
                    {"kinds", row.kinds},
                    {"ops", row.ops},
                    {"instances", row.instances},
                    {"runs", row.runs},
                    {"units", row.units},
                    {"engines", engines},
                    {"values", values}});
  }
  return {{"columns", columns},
          {"ranked_by",
           table.columns.empty() ? Json(nullptr) : Json(table.columns[table.ranked_by].name)},
          {"row_count", table.row_count},
          {"rows", rows}};
}

Json PageJson::engines() const {
  Json rows = Json::array();
  for (const EngineRow& row : page_.units.engines) {
    rows.push_back({{"engine", stable_name(row.engine)},
                    {"units", row.units},
                    {"domain", row.domain},
                    {"busiest_unit", path_of(profile_, row.busiest)},
                    {"active", row.active},
                    {"work", row.work}});
  }
  return rows;
}

Json PageJson::traffic(const Traffic& traffic) const {
  return {{"ddr_read_bytes", number(traffic.of(Memory::ddr, Direction::read))},
          {"ddr_write_bytes", number(traffic.of(Memory::ddr, Direction::write))},
          {"vtcm_read_bytes", number(traffic.of(Memory::vtcm, Direction::read))},
          {"vtcm_write_bytes", number(traffic.of(Memory::vtcm, Direction::write))}};
}

Json PageJson::units() const {
  Json rows = Json::array();
  const auto wall = double(page_.units.wall);
  for (const UnitRow& row : page_.units.units) {
    const Unit* unit =
        index_of(row.unit) < profile_.units.size() ? &profile_.units[index_of(row.unit)] : nullptr;
    rows.push_back({{"name", path_of(profile_, row.unit)},
                    {"engine", stable_name(unit != nullptr ? unit->engine : Engine::none)},
                    {"device", unit != nullptr ? unit->device : 0},
                    {"core", unit != nullptr ? unit->core : 0},
                    {"lane", unit != nullptr ? unit->lane : 0},
                    {"spans", row.spans},
                    {"busy", row.busy},
                    {"busy_share_of_wall", wall > 0 ? number(double(row.busy) / wall) : nullptr},
                    {"waiting", row.waiting},
                    {"work", row.work},
                    {"dominant_path", number(row.dominant_path)},
                    {"traffic", traffic(row.traffic)}});
  }
  return rows;
}

Json PageJson::unit_numbers() const {
  const UnitNumbers& table = page_.unit_numbers;
  Json columns = Json::array(), rows = Json::array();
  for (const UnitNumberColumn& column : table.columns) {
    columns.push_back(
        {{"name", column.name},
         {"kind", stable_name(column.kind)},
         {"origin", stable_name(column.origin)},
         {"clock", column.kind == MeasureKind::count ? Json(nullptr) : clock(column.clock)}});
  }
  for (std::size_t i = 0; i < table.row_count(); ++i) {
    Json values(Json::array_t(table.columns.size(), nullptr));
    for (const UnitNumber& each : table.row(i)) values[each.column] = number(each.value);
    rows.push_back({{"name", path_of(profile_, table.row(i).front().unit)}, {"values", values}});
  }
  return {{"columns", columns}, {"columns_left", table.columns_left}, {"rows", rows}};
}

Json PageJson::pmu() const {
  const auto value_json = [&](const PmuCount& value) {
    return Json{{"count", number(value.count)}, {"share_of_cycles", number(value.share())}};
  };
  Json events = Json::array();
  for (const PmuRow& row : page_.pmu.rows) {
    Json event{{"event", pmu_name(row)},
               {"code", pmu_code(row)},
               {"unit", pmu_unit(row)},
               {"meaning", pmu_meaning(row)}};
    event.update(value_json(row.value));
    event["cores"] = Json::array();
    for (const PmuCore& each : row.cores) {
      Json core{{"core", path_of(profile_, each.core)}};
      core.update(value_json(each.value));
      event["cores"].push_back(std::move(core));
    }
    events.push_back(std::move(event));
  }
  const PmuRecipeInfo* recipe = page_.pmu.recipe;
  return {{"recipe", recipe != nullptr ? Json(recipe->name) : Json(nullptr)}, {"events", events}};
}

Json PageJson::clocks() const {
  Json rows = Json::array();
  for (const InferenceClock& clock : page_.clocks) {
    rows.push_back(
        {{"inference", clock.inference == every_instance ? Json(nullptr) : Json(clock.inference)},
         {"cores", clock.cores},
         {"least_hertz", number(clock.min_hertz)},
         {"most_hertz", number(clock.max_hertz)}});
  }
  return rows;
}

Json PageJson::peers() const {
  Json rows = Json::array();
  for (const PeerRow& row : page_.peers.rows) {
    rows.push_back({{"from", row.from},
                    {"to", row.to},
                    {"sent_transfers", row.sent.transfers},
                    {"sent_bytes", row.sent.bytes},
                    {"received_transfers", row.received.transfers},
                    {"received_bytes", row.received.bytes},
                    {"received_wait", row.received.time},
                    {"paired", row.paired}});
  }
  return {{"rows", rows}, {"unpaired", page_.peers.unpaired}};
}

Json PageJson::numbers() const {
  Json rows = Json::array();
  for (const NumberRow& row : page_.numbers) {
    rows.push_back({{"name", text(row.what)},
                    {"subject", stable_name(row.subject)},
                    {"kind", stable_name(row.kind)},
                    {"origin", stable_name(row.origin)},
                    {"clock", row.kind == MeasureKind::count ? Json(nullptr) : clock(row.clock)},
                    {"values", spread(row.values)}});
  }
  return rows;
}

Json PageJson::counters() const {
  Json rows = Json::array();
  for (const CounterRow& row : page_.counters) {
    const CounterSeries& series = profile_.counters.series[row.series];
    rows.push_back({{"name", text(series.name)},
                    {"part", text(series.part)},
                    {"quantity", text(series.quantity)},
                    {"unit", series.unit == UnitId::none ? Json(nullptr)
                                                         : Json(path_of(profile_, series.unit))},
                    {"samples", row.samples},
                    {"least", number(row.min)},
                    {"mean", number(row.mean)},
                    {"most", number(row.max)},
                    {"last", number(row.last)}});
  }
  return rows;
}

Json PageJson::checks() const {
  Json rows = Json::array();
  for (const Check& check : profile_.checks) {
    rows.push_back(
        {{"name", check.name}, {"outcome", stable_name(check.outcome)}, {"detail", check.detail}});
  }
  return rows;
}

Json PageJson::findings() const {
  if (!page_.diagnosis) return nullptr;
  Json rows = Json::array();
  for (const Finding& finding : page_.diagnosis->findings) {
    rows.push_back({{"rule", finding.rule},
                    {"title", finding.title},
                    {"weight", name_of(finding.weight)},
                    {"gain_share", finding.gain ? number(finding.gain->share) : Json(nullptr)},
                    {"gain_of", finding.gain ? Json(finding.gain->of) : Json(nullptr)},
                    {"call_gain_share", finding.gain && finding.gain->of_call
                                            ? number(finding.gain->of_call->share)
                                            : Json(nullptr)}});
  }
  return rows;
}

Json PageJson::throughput() const {
  if (!page_.throughput) return nullptr;
  const Throughput& rate = *page_.throughput;
  const bool has_batch = rate.batch > 0;
  return {{"device_batches_per_second", number(rate.device * rate.activations)},
          {"device_inferences_per_second",
           has_batch ? number(rate.device_inferences()) : Json(nullptr)},
          {"system_batches_per_second", number(rate.system * rate.activations)},
          {"system_inferences_per_second",
           has_batch ? number(rate.system_inferences()) : Json(nullptr)},
          {"gap_share_of_device", number(rate.gap_share)},
          {"activations", number(rate.activations)},
          {"inferences_per_batch", has_batch ? number(rate.batch) : Json(nullptr)},
          {"period", number(rate.period)},
          {"execution", number(rate.execution)},
          {"input_wait", number(rate.input_wait)},
          {"output_wait", number(rate.output_wait)}};
}

Json PageJson::make() const {
  Json json;
  json["provenance"] = provenance();
  const std::string scope = scope_of_all(profile_);
  json["scope"] = scope.empty() ? Json(nullptr) : Json(scope);
  json["selection"] = page_.selection.empty() ? Json(nullptr) : Json(page_.selection);
  json["selection_leaves_out_rows"] = page_.leaves_out_rows;
  json["base_clock"] = clock(profile_.base_clock);
  json["counts"] = counts();
  json["wall"] = wall();
  json["call"] = call();
  json["throughput"] = throughput();
  json["phases"] = phases();
  json["ops"] = ops(page_.ops);
  json["kinds"] = ops(page_.kinds);
  json["engines"] = engines();
  json["units"] = units();
  json["unit_numbers"] = unit_numbers();
  json["pmu"] = pmu();
  json["core_clocks"] = clocks();
  json["peers"] = peers();
  json["traffic"] = traffic(page_.units.traffic);
  json["traffic"]["source"] = page_.units.traffic_source;
  json["numbers"] = numbers();
  json["counters"] = counters();
  json["checks"] = checks();
  json["findings"] = findings();
  json["notes"] = notes_json(profile_.notes);
  return json;
}

}  // namespace

std::string pages_json(std::span<const Page> pages, std::span<const Note> notes) {
  Json json;
  json["profiles"] = Json::array();
  for (const Page& page : pages) json["profiles"].push_back(PageJson(page).make());
  json["notes"] = notes_json(notes);
  return json_text(json);
}

}  // namespace npuscope::report
