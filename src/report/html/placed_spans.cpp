#include "report/html/placed_spans.hpp"

#include <algorithm>

#include "npuscope/analysis/timeline.hpp"
#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;

// A merged span is at most so many times as long as the spans in it may be.
constexpr std::int64_t max_merged = 4;

std::int64_t ticks_of(const SpanOfUnit& span) { return saturating_subtract(span.end, span.begin); }

// The spans of one unit after the other, merged.
class Merger {
 public:
  Merger(std::int64_t merge_ticks, std::vector<PlacedSpan>& out, std::vector<std::uint32_t>& of_row)
      : merge_ticks_(merge_ticks), out_(out), of_row_(of_row) {}

  void add(const SpanOfUnit& span) {
    if (merge_ticks_ == 0 || ticks_of(span) >= merge_ticks_) return begin(span);
    std::size_t& open = open_[std::size_t(role_of(span.kind))];
    if (open == none || !fits(out_[open], span)) {
      open = out_.size();
      return begin(span);
    }
    PlacedSpan& merged = out_[open];
    merged.active += length_of(Interval{std::max(span.begin, merged.end), span.end});
    merged.end = std::max(merged.end, span.end);
    const std::int64_t longest = longest_[open - first_];
    if (ticks_of(span) > longest) {
      merged.row = span.row;
      longest_[open - first_] = ticks_of(span);
    }
    ++merged.count;
    of_row_[span.row] = std::uint32_t(open);
  }

  void next_unit() {
    std::ranges::fill(open_, none);
    first_ = out_.size();
    longest_.clear();
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  bool fits(const PlacedSpan& merged, const SpanOfUnit& span) const {
    return saturating_subtract(span.begin, merged.end) < merge_ticks_ &&
           saturating_subtract(span.end, merged.begin) <= max_merged * merge_ticks_;
  }
  void begin(const SpanOfUnit& span) {
    of_row_[span.row] = std::uint32_t(out_.size());
    out_.push_back({span.begin, span.end, ticks_of(span), span.row, 1});
    longest_.push_back(ticks_of(span));
  }

  std::int64_t merge_ticks_;
  std::vector<PlacedSpan>& out_;
  std::vector<std::uint32_t>& of_row_;
  std::vector<std::int64_t> longest_;  // of the unit's spans
  std::size_t first_ = 0;              // the unit's first
  std::size_t open_[std::size_t(Role::overlay) + 1] = {none, none, none, none};  // by role
};

// Merged, spans of each role begin in an order of their own: sorted anew, `new_place` says where
// to.
void sort_unit(std::vector<PlacedSpan>& spans, std::size_t first,
               std::vector<std::uint32_t>& new_place) {
  std::vector<std::uint32_t> order(spans.size() - first);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = std::uint32_t(first + i);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (spans[a].begin != spans[b].begin) return spans[a].begin < spans[b].begin;
    return spans[a].end > spans[b].end;
  });
  std::vector<PlacedSpan> sorted;
  sorted.reserve(order.size());
  new_place.resize(spans.size());
  for (const std::uint32_t place : order) {
    new_place[place] = std::uint32_t(first + sorted.size());
    sorted.push_back(spans[place]);
  }
  std::copy(sorted.begin(), sorted.end(), spans.begin() + std::ptrdiff_t(first));
}

}  // namespace

PlacedSpans::PlacedSpans(const Analysis& analysis, std::size_t max_spans) {
  const SpansByUnit& by_unit = analysis.spans_by_unit();
  const std::size_t total = by_unit.all().size();
  const auto place = [&] {
    spans.clear();
    first_of_unit.clear();
    place_of_row.assign(analysis.profile().spans.size(), 0);
    std::vector<std::uint32_t> new_place;
    Merger merger(merge_ticks, spans, place_of_row);
    for (std::size_t group = 0; group < by_unit.groups(); ++group) {
      first_of_unit.push_back(spans.size());
      merger.next_unit();
      for (const SpanOfUnit& span : by_unit.spans_of(UnitId(std::uint32_t(group)))) {
        merger.add(span);
      }
      sort_unit(spans, first_of_unit.back(), new_place);
    }
    first_of_unit.push_back(spans.size());
    for (std::uint32_t& at : place_of_row) at = at < new_place.size() ? new_place[at] : at;
  };
  place();
  constexpr std::int64_t max_ticks = std::int64_t{1} << 52;
  constexpr int details = 22;  // in the first try a merged span is no longer than 2^-20 of the wall
  merge_ticks = std::max<std::int64_t>(1, analysis.coarse().wall >> details);
  while (spans.size() > max_spans && merge_ticks < max_ticks) {
    merge_ticks *= 2;
    place();
  }
  if (spans.size() == total) merge_ticks = 0;
  for (const PlacedSpan& span : spans) merged += span.count > 1 ? span.count : 0;
}

}  // namespace npuscope::report
