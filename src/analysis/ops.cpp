#include "npuscope/analysis/ops.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "analysis/op_runs.hpp"
#include "npuscope/analysis/coarse.hpp"
#include "npuscope/base/parallel.hpp"

namespace npuscope::analysis {

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

bool adds_up(MeasureKind kind, std::string_view name) {
  const bool kind_does = kind == MeasureKind::work || kind == MeasureKind::dominant_path ||
                         kind == MeasureKind::count || kind == MeasureKind::active;
  if (!kind_does) return false;
  std::string lower(name.substr(0, 200));
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  for (const char* word : {" per ", "_per_", "percent", "%", "deviation", "stddev", "average",
                           "mean", "median", "rate", "frequency", "utilization", "depth"}) {
    if (lower.find(word) != lower.npos) return false;
  }
  return true;
}

namespace {

constexpr std::size_t most_columns = 32;

// Which row of the table each op and each span belongs to.
struct Groups {
  std::vector<std::uint32_t> of_op;
  std::uint32_t without_op = 0;  // the row of spans without an op
  std::vector<OpRow> rows;

  std::uint32_t of(OpId op) const {
    return index_of(op) < of_op.size() ? of_op[index_of(op)] : without_op;
  }
};

StringId label_of(const Op& op, Grouping grouping) {
  if (grouping == Grouping::kind) return op.kind;
  return op.node != StringId::empty ? op.node : op.name;
}

// Ops with a span; all of them where none has.
std::vector<bool> ops_that_ran(const Profile& profile) {
  std::vector<bool> ran(profile.ops.size(), false);
  bool any = false;
  for (const OpId op : profile.spans.op) {
    if (index_of(op) < ran.size()) any = ran[index_of(op)] = true;
  }
  if (!any) ran.assign(ran.size(), true);
  return ran;
}

Groups make_groups(const Profile& profile, Grouping grouping) {
  Groups groups;
  std::unordered_map<std::uint32_t, std::uint32_t> row_of;
  std::unordered_set<std::uint64_t> kinds;
  groups.of_op.reserve(profile.ops.size());
  const auto row_for = [&](StringId label) {
    const auto [place, is_new] = row_of.try_emplace(index_of(label), groups.rows.size());
    if (is_new) groups.rows.emplace_back().label = label;
    return place->second;
  };
  const std::vector<bool> ran = ops_that_ran(profile);
  for (std::size_t i = 0; i < profile.ops.size(); ++i) {
    const Op& op = profile.ops[i];
    const std::uint32_t at = row_for(label_of(op, grouping));
    OpRow& row = groups.rows[at];
    row.ops += 1;
    groups.of_op.push_back(at);
    if (!ran[i] || op.kind == StringId::empty) continue;
    if (row.kind == StringId::empty) row.kind = op.kind;
    row.kinds += kinds.insert(std::uint64_t{at} << 32 | index_of(op.kind)).second;
  }
  groups.without_op = row_for(StringId::empty);
  return groups;
}

class Table {
 public:
  Table(const Profile& profile, const std::vector<std::int64_t>& own, Grouping grouping)
      : profile_(profile),
        own_(own),
        runs_(profile, own),
        groups_(make_groups(profile, grouping)) {}

  OpTable finish(const SpansByUnit& by_unit, std::size_t top);

 private:
  std::vector<double>* add_column(OpColumn column);
  void add_span_measures();
  void add_span_times();
  void add_active_and_span();
  void add_op_measures();
  void count_instances(const SpansByUnit& by_unit);
  std::optional<double> whole_of(const OpColumn& column) const;
  void rank(std::size_t top);

  OpColumn of_spans(const char* name, MeasureKind kind) const {
    return {name, kind, Origin::measured, profile_.base_clock, true, false, 0};
  }

  const Profile& profile_;
  const std::vector<std::int64_t>& own_;
  OpRuns runs_;
  Groups groups_;
  OpTable table_;
  std::vector<std::vector<double>> values_;  // by column, then row of the table
  std::vector<std::vector<bool>> known_;
};

std::vector<double>* Table::add_column(OpColumn column) {
  if (table_.columns.size() == most_columns) {
    table_.columns_left += 1;
    return nullptr;
  }
  table_.columns.push_back(std::move(column));
  values_.emplace_back(groups_.rows.size(), 0.0);
  known_.emplace_back(groups_.rows.size(), false);
  return &values_.back();
}

void Table::add_span_measures() {
  const Spans& spans = profile_.spans;
  for (const MeasureColumn& measure : profile_.spans.measures) {
    if (measure.values.size() != spans.size()) continue;
    if (!adds_up(measure.kind, profile_.text(measure.what))) continue;
    auto* values = add_column({std::string(profile_.text(measure.what)), measure.kind,
                               measure.origin, measure.clock, false, false, 0});
    if (values == nullptr) continue;
    for (std::size_t row = 0; row < spans.size(); ++row) {
      if (measure.values[row] == MeasureColumn::missing) continue;
      const std::uint32_t at = groups_.of(spans.op[row]);
      (*values)[at] += double(measure.values[row]);
      known_.back()[at] = true;
    }
  }
}

// Columns of times of the spans; none where no span is of the kind.
void Table::add_span_times() {
  const Spans& spans = profile_.spans;
  const auto add = [&](const char* name, auto takes, auto time_of) {
    bool any = false;
    for (std::size_t row = 0; row < spans.size() && !any; ++row) any = takes(row);
    if (!any) return;
    auto* values = add_column(of_spans(name, MeasureKind::work));
    if (values == nullptr) return;
    for (std::size_t row = 0; row < spans.size(); ++row) {
      if (!takes(row)) continue;
      const std::uint32_t at = groups_.of(spans.op[row]);
      (*values)[at] += double(time_of(row));
      known_.back()[at] = true;
    }
  };
  const auto is = [&](Role role) {
    return [&spans, role](std::size_t row) { return role_of(spans.kind[row]) == role; };
  };
  const auto whole = [&](std::size_t row) { return own_[row]; };
  add("work", is(Role::work), [&](std::size_t row) { return own_[row] - runs_.beside(row); });
  const auto issue = [&](std::size_t row) { return runs_.beside(row); };
  add("issue", issue, issue);
  add("waiting", is(Role::wait), whole);
  add(
      "async", [&](std::size_t row) { return spans.kind[row] == SpanKind::async; }, whole);
}

// From the spans of work in the order of their rows of the table (a counting sort).
void Table::add_active_and_span() {
  const Spans& spans = profile_.spans;
  std::vector<std::uint32_t> first(groups_.rows.size() + 1, 0), rows;
  const auto counts = [&](std::size_t row) { return role_of(spans.kind[row]) == Role::work; };
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (counts(row)) first[groups_.of(spans.op[row]) + 1] += 1;
  }
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  if (first.back() == 0) return;
  rows.resize(first.back());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (counts(row)) rows[next[groups_.of(spans.op[row])]++] = std::uint32_t(row);
  }
  auto* active = add_column(of_spans("active", MeasureKind::active));
  if (active == nullptr) return;
  const std::size_t active_place = values_.size() - 1;
  const bool has_span = add_column(of_spans("span", MeasureKind::span)) != nullptr;
  const bool has_instance = spans.instance.size() == spans.size();
  parallel_for(groups_.rows.size(), [&](std::size_t group) {
    std::vector<Interval> intervals;
    std::map<std::uint32_t, Interval> extents;
    for (std::uint32_t i = first[group]; i < first[group + 1]; ++i) {
      const Interval interval = interval_of(spans, rows[i]);
      intervals.push_back(interval);
      const auto [place, is_new] =
          extents.try_emplace(has_instance ? spans.instance[rows[i]] : 0, interval);
      if (is_new) continue;
      place->second.begin = std::min(place->second.begin, interval.begin);
      place->second.end = std::max(place->second.end, interval.end);
    }
    values_[active_place][group] = double(length_of(union_of(std::move(intervals))));
    if (!has_span) return;
    for (const auto& [instance, extent] : extents) {
      values_[active_place + 1][group] += double(length_of(extent));
    }
  });
  for (std::size_t group = 0; group < groups_.rows.size(); ++group) {
    const bool any = first[group] < first[group + 1];
    known_[active_place][group] = any;
    if (has_span) known_[active_place + 1][group] = any;
  }
}

void Table::add_op_measures() {
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
    if (!adds_up(measure.kind, profile_.text(measure.what))) continue;
    const Key key{measure.what, measure.kind, measure.origin, measure.clock};
    auto& rows = columns[key];
    if (rows.empty()) order.push_back(key);
    rows.push_back(&measure);
  }
  for (const Key& key : order) {
    const auto& measures = columns[key];
    auto* values = add_column(
        {std::string(profile_.text(key.what)), key.kind, key.origin, key.clock, false, false, 0});
    if (values == nullptr) continue;
    std::unordered_map<std::uint32_t, std::vector<double>> samples;  // of ops, by inference
    for (const Measure* measure : measures) {
      const std::uint32_t at = groups_.of_op[measure->subject_id];
      known_.back()[at] = true;
      if (measure->instance == every_instance) {
        (*values)[at] += measure->value;
      } else {
        samples[measure->subject_id].push_back(measure->value);
      }
    }
    for (std::uint32_t op = 0; op < profile_.ops.size() && !samples.empty(); ++op) {
      const auto found = samples.find(op);
      if (found == samples.end()) continue;
      (*values)[groups_.of_op[op]] += spread_of(found->second).median_of_rest;
      table_.columns.back().per_inference |= found->second.size() > 1;
    }
  }
}

void Table::count_instances(const SpansByUnit& by_unit) {
  const Spans& spans = profile_.spans;
  for (std::uint32_t op = 0; op < profile_.ops.size(); ++op) {
    groups_.rows[groups_.of_op[op]].runs += runs_.of(OpId{op});
  }
  groups_.rows[groups_.without_op].runs += runs_.of(OpId::none);
  constexpr std::size_t engines = std::size_t(Engine::other) + 1;
  std::vector<std::uint32_t> last_unit(groups_.rows.size(), index_of(UnitId::none) - 1);
  std::vector<std::int64_t> by_engine(groups_.rows.size() * engines, -1);  // work; -1: not used
  for (std::size_t unit = 0; unit <= profile_.units.size(); ++unit) {
    for (const std::uint32_t row : by_unit.of(UnitId(std::uint32_t(unit)))) {
      const bool is_async = spans.kind[row] == SpanKind::async;
      if (role_of(spans.kind[row]) != Role::work && !is_async) continue;
      const std::uint32_t group = groups_.of(spans.op[row]);
      OpRow& table_row = groups_.rows[group];
      table_row.instances += 1;
      auto& work = by_engine[group * engines + std::size_t(engine_of(profile_, row))];
      work = saturating_add(std::max<std::int64_t>(work, 0), own_[row]);
      if (last_unit[group] == unit) continue;
      last_unit[group] = std::uint32_t(unit);
      table_row.units += 1;
    }
  }
  for (std::size_t group = 0; group < groups_.rows.size(); ++group) {
    const std::int64_t* work = by_engine.data() + group * engines;
    auto& used = groups_.rows[group].engines;
    for (std::size_t engine = 0; engine < engines; ++engine) {
      if (work[engine] >= 0) used.push_back(Engine(engine));
    }
    std::stable_sort(used.begin(), used.end(), [&](Engine a, Engine b) {
      return work[std::size_t(a)] > work[std::size_t(b)];
    });
  }
}

// The share of the critical path is what decides; then time, then anything countable. Numbers of
// different kinds are never ranked against each other: one column decides for all rows.
int preference(const OpColumn& column) {
  if (column.kind == MeasureKind::dominant_path) return column.origin == Origin::derived ? 7 : 8;
  if (column.of_base_clock && column.name == "work") return column.total > 0 ? 6 : 1;
  if (column.of_base_clock && column.name == "async") return 5;
  if (column.kind == MeasureKind::work) return column.of_base_clock ? 2 : 4;
  return column.kind == MeasureKind::active ? 3 : 0;
}

// The run's own number beside a column of the ops' numbers. The dominant path passes through every
// moment in which anything runs, so the time in which any unit was active is its whole length.
std::optional<double> Table::whole_of(const OpColumn& column) const {
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

void Table::rank(std::size_t top) {
  for (std::size_t i = 0; i < table_.columns.size(); ++i) {
    for (const double value : values_[i]) table_.columns[i].total += value;
    table_.columns[i].whole = whole_of(table_.columns[i]);
    if (preference(table_.columns[i]) > preference(table_.columns[table_.ranked_by])) {
      table_.ranked_by = i;
    }
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t row = 0; row < groups_.rows.size(); ++row) {
    const bool named = groups_.rows[row].label != StringId::empty;
    const bool known = std::any_of(known_.begin(), known_.end(),
                                   [&](const std::vector<bool>& column) { return column[row]; });
    // What has no name has a row only where it ran or counts.
    const bool has_any = named ? known : values_[table_.ranked_by][row] != 0;
    if (has_any || groups_.rows[row].instances > 0) order.push_back(row);
  }
  table_.row_count = order.size();
  const std::size_t kept = std::min(top, order.size());
  const auto costlier = [&](std::uint32_t a, std::uint32_t b) {
    const auto& values = values_[table_.ranked_by];
    if (values[a] != values[b]) return values[a] > values[b];
    return a < b;
  };
  std::partial_sort(order.begin(), order.begin() + std::ptrdiff_t(kept), order.end(), costlier);
  for (std::size_t i = 0; i < kept; ++i) {
    OpRow row = groups_.rows[order[i]];
    for (std::size_t column = 0; column < values_.size(); ++column) {
      const bool known = known_[column][order[i]];
      row.values.push_back(known ? std::optional(values_[column][order[i]]) : std::nullopt);
    }
    table_.rows.push_back(std::move(row));
  }
}

OpTable Table::finish(const SpansByUnit& by_unit, std::size_t top) {
  add_span_measures();
  add_span_times();
  add_active_and_span();
  add_op_measures();
  count_instances(by_unit);
  if (!table_.columns.empty()) rank(top);
  return std::move(table_);
}

}  // namespace

OpTable analyse_ops(const Profile& profile, const SpansByUnit& by_unit,
                    const std::vector<std::int64_t>& own, const OpOptions& options) {
  return Table(profile, own, options.grouping).finish(by_unit, options.top);
}

}  // namespace npuscope::analysis
