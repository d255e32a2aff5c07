#include "npuscope/analysis/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <tuple>
#include <unordered_map>

#include "analysis/compare/call_metrics.hpp"
#include "analysis/compare/gathering.hpp"
#include "analysis/inference_times.hpp"
#include "analysis/ops/op_runs.hpp"
#include "analysis/profile_content.hpp"
#include "analysis/run_identity.hpp"
#include "base/parallel.hpp"
#include "npuscope/analysis/ops.hpp"
#include "npuscope/analysis/statistics.hpp"
#include "npuscope/analysis/units.hpp"

namespace npuscope::analysis {
namespace {

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

// Times that are a compiler's model: the same program gives the same ones again.
bool is_estimate(const Profile& profile) {
  constexpr std::string_view formats[] = {"Torq compile-time timeline", "Torq debug information"};
  return std::find(std::begin(formats), std::end(formats), profile.provenance.format) !=
         std::end(formats);
}

// What a raw buffer's name says: which run it is of, nothing about it.
bool says_which_run(const Measure& measure) {
  const NumberRole role = measure.meaning.role;
  return role == NumberRole::program || role == NumberRole::activation ||
         role == NumberRole::inference;
}

}  // namespace

// Where the numbers of an op column come from.
struct ColumnSource {
  enum class From : std::uint8_t { work, spans, ops };
  std::string name;
  MeasureKind kind = MeasureKind::work;
  Origin origin = Origin::measured;
  ClockId clock{};
  From from = From::work;
  std::size_t column = 0;  // of the spans' measures
  StringId what{};         // of the ops'
  Meaning meaning{.quantity = NumberQuantity::time};

  // The one that decides first: what wall depends on, then time, then anything countable.
  int preference() const {
    if (kind == MeasureKind::dominant_path) return origin == Origin::derived ? 0 : 1;
    if (from == From::work) return 2;
    return kind == MeasureKind::work ? 3 : kind == MeasureKind::active ? 4 : 5;
  }
};

struct RunSamples::Held {
  explicit Held(const Profile& of)
      : profile(of),
        groups(of),
        spans(of, only_inference(of).value_or(0), max_inferences),
        analysis(of),
        numbers(of.numbers ? *of.numbers : made) {}

  void make_numbers();

  void add_times();
  void add_engines(const std::vector<InferenceTimes>& times);
  void add_traffic();
  void add_counts();
  void add_phases();
  void add_numbers();
  void find_inferences();
  void find_columns();
  void find_call();
  void find_shares();
  Metric& add(std::string name, MeasureKind kind, SampleQuantity quantity, TimeBase time = {});
  TimeBase base_time() const;
  OpSamples of_spans(const ColumnSource& source) const;
  OpSamples of_ops(const ColumnSource& source) const;

  const Profile& profile;
  OpGroups groups;
  Inferences spans;  // those that spans are of
  Analysis analysis;
  RunNumbers made;  // of the profile, but for what is only made when asked for
  const RunNumbers& numbers;
  std::vector<Metric>& metrics = made.metrics;
  std::unordered_map<std::string, std::size_t> place_of;
  Metric forgotten;
  std::vector<ColumnSource> columns;
  std::once_flag has_shares;
  std::vector<Metric> shares;  // when they are asked for
};

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
  metric.repeats = is_estimate(profile) || quantity != SampleQuantity::time;
  return metrics.emplace_back(std::move(metric));
}

// The clock's rate, or the one that it had during the timeline.
TimeBase RunSamples::Held::base_time() const {
  TimeBase time = time_base(profile, profile.base_clock);
  if (const auto rate = rate_during(profile, timeline_of(profile))) time.hertz = rate->value;
  return time;
}

void RunSamples::Held::add_times() {
  const Interval timeline = timeline_of(profile);
  if (timeline.begin == timeline.end) return;
  const TimeBase base = base_time();
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
  for (const Route route : Traffic::routes) {
    const auto& sum = sums[std::size_t(route)];
    const auto total = whole.of(route);
    if (sum.empty() && !total) continue;
    Metric& metric = add(names[std::size_t(route)], MeasureKind::count, SampleQuantity::bytes);
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
    std::map<std::uint32_t, std::vector<double>> by_inference;
  };
  std::vector<Row> rows;
  for (const Measure& measure : profile.measures) {
    if (measure.subject != Measure::Subject::profile || !std::isfinite(measure.value)) continue;
    if (says_which_run(measure)) continue;
    const ClockId clock = measure.kind == MeasureKind::count ? ClockId{} : measure.clock;
    const Key key{measure.what, measure.kind, clock};
    const auto [found, is_new] = place.try_emplace(key, rows.size());
    if (is_new) rows.push_back({key, measure.meaning, {}});
    rows[found->second].by_inference[measure.instance].push_back(measure.value);
  }
  for (const auto& [key, meaning, by_inference] : rows) {
    const auto& [what, kind, clock] = key;
    const std::string_view name = profile.text(what);
    const SampleQuantity quantity = quantity_of(meaning);
    const bool is_time = quantity == SampleQuantity::time;
    Metric& metric =
        add(std::string(name), kind, quantity, is_time ? time_base(profile, clock) : TimeBase{});
    metric.meaning = meaning;
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
    columns.push_back(
        {"work", MeasureKind::work, Origin::measured, profile.base_clock, From::work, 0, {}});
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
  std::stable_sort(columns.begin(), columns.end(),
                   [](const auto& a, const auto& b) { return a.preference() < b.preference(); });
}

void RunSamples::Held::find_call() {
  made.call = call_metrics(profile, spans, metrics, base_time());
  for (Metric& metric : made.call) metric.repeats = is_estimate(profile);
}

OpSamples RunSamples::Held::of_spans(const ColumnSource& source) const {
  OpSamples out;
  const Spans& all = profile.spans;
  Gathering gathering(groups.groups().size(), spans.count(), all.size());
  const bool is_work = source.from == ColumnSource::From::work;
  const std::vector<std::int64_t>& self_times = analysis.self_times();
  std::optional<IssuesBeside> issues;  // a transfer's issue meanwhile is no work of its op
  if (is_work) issues.emplace(profile, self_times);
  for (std::size_t row = 0; row < all.size(); ++row) {
    const std::uint32_t inference = spans.of(row);
    if (inference == Inferences::none) continue;
    double value = 0;
    if (is_work) {
      if (role_of(all.kind[row]) != Role::work) continue;
      value = double(self_times[row] - issues->of(row));
    } else {
      const std::int64_t measured = all.measures[source.column].values[row];
      if (measured == MeasureColumn::missing) continue;
      value = double(measured);
    }
    gathering.add({groups.of(all.op[row]), inference, value});
  }
  gathering.finish(spans.ids(), out);
  return out;
}

OpSamples RunSamples::Held::of_ops(const ColumnSource& source) const {
  OpSamples out;
  std::vector<std::uint32_t> ids = made.inferences;
  ids.push_back(every_instance);
  Gathering gathering(groups.groups().size(), ids.size(), profile.measures.size());
  for (const Measure& measure : profile.measures) {
    if (measure.subject != Measure::Subject::op || measure.what != source.what) continue;
    if (measure.kind != source.kind || measure.origin != source.origin) continue;
    if (measure.clock != source.clock || measure.subject_id >= profile.ops.size()) continue;
    if (!std::isfinite(measure.value)) continue;
    const auto place = std::lower_bound(ids.begin(), ids.end(), measure.instance) - ids.begin();
    gathering.add({groups.of(OpId{measure.subject_id}), std::uint32_t(place), measure.value});
  }
  gathering.finish(ids, out);
  return out;
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
  made.is_estimated = is_estimate(profile);
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

RunSamples::RunSamples(const Profile& profile) : held_(std::make_unique<Held>(profile)) {
  if (!profile.numbers) held_->make_numbers();
  for (std::size_t i = 0; i < held_->numbers.metrics.size(); ++i) {
    held_->place_of.try_emplace(held_->numbers.metrics[i].name, i);
  }
}
RunSamples::~RunSamples() = default;
RunSamples::RunSamples(RunSamples&&) noexcept = default;

const Profile& RunSamples::profile() const { return held_->profile; }
const OpGroups& RunSamples::groups() const { return held_->groups; }
const std::vector<Metric>& RunSamples::metrics() const { return held_->numbers.metrics; }
bool RunSamples::is_estimated() const { return held_->numbers.is_estimated; }
const std::vector<Metric>& RunSamples::call() const { return held_->numbers.call; }
const std::vector<Metric>& RunSamples::shares() const {
  std::call_once(held_->has_shares, [&] { held_->find_shares(); });
  return held_->shares;
}
const Metric* RunSamples::metric(std::string_view name) const {
  const auto named = [&](const std::vector<Metric>& metrics) -> const Metric* {
    const auto found = std::find_if(metrics.begin(), metrics.end(),
                                    [&](const Metric& metric) { return metric.name == name; });
    return found == metrics.end() ? nullptr : &*found;
  };
  if (const Metric* found = named(call())) return found;
  const auto place = held_->place_of.find(std::string(name));
  if (place != held_->place_of.end()) return &held_->numbers.metrics[place->second];
  return name.starts_with("share(") ? named(shares()) : nullptr;
}
std::uint64_t RunSamples::metrics_left() const { return held_->numbers.metrics_left; }
const std::vector<std::uint32_t>& RunSamples::inferences() const {
  return held_->numbers.inferences;
}

std::vector<std::string> RunSamples::op_columns() const {
  std::vector<std::string> names;
  const auto add = [&](const auto& columns) {
    for (const auto& column : columns) {
      if (std::find(names.begin(), names.end(), column.name) == names.end()) {
        names.push_back(column.name);
      }
    }
  };
  add(held_->columns);
  add(held_->numbers.columns);
  return names;
}

std::optional<OpSamples> RunSamples::op_samples(std::string_view column) const {
  const auto of_name = [&](const auto& columns) {
    return std::find_if(columns.begin(), columns.end(),
                        [&](const auto& each) { return each.name == column; });
  };
  const auto kept = of_name(held_->numbers.columns);
  if (kept != held_->numbers.columns.end()) return *kept;
  const auto source = of_name(held_->columns);
  if (source == held_->columns.end()) return std::nullopt;
  OpSamples out =
      source->from == ColumnSource::From::ops ? held_->of_ops(*source) : held_->of_spans(*source);
  out.name = source->name;
  out.kind = source->kind;
  out.quantity = quantity_of(source->meaning);
  if (out.quantity == SampleQuantity::time) {
    out.time = source->clock == held_->profile.base_clock
                   ? held_->base_time()
                   : time_base(held_->profile, source->clock);
  }
  return out;
}

RunFindings RunSamples::findings(const std::string& only) const {
  RunFindings all;
  if (held_->profile.numbers) {
    all = held_->numbers.findings;
    if (only.empty()) return all;
    std::erase_if(all.found, [&](const auto& each) { return each.rule != only; });
    std::erase_if(all.untried, [&](const auto& each) { return each.rule != only; });
    std::erase_if(all.quiet, [&](const auto& each) { return each != only; });
    return all;
  }
  DiagnoseOptions options;
  options.only = only;
  Diagnosis diagnosis = held_->analysis.findings(options);
  for (Finding& each : diagnosis.findings) {
    all.found.push_back({std::move(each.rule), name_of(each.weight)});
  }
  for (UntriedRule& each : diagnosis.untried) {
    all.untried.push_back({std::move(each.rule), std::move(each.missing)});
  }
  all.quiet = std::move(diagnosis.quiet);
  return all;
}

RunNumbers RunSamples::numbers() const {
  RunNumbers all = held_->numbers;
  if (held_->profile.numbers) return all;
  all.groups = held_->groups.groups();
  for (std::uint32_t group = 0; group < all.groups.size(); ++group) {
    all.after.push_back(held_->groups.after(group));
  }
  for (const std::string& column : op_columns()) all.columns.push_back(*op_samples(column));
  all.findings = findings();
  all.content = content_of(held_->profile);
  all.files = held_->profile.provenance.files;
  return all;
}

std::vector<RunSamples> samples_of(std::span<const Profile* const> profiles) {
  std::vector<std::optional<RunSamples>> made(profiles.size());
  parallel_for(profiles.size(), [&](std::size_t i) { made[i].emplace(*profiles[i]); });
  std::vector<RunSamples> samples;
  for (std::optional<RunSamples>& each : made) samples.push_back(std::move(*each));
  return samples;
}

}  // namespace npuscope::analysis
