#include "analysis/ops/op_sums.hpp"

#include <algorithm>

#include "base/counting_sort.hpp"
#include "npuscope/analysis/statistics.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::size_t max_sums = 32;

// The k-th least of sorted values among which there are `zeros` zeros more.
double kth(const std::vector<double>& sorted, std::size_t zeros, std::size_t k) {
  const auto negative =
      std::size_t(std::lower_bound(sorted.begin(), sorted.end(), 0.0) - sorted.begin());
  if (k < negative) return sorted[k];
  return k < negative + zeros ? 0 : sorted[k - zeros];
}

// As percentile_of(), for so many zeros that nobody should write them down.
double percentile_with(const std::vector<double>& sorted, std::size_t zeros, double percent) {
  const std::size_t count = sorted.size() + zeros;
  if (count == 0) return 0;
  const double place = percent / 100 * double(count - 1);
  const auto below = std::size_t(place);
  const double low = kth(sorted, zeros, below);
  if (below + 1 >= count) return low;
  return low + (place - double(below)) * (kth(sorted, zeros, below + 1) - low);
}

}  // namespace

OpSums::OpSums(const Profile& profile, const std::vector<std::int64_t>& own,
               const IssuesBeside& issues, const OpKeys& keys, const Inferences& inferences,
               bool per_inference)
    : profile_(profile),
      own_(own),
      issues_(issues),
      keys_(keys),
      inferences_(inferences),
      per_inference_(per_inference && inferences.count() > 1) {
  sort_rows();
  find_columns();
}

void OpSums::sort_rows() {
  static_assert(OpKeys::none == counting_sort_leaves_out);
  CountingSort by_group(profile_.spans.size(), keys_.count(),
                        [&](std::size_t row) { return keys_.of(row); });
  first_ = by_group.first();
  rows_.resize(by_group.size());
  by_group.place([&](std::size_t row, std::uint32_t place) { rows_[place] = std::uint32_t(row); });
}

void OpSums::add(OpColumn column, Source source) {
  if (columns_.size() == max_sums) {
    columns_left_ += 1;
    return;
  }
  column.per_inference = per_inference_;
  columns_.push_back(std::move(column));
  sources_.push_back(source);
}

// Times of spans have a column only where there is a span of the kind.
void OpSums::find_columns() {
  const Spans& spans = profile_.spans;
  for (const MeasureColumn& measure : spans.measures) {
    if (measure.values.size() != spans.size() || !measure.meaning.additive) continue;
    add({std::string(profile_.text(measure.what)), measure.kind, measure.origin, measure.meaning,
         measure.clock},
        {What::measure, &measure});
  }
  bool any_work = false, any_wait = false, any_async = false;
  for (const SpanKind kind : spans.kind) {
    any_work = any_work || role_of(kind) == Role::work;
    any_wait = any_wait || role_of(kind) == Role::wait;
    any_async = any_async || kind == SpanKind::async;
  }
  const auto add_time = [&](bool any, const char* name, MeasureKind kind, What what) {
    if (!any) return;
    add({name, kind, Origin::measured, NamedNumber(name, kind).meaning, profile_.base_clock, true},
        {what});
  };
  add_time(any_work, "work", MeasureKind::work, What::work);
  add_time(issues_.any(), "issue", MeasureKind::work, What::issue);
  add_time(any_wait, "waiting", MeasureKind::work, What::waiting);
  add_time(any_async, "async", MeasureKind::work, What::async);
  add_time(any_work, "active", MeasureKind::active, What::active);
  add_time(any_work, "span", MeasureKind::span, What::span);
}

std::optional<std::size_t> OpSums::place_of(What what) const {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i].what == what) return i;
  }
  return std::nullopt;
}

void OpSums::add_row(std::uint32_t row, double* sums, std::vector<bool>& known) const {
  const SpanKind kind = profile_.spans.kind[row];
  const Role role = role_of(kind);
  const std::int64_t beside = issues_.of(row);
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const auto take = [&](bool does, std::int64_t value) {
      if (!does) return;
      sums[i] += double(value);
      known[i] = true;
    };
    switch (sources_[i].what) {
      case What::measure: {
        const std::int64_t value = sources_[i].measure->values[row];
        take(value != MeasureColumn::missing, value);
        break;
      }
      case What::work: take(role == Role::work, own_[row] - beside); break;
      case What::issue: take(beside > 0, beside); break;
      case What::waiting: take(role == Role::wait, own_[row]); break;
      case What::async: take(kind == SpanKind::async, own_[row]); break;
      case What::active:
      case What::span: break;
    }
  }
}

// Time in which any of it ran, of all inferences together or of each; first start to last end of
// each.
void OpSums::add_extents(std::span<const std::uint32_t> group, std::span<const std::uint32_t> slots,
                         RowSums& sums) const {
  const auto active = place_of(What::active), span = place_of(What::span);
  if (!active) return;
  struct Run {
    std::uint32_t slot;
    Interval interval;
  };
  std::vector<Run> runs;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (role_of(profile_.spans.kind[group[i]]) != Role::work) continue;
    runs.push_back({slots[i], interval_of(profile_.spans, group[i])});
  }
  if (runs.empty()) return;
  const auto earlier = [](const Run& a, const Run& b) { return a.slot < b.slot; };
  if (!std::is_sorted(runs.begin(), runs.end(), earlier)) {
    std::stable_sort(runs.begin(), runs.end(), earlier);
  }
  std::vector<Interval> intervals;
  for (std::size_t i = 0; i < runs.size();) {
    const std::uint32_t slot = runs[i].slot;
    double* of_slot = sums.sums.data() + slot * columns_.size();
    Interval extent = runs[i].interval;
    for (; i < runs.size() && runs[i].slot == slot; ++i) {
      extent.begin = std::min(extent.begin, runs[i].interval.begin);
      extent.end = std::max(extent.end, runs[i].interval.end);
      intervals.push_back(runs[i].interval);
    }
    if (span) of_slot[*span] = double(length_of(extent));
    if (!per_inference_) continue;
    of_slot[*active] = double(length_of(union_of(std::move(intervals))));
    intervals = {};
  }
  if (!per_inference_) sums.sums[*active] = double(length_of(union_of(std::move(intervals))));
  sums.known[*active] = true;
  if (span) sums.known[*span] = true;
}

RowSums OpSums::of(std::uint32_t group) const {
  constexpr std::uint32_t no_slot = ~std::uint32_t{0};
  thread_local std::vector<std::uint32_t> slot_of;     // by inference; no_slot between calls
  thread_local std::vector<std::uint32_t> slots;       // by row
  const std::size_t places = inferences_.count() + 1;  // the last for spans of none
  if (slot_of.size() < places) slot_of.resize(places, no_slot);
  RowSums result;
  result.known.assign(columns_.size(), false);
  slots.clear();
  for (const std::uint32_t row : rows(group)) {
    const std::uint32_t of = inferences_.of(row);
    const std::uint32_t inference = std::min<std::uint32_t>(of, std::uint32_t(places - 1));
    std::uint32_t& slot = slot_of[inference];
    if (slot == no_slot) {
      slot = std::uint32_t(result.inferences.size());
      result.inferences.push_back(inference);
      result.sums.resize(result.sums.size() + columns_.size(), 0.0);
    }
    slots.push_back(slot);
    add_row(row, result.sums.data() + slot * columns_.size(), result.known);
  }
  add_extents(rows(group), slots, result);
  for (const std::uint32_t inference : result.inferences) slot_of[inference] = no_slot;
  return result;
}

double OpSums::value(const RowSums& row, std::size_t column) const {
  if (!per_inference_) {
    double sum = 0;
    for (std::size_t slot = 0; slot < row.inferences.size(); ++slot) {
      sum += row.sums[slot * columns_.size() + column];
    }
    return sum;
  }
  std::vector<double> samples;
  for (std::size_t slot = 0; slot < row.inferences.size(); ++slot) {
    const std::uint32_t inference = row.inferences[slot];
    if (inference == 0 || inference >= inferences_.count()) continue;
    samples.push_back(row.sums[slot * columns_.size() + column]);
  }
  const std::size_t zeros = inferences_.count() - 1 - samples.size();
  if (zeros == 0) return median_of(std::move(samples));
  std::sort(samples.begin(), samples.end());
  return percentile_with(samples, zeros, 50);
}

OverInferences OpSums::over_inferences(const RowSums& row, std::size_t column) const {
  OverInferences over;
  std::vector<double> samples;
  for (std::size_t slot = 0; slot < row.inferences.size(); ++slot) {
    const std::uint32_t inference = row.inferences[slot];
    if (inference >= inferences_.count()) continue;
    const double value = row.sums[slot * columns_.size() + column];
    if (inference == 0) {
      over.first = value;
    } else {
      samples.push_back(value);
    }
  }
  std::sort(samples.begin(), samples.end());
  const std::size_t zeros = inferences_.count() - 1 - samples.size();
  over.low = percentile_with(samples, zeros, 25);
  over.high = percentile_with(samples, zeros, 75);
  return over;
}

}  // namespace npuscope::analysis
