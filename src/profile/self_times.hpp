// What each span of a unit has to itself: its duration less what of its kind lies inside it, on the
// same unit. Nested slices count once, in the innermost; a wait inside work takes nothing from it,
// but for one of kind `wait`. What overlaps in part keeps its whole duration.
//
//   outer  |----------|          own: 100 - 80
//   inner    |------|            80
//
// A file that states times in microseconds lets a span end up to one after the span that encloses
// it: such a span is inside as well (`tolerance`), and its enclosing span loses what both share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "npuscope/profile/span_roles.hpp"
#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope {

// Ticks by which a span may outlast the one that it is nested in.
std::int64_t nesting_tolerance(const Profile& profile);

// Whether what begins at `inner.begin`, not before the outer one, lies inside one that ends at
// `outer_end`.
inline bool encloses(std::int64_t outer_end, Interval inner, std::int64_t tolerance) {
  if (inner.end <= outer_end) return true;
  return length_of({outer_end, inner.end}) <= tolerance &&
         length_of({inner.begin, outer_end}) > tolerance;
}

// In the order of `spans`, which is that of SpansByUnit; what `own` held is gone.
template <class OfUnit>  // SpansOfUnit, or a vector of its spans
void find_self_times(const OfUnit& spans, std::int64_t tolerance, std::vector<std::int64_t>& own);

// Which of the two nestings of its unit a span is part of.
enum class NestedIn : std::uint8_t { work, waits, neither };
inline NestedIn nested_in(SpanKind kind) {
  const Role role = role_of(kind);
  if (kind == SpanKind::transfer) return NestedIn::neither;
  if (role == Role::work || kind == SpanKind::wait) return NestedIn::work;
  return role == Role::wait ? NestedIn::waits : NestedIn::neither;
}
// Its duration; none of frames and instants.
inline std::int64_t whole_time(SpanKind kind, Interval interval) {
  return role_of(kind) == Role::frame || kind == SpanKind::instant ? 0 : length_of(interval);
}

// Those of a profile by row. Where none of its spans lies inside another, each has its whole time,
// and nothing is kept.
class SelfTimes {
 public:
  explicit SelfTimes(const Spans& spans) : spans_(&spans) {}
  SelfTimes(const Spans& spans, Column<std::int64_t> times)
      : spans_(&spans), times_(std::move(times)) {}

  bool are_whole() const { return times_.empty(); }
  std::size_t size() const { return spans_->size(); }
  std::int64_t operator[](std::size_t row) const {
    return are_whole() ? whole_time(spans_->kind[row], interval_of(*spans_, row)) : times_[row];
  }
  std::int64_t of(const SpanOfUnit& span) const {
    return are_whole() ? whole_time(span.kind, span.interval()) : times_[span.row];
  }
  void ask_ahead(SpansOfUnit spans, std::size_t place) const {
    if (!are_whole()) npuscope::ask_ahead(times_, spans, place);
  }

 private:
  const Spans* spans_;
  Column<std::int64_t> times_;  // empty: whole
};

// When one unit was held up in the midst of its work: waits of kind `wait` inside work, less the
// work inside those. What a unit works is the union of its work without this.
template <class OfUnit>
IntervalSet held_within_work(const OfUnit& spans);

}  // namespace npuscope
