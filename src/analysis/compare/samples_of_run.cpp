#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analysis/compare/samples_held.hpp"
#include "base/sort_rows.hpp"
#include "npuscope/analysis/statistics.hpp"
#include "npuscope/analysis/units.hpp"

namespace npuscope::analysis {
namespace {

// What a raw buffer's name says: which run it is of, nothing about it.
bool says_which_run(const Measure& measure) {
  const NumberRole role = measure.meaning.role;
  return role == NumberRole::program || role == NumberRole::activation ||
         role == NumberRole::inference;
}

}  // namespace

TimeBase time_base(const Profile& profile, ClockId id) {
  if (index_of(id) >= profile.clocks.size()) return {};
  const Clock& clock = profile.clocks[index_of(id)];
  return {clock.kind, profile.text(clock.name), clock.rate.value};
}

SampleQuantity quantity_of(const Meaning& meaning) {
  switch (meaning.quantity) {
    case NumberQuantity::time: return SampleQuantity::time;
    case NumberQuantity::bytes: return SampleQuantity::bytes;
    default: return SampleQuantity::count;
  }
}

// Beyond the most, into one that is forgotten.
Metric& RunSamples::Held::add(std::string name, MeasureKind kind, SampleQuantity quantity,
                              TimeBase time) {
  if (metrics.size() == max_metrics) {
    made.metrics_left += 1;
    return forgotten = {};
  }
  const std::string wanted = name;
  for (int copy = 2; place_of.contains(name); ++copy) name = fmt::format("{} ({})", wanted, copy);
  place_of.emplace(name, metrics.size());
  Metric metric{std::move(name), kind, quantity, time, {}, false};
  metric.repeats = !profile.provenance.ran() || quantity != SampleQuantity::time;
  return metrics.emplace_back(std::move(metric));
}

void RunSamples::Held::add_times() {
  const Interval timeline = analysis.timeline_extent();
  base = time_base(profile, profile.base_clock);
  if (const auto rate = rate_during(profile, timeline)) base.hertz = rate->value;
  if (timeline.begin == timeline.end) return;
  const auto times = inference_times(analysis, spans);
  const auto add_time = [&](const char* name, MeasureKind kind, auto value_of) {
    Metric& metric = add(name, kind, SampleQuantity::time, base);
    for (std::size_t i = 0; i < times.size(); ++i) {
      metric.samples.push_back({spans.ids()[i], double(value_of(times[i]))});
    }
  };
  using Times = InferenceTimes;
  add_time("wall", MeasureKind::wall, [](const Times& at) { return length_of(at.extent); });
  // A summary may have the inference and nothing of what ran in it: that is not idle.
  const bool says_what_ran = std::any_of(
      times.begin(), times.end(), [](const Times& at) { return at.active > 0 || at.waiting > 0; });
  if (!says_what_ran) return;
  add_time("active", MeasureKind::active, [](const Times& at) { return at.active; });
  add_time("waiting", MeasureKind::active, [](const Times& at) { return at.waiting; });
  add_time("idle", MeasureKind::active, [](const Times& at) { return at.idle; });
  add_time("work", MeasureKind::work, [](const Times& at) { return at.work; });
  for (std::size_t engine = 0; engine < engine_count; ++engine) {
    const bool any = std::any_of(times.begin(), times.end(),
                                 [&](const Times& at) { return at.engines[engine].active > 0; });
    if (!any) continue;
    const char* name = name_of(Engine(engine));
    add_time(fmt::format("busy({})", name).c_str(), MeasureKind::domain,
             [&](const Times& at) { return at.engines[engine].busiest; });
    add_time(fmt::format("active({})", name).c_str(), MeasureKind::active,
             [&](const Times& at) { return at.engines[engine].active; });
  }
}

// From the finest level that has any: spans, by inference; else units, ops or the whole run.
void RunSamples::Held::add_traffic() {
  std::vector<double> sums[std::size(Traffic::routes)];
  bool any = false;
  const Spans& all = profile.spans;
  for (const MeasureColumn& column : all.measures) {
    const auto route = memory_route_of(column.meaning.role);
    if (!route || column.kind != MeasureKind::count) continue;
    if (column.values.size() != all.size()) continue;
    auto& sum = sums[std::size_t(*route)];
    sum.resize(spans.count(), 0);
    for (std::size_t row = 0; row < all.size(); ++row) {
      const std::uint32_t inference = spans.of(row);
      if (column.values[row] == MeasureColumn::missing || inference == Inferences::none) continue;
      sum[inference] += double(column.values[row]);
      any = true;
    }
  }
  Traffic whole;
  if (!any) {  // a profile without the spans, so that only the other levels are asked
    Profile rest;
    rest.strings = profile.strings;
    rest.units = profile.units;
    rest.ops = profile.ops;
    rest.shapes = profile.shapes;
    rest.operand_lists = profile.operand_lists;
    rest.measures = profile.measures;
    whole = Analysis(rest).units().traffic;
  }
  constexpr const char* names[] = {"ddr_read_bytes", "ddr_write_bytes", "vtcm_read_bytes",
                                   "vtcm_write_bytes"};
  constexpr NumberRole roles[] = {NumberRole::ddr_read, NumberRole::ddr_write,
                                  NumberRole::vtcm_read, NumberRole::vtcm_write};
  for (const Route route : Traffic::routes) {
    const auto& sum = sums[std::size_t(route)];
    const auto total = whole.of(route);
    if (sum.empty() && !total) continue;
    Metric& metric = add(names[std::size_t(route)], MeasureKind::count, SampleQuantity::bytes);
    metric.meaning = {.quantity = NumberQuantity::bytes, .role = roles[std::size_t(route)]};
    for (std::size_t i = 0; i < sum.size(); ++i) {
      metric.samples.push_back({spans.ids()[i], sum[i]});
    }
    if (total) metric.samples.push_back({every_instance, *total});
    metric.of_run = total.has_value();
  }
}

void RunSamples::Held::add_counts() {
  if (!profile.ops.empty()) {
    add("count(ops)", MeasureKind::count, SampleQuantity::count).samples = {
        {every_instance, double(profile.ops.size())}};
  }
  if (profile.spans.size() == 0) return;
  std::vector<double> counts(spans.count(), 0);
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    const std::uint32_t inference = spans.of(row);
    if (inference != Inferences::none) counts[inference] += 1;
  }
  Metric& metric = add("count(spans)", MeasureKind::count, SampleQuantity::count);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    metric.samples.push_back({spans.ids()[i], counts[i]});
  }
}

void RunSamples::Held::add_phases() {
  struct Sum {
    double ticks = 0, microseconds = 0;
  };
  struct Row {
    std::map<std::uint32_t, Sum> by_inference;
    bool timed = true;
  };
  std::map<StringId, std::size_t> place;
  std::vector<std::pair<StringId, Row>> rows;
  for (const Phase& phase : profile.phases) {
    const auto [found, is_new] = place.try_emplace(phase.name, rows.size());
    if (is_new) rows.push_back({phase.name, {}});
    Row& row = rows[found->second].second;
    Sum& sum = row.by_inference[phase.instance];
    sum.ticks += double(std::max<std::int64_t>(0, phase.duration));
    sum.microseconds += phase.microseconds;
    row.timed = row.timed && phase.microseconds >= 0;
  }
  for (const auto& [name, row] : rows) {
    const TimeBase time = row.timed ? TimeBase{ClockKind::wall, "microseconds", 1e6}
                                    : time_base(profile, profile.base_clock);
    Metric& metric = add(fmt::format("phase('{}')", profile.text(name)), MeasureKind::span,
                         SampleQuantity::time, time);
    for (const auto& [inference, sum] : row.by_inference) {
      metric.samples.push_back({inference, row.timed ? sum.microseconds : sum.ticks});
    }
  }
}

// Numbers of the run by their names; where one has several values for an inference, their median.
void RunSamples::Held::add_numbers() {
  using Key = std::tuple<StringId, MeasureKind, ClockId>;
  std::map<Key, std::size_t> place;
  struct Row {
    Key key;
    Meaning meaning;
    Origin origin = Origin::measured;
    std::map<std::uint32_t, std::vector<double>> by_inference;
  };
  std::vector<Row> rows;
  for (const Measure& measure : profile.measures) {
    if (measure.subject != Measure::Subject::profile || !std::isfinite(measure.value)) continue;
    if (says_which_run(measure)) continue;
    const ClockId clock = measure.kind == MeasureKind::count ? ClockId{} : measure.clock;
    const Key key{measure.what, measure.kind, clock};
    const auto [found, is_new] = place.try_emplace(key, rows.size());
    if (is_new) rows.push_back({key, measure.meaning, measure.origin, {}});
    rows[found->second].by_inference[measure.instance].push_back(measure.value);
  }
  for (const auto& [key, meaning, origin, by_inference] : rows) {
    const auto& [what, kind, clock] = key;
    const std::string_view name = profile.text(what);
    const SampleQuantity quantity = quantity_of(meaning);
    const bool is_time = quantity == SampleQuantity::time;
    Metric& metric =
        add(std::string(name), kind, quantity, is_time ? time_base(profile, clock) : TimeBase{});
    metric.meaning = meaning;
    metric.repeats = metric.repeats || origin == Origin::estimated;
    for (const auto& [inference, values] : by_inference) {
      metric.samples.push_back({inference, median_of(values)});
      metric.of_run = metric.of_run || inference == every_instance;
    }
  }
}

void RunSamples::Held::find_inferences() {
  std::vector<std::uint32_t>& inferences = made.inferences;
  if (profile.spans.size() > 0) inferences = spans.ids();
  for (const Metric& metric : metrics) {
    for (const Sample& sample : metric.samples) {
      if (sample.inference != every_instance) inferences.push_back(sample.inference);
    }
  }
  for (const Measure& measure : profile.measures) {
    if (measure.subject == Measure::Subject::op && measure.instance != every_instance) {
      inferences.push_back(measure.instance);
    }
  }
  std::sort(inferences.begin(), inferences.end());
  inferences.erase(std::unique(inferences.begin(), inferences.end()), inferences.end());
  if (inferences.empty()) inferences.push_back(spans.ids().front());
  const bool several = inferences.size() > 1 || profile.provenance.inferences > 1;
  for (Metric& metric : metrics) metric.of_run = metric.of_run && several;
}

void RunSamples::Held::find_columns() {
  using From = ColumnSource::From;
  const auto& kinds = profile.spans.kind;
  if (std::any_of(kinds.begin(), kinds.end(),
                  [](SpanKind kind) { return role_of(kind) == Role::work; })) {
    columns.push_back({"work",
                       MeasureKind::work,
                       profile.provenance.times,
                       profile.base_clock,
                       From::work,
                       0,
                       {}});
  }
  const auto& measures = profile.spans.measures;
  for (std::size_t i = 0; i < measures.size(); ++i) {
    const MeasureColumn& each = measures[i];
    if (each.values.size() != kinds.size() || !each.meaning.additive) continue;
    columns.push_back({std::string(profile.text(each.what)), each.kind, each.origin, each.clock,
                       From::spans, i, StringId{}, each.meaning});
  }
  std::map<std::tuple<StringId, MeasureKind, Origin, ClockId>, bool> seen;
  for (const Measure& each : profile.measures) {
    if (each.subject != Measure::Subject::op) continue;
    if (!seen.try_emplace({each.what, each.kind, each.origin, each.clock}, true).second) continue;
    if (!each.meaning.additive) continue;
    columns.push_back({std::string(profile.text(each.what)), each.kind, each.origin, each.clock,
                       From::ops, 0, each.what, each.meaning});
  }
  sort_rows(columns.begin(), columns.end(),
            [](const auto& a, const auto& b) { return a.preference() < b.preference(); });
}

void RunSamples::Held::find_call() {
  made.call = call_metrics(profile, spans, metrics, base);
  for (Metric& metric : made.call) metric.repeats = !profile.provenance.ran();
}

void RunSamples::Held::make_numbers() {
  add_times();
  add_traffic();
  add_counts();
  add_phases();
  add_numbers();
  find_inferences();
  find_columns();
  find_call();
  made.is_estimated = !profile.provenance.ran();
}

// share(active(DMA)), or share(DMA), is active(DMA) by wall.
void RunSamples::Held::find_shares() {
  const auto place = place_of.find("wall");
  if (place == place_of.end()) return;
  const Metric& wall = numbers.metrics[place->second];
  const auto wall_of = [&](std::uint32_t inference) {
    const auto found = std::lower_bound(
        wall.samples.begin(), wall.samples.end(), inference,
        [](const Sample& sample, std::uint32_t wanted) { return sample.inference < wanted; });
    return found == wall.samples.end() || found->inference != inference ? 0 : found->value;
  };
  for (const Metric& metric : numbers.metrics) {
    const bool is_of_timeline = metric.kind == MeasureKind::active ||
                                metric.kind == MeasureKind::domain || metric.name == "work";
    if (!is_of_timeline || metric.quantity != SampleQuantity::time) continue;
    if (metric.time != wall.time) continue;
    Metric share;
    share.name = fmt::format("share({})", metric.name);
    share.quantity = SampleQuantity::share;
    share.repeats = metric.repeats;
    for (const Sample& sample : metric.samples) {
      const double of = wall_of(sample.inference);
      if (of > 0) share.samples.push_back({sample.inference, sample.value / of});
    }
    if (share.samples.empty()) continue;
    const bool is_of_engine = metric.name.starts_with("active(");
    if (is_of_engine) {
      shares.push_back(share);
      shares.back().name = fmt::format("share({}", metric.name.substr(7));
    }
    shares.push_back(std::move(share));
  }
}

}  // namespace npuscope::analysis
