#include "analysis/ops/op_table_builder.hpp"

#include <algorithm>
#include <limits>

#include "base/parallel.hpp"

namespace npuscope::analysis {
namespace {

// By which a table can be sorted beside its columns.
constexpr const char* detail_names[] = {
    "runs",  "instances",    "p50",  "p95",  "cycles per packet",
    "cores", "output bytes", "name", "start"};
// Those that are sorted from the smallest on.
constexpr int by_name = 7, by_start = 8;

// The share of the critical path is what decides; then time, then anything countable. Numbers of
// different kinds are never ranked against each other: one column decides for all rows.
int preference(const OpColumn& column) {
  if (column.kind == MeasureKind::dominant_path) return column.origin == Origin::derived ? 7 : 8;
  if (column.of_base_clock && column.name == "work") return column.total > 0 ? 6 : 1;
  if (column.of_base_clock && column.name == "async") return 5;
  if (column.kind == MeasureKind::work) return column.of_base_clock ? 2 : 4;
  return column.kind == MeasureKind::active ? 3 : 0;
}

}  // namespace

// The run's own number beside a column of the ops' numbers. The dominant path passes through every
// moment in which anything runs, so the time in which any unit was active is its whole length.
std::optional<double> OpTableBuilder::whole_of(const OpColumn& column) const {
  if (column.of_base_clock) return std::nullopt;
  const bool is_path = column.kind == MeasureKind::dominant_path;
  std::optional<double> whole;
  for (const Measure& measure : profile_.measures) {
    if (measure.subject != Measure::Subject::profile || measure.instance != every_instance)
      continue;
    if (column.kind != MeasureKind::count && measure.clock != column.clock) continue;
    const bool is_same = measure.kind == column.kind && profile_.text(measure.what) == column.name;
    if (!is_same && !(is_path && measure.kind == MeasureKind::active)) continue;
    if (measure.value >= column.total) whole = std::max(whole.value_or(0), measure.value);
  }
  return whole;
}

void OpTableBuilder::choose_ranking() {
  for (std::size_t i = 0; i < table_.columns.size(); ++i) {
    for (const double value : values_[i]) table_.columns[i].total += value;
    table_.columns[i].whole = whole_of(table_.columns[i]);
    if (preference(table_.columns[i]) > preference(table_.columns[table_.ranked_by])) {
      table_.ranked_by = i;
    }
  }
  table_.ranked_by_name = table_.columns[table_.ranked_by].name;
  if (options_.sort.empty()) return;
  table_.ranked_by_name = options_.sort;
  if (const auto place = table_.place_of(options_.sort)) {
    table_.ranked_by = *place;
    return;
  }
  const auto detail = std::find(std::begin(detail_names), std::end(detail_names), options_.sort);
  table_.sort_is_known = detail != std::end(detail_names);
  if (table_.sort_is_known) ranked_by_detail_ = int(detail - std::begin(detail_names));
  if (ranked_by_detail_ == by_start) {
    table_.sort_is_known = std::ranges::any_of(
        keys_.rows(), [](const OpRow& row) { return row.details.start.has_value(); });
  }
}

std::optional<double> OpTableBuilder::rank_value(std::uint32_t row) const {
  const OpRow& of = keys_.rows()[row];
  switch (ranked_by_detail_) {
    case 0: return double(of.runs);
    case 1: return double(of.instances);
    case 2: return of.details.p50;
    case 3: return of.details.p95;
    case 4: return of.details.cycles_per_packet;
    case 5: return double(of.details.spread.cores);
    case 6: return of.details.output_bytes;
    case by_name: return 0;
    case by_start:
      return of.details.start ? std::optional(-double(*of.details.start)) : std::nullopt;
    default: break;
  }
  if (ranked_by_detail_ < 0 && options_.sort.empty()) return values_[table_.ranked_by][row];
  const bool known = known_[table_.ranked_by][row];
  return known ? std::optional(values_[table_.ranked_by][row]) : std::nullopt;
}

// What has no name has a row only where it ran or counts.
bool OpTableBuilder::is_shown(std::uint32_t row) const {
  const OpRow& of = keys_.rows()[row];
  if (of.instances > 0) return true;
  const auto has = [&](const auto& columns) {
    return std::any_of(columns.begin(), columns.end(),
                       [&](const auto& column) { return column[row] != 0; });
  };
  return has(values_) || (of.has_name && has(known_));
}

std::vector<OverInferences> OpTableBuilder::spreads_of(const RowSums& row) const {
  std::vector<OverInferences> spreads;
  for (std::size_t column = 0; column < sums_.columns().size(); ++column) {
    spreads.push_back(sums_.over_inferences(row, column));
  }
  return spreads;
}

void OpTableBuilder::rank() {
  choose_ranking();
  table_.moved_owners = keys_.moved_owners();
  std::vector<std::pair<double, std::uint32_t>> order;
  const OpColumn& by = table_.columns[table_.ranked_by];
  const double whole = by.whole.value_or(by.total);
  for (std::uint32_t row = 0; row < keys_.count(); ++row) {
    if (!is_shown(row)) continue;
    table_.row_count += 1;
    const auto value = rank_value(row);
    if (options_.min_share > 0 && ranked_by_detail_ < 0 &&
        !(value.value_or(0) >= options_.min_share * whole)) {
      continue;
    }
    constexpr double last = -std::numeric_limits<double>::infinity();
    order.push_back({value && *value == *value ? *value : last, row});
  }
  const bool is_by_name = ranked_by_detail_ == by_name;
  const auto costlier = [&](const auto& a, const auto& b) {
    if (is_by_name) {
      const int names = keys_.name(a.second).compare(keys_.name(b.second));
      if (names != 0) return names < 0;
    }
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  };
  const std::size_t kept = std::min(options_.top, order.size());
  std::partial_sort(order.begin(), order.begin() + std::ptrdiff_t(kept), order.end(), costlier);
  for (std::size_t i = 0; i < kept; ++i) {
    const std::uint32_t place = order[i].second;
    OpRow row = keys_.rows()[place];
    row.name = keys_.name(place);
    for (std::size_t column = 0; column < values_.size(); ++column) {
      const bool known = known_[column][place];
      row.values.push_back(known ? std::optional(values_[column][place]) : std::nullopt);
    }
    table_.rows.push_back(std::move(row));
  }
  if (!wants_spreads()) return;
  parallel_for(kept, [&](std::size_t i) {
    auto& spreads = table_.rows[i].spreads;
    if (spreads.empty()) spreads = spreads_of(sums_.of(order[i].second));
  });
}

}  // namespace npuscope::analysis
