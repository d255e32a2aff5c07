#include "analysis/latency.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "npuscope/analysis/statistics.hpp"
#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope::analysis {
namespace {

// A unit whose frames say what a loop on the host took, not what hardware did.
bool may_have_steps(const Unit& unit) {
  return unit.engine == Engine::process || unit.engine == Engine::thread;
}

}  // namespace

StepTimes step_times(const Profile& profile) {
  StepTimes times;
  const Spans& spans = profile.spans;
  if (spans.instance.size() != spans.size() || profile.provenance.inferences == 0) return times;
  std::map<std::uint32_t, std::int64_t> longest;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (spans.kind[row] != SpanKind::inference || spans.instance[row] == every_instance) continue;
    const std::size_t unit = index_of(spans.unit[row]), op = index_of(spans.op[row]);
    if (unit >= profile.units.size() || !may_have_steps(profile.units[unit])) continue;
    std::int64_t& length = longest[spans.instance[row]];
    length = std::max(length, length_of(interval_of(spans, row)));
    if (!times.name.empty() || op >= profile.ops.size()) continue;
    times.name = profile.text(profile.ops[op].name);
    times.name.resize(times.name.find_last_not_of("0123456789") + 1);
  }
  for (const auto& [inference, length] : longest) {
    times.samples.push_back({inference, double(length)});
  }
  return times;
}

namespace {

constexpr double notable_gap = 0.05;

double mean_of(const std::vector<double>& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / double(samples.size());
}

LatencyRow row_of(std::string name, MeasureKind kind, const std::vector<double>& samples) {
  LatencyRow row{std::move(name), kind, samples.size(), {}, {}, {}, {}, samples};
  if (samples.empty()) return row;
  const auto [min, max] = std::minmax_element(samples.begin(), samples.end());
  row.mean = mean_of(samples);
  row.min = *min;
  row.max = *max;
  for (std::size_t i = 0; i < latency_percentiles.size(); ++i) {
    row.percentiles[i] = percentile_of(samples, latency_percentiles[i]);
  }
  return row;
}

std::vector<double> known_values(const MeasureColumn& column) {
  std::vector<double> values;
  for (std::size_t i = 0; i < column.values.size(); ++i) {
    if (column.values[i] != MeasureColumn::missing) values.push_back(double(column.values[i]));
  }
  return values;
}

// Of "device execution, 99%" what it is a statistic of, as it is printed.
std::string_view without_statistic(std::string_view what) {
  return what.substr(0, what.rfind(", "));
}

void set_statistic(LatencyRow& row, Statistic statistic, double value) {
  if (statistic == Statistic::mean) row.mean = value;
  if (statistic == Statistic::min) row.min = value;
  if (statistic == Statistic::max) row.max = value;
  for (std::size_t i = 0; i < latency_percentiles.size(); ++i) {
    if (statistic == statistic_of_percentile(i)) row.percentiles[i] = value;
  }
}

bool is_of_runner(const Profile& profile) {
  return profile.spans.measure(NumberRole::host_round_trip) != nullptr;
}

class SampledLatency {
 public:
  explicit SampledLatency(const Profile& profile) : profile_(profile) {}

  Latency run() {
    Latency latency;
    for (const MeasureColumn& column : profile_.spans.measures) {
      if (column.kind == MeasureKind::count) continue;
      latency.rows.push_back(
          row_of(std::string(profile_.text(column.what)), column.kind, known_values(column)));
    }
    if (is_of_runner(profile_)) add_steps(latency);
    std::vector<double> totals;
    for (std::size_t i = 0; i < profile_.spans.size(); ++i) {
      totals.push_back(double(profile_.spans.duration[i]));
    }
    latency.rows.push_back(row_of(is_of_runner(profile_) ? "total round trip" : "inference",
                                  MeasureKind::wall, totals));
    steady_ = samples_of_beginning(profile_);
    steady_.flip();
    latency.all_of_beginning = std::count(steady_.begin(), steady_.end(), true) == 0;
    if (const auto round_trip = mean_of_steady(profile_.spans.duration)) {
      latency.throughput = throughput(*round_trip);
    }
    return latency;
  }

 private:
  void add_steps(Latency& latency) const {
    std::vector<std::pair<StringId, std::vector<double>>> steps;
    for (const Phase& phase : profile_.phases) {
      auto found = std::find_if(steps.begin(), steps.end(),
                                [&](const auto& step) { return step.first == phase.name; });
      if (found == steps.end()) found = steps.insert(steps.end(), {phase.name, {}});
      found->second.push_back(double(phase.duration));
    }
    for (const auto& [name, durations] : steps) {
      latency.rows.push_back(
          row_of(std::string(profile_.text(name)), MeasureKind::span, durations));
    }
  }

  std::optional<double> mean_of_steady(const Column<std::int64_t>& all) const {
    std::vector<double> values;
    for (std::size_t row = 0; row < std::min(all.size(), steady_.size()); ++row) {
      if (all[row] != MeasureColumn::missing && steady_[row]) values.push_back(double(all[row]));
    }
    if (values.empty()) return std::nullopt;
    return mean_of(values);
  }

  std::optional<double> mean_column(NumberRole role) const {
    const MeasureColumn* column = profile_.spans.measure(role);
    return column == nullptr ? std::nullopt : mean_of_steady(column->values);
  }

  // A sample's rate is that of its batch's execution, so their product is the batch.
  double batch(double hertz) const {
    const MeasureColumn* execution = profile_.spans.measure(NumberRole::device_execution);
    std::vector<double> batches;
    for (const Measure& measure : profile_.measures) {
      const bool rate = measure.subject == Measure::Subject::span &&
                        measure.meaning.role == NumberRole::device_rate;
      if (!rate || measure.subject_id >= execution->values.size()) continue;
      const std::int64_t ticks = execution->values[measure.subject_id];
      if (ticks != MeasureColumn::missing) batches.push_back(measure.value * double(ticks) / hertz);
    }
    return batches.empty() ? 0 : median_of(std::move(batches));
  }

  std::optional<Throughput> throughput(double round_trip) const {
    const auto execution = mean_column(NumberRole::device_execution);
    const auto input_wait = mean_column(NumberRole::device_input_wait);
    const auto output_wait = mean_column(NumberRole::device_output_wait);
    const auto in_queue = mean_column(NumberRole::inferences_in_queue);
    const double hertz = profile_.clocks[std::uint32_t(profile_.base_clock)].rate.value;
    if (!execution || !(*execution > 0) || !in_queue || !(*in_queue > 0) || !(round_trip > 0)) {
      return std::nullopt;
    }
    Throughput result =
        judge_throughput({round_trip / *in_queue, *execution, input_wait.value_or(0),
                          output_wait.value_or(0), *in_queue},
                         hertz);
    result.batch = batch(hertz);
    return result;
  }

  const Profile& profile_;
  std::vector<bool> steady_;  // by row
};

// Those whose spans on one unit of the host are all that the profile has, each once; else none.
std::map<std::uint32_t, Interval> inferences_on_host(const Profile& profile) {
  const Spans& spans = profile.spans;
  std::map<std::uint32_t, Interval> found;
  if (spans.instance.size() != spans.size()) return found;
  UnitId unit = UnitId::none;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (spans.kind[row] != SpanKind::inference) continue;
    if (found.empty()) unit = spans.unit[row];
    const bool is_new = found.try_emplace(spans.instance[row], interval_of(spans, row)).second;
    if (!is_new || spans.unit[row] != unit) return {};
  }
  const bool is_host =
      index_of(unit) < profile.units.size() && profile.units[index_of(unit)].engine == Engine::host;
  return is_host && found.size() == profile.provenance.inferences
             ? found
             : std::map<std::uint32_t, Interval>{};
}

// "device execution, 99%"
bool take_statistic(const Profile& profile, const Measure& measure, std::vector<LatencyRow>& rows) {
  const Statistic statistic = measure.meaning.statistic;
  if (statistic == Statistic::none || measure.kind == MeasureKind::count) return false;
  const std::string_view name = without_statistic(profile.text(measure.what));
  auto row = std::find_if(rows.begin(), rows.end(),
                          [&](const LatencyRow& each) { return each.name == name; });
  if (row == rows.end()) {
    row = rows.insert(rows.end(), {std::string(name), measure.kind, 0, {}, {}, {}, {}});
  }
  set_statistic(*row, statistic, measure.value);
  return true;
}

// A runner's log: what the device measured over all inferences, and how many there were in how
// long.
class LoggedLatency {
 public:
  explicit LoggedLatency(const Profile& profile) : profile_(profile) {}

  Latency run() {
    Latency latency;
    for (const Measure& measure : profile_.measures) {
      if (measure.subject == Measure::Subject::unit) take(measure, latency.rows);
    }
    if (!latency.rows.empty()) latency.throughput = throughput();
    return latency;
  }

 private:
  // "execution of function 0, average" of device 1.
  void take(const Measure& measure, std::vector<LatencyRow>& rows) {
    const Statistic statistic = measure.meaning.statistic;
    const bool is_time = index_of(measure.clock) == index_of(profile_.base_clock);
    if (statistic == Statistic::none || measure.kind == MeasureKind::count || !is_time) return;
    if (statistic == Statistic::mean) note_mean(measure.meaning.role, measure.value);
    std::string name = "device ";
    name += without_statistic(profile_.text(measure.what));
    if (profile_.units.size() > 1 && measure.subject_id < profile_.units.size()) {
      name += ", " + std::string(profile_.text(profile_.units[measure.subject_id].name));
    }
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const LatencyRow& each) { return each.name == name; });
    if (row == rows.end()) row = rows.insert(rows.end(), {name, measure.kind, 0, {}, {}, {}, {}});
    set_statistic(*row, statistic, measure.value);
  }

  // Of devices that share a network the slowest counts; functions are different networks.
  void note_mean(NumberRole role, double ticks) {
    switch (role) {
      case NumberRole::function_step:
      case NumberRole::function_wait: has_functions_ = true; break;
      case NumberRole::device_execution: execution_ = std::max(execution_, ticks); break;
      case NumberRole::device_input_wait: input_wait_ = std::max(input_wait_, ticks); break;
      case NumberRole::device_output_wait: output_wait_ = std::max(output_wait_, ticks); break;
      default: break;
    }
  }

  double of_run(NumberRole role) const {
    for (const Measure& measure : profile_.measures) {
      if (measure.subject == Measure::Subject::profile && measure.meaning.role == role) {
        return measure.value;
      }
    }
    return 0;
  }

  // What the log calls inferences are batches: their number by the duration, times the batch, is
  // its own Inf/Sec.
  std::optional<Throughput> throughput() const {
    const double duration = of_run(NumberRole::run_time),
                 batches = of_run(NumberRole::run_inferences);
    const double hertz = profile_.clocks[index_of(profile_.base_clock)].rate.value;
    if (has_functions_ || !(execution_ > 0) || !(duration > 0) || !(batches > 0)) {
      return std::nullopt;
    }
    constexpr double max_activations = 1e6;  // for a forged number
    const double each = duration / batches;
    const double busy = execution_ + input_wait_ + output_wait_;
    const double activations =
        std::max({1.0, std::round(busy / each), std::ceil(execution_ / each - measurement_error)});
    if (!(activations < max_activations)) return std::nullopt;
    Throughput result =
        judge_throughput({each * activations, execution_, input_wait_, output_wait_, 0}, hertz);
    result.activations = activations;
    result.batch = of_run(NumberRole::run_batch_size);
    return result;
  }

  static constexpr double measurement_error = 0.02;  // means of different sets of inferences
  const Profile& profile_;
  bool has_functions_ = false;
  double execution_ = 0, input_wait_ = 0, output_wait_ = 0;
};

// As the reader of runner logs makes it.
bool is_runner_log(const Profile& profile) {
  const auto has = [&](NumberRole role) {
    return std::any_of(profile.measures.begin(), profile.measures.end(), [&](const Measure& each) {
      return each.subject == Measure::Subject::profile && each.meaning.role == role;
    });
  };
  return profile.spans.size() == 0 && index_of(profile.base_clock) < profile.clocks.size() &&
         has(NumberRole::run_time) && has(NumberRole::run_rate);
}

// A runner's latency file, or inferences of one unit and nothing else.
bool has_samples(const Profile& profile) {
  const Spans& spans = profile.spans;
  const auto is_inference = [](SpanKind kind) { return kind == SpanKind::inference; };
  return spans.size() > 0 && (is_of_runner(profile) ||
                              (profile.units.size() == 1 &&
                               std::all_of(spans.kind.begin(), spans.kind.end(), is_inference)));
}

}  // namespace

Throughput judge_throughput(const ThroughputTimes& times, double ticks_per_second) {
  Throughput result;
  result.queue_depth = times.queue_depth;
  result.period = times.period;
  result.execution = times.execution;
  result.input_wait = times.input_wait;
  result.output_wait = times.output_wait;
  result.device = ticks_per_second / times.execution;
  result.system = ticks_per_second / times.period;
  result.gap_share = std::max(0.0, 1 - result.system / result.device);
  if (result.gap_share < notable_gap) return result;
  result.cause = ThroughputGap::other;
  double max = times.period - times.execution - times.input_wait - times.output_wait;
  if (times.input_wait > max) {
    max = times.input_wait;
    result.cause = ThroughputGap::input_wait;
  }
  if (times.output_wait > max) result.cause = ThroughputGap::output_wait;
  return result;
}

std::vector<bool> samples_of_beginning(const Profile& profile) {
  const Spans& spans = profile.spans;
  std::vector<bool> beginning(spans.size(), false);
  const MeasureColumn* depth = spans.measure(NumberRole::queue_depth);
  const MeasureColumn* in_queue = spans.measure(NumberRole::inferences_in_queue);
  if (depth == nullptr || in_queue == nullptr) return beginning;
  const std::size_t rows = std::min(
      {spans.size(), spans.instance.size(), depth->values.size(), in_queue->values.size()});
  for (std::size_t row = 0; row < rows; ++row) {
    beginning[row] = std::int64_t{spans.instance[row]} + 1 < depth->values[row] &&
                     in_queue->values[row] < depth->values[row];
  }
  return beginning;
}

Latency analyse_latency(const Profile& profile) {
  if (has_samples(profile)) return SampledLatency(profile).run();
  if (is_runner_log(profile)) return LoggedLatency(profile).run();
  Latency latency;
  bool of_a_table = false;
  for (const Measure& measure : profile.measures) {
    if (measure.subject != Measure::Subject::profile) continue;
    const bool taken = take_statistic(profile, measure, latency.rows);
    of_a_table = of_a_table || (taken && measure.meaning.role == NumberRole::host_round_trip);
  }
  if (!of_a_table) latency.rows.clear();
  return latency;
}

std::vector<LatencyRow> inferences_as_samples(const Profile& profile) {
  const auto inferences = inferences_on_host(profile);
  std::vector<std::pair<StringId, std::vector<double>>> steps;
  std::set<StringId> outside;  // some of them were before or after: they are no steps of the call
  for (const Phase& phase : profile.phases) {
    const auto its = inferences.find(phase.instance);
    if (its == inferences.end() || phase.start < its->second.begin ||
        phase.start + phase.duration > its->second.end) {
      outside.insert(phase.name);
      continue;
    }
    auto step = std::ranges::find(steps, phase.name, [](const auto& each) { return each.first; });
    if (step == steps.end()) step = steps.insert(steps.end(), {phase.name, {}});
    step->second.push_back(double(phase.duration));
  }
  std::erase_if(steps, [&](const auto& step) { return outside.contains(step.first); });
  std::vector<LatencyRow> rows;
  for (const auto& [name, durations] : steps) {
    rows.push_back(row_of(std::string(profile.text(name)), MeasureKind::span, durations));
  }
  std::vector<double> whole;
  for (const auto& [instance, interval] : inferences) whole.push_back(double(length_of(interval)));
  if (!whole.empty()) rows.push_back(row_of("inference", MeasureKind::wall, whole));
  return rows;
}

}  // namespace npuscope::analysis
