#include "npuscope/analysis/ops.hpp"

#include <algorithm>
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
  if (!table_.columns.empty()) rank();
  return std::move(table_);
}

OpTable find_op_table(const Analysis& analysis, const OpOptions& options) {
  return OpTableBuilder(analysis, options).finish();
}

OpGroups::OpGroups(const Profile& profile) {
  if (profile.numbers) {
    groups_ = profile.numbers->groups;
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
      groups_.push_back({profile.text(label), profile.text(op.kind), {}, 0});
      identities_.push_back(profile.text(op.identity));
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

}  // namespace npuscope::analysis
