#include "npuscope/analysis/ops.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "analysis/inference_times.hpp"
#include "analysis/ops/op_keys.hpp"
#include "analysis/ops/op_runs.hpp"
#include "analysis/ops/op_sums.hpp"
#include "npuscope/analysis/coarse.hpp"
#include "npuscope/analysis/statistics.hpp"
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
constexpr std::size_t most_inferences = 65'536;  // beyond that they are sums

class Table {
 public:
  Table(const Profile& profile, const std::vector<std::int64_t>& own, const OpOptions& options)
      : profile_(profile),
        own_(own),
        options_(options),
        issues_(profile, own),
        keys_(profile, options),
        cores_(profile),
        inferences_(profile, every_instance, most_inferences),
        sums_(profile, own, issues_, keys_, inferences_, options.per_inference) {}

  OpTable finish();

 private:
  bool is_steady() const { return options_.per_inference && inferences_.count() > 1; }
  // Of several inferences the first stands apart.
  bool counts(std::uint32_t row) const {
    if (!is_steady()) return true;
    const std::uint32_t inference = inferences_.of(row);
    return inference > 0 && inference < inferences_.count();
  }
  double typical_of(std::vector<std::pair<std::uint32_t, double>> work) const;
  std::vector<double>* add_column(OpColumn column);
  void add_span_columns();
  void add_details(std::uint32_t group);
  void add_lengths(std::uint32_t group, std::vector<double> lengths);
  void add_op_measures();
  void count_runs();
  std::uint64_t count_runs_of_units(std::uint32_t group, std::vector<std::int64_t>& lengths) const;
  void count_instances(std::uint32_t group);
  void count_cores();
  std::optional<double> whole_of(const OpColumn& column) const;
  double wall() const;
  void choose_ranking();
  std::optional<double> rank_value(std::uint32_t row) const;
  bool is_shown(std::uint32_t row) const;
  void rank();

  const Profile& profile_;
  const std::vector<std::int64_t>& own_;
  const OpOptions& options_;
  IssuesBeside issues_;
  OpKeys keys_;
  CoreNumbers cores_;
  Inferences inferences_;
  OpSums sums_;
  OpTable table_;
  std::vector<std::vector<double>> values_;  // by column, then row of the table
  std::vector<std::vector<std::uint8_t>> known_;
  int ranked_by_detail_ = -1;  // a place in detail_names; -1: by a column
};

// By which a table can be sorted beside its columns.
constexpr const char* detail_names[] = {"runs",  "instances",    "p50", "p95", "cycles per packet",
                                        "cores", "output bytes", "name"};

std::vector<double>* Table::add_column(OpColumn column) {
  if (table_.columns.size() == most_columns) {
    table_.columns_left += 1;
    return nullptr;
  }
  table_.columns.push_back(std::move(column));
  values_.emplace_back(keys_.count(), 0.0);
  known_.emplace_back(keys_.count(), false);
  return &values_.back();
}

// The columns of times and measures of spans, row by row of the table.
void Table::add_span_columns() {
  for (const OpColumn& column : sums_.columns()) add_column(column);
  table_.columns_left = sums_.columns_left();
  parallel_for(keys_.count(), [&](std::size_t group) {
    const RowSums row = sums_.of(std::uint32_t(group));
    for (std::size_t column = 0; column < sums_.columns().size(); ++column) {
      values_[column][group] = sums_.value(row, column);
      known_[column][group] = row.known[column];
    }
    count_instances(std::uint32_t(group));
    if (options_.details) add_details(std::uint32_t(group));
  });
}

// What the cycles and packets of kernels say: those of waits and transfers are of something else.
class Packets {
 public:
  explicit Packets(const Profile& profile) : profile_(profile) {
    const std::size_t clock = index_of(profile.base_clock);
    if (clock >= profile.clocks.size()) return;
    if (profile.clocks[clock].kind != ClockKind::unit_cycles) return;
    const auto name = profile.strings.find("packets");
    const MeasureColumn* column = name ? profile.spans.measure(*name) : nullptr;
    if (column != nullptr && column->values.size() == profile.spans.size()) packets_ = column;
  }

  void add(std::uint32_t row) {
    if (packets_ == nullptr || role_of(profile_.spans.kind[row]) != Role::work) return;
    if (domain_of(profile_, row) == Domain::movement) return;
    const std::int64_t count = packets_->values[row];
    if (count == MeasureColumn::missing || count <= 0) return;
    packet_count_ += double(count);
    cycles_ += double(std::max<std::int64_t>(0, profile_.spans.duration[row]));
  }

  std::optional<double> cycles_per_packet() const {
    return packet_count_ > 0 ? std::optional(cycles_ / packet_count_) : std::nullopt;
  }

 private:
  const Profile& profile_;
  const MeasureColumn* packets_ = nullptr;
  double packet_count_ = 0, cycles_ = 0;
};

// The sum of all, or the median of the sums of each inference after the first.
double Table::typical_of(std::vector<std::pair<std::uint32_t, double>> work) const {
  std::sort(work.begin(), work.end());
  std::vector<double> sums;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const bool is_new = i == 0 || (is_steady() && work[i].first != work[i - 1].first);
    if (is_new) sums.push_back(0);
    sums.back() += work[i].second;
  }
  if (!is_steady()) return sums.empty() ? 0 : sums.front();
  // In the others it did nothing: as many zeros.
  const std::size_t inferences = inferences_.count() - 1;
  if (2 * sums.size() < inferences) return 0;
  sums.resize(std::max(sums.size(), inferences), 0);
  return median_of(std::move(sums));
}

void Table::add_details(std::uint32_t group) {
  const Spans& spans = profile_.spans;
  // By core, work and the inference that it was of; empty between calls.
  thread_local std::vector<std::vector<std::pair<std::uint32_t, double>>> work_of;
  if (work_of.size() < cores_.count()) work_of.resize(cores_.count());
  std::vector<std::uint32_t> used;
  Packets packets(profile_);
  for (const std::uint32_t row : sums_.rows(group)) {
    if (!counts(row)) continue;
    packets.add(row);
    if (role_of(spans.kind[row]) != Role::work) continue;
    const std::uint32_t core = cores_.of(spans.unit[row]);
    if (!cores_.is_of_npu(core)) continue;
    if (work_of[core].empty()) used.push_back(core);
    const std::uint32_t inference = is_steady() ? inferences_.of(row) : 0;
    const double work = double(own_[row] - issues_.of(row));
    if (!work_of[core].empty() && work_of[core].back().first == inference) {
      work_of[core].back().second += work;
    } else {
      work_of[core].push_back({inference, work});
    }
  }
  OpDetails& details = keys_.rows()[group].details;
  details.cycles_per_packet = packets.cycles_per_packet();
  std::sort(used.begin(), used.end());
  std::vector<double> work;
  for (const std::uint32_t core : used) {
    work.push_back(typical_of(std::exchange(work_of[core], {})));
  }
  if (work.empty()) return;
  CoreSpread& spread = details.spread;
  const auto most = std::max_element(work.begin(), work.end());
  spread.cores = std::uint32_t(work.size());
  spread.most = *most;
  spread.most_loaded = cores_.first_unit(used[std::size_t(most - work.begin())]);
  spread.least = *std::min_element(work.begin(), work.end());
  spread.median = median_of(std::move(work));
}

void Table::add_op_measures() {
  if (keys_.of_units()) return;
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
      const std::uint32_t at = keys_.of(OpId{measure->subject_id});
      if (at == OpKeys::none) continue;
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
      (*values)[keys_.of(OpId{op})] += spread_of(found->second).median_of_rest;
      table_.columns.back().per_inference |= found->second.size() > 1;
    }
  }
}

void Table::add_lengths(std::uint32_t group, std::vector<double> lengths) {
  if (lengths.empty()) return;
  OpDetails& details = keys_.rows()[group].details;
  details.p50 = percentile_of(lengths, 50);
  details.p95 = percentile_of(std::move(lengths), 95);
}

// Of an op that runs on several units, each has its part of the run.
std::uint64_t Table::count_runs_of_units(std::uint32_t group,
                                         std::vector<std::int64_t>& lengths) const {
  const Spans& spans = profile_.spans;
  std::vector<std::uint32_t> rows;
  for (const std::uint32_t row : sums_.rows(group)) {
    const SpanKind kind = spans.kind[row];
    const bool is_run = role_of(kind) == Role::work || kind == SpanKind::async;
    if (is_run && counts(row)) rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return index_of(spans.op[a]) < index_of(spans.op[b]);
  });
  for (std::size_t i = 0; i < rows.size();) {
    std::size_t end = i + 1;
    const OpId op = spans.op[rows[i]];
    while (end < rows.size() && spans.op[rows[end]] == op) ++end;
    if (index_of(op) < profile_.ops.size()) {
      add_run_lengths(profile_, std::span(rows).subspan(i, end - i), lengths);
    } else {
      for (; i < end; ++i) lengths.push_back(length_of(interval_of(spans, rows[i])));
    }
    i = end;
  }
  return lengths.size();
}

void Table::count_runs() {
  std::vector<OpRow>& rows = keys_.rows();
  if (keys_.of_units()) {
    parallel_for(rows.size(), [&](std::size_t group) {
      std::vector<std::int64_t> lengths;
      rows[group].runs = count_runs_of_units(std::uint32_t(group), lengths);
      if (options_.details) {
        add_lengths(std::uint32_t(group), {lengths.begin(), lengths.end()});
      }
    });
    return;
  }
  const auto does_count = [this](std::uint32_t row) {
    return keys_.of(row) != OpKeys::none && counts(row);
  };
  const bool all_count = options_.rest && !is_steady();
  const OpRuns runs(profile_, options_.details,
                    all_count ? OpRuns::Counts() : OpRuns::Counts(does_count));
  std::vector<std::vector<std::uint32_t>> ops(options_.details ? rows.size() : 0);
  const auto add = [&](std::uint32_t op) {
    if (keys_.of(OpId{op}) == OpKeys::none) return;
    OpRow& row = rows[keys_.of(OpId{op})];
    row.runs += runs.of(OpId{op});
    if (!options_.details) return;
    ops[keys_.of(OpId{op})].push_back(op);
    if (op >= profile_.ops.size() || runs.of(OpId{op}) == 0) return;
    const double output = double(profile_.ops[op].output.value) * double(runs.of(OpId{op}));
    if (output > 0) row.details.output_bytes = row.details.output_bytes.value_or(0) + output;
  };
  for (std::uint32_t op = 0; op < profile_.ops.size(); ++op) add(op);
  add(index_of(OpId::none));
  parallel_for(ops.size(), [&](std::size_t group) {
    std::vector<double> lengths;
    for (const std::uint32_t op : ops[group]) {
      const auto of_op = runs.lengths(OpId{op});
      lengths.insert(lengths.end(), of_op.begin(), of_op.end());
    }
    add_lengths(std::uint32_t(group), std::move(lengths));
  });
}

// How many spans the group has, on which units, and the engines that it used.
void Table::count_instances(std::uint32_t group) {
  const Spans& spans = profile_.spans;
  thread_local std::vector<std::uint8_t> is_used;  // by unit; false between calls
  if (is_used.size() <= profile_.units.size()) is_used.resize(profile_.units.size() + 1, false);
  std::vector<std::uint32_t> used;
  std::int64_t work[engine_count];  // -1: not used
  std::fill(std::begin(work), std::end(work), -1);
  OpRow& row_of_table = keys_.rows()[group];
  const auto of_group = sums_.rows(group);
  const bool compiled = std::any_of(of_group.begin(), of_group.end(), [&](std::uint32_t row) {
    return is_compiled(spans.kind[row]);
  });
  for (const std::uint32_t row : of_group) {
    const SpanKind kind = spans.kind[row];
    if (role_of(kind) != Role::work && (compiled || kind != SpanKind::async)) continue;
    row_of_table.instances += counts(row) ? 1 : 0;
    std::int64_t& of_engine = work[std::size_t(engine_of(profile_, row))];
    of_engine = saturating_add(std::max<std::int64_t>(of_engine, 0), own_[row]);
    const auto unit = std::min(index_of(spans.unit[row]), std::uint32_t(profile_.units.size()));
    if (is_used[unit]) continue;
    is_used[unit] = true;
    used.push_back(unit);
  }
  row_of_table.units = std::uint32_t(used.size());
  for (const std::uint32_t unit : used) is_used[unit] = false;
  for (std::size_t engine = 0; engine < engine_count; ++engine) {
    if (work[engine] >= 0) row_of_table.engines.push_back(Engine(engine));
  }
  std::stable_sort(row_of_table.engines.begin(), row_of_table.engines.end(),
                   [&](Engine a, Engine b) { return work[std::size_t(a)] > work[std::size_t(b)]; });
}

void Table::count_cores() {
  const Spans& spans = profile_.spans;
  std::vector<std::uint8_t> ran(cores_.count(), false);
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const SpanKind kind = spans.kind[row];
    if (role_of(kind) == Role::work || kind == SpanKind::async) ran[cores_.of(spans.unit[row])] = 1;
  }
  for (std::uint32_t core = 0; core < ran.size(); ++core) {
    table_.cores += ran[core] != 0 && cores_.is_of_npu(core);
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

void Table::choose_ranking() {
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
}

std::optional<double> Table::rank_value(std::uint32_t row) const {
  const OpRow& of = keys_.rows()[row];
  switch (ranked_by_detail_) {
    case 0: return double(of.runs);
    case 1: return double(of.instances);
    case 2: return of.details.p50;
    case 3: return of.details.p95;
    case 4: return of.details.cycles_per_packet;
    case 5: return double(of.details.spread.cores);
    case 6: return of.details.output_bytes;
    case 7: return 0;
    default: break;
  }
  if (ranked_by_detail_ < 0 && options_.sort.empty()) return values_[table_.ranked_by][row];
  const bool known = known_[table_.ranked_by][row];
  return known ? std::optional(values_[table_.ranked_by][row]) : std::nullopt;
}

// What has no name has a row only where it ran or counts.
bool Table::is_shown(std::uint32_t row) const {
  const OpRow& of = keys_.rows()[row];
  if (of.instances > 0) return true;
  if (!of.has_name) return values_[table_.ranked_by][row] != 0;
  return std::any_of(known_.begin(), known_.end(),
                     [&](const auto& column) { return column[row] != 0; });
}

void Table::rank() {
  choose_ranking();
  table_.moved_owners = keys_.moved_owners();
  std::vector<std::pair<double, std::uint32_t>> order;
  const OpColumn& by = table_.columns[table_.ranked_by];
  const double whole = by.whole.value_or(by.total);
  for (std::uint32_t row = 0; row < keys_.count(); ++row) {
    if (!is_shown(row)) continue;
    table_.row_count += 1;
    const auto value = rank_value(row);
    if (options_.least_share > 0 && ranked_by_detail_ < 0 &&
        !(value.value_or(0) >= options_.least_share * whole)) {
      continue;
    }
    constexpr double last = -std::numeric_limits<double>::infinity();
    order.push_back({value && *value == *value ? *value : last, row});
  }
  const bool by_name = ranked_by_detail_ == 7;
  const auto costlier = [&](const auto& a, const auto& b) {
    if (by_name) {
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
    if (table_.inferences > 1) {
      const RowSums sums = sums_.of(place);
      for (std::size_t column = 0; column < sums_.columns().size(); ++column) {
        row.spreads.push_back(sums_.over_inferences(sums, column));
      }
    }
    table_.rows.push_back(std::move(row));
  }
}

// That of the inferences after the first, where values are medians of them.
double Table::wall() const {
  if (table_.inferences < 2) return double(length_of(timeline_of(profile_)));
  std::vector<std::optional<Interval>> extents(inferences_.count());
  const Spans& spans = profile_.spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const std::uint32_t inference = inferences_.of(row);
    if (inference >= extents.size() || spans.kind[row] == SpanKind::activation) continue;
    if (role_of(spans.kind[row]) == Role::overlay) continue;
    const Interval interval = interval_of(spans, row);
    auto& extent = extents[inference];
    if (!extent) extent = interval;
    extent->begin = std::min(extent->begin, interval.begin);
    extent->end = std::max(extent->end, interval.end);
  }
  std::vector<double> walls;
  for (std::size_t i = 1; i < extents.size(); ++i) {
    if (extents[i]) walls.push_back(double(length_of(*extents[i])));
  }
  return median_of(std::move(walls));
}

OpTable Table::finish() {
  // These fill different members of the rows, so that they can be filled side by side.
  parallel_for(2, [&](std::size_t which) {
    if (which == 0) {
      add_span_columns();
      add_op_measures();
    } else {
      if (options_.count_runs || options_.details) count_runs();
      count_cores();
    }
  });
  if (options_.per_inference) table_.inferences = std::uint32_t(inferences_.count());
  if (table_.inferences > 1) table_.first_inference = inferences_.ids().front();
  table_.wall = wall();
  if (!table_.columns.empty()) rank();
  return std::move(table_);
}

}  // namespace

OpTable analyse_ops(const Profile& profile, const SpansByUnit&,
                    const std::vector<std::int64_t>& own, const OpOptions& options) {
  return Table(profile, own, options).finish();
}

}  // namespace npuscope::analysis
