#include "report/document/shared_sections.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/unit_path.hpp"

namespace npuscope::report {

Section call_section(const analysis::Call& call) {
  const char* which = call.warm ? "WARM CALL" : "COLD CALL";
  Section section{.key = "call", .title = which};
  if (call.count > 1) section.title = fmt::format("{}, median of {}", which, call.count);
  section.facts = {{{"warm"}, call.warm},
                   {{"count"}, call.count},
                   {{"device_share", "", Format::share}, call.device_seconds() / call.seconds()},
                   {{"graph_ticks", "", Format::number}, call.graph_ticks}};
  section.table.fields = {{"layer", "layer"},
                          {"time", "time", Format::seconds},
                          {"own", "in this layer alone", Format::seconds},
                          {"own_share", "of the call", Format::share},
                          {"on_device", "", Format::truth}};
  for (std::size_t i = 0; i < call.layers.size(); ++i) {
    const analysis::CallLayer& layer = call.layers[i];
    section.table.rows.push_back(
        {layer.name, layer.seconds, layer.own, layer.own / call.seconds(), i >= call.device});
  }
  return section;
}

using analysis::Pmu;
using analysis::PmuCore;
using analysis::PmuRow;

namespace {

Value share_of(const analysis::PmuCount& value) {
  const auto share = value.share();
  return share ? Value(*share) : Value();
}

bool has_shares(const Pmu& pmu) {
  return std::any_of(pmu.rows.begin(), pmu.rows.end(),
                     [](const PmuRow& row) { return row.value.share().has_value(); });
}

}  // namespace

std::string pmu_title(const Pmu& pmu) {
  return pmu.recipe == nullptr ? "PMU COUNTERS"
                               : fmt::format("PMU COUNTERS, recipe {}", pmu.recipe->name);
}

std::string pmu_code(const PmuRow& row) { return fmt::format("0x{:X}", row.code); }
std::string pmu_name(const PmuRow& row) {
  return row.event != nullptr ? std::string(row.event->name) : fmt::format("pmu 0x{:x}", row.code);
}
std::string pmu_unit(const PmuRow& row) {
  return std::string(row.event != nullptr ? row.event->unit : "unknown");
}
std::string pmu_meaning(const PmuRow& row) {
  return std::string(row.event != nullptr ? row.event->meaning : "unknown");
}

Section pmu_section(const Pmu& pmu) {
  if (pmu.rows.empty()) return {};
  Section section{.key = "pmu", .title = pmu_title(pmu)};
  section.facts = {
      {{"recipe"}, pmu.recipe != nullptr ? Value(std::string(pmu.recipe->name)) : Value()}};
  section.table.fields = {{"event", "event"},
                          {"code", "code", Format::name, false},
                          {"count", "count", Format::number},
                          {"unit", "in"},
                          {"share_of_cycles", "of cycles", Format::share, true, true},
                          {"meaning", "meaning", Format::name, false}};
  for (const PmuRow& row : pmu.rows) {
    section.table.rows.push_back({pmu_name(row), pmu_code(row), row.value.count, pmu_unit(row),
                                  share_of(row.value), pmu_meaning(row)});
  }
  if (has_shares(pmu)) {
    section.remarks = {
        "of cycles: of those of the engine's threads, the utilisation that KernelUtil stands for."};
  }
  return section;
}

Section pmu_cores_section(const Profile& profile, const Pmu& pmu) {
  Section section{.key = "pmu_cores", .title = "PMU COUNTERS BY CORE"};
  section.table.fields = {{"core", "core"},
                          {"event", "event"},
                          {"count", "count", Format::number},
                          {"unit", "in"},
                          {"share_of_cycles", "of cycles", Format::share, true, true}};
  for (const PmuRow& row : pmu.rows) {
    for (const PmuCore& core : row.cores) {
      section.table.rows.push_back({path_of(profile, core.core), pmu_name(row), core.value.count,
                                    pmu_unit(row), share_of(core.value)});
    }
  }
  if (section.table.rows.empty()) return {};
  return section;
}

std::vector<LevelsAtOnce> concurrency_histogram(const std::vector<std::int64_t>& time_at) {
  constexpr std::size_t single = 4;  // beyond, twice as many together each time
  std::vector<LevelsAtOnce> levels;
  for (std::size_t first = 0, last = 0; first < time_at.size(); first = last + 1) {
    last = std::min(first < single ? first : 2 * first - 1, time_at.size() - 1);
    std::int64_t time = 0;
    for (std::size_t k = first; k <= last; ++k) time = saturating_add(time, time_at[k]);
    if (time <= 0) continue;
    levels.push_back({first == 0      ? "none"
                      : first == last ? fmt::format("{}", first)
                                      : fmt::format("{} to {}", first, last),
                      time});
  }
  return levels;
}

}  // namespace npuscope::report
