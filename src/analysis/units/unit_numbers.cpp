#include "analysis/units/unit_numbers.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "base/sort_rows.hpp"
#include "npuscope/analysis/coarse.hpp"
#include "npuscope/analysis/statistics.hpp"

namespace npuscope::analysis {

namespace {

constexpr std::size_t max_number_columns = 64;

// One number of one unit and one inference.
struct Sample {
  std::uint32_t unit = 0;
  std::uint32_t column = 0;
  std::uint32_t instance = every_instance;
  double value = 0;
};

class Collector {
 public:
  explicit Collector(const Profile& profile) : profile_(profile) {}

  UnitNumbers run() {
    add_frames();
    add_measures();
    sort_columns();
    join_samples();
    return std::move(table_);
  }

 private:
  void add_frames();
  void add_measures();
  void sort_columns();
  void join_samples();
  // Its place; none beyond the most that a table takes.
  std::optional<std::uint32_t> add_column(UnitNumberColumn column) {
    if (table_.columns.size() == max_number_columns) {
      table_.columns_left += 1;
      return std::nullopt;
    }
    table_.columns.push_back(std::move(column));
    return std::uint32_t(table_.columns.size() - 1);
  }

  const Profile& profile_;
  UnitNumbers table_;
  std::vector<Sample> samples_;
};

constexpr NamedNumber inference_time{"inference", MeasureKind::wall, NumberRole::inference_time};
constexpr NamedNumber processor_cycles{"processor cycles", NumberQuantity::count,
                                       NumberRole::processor_cycles};
constexpr NamedNumber effective_frequency{"effective frequency (Hz)", NumberQuantity::hertz,
                                          NumberRole::effective_frequency};

UnitNumberColumn column_of(const NamedNumber& number, Origin origin, ClockId clock = {}) {
  return {std::string(number.name), number.kind, origin, number.meaning, clock};
}

void Collector::add_frames() {
  const Spans& spans = profile_.spans;
  const std::size_t base = index_of(profile_.base_clock);
  const double rate = base < profile_.clocks.size() ? profile_.clocks[base].rate.value : 0;
  std::optional<std::uint32_t> time, cycles, frequency;
  const auto add = [&](std::optional<std::uint32_t>& place, UnitNumberColumn column,
                       std::size_t row, double value) {
    if (!place) place = add_column(std::move(column));  // the first columns: there is room
    const bool has_instance = spans.instance.size() == spans.size();
    samples_.push_back({index_of(spans.unit[row]), *place,
                        has_instance ? spans.instance[row] : every_instance, value});
  };
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (spans.kind[row] != SpanKind::inference) continue;
    if (index_of(spans.unit[row]) >= profile_.units.size()) continue;
    const auto ticks = double(spans.duration[row]);
    add(time, column_of(inference_time, Origin::measured, profile_.base_clock), row, ticks);
    const bool counted =
        spans.processor_cycles.size() == spans.size() && spans.processor_cycles[row] >= 0;
    if (!counted) continue;
    const auto count = double(spans.processor_cycles[row]);
    add(cycles, column_of(processor_cycles, Origin::counter), row, count);
    if (!(rate > 0) || !(ticks > 0)) continue;
    add(frequency, column_of(effective_frequency, Origin::derived), row, count / ticks * rate);
  }
}

void Collector::add_measures() {
  using Key = std::tuple<StringId, MeasureKind, Origin, ClockId>;
  std::map<Key, std::optional<std::uint32_t>> places;
  for (const Measure& measure : profile_.measures) {
    if (measure.subject != Measure::Subject::unit) continue;
    if (measure.subject_id >= profile_.units.size()) continue;
    const ClockId clock = measure.kind == MeasureKind::count ? ClockId{} : measure.clock;
    const auto [found, is_new] =
        places.try_emplace({measure.what, measure.kind, measure.origin, clock});
    if (is_new) {
      found->second = add_column({std::string(profile_.text(measure.what)), measure.kind,
                                  measure.origin, measure.meaning, clock});
    }
    if (!found->second) continue;
    samples_.push_back({measure.subject_id, *found->second, measure.instance, measure.value});
  }
}

int place_of(const UnitNumberColumn& column) {
  switch (column.meaning.role) {
    case NumberRole::inference_time: return 0;
    case NumberRole::processor_cycles:
    case NumberRole::effective_frequency: return 1;
    case NumberRole::utilization:
    case NumberRole::utilization_with_waits: return 2;
    default: return column.kind == MeasureKind::unit_busy ? 2 : 3;
  }
}

void Collector::sort_columns() {
  std::vector<std::uint32_t> order(table_.columns.size()), now(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  sort_rows(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return place_of(table_.columns[a]) < place_of(table_.columns[b]);
  });
  std::vector<UnitNumberColumn> columns;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    now[order[i]] = i;
    columns.push_back(std::move(table_.columns[order[i]]));
  }
  table_.columns = std::move(columns);
  for (Sample& sample : samples_) sample.column = now[sample.column];
}

void Collector::join_samples() {
  sort_rows(samples_.begin(), samples_.end(), [](const Sample& a, const Sample& b) {
    return std::tie(a.unit, a.column, a.instance) < std::tie(b.unit, b.column, b.instance);
  });
  std::vector<double> values;
  for (std::size_t i = 0; i < samples_.size();) {
    const Sample& first = samples_[i];
    values.clear();
    for (; i < samples_.size(); ++i) {
      if (samples_[i].unit != first.unit || samples_[i].column != first.column) break;
      values.push_back(samples_[i].value);
    }
    const bool is_new =
        table_.numbers.empty() || index_of(table_.numbers.back().unit) != first.unit;
    if (is_new) table_.first_of.push_back(std::uint32_t(table_.numbers.size()));
    table_.numbers.push_back({UnitId{first.unit}, first.column, spread_of(values).median_of_rest});
  }
  if (!table_.numbers.empty()) table_.first_of.push_back(std::uint32_t(table_.numbers.size()));
}

}  // namespace

UnitNumbers analyse_unit_numbers(const Profile& profile) { return Collector(profile).run(); }

UnitsWithTraffic::UnitsWithTraffic(const Profile& profile, bool needed) : profile_(profile) {
  for (const Measure& measure : profile.measures) {
    if (!needed || measure.subject != Measure::Subject::unit) continue;
    if (measure.kind != MeasureKind::count || measure.subject_id >= profile.units.size()) continue;
    const auto route = memory_route_of(measure.meaning.role);
    if (!route) continue;
    units_.insert({measure.subject_id, *route});
    const Unit& unit = profile.units[measure.subject_id];
    if (unit.engine == Engine::device) devices_.insert({unit.device, *route});
  }
}

bool UnitsWithTraffic::include(UnitId id, Route route) const {
  if (index_of(id) >= profile_.units.size()) return false;
  const Unit& unit = profile_.units[index_of(id)];
  if (unit.engine != Engine::device && devices_.contains({unit.device, route})) return true;
  constexpr int deepest = 16;  // parents may form a ring in a forged profile
  UnitId parent = unit.parent;
  for (int depth = 0; depth < deepest && index_of(parent) < profile_.units.size(); ++depth) {
    if (parent != id && units_.contains({index_of(parent), route})) return true;
    parent = profile_.units[index_of(parent)].parent;
  }
  return false;
}

std::vector<InferenceClock> analyse_clocks(const Profile& profile) {
  const Spans& spans = profile.spans;
  const std::size_t base = index_of(profile.base_clock);
  if (base >= profile.clocks.size() || spans.processor_cycles.size() != spans.size()) return {};
  const Clock& clock = profile.clocks[base];
  if (clock.kind == ClockKind::unit_cycles || !(clock.rate.value > 0)) return {};
  struct Most {
    std::int64_t ticks = 0, cycles = 0;
  };
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // inference, device, core
  std::map<Key, Most> cores;
  const bool has_instance = spans.instance.size() == spans.size();
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (spans.kind[row] != SpanKind::inference || spans.processor_cycles[row] < 0) continue;
    const std::size_t unit = index_of(spans.unit[row]);
    if (unit >= profile.units.size()) continue;
    const Unit& of = profile.units[unit];
    Most& max = cores[{has_instance ? spans.instance[row] : every_instance, of.device, of.core}];
    max.ticks = std::max(max.ticks, spans.duration[row]);
    max.cycles = std::max(max.cycles, spans.processor_cycles[row]);
  }
  std::vector<InferenceClock> clocks;
  for (const auto& [key, max] : cores) {
    if (max.ticks <= 0 || max.cycles <= 0) continue;
    const double hertz = double(max.cycles) / double(max.ticks) * clock.rate.value;
    if (clocks.empty() || clocks.back().inference != std::get<0>(key)) {
      clocks.push_back({std::get<0>(key), 0, hertz, hertz});
    }
    InferenceClock& last = clocks.back();
    last.cores += 1;
    last.min_hertz = std::min(last.min_hertz, hertz);
    last.max_hertz = std::max(last.max_hertz, hertz);
  }
  return clocks;
}

// Of the phase that takes longest and was timed in most inferences.
PhaseClock clock_of_phases(const Profile& profile) {
  std::map<StringId, std::map<std::uint32_t, std::pair<double, double>>> timed;  // ticks, seconds
  for (const Phase& phase : profile.phases) {
    if (!(phase.microseconds > 0) || phase.duration <= 0) continue;
    auto& [ticks, seconds] = timed[phase.name][phase.instance];
    ticks += double(phase.duration);
    seconds += phase.microseconds * 1e-6;
  }
  PhaseClock clock;
  double longest = 0;
  for (const auto& [name, inferences] : timed) {
    // Its name tells the phase of the graph itself.
    if (profile.text(name).find("Graph Execute") == std::string_view::npos) continue;
    double sum = 0;
    PhaseClock found{std::string(profile.text(name)), {}};
    for (const auto& [instance, each] : inferences) {
      sum += each.second;
      found.hertz.push_back({instance, each.first / each.second});
    }
    if (sum <= longest) continue;
    longest = sum;
    clock = std::move(found);
  }
  return clock;
}

std::optional<double> clock_of_units(const UnitNumbers& numbers) {
  std::vector<double> hertz;
  for (const UnitNumber& number : numbers.numbers) {
    const NumberRole role = numbers.columns[number.column].meaning.role;
    if (role == NumberRole::effective_frequency && number.value > 0) {
      hertz.push_back(number.value);
    }
  }
  if (hertz.empty()) return std::nullopt;
  return median_of(std::move(hertz));
}

namespace {

// Of a clock that is sampled, by the unit of its values; none of other samples.
double hertz_in(std::string_view quantity) {
  if (quantity == "MHz") return 1e6;
  if (quantity == "GHz") return 1e9;
  return quantity == "Hz" ? 1 : 0;
}

std::optional<double> sampled_clock(const Profile& profile) {
  const Counters& counters = profile.counters;
  std::vector<double> hertz;
  for (std::size_t row = 0; row < counters.size(); ++row) {
    const CounterSeries& series = counters.series[counters.of[row]];
    // Chrome traces name a value by its unit: {"AI Core Freq": {"MHz": 1800}}.
    const StringId unit = series.quantity == StringId{} ? series.part : series.quantity;
    const double value = counters.value[row] * hertz_in(profile.text(unit));
    const bool is_of_host = index_of(series.unit) < profile.units.size() &&
                            profile.units[index_of(series.unit)].engine == Engine::host;
    if (value > 0 && !is_of_host) hertz.push_back(value);
  }
  if (hertz.empty()) return std::nullopt;
  return median_of(std::move(hertz));
}

}  // namespace

std::optional<double> clock_during_run(const Profile& profile) {
  const auto warm_median = [](std::vector<double> hertz) {
    if (hertz.size() > 1) hertz.erase(hertz.begin());
    return median_of(std::move(hertz));
  };
  std::vector<double> hertz;
  for (const InferenceClock& each : analyse_clocks(profile)) {
    hertz.push_back((each.min_hertz + each.max_hertz) / 2);
  }
  if (!hertz.empty()) return warm_median(std::move(hertz));
  for (const auto& [inference, rate] : clock_of_phases(profile).hertz) hertz.push_back(rate);
  if (!hertz.empty()) return warm_median(std::move(hertz));
  for (std::size_t clock = 0; clock < profile.clocks.size(); ++clock) {
    const Clock& each = profile.clocks[clock];
    const bool is_told = each.kind == ClockKind::unit_cycles && each.rate.value > 0;
    if (is_told && clock != index_of(profile.base_clock)) return each.rate.value;
  }
  return sampled_clock(profile);
}

}  // namespace npuscope::analysis
