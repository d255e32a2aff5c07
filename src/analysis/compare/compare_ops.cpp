#include "analysis/compare/compare_ops.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <unordered_map>

#include "analysis/ops/model_parts.hpp"
#include "base/near_names.hpp"
#include "base/parallel.hpp"
#include "base/sort_rows.hpp"
#include "npuscope/analysis/analysis.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::uint32_t none = UnmatchedOp::none;
// Rows times samples of a side that are looked at; what a comparison of a million ops can bear.
constexpr std::size_t max_values = 20'000'000;
// Rows whose noise is judged, from the largest difference on; those after them are unclear.
constexpr std::size_t max_judged = 10'000;
// Names of ops among which the nearest are looked for.
constexpr std::size_t max_named = 2'000;

std::string key_of(const OpGroup& group) {
  return std::string(group.label).append(1, '\0').append(group.kind);
}

bool same_groups(const OpGroups& a, const OpGroups& b) {
  return std::equal(
      a.groups().begin(), a.groups().end(), b.groups().begin(), b.groups().end(),
      [](const OpGroup& x, const OpGroup& y) { return x.label == y.label && x.kind == y.kind; });
}

OpChange change_of(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::more: return OpChange::slower;
    case ChangeVerdict::less: return OpChange::faster;
    case ChangeVerdict::unclear: return OpChange::unclear;
    case ChangeVerdict::same: break;
  }
  return OpChange::same;
}

}  // namespace

OpComparer::OneSide OpComparer::one_side(const RunSide& side) {
  OneSide out{&side, {}, false};
  if (side.runs().empty()) return out;
  const OpGroups& first = side.runs().front().groups();
  std::unordered_map<std::string, std::uint32_t> place;
  for (const RunSamples& run : side.runs()) {
    const OpGroups& groups = run.groups();
    auto& counterparts = out.counterparts.emplace_back();
    if (same_groups(first, groups)) continue;
    if (place.empty()) {
      for (std::uint32_t i = 0; i < first.groups().size(); ++i) {
        place.try_emplace(key_of(first.groups()[i]), i);
      }
    }
    counterparts.assign(first.groups().size(), none);
    for (std::uint32_t i = 0; i < groups.groups().size(); ++i) {
      const auto found = place.find(key_of(groups.groups()[i]));
      if (found != place.end()) counterparts[found->second] = i;
      out.strangers = out.strangers || found == place.end();
    }
  }
  return out;
}

OpComparer::OpComparer(const RunSide& a, const RunSide& b) : sides_{one_side(a), one_side(b)} {
  if (!is_alone()) matching_ = match_ops(a.runs().front().groups(), b.runs().front().groups());
  // The first that both sides have, but warm samples before cold ones.
  for (const std::string& name : reference().op_columns()) {
    if (column_ && !column_->is_cold()) break;
    std::optional<Column> column = make_column(name);
    const bool is_better = column && (!column_ || (is_warmer(*column, *column_)));
    if (is_better) column_ = std::move(column);
  }
  if (!column_) return;
  for (const int side : {0, 1}) thin(*column_, side);
}

const RunSamples& OpComparer::reference() const {
  return sides_[is_alone() ? 1 : 0].runs->runs().front();
}

bool OpComparer::is_warmer(const Column& column, const Column& than) {
  return !column.is_cold() && than.is_cold() && column.unit == than.unit;
}

std::optional<OpComparer::Column> OpComparer::make_column(std::string_view name) const {
  Column column;
  column.name = name;
  std::vector<TimeBase> clocks;
  const OpSamples* first = nullptr;
  const std::size_t runs_of_a = sides_[0].runs->runs().size();
  std::vector<std::optional<OpSamples>> samples(runs_of_a + sides_[1].runs->runs().size());
  parallel_for(samples.size(), [&](std::size_t i) {
    const bool is_a = i < runs_of_a;
    samples[i] = sides_[is_a ? 0 : 1].runs->runs()[is_a ? i : i - runs_of_a].op_samples(name);
  });
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!samples[i]) return std::nullopt;
    column.sides[i < runs_of_a ? 0 : 1].runs.push_back(std::move(*samples[i]));
  }
  for (const auto& side : column.sides) {
    for (const OpSamples& run : side.runs) {
      if (first == nullptr) first = &run;
      if (run.kind != first->kind || run.quantity != first->quantity) return std::nullopt;
      clocks.push_back(run.time);
    }
  }
  column.kind = first->kind;
  column.repeats = first->quantity != SampleQuantity::time || all_estimated();
  std::vector<double> factors(clocks.size(), 1);
  if (first->quantity == SampleQuantity::bytes) column.unit = MeasuredIn::bytes;
  if (first->quantity == SampleQuantity::time) {
    auto common = common_time(clocks);
    if (!common) return std::nullopt;
    column.unit = common->unit;
    factors = std::move(common->factors);
  }
  const auto split = factors.begin() + std::ptrdiff_t(column.sides[0].runs.size());
  column.sides[0].factors = {factors.begin(), split};
  column.sides[1].factors = {split, factors.end()};
  for (const int side : {0, 1}) place_samples(column, side);
  return column;
}

// Whether the times of all runs are a compiler's.
bool OpComparer::all_estimated() const {
  return std::all_of(std::begin(sides_), std::end(sides_), [](const OneSide& side) {
    return std::all_of(side.runs->runs().begin(), side.runs->runs().end(),
                       [](const RunSamples& run) { return run.is_estimated(); });
  });
}

void OpComparer::place_samples(Column& column, int side) const {
  Column::Side& of = column.sides[side];
  const RunSide& runs = *sides_[side].runs;
  of.cold = !of.runs.empty();
  for (std::size_t run = 0; run < of.runs.size(); ++run) {
    for (const std::uint32_t inference : of.runs[run].inferences) {
      of.cold = of.cold && runs.is_cold(run, inference);
    }
  }
  for (std::size_t run = 0; run < of.runs.size(); ++run) {
    auto& places = of.places.emplace_back();
    for (const std::uint32_t inference : of.runs[run].inferences) {
      const bool is_sample = of.cold || !runs.is_cold(run, inference);
      places.push_back(is_sample ? std::uint32_t(of.samples++) : none);
    }
  }
}

// Keeps so many samples, evenly over the inferences, that all rows can be compared.
void OpComparer::thin(Column& column, int side) {
  Column::Side& of = column.sides[side];
  const std::size_t rows =
      matching_.pairs.size() + matching_.only_a.size() + matching_.only_b.size() + 1;
  const std::size_t max = std::max<std::size_t>(2, max_values / rows);
  if (of.samples <= max) return;
  const std::size_t step = (of.samples + max - 1) / max;
  std::size_t kept = 0;
  for (auto& places : of.places) {
    for (std::uint32_t& place : places) {
      if (place == none) continue;
      place = place % step == 0 ? std::uint32_t(kept++) : none;
    }
  }
  of.samples = kept;
  thinned_ = true;
}

void OpComparer::add_values(const Column::Side& column, std::size_t run, std::uint32_t group,
                            std::vector<double>& sums) const {
  const OpSamples& samples = column.runs[run];
  auto inference = samples.inferences.begin();  // mostly the next one is the one needed
  for (std::uint32_t i = samples.first[group]; i < samples.first[group + 1]; ++i) {
    const Sample& entry = samples.entries[i];
    while (*inference != entry.inference) {
      inference = std::lower_bound(inference + 1, samples.inferences.end(), entry.inference);
    }
    const std::uint32_t place =
        column.places[run][std::size_t(inference - samples.inferences.begin())];
    if (place != none) sums[place] += entry.value * column.factors[run];
  }
}

// Zero in inferences in which none of them ran.
std::vector<double> OpComparer::values(const Column& column, int side, const Groups& groups) const {
  const Column::Side& of = column.sides[side];
  std::vector<double> sums(of.samples, 0);
  for (std::size_t run = 0; run < of.runs.size(); ++run) {
    const auto& counterparts = sides_[side].counterparts[run];
    for (const std::uint32_t group : groups) {
      const std::uint32_t at = counterparts.empty() ? group : counterparts[group];
      if (at != none) add_values(of, run, at, sums);
    }
  }
  return sums;
}

// The sum over the ops that match, by sample; none where no op does.
std::optional<OpComparer::OpSums> OpComparer::sums_of(const Column& column, int side,
                                                      const Pattern& pattern) const {
  const Column::Side& of = column.sides[side];
  OpSums sums{std::vector<double>(of.samples, 0), false};
  bool any = false;
  for (std::size_t run = 0; run < of.runs.size(); ++run) {
    const auto& groups = sides_[side].runs->runs()[run].groups().groups();
    for (std::uint32_t group = 0; group < groups.size(); ++group) {
      const bool is_op = groups[group].ops > 0;
      const bool is_meant =
          pattern.found_in(groups[group].label) || pattern.found_in(groups[group].kind);
      if (!is_op || !is_meant) continue;
      any = true;
      sums.has_values |= of.runs[run].first[group] != of.runs[run].first[group + 1];
      add_values(of, run, group, sums.values);
    }
  }
  if (!any) return std::nullopt;
  return sums;
}

Result<MetricChange> OpComparer::sum_of(const Pattern& pattern, std::string_view name,
                                        std::string_view text) const {
  std::vector<std::string> names{std::string(name)};
  if (name.empty()) {  // what decides for all ops need not have these: a node's warm cycles
    names = reference().op_columns();
    if (column_) names.insert(names.begin(), column_->name);
  }
  bool is_there = false, in_a = false, in_b = false;
  for (const std::string& each : names) {
    std::optional<Column> other;
    const bool is_kept = column_ && column_->name == each;
    if (!is_kept) other = make_column(each);
    const Column* column = is_kept ? &*column_ : other ? &*other : nullptr;
    if (column == nullptr) continue;
    is_there = true;
    auto a = is_alone() ? OpSums{} : sums_of(*column, 0, pattern);
    auto b = sums_of(*column, 1, pattern);
    in_a |= a.has_value() && !is_alone();
    in_b |= b.has_value();
    if (!a || !b) break;
    if (name.empty() && !a->has_values && !b->has_values) continue;
    MetricChange change{column->name, column->kind,
                        column->unit, estimate_of(std::move(a->values), std::move(b->values)),
                        {},           column->repeats};
    change.estimate.cold_a = column->sides[0].cold;
    change.estimate.cold_b = column->sides[1].cold;
    return change;
  }
  if (!is_there) return no_column(name);
  if (in_b && (in_a || is_alone())) {
    return usage_error("the ops that match have no time{}", is_alone() ? "" : " on either side");
  }
  if (is_alone()) return usage_error("no op matches{}", nearest_ops(text, 1));
  return usage_error("no op of {} matches{}",
                     in_a   ? "B"
                     : in_b ? "A"
                            : "either side",
                     nearest_ops(text, in_a ? 1 : 0));
}

tl::unexpected<Error> OpComparer::no_column(std::string_view name) const {
  std::string all;
  for (const std::string& each : reference().op_columns()) {
    all += (all.empty() ? "" : ", ") + each;
  }
  if (is_alone()) {
    return usage_error("the ops have no '{}'; they have {}", name.empty() ? "time" : name,
                       all.empty() ? "nothing" : all);
  }
  return usage_error("the ops of A and B have no '{}' that could be compared; those of A have {}",
                     name.empty() ? "time" : name, all.empty() ? "nothing" : all);
}

std::string OpComparer::nearest_ops(std::string_view text, int side) const {
  std::vector<std::string_view> names;
  for (const OpGroup& group : sides_[side].runs->runs().front().groups().groups()) {
    if (group.ops == 0) continue;
    for (const std::string_view name : {group.label, group.kind}) {
      if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(name);
      }
    }
    if (names.size() > max_named) break;
  }
  const std::string nearest = text.empty() ? "" : nearest_names(names, text);
  return nearest.empty() ? "" : fmt::format("; the nearest names: {}", nearest);
}

Estimate OpComparer::estimate(const ComparedRow& row, Depth depth) const {
  if (!column_) return {};
  Estimate made =
      estimate_of(values(*column_, 0, row.groups[0]), values(*column_, 1, row.groups[1]), depth);
  made.cold_a = column_->sides[0].cold;
  made.cold_b = column_->sides[1].cold;
  if (depth == Depth::medians) {  // there may be a million of them
    made.samples_a = {};
    made.samples_b = {};
  }
  return made;
}

// As the verdict of a whole estimate, without what else that tells.
bool OpComparer::is_beyond_noise(const ComparedRow& row) const {
  std::vector<double> a = values(*column_, 0, row.groups[0]);
  std::vector<double> b = values(*column_, 1, row.groups[1]);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  if (contrast_holds_zero(a, b)) return false;
  const auto p = rank_test(a, b);
  return !p || is_significant(*p, a.size(), b.size());
}

std::optional<LayerDeltas> OpComparer::layer_deltas(const ComparedRows& rows,
                                                    const ComparedRow& row) const {
  std::optional<LayerDeltas> deltas;
  if (!column_) return deltas;
  for (const ComparedRow& layer : rows.by_layer(row)) {
    const double delta = estimate(layer, Depth::medians).delta();
    if (!deltas) deltas = LayerDeltas{delta, delta};
    deltas = LayerDeltas{std::min(deltas->min, delta), std::max(deltas->max, delta)};
  }
  return deltas;
}

const OpGroup& OpComparer::group(int side, std::uint32_t at) const {
  return sides_[side].runs->runs().front().groups().groups()[at];
}

double OpComparer::total(const Column& column, int side) const {
  const Column::Side& of = column.sides[side];
  double sum = 0;
  for (std::size_t run = 0; run < of.runs.size(); ++run) {
    sum += of.runs[run].total() * of.factors[run];
  }
  return sum;
}

// Of all runs and inferences: how much of the time stands in rows that have a counterpart.
void OpComparer::fill_shares(OpComparison& result) const {
  for (const int side : {0, 1}) {
    const double whole = total(*column_, side);
    if (!(whole > 0)) continue;
    const Column::Side& of = column_->sides[side];
    double matched = 0;
    for (const OpPair& pair : matching_.pairs) {
      for (const std::uint32_t at : side == 0 ? pair.a : pair.b) {
        for (std::size_t run = 0; run < of.runs.size(); ++run) {
          const auto& counterparts = sides_[side].counterparts[run];
          const std::uint32_t here = counterparts.empty() ? at : counterparts[at];
          if (here == none) continue;
          const OpSamples& samples = of.runs[run];
          for (std::uint32_t i = samples.first[here]; i < samples.first[here + 1]; ++i) {
            matched += samples.entries[i].value * of.factors[run];
          }
        }
      }
    }
    (side == 0 ? result.matched_share_a : result.matched_share_b) =
        std::clamp(matched / whole, 0.0, 1.0);
  }
}

OpComparison OpComparer::compare(const CompareOptions& options) const {
  Result<Rules> fitting = Rules();
  const Rules* rules = options.rules;
  if (options.grouping == Grouping::rule && rules == nullptr) {
    // Of a snapshot only names are known, so the other side says what the graph is.
    const Profile& a = sides_[0].runs->runs().front().profile();
    const Profile& b = sides_[1].runs->runs().front().profile();
    fitting = fitting_rules(Analysis(a.ops.empty() ? b : a));
    if (fitting) rules = &*fitting;
  }
  return compare(ComparedRows(matching_, sides_[0].runs->runs().front().groups(),
                              sides_[1].runs->runs().front().groups(), options.grouping, rules),
                 options);
}

OpComparison OpComparer::compare(const ComparedRows& of, const CompareOptions& options) const {
  OpComparison result;
  result.grouping = options.grouping;
  result.same_structure = matching_.same_structure;
  for (const OpPair& pair : matching_.pairs) {
    if (group(0, pair.a.front()).ops > 0) result.matched_by[std::size_t(pair.by)] += 1;
  }
  if (column_) {
    result.known = true;
    result.column = column_->name;
    result.kind = column_->kind;
    result.unit = column_->unit;
    fill_shares(result);
  }
  const std::vector<ComparedRow>& rows = of.rows();
  std::vector<Estimate> estimates(rows.size());
  parallel_for(rows.size(),
               [&](std::size_t row) { estimates[row] = estimate(rows[row], Depth::medians); });
  std::vector<std::uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  const auto size_of = [&](std::uint32_t row) { return std::abs(estimates[row].delta()); };
  sort_rows(order.begin(), order.end(),
            [&](std::uint32_t x, std::uint32_t y) { return size_of(x) > size_of(y); });
  const bool has_noise = column_ && column_->sides[0].samples > 1 && column_->sides[1].samples > 1;
  std::vector<OpChange> changes(rows.size(), OpChange::same);
  parallel_for(order.size(), [&](std::size_t place) {
    const std::uint32_t at = order[place];
    const ComparedRow& row = rows[at];
    if (row.groups[0].empty() || row.groups[1].empty()) {
      changes[at] = row.groups[0].empty() ? OpChange::added : OpChange::removed;
      return;
    }
    if (has_noise && estimates[at].delta() != 0) {
      const bool is_clear = place < max_judged && is_beyond_noise(row);
      if (!is_clear) estimates[at].verdict = ChangeVerdict::unclear;
    }
    changes[at] = change_of(estimates[at].verdict);
  });
  const auto rank = [&](std::uint32_t row) {
    switch (changes[row]) {
      case OpChange::slower:
      case OpChange::added: return 0;
      case OpChange::faster:
      case OpChange::removed: return options.regressions_first ? 1 : 0;
      case OpChange::unclear: return 2;
      case OpChange::same: break;
    }
    return 3;
  };
  sort_rows(order.begin(), order.end(),
            [&](std::uint32_t x, std::uint32_t y) { return rank(x) < rank(y); });
  for (const std::uint32_t at : order) {
    const auto has_ops = [&](int side) {
      return std::ranges::any_of(rows[at].groups[side],
                                 [&](std::uint32_t each) { return group(side, each).ops > 0; });
    };
    const bool has_time = estimates[at].a != 0 || estimates[at].b != 0;
    if (!has_time && !has_ops(0) && !has_ops(1)) continue;  // spans without an op
    result.counts[std::size_t(changes[at])] += 1;
    result.parts += rows[at].parts.size();
    const bool is_wanted = options.with_unchanged || changes[at] != OpChange::same;
    if (!is_wanted || result.rows.size() >= options.top) continue;
    OpDifference& row = result.rows.emplace_back(of.difference(rows[at]));
    row.change = changes[at];
    row.estimate = estimate(rows[at], Depth::verdict);
    row.layer_deltas = layer_deltas(of, rows[at]);
  }
  return result;
}

}  // namespace npuscope::analysis
