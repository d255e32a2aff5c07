#include "npuscope/analysis/ops.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "analysis/answers.hpp"
#include "analysis/ops/op_table_builder.hpp"
#include "base/parallel.hpp"
#include "npuscope/analysis/coarse.hpp"
#include "npuscope/analysis/match_ops.hpp"
#include "npuscope/analysis/statistics.hpp"

namespace npuscope::analysis {

const char* name_of(Grouping grouping) {
  constexpr const char* names[] = {"op",     "part", "kind", "name",   "node", "layer",
                                   "memory", "rule", "core", "device", "unit"};
  return names[std::size_t(grouping)];
}

const OpColumn* OpTable::column(std::string_view name) const {
  const auto place = place_of(name);
  return place ? &columns[*place] : nullptr;
}

std::optional<std::size_t> OpTable::place_of(std::string_view name) const {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return i;
  }
  return std::nullopt;
}

namespace {

constexpr std::size_t max_columns = 32;

}  // namespace

std::vector<double>* OpTableBuilder::add_column(OpColumn column) {
  if (table_.columns.size() == max_columns) {
    table_.columns_left += 1;
    return nullptr;
  }
  table_.columns.push_back(std::move(column));
  values_.emplace_back(keys_.count(), 0.0);
  known_.emplace_back(keys_.count(), false);
  return &values_.back();
}

// The columns of times and measures of spans, row by row of the table.
void OpTableBuilder::add_span_columns() {
  for (const OpColumn& column : sums_.columns()) add_column(column);
  table_.columns_left = sums_.columns_left();
  const bool all_kept = keys_.count() <= options_.top;
  parallel_for(keys_.count(), [&](std::size_t group) {
    const RowSums row = sum_row(std::uint32_t(group));
    for (std::size_t column = 0; column < sums_.columns().size(); ++column) {
      const std::size_t like = sums_.like_earlier(row, column);
      values_[column][group] = like < column ? values_[like][group] : sums_.value(row, column);
      known_[column][group] = row.known[column];
    }
    if (all_kept && wants_spreads()) keys_.rows()[group].spreads = spreads_of(row);
  });
}

void OpTableBuilder::add_op_measures() {
  if (!keys_.has_ops()) return;
  struct Key {
    StringId what;
    MeasureKind kind;
    Origin origin;
    ClockId clock;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, std::vector<const Measure*>> columns;
  std::vector<Key> order;
  for (const Measure& measure : profile_.measures) {
    if (measure.subject != Measure::Subject::op) continue;
    if (measure.subject_id >= profile_.ops.size()) continue;
    if (!measure.meaning.additive) continue;
    const Key key{measure.what, measure.kind, measure.origin, measure.clock};
    auto& rows = columns[key];
    if (rows.empty()) order.push_back(key);
    rows.push_back(&measure);
  }
  for (const Key& key : order) {
    const auto& measures = columns[key];
    // Cycles of nodes by kind: a row with a name has none, and those of spans say more.
    const bool is_told = std::any_of(measures.begin(), measures.end(), [&](const Measure* measure) {
      const std::uint32_t at = keys_.of(OpId{measure->subject_id});
      return at != OpKeys::none && keys_.rows()[at].has_name;
    });
    if (!is_told && !sums_.columns().empty()) continue;
    auto* values = add_column({std::string(profile_.text(key.what)), key.kind, key.origin,
                               measures.front()->meaning, key.clock, false, false, 0});
    if (values == nullptr) continue;
    table_.columns.back().core_cycles = core_cycles_of(measures);
    std::map<std::uint32_t, std::map<std::uint32_t, double>> samples;  // of rows, by inference
    std::set<std::uint32_t> inferences;
    for (const Measure* measure : measures) {
      const std::uint32_t at = keys_.of(OpId{measure->subject_id});
      if (at == OpKeys::none) continue;
      known_.back()[at] = true;
      if (measure->instance == every_instance) {
        (*values)[at] += measure->value;
      } else {
        samples[at][measure->instance] += measure->value;
        inferences.insert(measure->instance);
      }
    }
    for (const auto& [at, by_inference] : samples) {
      std::vector<double> sums;
      for (const auto& [inference, sum] : by_inference) sums.push_back(sum);
      (*values)[at] += spread_of(sums).median_of_rest;
      table_.columns.back().per_inference |= sums.size() > 1;
    }
    if (inferences.size() > 1) inferences.erase(inferences.begin());
    if (!inferences.empty()) {
      table_.columns.back().of_inferences = {*inferences.begin(), *inferences.rbegin()};
    }
  }
}

// Of cycles of one core's ops, those of its longest thread.
std::optional<double> OpTableBuilder::core_cycles_of(
    const std::vector<const Measure*>& measures) const {
  const Measure& first = *measures.front();
  const std::size_t clock = index_of(first.clock);
  const Spans& spans = profile_.spans;
  const bool counts_cycles = first.kind == MeasureKind::work && clock < profile_.clocks.size() &&
                             profile_.clocks[clock].kind == ClockKind::unit_cycles &&
                             first.clock != profile_.base_clock &&
                             spans.processor_cycles.size() == spans.size();
  if (!counts_cycles) return std::nullopt;
  const std::uint32_t core = profile_.ops[first.subject_id].core;
  for (const Measure* measure : measures) {
    if (profile_.ops[measure->subject_id].core != core) return std::nullopt;
  }
  std::optional<double> max;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const std::size_t unit = index_of(spans.unit[row]);
    if (spans.kind[row] != SpanKind::inference || unit >= profile_.units.size()) continue;
    const Unit& of = profile_.units[unit];
    const bool is_thread = of.engine != Engine::core && of.engine != Engine::device;
    if (!is_thread || of.core != core || spans.processor_cycles[row] <= 0) continue;
    max = std::max(max.value_or(0), double(spans.processor_cycles[row]));
  }
  return max;
}

// That of the inferences after the first, where values are medians of them.
double OpTableBuilder::wall() const {
  if (table_.inferences < 2) return double(length_of(analysis_.timeline_extent()));
  std::vector<double> walls;
  for (const auto& [inference, extent] : analysis_.inference_extents()) {
    if (inference != inferences_.ids().front()) walls.push_back(double(length_of(extent)));
  }
  return median_of(std::move(walls));
}

OpTable OpTableBuilder::finish() {
  parallel_for(2, [&](std::size_t which) {
    if (which == 0) {
      add_span_columns();
      add_op_measures();
    } else {
      count_cores();
    }
  });
  if (table_.cores == 0) take_told_cores();
  if (options_.details) add_starts();
  if (options_.per_inference) table_.inferences = std::uint32_t(inferences_.count());
  if (table_.inferences > 1) table_.first_inference = inferences_.ids().front();
  table_.wall = wall();
  // Numbers of ops may be of no inference in particular, whatever else the profile has.
  const bool any_median =
      table_.columns.empty() || std::ranges::any_of(table_.columns, &OpColumn::per_inference);
  if (!any_median) table_.inferences = 1;
  if (!table_.columns.empty()) rank();
  return std::move(table_);
}

OpTable find_op_table(const Analysis& analysis, const OpOptions& options) {
  return OpTableBuilder(analysis, options).finish();
}

OpGroups::OpGroups(const Profile& profile) {
  if (profile.numbers) {
    groups_ = profile.numbers->groups;
    has_identities_ = std::any_of(groups_.begin(), groups_.end(),
                                  [](const OpGroup& each) { return !each.identity.empty(); });
    after_ = profile.numbers->after;
    before_.resize(groups_.size());
    for (std::uint32_t group = 0; group < after_.size(); ++group) {
      for (const std::uint32_t next : after_[group]) before_[next].push_back(group);
    }
    return;
  }
  std::unordered_map<std::uint64_t, std::uint32_t> group_of;
  of_op_.reserve(profile.ops.size());
  for (const Op& op : profile.ops) {
    const StringId label = op.label();
    const std::uint64_t key = std::uint64_t{index_of(label)} << 32 | index_of(op.kind);
    const auto [place, is_new] = group_of.try_emplace(key, std::uint32_t(groups_.size()));
    if (is_new) {
      groups_.push_back(
          {profile.text(label), profile.text(op.kind), {}, 0, profile.text(op.identity)});
      has_identities_ |= op.identity != StringId::empty;
    }
    OpGroup& group = groups_[place->second];
    if (group.shape.empty()) group.shape = profile.text(op.shape);
    group.ops += 1;
    of_op_.push_back(place->second);
  }
  groups_.emplace_back();
  connect(profile);
}

void OpGroups::connect(const Profile& profile) {
  before_.resize(groups_.size());
  after_.resize(groups_.size());
  const auto join = [&](OpId from, OpId to) {
    if (index_of(from) >= of_op_.size() || index_of(to) >= of_op_.size()) return;
    if (of(from) == of(to)) return;
    after_[of(from)].push_back(of(to));
    before_[of(to)].push_back(of(from));
  };
  for (const Edge& edge : profile.edges) {
    if (edge.kind == EdgeKind::data || edge.kind == EdgeKind::transfer) join(edge.from, edge.to);
  }
  for (const TensorUse& use : profile.tensor_uses) {
    if (use.tensor >= profile.tensors.size()) continue;
    join(profile.tensors[use.tensor].producer, use.consumer);
  }
  for (auto* side : {&before_, &after_}) {
    for (std::vector<std::uint32_t>& neighbours : *side) {
      std::sort(neighbours.begin(), neighbours.end());
      neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
    }
  }
}

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
