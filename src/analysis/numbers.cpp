#include "npuscope/analysis/numbers.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "npuscope/analysis/ops.hpp"
#include "npuscope/analysis/phases.hpp"

namespace npuscope::analysis {

namespace {

using IsWanted = bool(const Meaning& meaning);

void add_span_columns(const Profile& profile, IsWanted* is_wanted, std::vector<NumberRow>& rows) {
  for (const MeasureColumn& column : profile.spans.measures) {
    if (column.meaning.additive || !is_wanted(column.meaning)) continue;
    std::vector<double> values;
    for (const std::int64_t value : column.values) {
      if (value != MeasureColumn::missing) values.push_back(double(value));
    }
    if (values.empty()) continue;
    rows.push_back({Measure::Subject::span, column.what, column.kind, column.origin, column.meaning,
                    column.clock, spread_of(values)});
  }
}

// Sorting out columns before their values are looked at.
std::vector<NumberRow> numbers_of(const Profile& profile, IsWanted* is_wanted_column) {
  using Key = std::tuple<Measure::Subject, StringId, MeasureKind, Origin, ClockId>;
  std::map<Key, std::size_t> place;
  std::vector<NumberRow> rows;
  std::vector<std::vector<std::pair<std::uint32_t, double>>> samples;
  for (const Measure& measure : profile.measures) {
    const auto subject = measure.subject;
    if (subject == Measure::Subject::op || subject == Measure::Subject::span) continue;
    const auto [found, is_new] = place.try_emplace(
        {subject, measure.what, measure.kind, measure.origin, measure.clock}, rows.size());
    if (is_new) {
      rows.push_back({subject,
                      measure.what,
                      measure.kind,
                      measure.origin,
                      measure.meaning,
                      measure.clock,
                      {}});
      samples.emplace_back();
    }
    samples[found->second].push_back({measure.instance, measure.value});
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::stable_sort(samples[i].begin(), samples[i].end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<double> values;
    for (const auto& [instance, value] : samples[i]) values.push_back(value);
    rows[i].values = spread_of(values);
  }
  add_span_columns(profile, is_wanted_column, rows);
  return rows;
}

}  // namespace

std::vector<NumberRow> analyse_numbers(const Profile& profile) {
  return numbers_of(profile, [](const Meaning&) { return true; });
}

std::vector<NumberRow> analyse_numbers_of_role(const Profile& profile) {
  const auto has_role = [](const Meaning& meaning) { return meaning.role != NumberRole::none; };
  std::vector<NumberRow> rows = numbers_of(profile, has_role);
  std::erase_if(rows, [&](const NumberRow& row) { return !has_role(row.meaning); });
  return rows;
}

std::vector<CounterRow> analyse_counters(const Profile& profile) {
  const Counters& counters = profile.counters;
  struct Sum {
    double weighted = 0, time = 0, plain = 0;
    std::int64_t since = 0;
  };
  std::vector<CounterRow> rows(counters.series.size());
  std::vector<Sum> sums(rows.size());
  for (std::size_t i = 0; i < counters.size(); ++i) {
    if (counters.of[i] >= rows.size()) continue;
    CounterRow& row = rows[counters.of[i]];
    Sum& sum = sums[counters.of[i]];
    const double value = counters.value[i];
    if (row.samples > 0) {
      const auto held =
          double(std::max<std::int64_t>(0, saturating_subtract(counters.time[i], sum.since)));
      sum.weighted += row.last * held;
      sum.time += held;
    }
    row.min = row.samples == 0 ? value : std::min(row.min, value);
    row.max = row.samples == 0 ? value : std::max(row.max, value);
    row.last = value;
    row.samples += 1;
    sum.plain += value;
    sum.since = counters.time[i];
  }
  const std::int64_t end = timeline_of(profile).end;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].series = std::uint32_t(i);
    if (rows[i].samples == 0) continue;
    const std::int64_t held = saturating_subtract(end, sums[i].since);
    if (profile.spans.size() > 0 && held > 0) {  // the last one holds until everything has ended
      sums[i].weighted += rows[i].last * double(held);
      sums[i].time += double(held);
    }
    rows[i].mean = sums[i].time > 0 ? sums[i].weighted / sums[i].time
                                    : sums[i].plain / double(rows[i].samples);
  }
  std::erase_if(rows, [](const CounterRow& row) { return row.samples == 0; });
  return rows;
}

namespace {

struct Nested {
  std::uint32_t depth = 0;
  double self_ticks = 0;
  double self_microseconds = -1;  // negative: unknown
};

// Of each phase the one around it, or no_phase. Where no file says so, phases of one inference and
// unit nest by time; those that overlap without nesting stand beside each other.
std::vector<std::uint32_t> parents_of(const std::vector<Phase>& phases,
                                      const std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> parents(phases.size(), no_phase);
  std::vector<std::uint32_t> open;
  const auto end_of = [&](std::uint32_t i) {
    return saturating_add(phases[i].start, std::max<std::int64_t>(0, phases[i].duration));
  };
  for (const std::uint32_t i : order) {
    const Phase& phase = phases[i];
    if (phase.parent != no_phase) {
      if (phase.parent < phases.size() && phase.parent != i) parents[i] = phase.parent;
      continue;
    }
    while (!open.empty() &&
           (phases[open.back()].instance != phase.instance ||
            phases[open.back()].unit != phase.unit || end_of(open.back()) < end_of(i))) {
      open.pop_back();
    }
    if (!open.empty()) parents[i] = open.back();
    open.push_back(i);
  }
  return parents;
}

// Sorts `order` so that each phase is followed by what is in it. Parents that go round in a circle
// are cut where the walk comes to them.
std::vector<Nested> nest(const std::vector<Phase>& phases, std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> parents = parents_of(phases, order);
  std::vector<std::vector<std::uint32_t>> inner(phases.size());
  std::vector<std::uint32_t> starts;
  for (const std::uint32_t i : order) {
    if (parents[i] == no_phase) starts.push_back(i);
    if (parents[i] != no_phase) inner[parents[i]].push_back(i);
  }
  starts.insert(starts.end(), order.begin(), order.end());  // of circles; all others are seen then
  order.clear();
  std::vector<Nested> nested(phases.size());
  std::vector<bool> seen(phases.size(), false);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> open;  // with the one around it
  for (const std::uint32_t start : starts) {
    open.push_back({start, no_phase});
    while (!open.empty()) {
      const auto [i, around] = open.back();
      open.pop_back();
      if (seen[i]) continue;
      seen[i] = true;
      order.push_back(i);
      const Phase& phase = phases[i];
      nested[i] = {0, double(phase.duration), phase.microseconds};
      if (around != no_phase) {
        Nested& outer = nested[around];
        nested[i].depth = outer.depth + 1;
        outer.self_ticks -= double(phase.duration);
        const bool timed = outer.self_microseconds >= 0 && phase.microseconds >= 0;
        outer.self_microseconds =
            timed ? std::max(0.0, outer.self_microseconds - phase.microseconds) : -1;
      }
      for (auto part = inner[i].rbegin(); part != inner[i].rend(); ++part) {
        open.push_back({*part, i});
      }
    }
  }
  return nested;
}

struct Samples {
  std::uint32_t depth = 0;
  bool repeats = false;
  std::uint32_t last = no_phase;
  std::vector<double> ticks, microseconds, self_ticks, self_microseconds, hertz;
};

}  // namespace

std::vector<PhaseRow> analyse_phases(const Profile& profile) {
  const std::vector<Phase>& phases = profile.phases;
  std::vector<std::uint32_t> order(phases.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Phase &first = phases[a], &second = phases[b];
    if (first.instance != second.instance) return first.instance < second.instance;
    if (first.unit != second.unit) return first.unit < second.unit;
    if (first.start != second.start) return first.start < second.start;
    return first.duration > second.duration;
  });
  const auto nested = nest(phases, order);
  std::map<StringId, std::size_t> place;
  std::vector<std::pair<StringId, Samples>> rows;
  for (const std::uint32_t i : order) {
    const auto [found, is_new] = place.try_emplace(phases[i].name, rows.size());
    if (is_new) rows.emplace_back(phases[i].name, Samples{}).second.depth = nested[i].depth;
    Samples& samples = rows[found->second].second;
    if (samples.last != no_phase) {
      const Phase& last = phases[samples.last];
      samples.repeats |= last.instance == phases[i].instance && last.unit == phases[i].unit;
    }
    samples.last = i;
    samples.ticks.push_back(double(phases[i].duration));
    samples.self_ticks.push_back(nested[i].self_ticks);
    if (phases[i].microseconds >= 0) samples.microseconds.push_back(phases[i].microseconds);
    if (nested[i].self_microseconds >= 0) {
      samples.self_microseconds.push_back(nested[i].self_microseconds);
    }
    if (phases[i].microseconds > 0) {
      samples.hertz.push_back(double(phases[i].duration) / phases[i].microseconds * 1e6);
    }
  }
  std::vector<PhaseRow> table;
  for (const auto& [name, samples] : rows) {
    table.push_back({name, samples.depth, samples.repeats, spread_of(samples.ticks),
                     spread_of(samples.microseconds), spread_of(samples.self_ticks),
                     spread_of(samples.self_microseconds), spread_of(samples.hertz)});
  }
  return table;
}

}  // namespace npuscope::analysis
