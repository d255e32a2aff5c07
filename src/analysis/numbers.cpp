#include "npuscope/analysis/numbers.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "npuscope/analysis/ops.hpp"

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

}  // namespace npuscope::analysis
