#include <algorithm>

#include "analysis/latency.hpp"
#include "profile/names.hpp"
#include "profile/self_times.hpp"
#include "report/identities/identities.hpp"
#include "report/show/show_sections.hpp"

namespace npuscope::report::identities {
namespace {

using namespace analysis;

void try_spans(const Sample& sample, Tried& tried) {
  const Spans& spans = sample.profile().spans;
  const auto& self = sample.analysis.self_times();
  std::int64_t work = 0;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const std::string detail = fmt::format("span {}", row);
    tried.not_negative("self time", double(self[row]), detail);
    tried.at_most("self time <= duration", double(self[row]),
                  double(std::max<std::int64_t>(0, spans.duration[row])), detail);
    if (role_of(spans.kind[row]) == Role::work) work += self[row];
  }
  tried.equal("self times of work are work", work, sample.analysis.coarse().work);
}

void try_wall(const Sample& sample, Tried& tried) {
  const Coarse& coarse = sample.analysis.coarse();
  std::int64_t parts = 0, working = 0;
  for (std::size_t i = 0; i < part_count; ++i) {
    const char* name = name_of(Part(i));
    tried.not_negative("part of the wall", double(coarse.parts[i]), name);
    parts += coarse.parts[i];
    if (Part(i) < Part::waiting_for_dma) working += coarse.parts[i];
  }
  if (coarse.has_parts()) {
    tried.equal("parts of the wall are the wall", parts, coarse.wall);
    tried.equal("parts that work are active", working, coarse.active);
  }
  tried.equal("wall is the timeline", coarse.wall, length_of(coarse.timeline));
  tried.at_most("active <= wall", double(coarse.active), double(coarse.wall));
  tried.at_most("longest gap <= wall", double(coarse.longest_gap), double(coarse.wall));
  for (const std::int64_t active : {coarse.compute_active, coarse.movement_active,
                                    coarse.communication_active, coarse.host_active}) {
    tried.not_negative("active of a domain", double(active));
    tried.at_most("active of a domain <= active", double(active), double(coarse.active));
  }
  for (const auto& [inference, extent] : sample.analysis.inference_extents()) {
    tried.not_negative("inference", double(length_of(extent)));
    tried.at_most("inference <= wall", double(length_of(extent)), double(coarse.wall));
  }
}

void try_spread(const Spread& spread, std::string_view what, Tried& tried, bool is_time) {
  if (spread.count == 0) return;
  if (is_time) tried.not_negative("min of a time", spread.min, what);
  for (const double value : {spread.first, spread.median_of_rest, spread.median}) {
    tried.at_most("min <= median", spread.min, value, what);
    tried.at_most("median <= max", value, spread.max, what);
  }
}

// Busy, waiting and idle of a row, and its cells.
void try_rows(const Sample& sample, RowsBy by, Tried& tried) {
  const Coarse& coarse = sample.analysis.coarse();
  const TimelineRows rows = sample.analysis.timeline({.by = by, .top = ~std::size_t{0}});
  if (rows.wall <= 0) return;
  const TimelineCells cells = sample.analysis.cells(rows, {.columns = 40});
  tried.equal("wall of rows is the wall", rows.wall, coarse.wall, name_of(by));
  tried.equal("busy of rows is active", rows.busy.length, coarse.active, name_of(by));
  tried.equal("idle of rows is idle", rows.idle, coarse.parts[std::size_t(Part::idle)],
              name_of(by));
  std::int64_t work = rows.work_left_out;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const TimelineRow& row = rows.rows[i];
    const std::string detail = fmt::format("{} {}", name_of(by), row.label);
    tried.equal("busy, waiting and idle of a row are the wall", row.busy + row.waiting + row.idle,
                rows.wall, detail);
    for (const std::int64_t part : {row.busy, row.waiting, row.idle, row.work, row.span}) {
      tried.not_negative("row", double(part), detail);
    }
    tried.at_most("busy <= span", double(row.busy), double(row.span), detail);
    tried.at_most("span <= wall", double(row.span), double(rows.wall), detail);
    tried.at_most("longest idle <= idle", double(row.longest_idle), double(row.idle), detail);
    work += row.work;
    if (by == RowsBy::engine) {
      const auto& engines = sample.analysis.units().engines;
      const auto found = std::ranges::find(engines, row.label, [](const EngineRow& engine) {
        return std::string(name_of(engine.engine));
      });
      const std::int64_t active = found == engines.end() ? 0 : found->active;
      tried.equal("busy of a class is active of it", row.busy, active, detail);
    }
    std::int64_t busy = 0, waiting = 0;
    for (const TimelineCell& cell : cells.rows[i]) {
      busy += cell.busy;
      waiting += cell.waiting;
    }
    tried.equal("cells add up to busy", busy, row.busy, detail);
    tried.equal("cells add up to waiting", waiting, row.waiting, detail);
  }
  tried.equal("work of rows is work", work, coarse.work, name_of(by));
}

void try_units(const Sample& sample, Tried& tried) {
  const Analysis& analysis = sample.analysis;
  const UnitTable& table = analysis.units();
  const Coarse& coarse = analysis.coarse();
  if (table.units.empty()) return;
  tried.equal("wall of units is the wall", table.wall, coarse.wall);
  std::int64_t work = 0, spans = 0;
  for (const UnitRow& row : table.units) {
    const std::string name = path_of(sample.profile(), row.unit);
    for (const std::int64_t part :
         {row.busy, row.waiting, row.work, row.waiting_for_dma, row.at_syncs, row.at_barriers}) {
      tried.not_negative("unit", double(part), name);
    }
    tried.equal("waits of a unit are its waiting",
                row.waiting_for_dma + row.at_syncs + row.at_barriers, row.waiting, name);
    tried.at_most("busy and waiting <= wall", double(row.busy + row.waiting), double(table.wall),
                  name);
    work += row.work;
    spans += std::int64_t(row.spans);
  }
  tried.equal("work of units is work", work, coarse.work);
  for (const EngineRow& row : table.engines) {
    const char* name = name_of(row.engine);
    tried.at_most("domain <= active", double(row.domain), double(row.active), name);
    tried.at_most("active of a class <= active", double(row.active), double(coarse.active), name);
    tried.at_most("active of a class <= sum of its units", double(row.active),
                  double(row.domain) * row.units, name);
    tried.equal("active of a class is that of the overlap", row.active,
                analysis.overlap().active(row.engine), name);
  }
  const auto& time_at = analysis.concurrency().time_at;
  std::int64_t active = 0;
  for (std::size_t k = 1; k < time_at.size(); ++k) active += time_at[k];
  tried.equal("time with any unit at work is active", active, coarse.active);
  for (const UnitGrouping by : {UnitGrouping::core, UnitGrouping::device}) {
    for (const UnitGroupRow& row : analysis.unit_groups(by)) {
      tried.at_most("active of a group <= active", double(row.active), double(coarse.active),
                    row.name);
      tried.at_most("active and waiting of a group <= wall", double(row.active + row.waiting),
                    double(table.wall), row.name);
      tried.not_negative("group", double(std::min({row.active, row.waiting, row.work})), row.name);
    }
  }
}

void try_latency(const Sample& sample, Tried& tried) {
  for (const report::LatencyRow& row : latency_of(sample.analysis).rows) {
    for (const auto& value : {row.warm_seconds, row.cold_seconds, row.seconds}) {
      if (value) tried.not_negative("latency", *value, row.what);
    }
  }
  if (const auto outside = latency_of(sample.analysis).outside) {
    tried.not_negative("outside the NPU", *outside);
    tried.at_most("outside the NPU <= all", *outside, 1);
  }
  if (const auto& call = sample.analysis.call()) {
    for (const CallLayer& layer : call->layers) {
      tried.not_negative("layer of a call", layer.seconds, layer.name);
      tried.not_negative("a layer of a call less the next", layer.own, layer.name);
    }
  }
  for (const analysis::LatencyRow& row : analyse_latency(sample.profile()).rows) {
    if (row.min) tried.not_negative("latency step", *row.min, row.name);
    std::optional<double> last = row.min;
    for (const auto& value : row.percentiles) {
      if (value && last) tried.at_most("percentiles rise", *last, *value, row.name);
      if (value) last = value;
    }
    if (row.max && last) tried.at_most("percentiles rise", *last, *row.max, row.name);
    if (row.mean && row.max) tried.at_most("mean <= max", *row.mean, *row.max, row.name);
    if (row.mean && row.min) tried.at_most("min <= mean", *row.min, *row.mean, row.name);
  }
}

void try_phases(const Sample& sample, Tried& tried) {
  for (const PhaseRow& row : sample.analysis.phases()) {
    const std::string name(sample.profile().text(row.name));
    try_spread(row.ticks, name, tried, true);
    try_spread(row.microseconds, name, tried, true);
    tried.not_negative("self of a phase", row.self_ticks.min, name);
    tried.at_most("self of a phase <= phase", row.self_ticks.first, row.ticks.first, name);
    tried.at_most("self of a phase <= phase", row.self_ticks.max, row.ticks.max, name);
    if (row.self_microseconds.count == 0) continue;
    tried.not_negative("self of a phase", row.self_microseconds.min, name);
    tried.at_most("self of a phase <= phase", row.self_microseconds.first, row.microseconds.first,
                  name);
  }
}

void try_numbers(const Sample& sample, Tried& tried) {
  const Profile& profile = sample.profile();
  for (const NumberRow& row : sample.analysis.numbers()) {
    try_spread(row.values, profile.text(row.what), tried, false);
  }
  for (const CounterRow& row : analyse_counters(profile)) {
    for (const double value : {row.last, row.mean}) {
      tried.at_most("min <= mean and last of a counter", row.min, value);
      tried.at_most("mean and last of a counter <= max", value, row.max);
    }
  }
}

}  // namespace

void try_times(const Sample& sample, Tried& tried) {
  try_spans(sample, tried);
  try_wall(sample, tried);
  try_spread(sample.analysis.coarse().inferences, "inferences", tried, true);
  for (const RowsBy by : {RowsBy::unit, RowsBy::engine, RowsBy::kind, RowsBy::op}) {
    try_rows(sample, by, tried);
  }
  try_units(sample, tried);
  try_latency(sample, tried);
  try_phases(sample, tried);
  try_numbers(sample, tried);
}

}  // namespace npuscope::report::identities
