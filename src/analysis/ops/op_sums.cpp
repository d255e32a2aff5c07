#include "analysis/ops/op_table_builder.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "analysis/order_statistics.hpp"
#include "base/counting_sort.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/statistics.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::size_t max_sums = 32;

// As percentile_of(), with so many zeros more that nobody should write them down.
double percentile_with(const std::vector<double>& samples, std::size_t zeros, double percent) {
  if (zeros == 0) return percentile_of(samples, percent);
  const std::size_t count = samples.size() + zeros;
  const auto negative = std::size_t(
      std::count_if(samples.begin(), samples.end(), [](double sample) { return sample < 0; }));
  const auto kth = [&](std::size_t k) {
    if (k >= negative && k < negative + zeros) return 0.0;
    std::vector<double> left = samples;
    return smallest_at(left, k < negative ? k : k - zeros).at;
  };
  const double place = percent / 100 * double(count - 1);
  const auto below = std::size_t(place);
  const double low = kth(below);
  if (below + 1 >= count) return low;
  return low + (place - double(below)) * (kth(below + 1) - low);
}

}  // namespace

OpSums::OpSums(const Analysis& analysis, const OpKeys& keys, const OpOptions& options)
    : profile_(analysis.profile()),
      own_(analysis.self_times()),
      issues_(analysis.issues_beside()),
      keys_(keys),
      inferences_(analysis.inferences()),
      per_inference_(options.per_inference && inferences_.count() > 1) {
  if (keys_.of_units()) {
    std::vector<std::uint32_t> group_of;
    for (std::uint32_t unit = 0; unit <= profile_.units.size(); ++unit) {
      group_of.push_back(keys_.of_unit(UnitId(unit)));
    }
    by_units_.emplace(analysis, group_of, keys_.count());
  } else {
    by_op_ = analysis.spans_by_op();
    static_assert(OpKeys::none == counting_sort_leaves_out);
    ops_ = Grouped<>(profile_.ops.size() + 1, keys_.count(),
                     [&](std::size_t op) { return keys_.of(OpId(std::uint32_t(op))); });
  }
  find_columns(options);
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
void OpSums::find_columns(const OpOptions& options) {
  const Spans& spans = profile_.spans;
  std::array<bool, span_kind_count> is_there{};
  for (const SpanKind kind : spans.kind) is_there[std::size_t(kind)] = true;
  bool any_work = false, any_wait = false;
  for (std::size_t kind = 0; kind < span_kind_count; ++kind) {
    any_work = any_work || (is_there[kind] && role_of(SpanKind(kind)) == Role::work);
    any_wait = any_wait || (is_there[kind] && role_of(SpanKind(kind)) == Role::wait);
    any_compiled_ = any_compiled_ || (is_there[kind] && is_compiled(SpanKind(kind)));
  }
  for (const MeasureColumn& measure : spans.measures) {
    if (measure.values.size() != spans.size() || !measure.meaning.additive) continue;
    if (any_work && !options.counts && measure.kind == MeasureKind::count) continue;
    add({std::string(profile_.text(measure.what)), measure.kind, measure.origin, measure.meaning,
         measure.clock},
        {What::measure, &measure});
  }
  const auto add_time = [&](bool any, const char* name, MeasureKind kind, What what) {
    if (!any) return;
    add({name, kind, profile_.provenance.times, NamedNumber(name, kind).meaning,
         profile_.base_clock, true},
        {what});
  };
  add_time(any_work, "work", MeasureKind::work, What::work);
  add_time(issues_.any(), "issue", MeasureKind::work, What::issue);
  add_time(any_wait, "waiting", MeasureKind::work, What::waiting);
  add_time(is_there[std::size_t(SpanKind::async)], "async", MeasureKind::work, What::async);
  if (!options.active_and_span) return;
  add_time(any_work, "active", MeasureKind::active, What::active);
  add_time(any_work, "span", MeasureKind::span, What::span);
}

// One row of the table while it is summed. A slot is an inference in which the row ran.
class OpSums::Adding {
 public:
  Adding(const OpSums& sums, std::uint32_t group, RowSums& result)
      : sums_(sums), result_(result), width_(sums.columns_.size()), kept_(kept(sums)) {
    result_.known.assign(width_, false);
    std::size_t spans = 0;
    sums.for_spans(group, [&](std::span<const KeptOpSpan> some) { spans += some.size(); });
    const std::size_t slots = std::min(spans, sums.inferences_.count() + 1);
    result_.inferences.reserve(slots);
    result_.sums.reserve(slots * width_);
    for (std::size_t column = 0; column < width_; ++column) {
      const Source& source = sums.sources_[column];
      if (source.what == What::measure) {
        measures_.push_back({column, source.measure->values.data()});
      } else {
        place_[std::size_t(source.what)] = column;
      }
    }
    for (std::size_t kind = 0; kind < span_kind_count; ++kind) {
      const Role role = role_of(SpanKind(kind));
      const bool is_async = SpanKind(kind) == SpanKind::async;
      column_of_[kind] = role == Role::work   ? place_[std::size_t(What::work)]
                         : role == Role::wait ? place_[std::size_t(What::waiting)]
                         : is_async           ? place_[std::size_t(What::async)]
                                              : nowhere;
    }
  }

  // Spans, and the same as they are kept.
  void add(std::span<OpSpan> spans, std::span<const KeptOpSpan> kept) {
    for (OpSpan& span : spans) span.slot = slot_of(span);
    for (const auto& [column, values] : measures_) {
      add_to(column, spans, [&, of = values](const OpSpan& span) { return of[span.row]; });
    }
    add_to(place_[std::size_t(What::issue)], spans, [&](const OpSpan& span) {
      const std::int64_t issue = sums_.issues_.of(span.row);
      return issue > 0 ? issue : MeasureColumn::missing;
    });
    add_self_times(spans);
    if (place_[std::size_t(What::active)] == nowhere) return;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      if (role_of(spans[i].kind) != Role::work) continue;
      add_run(spans[i].slot, sums_.spans().interval(kept[i]));
    }
  }

  void finish() {
    if (!kept_.runs.empty()) {
      if (sums_.per_inference_) sort_runs();
      add_active();
      add_extents();
    }
    kept_.runs.clear();
    kept_.slots_of_runs.clear();
    kept_.extents.clear();
    for (const std::uint32_t inference : result_.inferences) kept_.slot_of[inference] = no_slot;
  }

 private:
  static constexpr std::uint32_t no_slot = ~std::uint32_t{0};
  static constexpr std::size_t nowhere = ~std::size_t{0};

  struct MeasureOfRow {
    std::size_t column;
    const std::int64_t* values;
  };
  static OfThread& kept(const OpSums& sums) {
    OfThread& kept = sums.of_thread_.mine();
    const std::size_t places = sums.inferences_.count() + 1;  // the last for spans of none
    if (kept.slot_of.size() < places) kept.slot_of.resize(places, no_slot);
    return kept;
  }

  std::uint32_t slot_of(const OpSpan& span) {
    const std::uint32_t inference =
        std::min(span.inference, std::uint32_t(sums_.inferences_.count()));
    std::uint32_t& slot = kept_.slot_of[inference];
    if (slot == no_slot) {
      slot = std::uint32_t(result_.inferences.size());
      result_.inferences.push_back(inference);
      result_.sums.resize(result_.sums.size() + width_, 0.0);
      kept_.extents.push_back(no_extent);
    }
    return slot;
  }

  // Into that of work, waiting or asynchronous time: a span is of one of them at most.
  void add_self_times(std::span<const OpSpan> spans) {
    std::array<bool, span_kind_count> seen{};
    for (const OpSpan& span : spans) {
      const std::size_t column = column_of_[std::size_t(span.kind)];
      if (column == nowhere) continue;
      seen[std::size_t(span.kind)] = true;
      const bool works = role_of(span.kind) == Role::work;
      result_.sums[span.slot * width_ + column] += double(works ? sums_.work_of(span) : span.own);
    }
    for (std::size_t kind = 0; kind < span_kind_count; ++kind) {
      if (seen[kind]) result_.known[column_of_[kind]] = true;
    }
  }

  // Into a column, nowhere or not, what `value_of` says of each span; missing: nothing.
  template <class ValueOf>
  void add_to(std::size_t column, std::span<const OpSpan> spans, const ValueOf& value_of) {
    if (column == nowhere) return;
    double* const sums = result_.sums.data() + column;
    const std::size_t width = width_;
    bool known = false;
    for (const OpSpan& span : spans) {
      const std::int64_t value = value_of(span);
      if (value == MeasureColumn::missing) continue;
      sums[span.slot * width] += double(value);
      known = true;
    }
    if (known) result_.known[column] = true;
  }

  void add_run(std::uint32_t slot, Interval interval) {
    extend_by(kept_.extents[slot], interval);
    kept_.runs.push_back(interval);
    if (!sums_.per_inference_) return;
    in_order_ = in_order_ && (kept_.slots_of_runs.empty() || kept_.slots_of_runs.back() <= slot);
    kept_.slots_of_runs.push_back(slot);
  }

  // By slot; those of a slot stay in their order.
  void sort_runs() {
    auto& first = kept_.first;
    first.assign(result_.inferences.size() + 1, 0);
    for (const std::uint32_t slot : kept_.slots_of_runs) first[slot + 1] += 1;
    for (std::size_t slot = 1; slot < first.size(); ++slot) first[slot] += first[slot - 1];
    if (in_order_) return;
    kept_.other.resize(kept_.runs.size());
    for (std::size_t i = 0; i < kept_.runs.size(); ++i) {
      kept_.other[first[kept_.slots_of_runs[i]]++] = kept_.runs[i];
    }
    kept_.other.swap(kept_.runs);
    first.insert(first.begin(), 0);  // each has moved to where the next begins
    first.pop_back();
  }

  std::span<Interval> runs_of(std::uint32_t slot) {
    return std::span(kept_.runs)
        .subspan(kept_.first[slot], kept_.first[slot + 1] - kept_.first[slot]);
  }

  // From the first start to the last end in each inference.
  void add_extents() {
    const std::size_t column = place_[std::size_t(What::span)];
    if (column == nowhere) return;
    for (std::uint32_t slot = 0; slot < result_.inferences.size(); ++slot) {
      const Interval extent = kept_.extents[slot];
      if (extent.begin <= extent.end) {
        result_.sums[slot * width_ + column] = double(length_of(extent));
      }
    }
    result_.known[column] = true;
  }

  // Time in which any of it ran, of each inference or of all together.
  void add_active() {
    const std::size_t column = place_[std::size_t(What::active)];
    result_.known[column] = true;
    if (!sums_.per_inference_) {
      result_.sums[column] = double(covered_length(kept_.runs));
      return;
    }
    for (std::uint32_t slot = 0; slot < result_.inferences.size(); ++slot) {
      if (const auto runs = runs_of(slot); !runs.empty()) {
        result_.sums[slot * width_ + column] = double(covered_length(runs));
      }
    }
  }

  const OpSums& sums_;
  RowSums& result_;
  std::size_t width_;
  OfThread& kept_;
  std::vector<MeasureOfRow> measures_;
  std::array<std::size_t, what_count> place_ = nowhere_at_all();
  std::array<std::size_t, span_kind_count> column_of_;  // that has its self time
  bool in_order_ = true;

  static std::array<std::size_t, what_count> nowhere_at_all() {
    std::array<std::size_t, what_count> places;
    places.fill(nowhere);
    return places;
  }
};

RowSums OpSums::of(std::uint32_t group, const std::function<void(OpSpans)>& also) const {
  constexpr std::size_t at_once = 256;  // fits next to what is asked of them into the first caches
  std::array<OpSpan, at_once> block;
  RowSums result;
  Adding adding(*this, group, result);
  for_spans(group, [&](std::span<const KeptOpSpan> left) {
    while (!left.empty()) {
      const auto some = left.first(std::min(left.size(), at_once));
      left = left.subspan(some.size());
      for (std::size_t i = 0; i < some.size(); ++i) spans().unpack(some[i], block[i]);
      const auto these = std::span(block).first(some.size());
      adding.add(these, some);
      if (also) also(these);
    }
  });
  adding.finish();
  return result;
}

std::size_t OpSums::like_earlier(const RowSums& row, std::size_t column) const {
  const std::size_t width = columns_.size();
  for (std::size_t earlier = 0; earlier < column; ++earlier) {
    bool same = true;
    for (std::size_t slot = 0; same && slot < row.inferences.size(); ++slot) {
      same = row.sums[slot * width + earlier] == row.sums[slot * width + column];
    }
    if (same) return earlier;
  }
  return column;
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
  samples.reserve(row.inferences.size());
  for (std::size_t slot = 0; slot < row.inferences.size(); ++slot) {
    const std::uint32_t inference = row.inferences[slot];
    if (inference == 0 || inference >= inferences_.count()) continue;
    samples.push_back(row.sums[slot * columns_.size() + column]);
  }
  const std::size_t zeros = inferences_.count() - 1 - samples.size();
  return zeros == 0 ? median_of(std::move(samples)) : percentile_with(samples, zeros, 50);
}

OverInferences OpSums::over_inferences(const RowSums& row, std::size_t column) const {
  OverInferences over;
  std::vector<double> samples;
  samples.reserve(row.inferences.size());
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
  const std::size_t zeros = inferences_.count() - 1 - samples.size();
  over.low = percentile_with(samples, zeros, 25);
  over.high = percentile_with(samples, zeros, 75);
  return over;
}

}  // namespace npuscope::analysis
