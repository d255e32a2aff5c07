// The spans of each unit in the order in which a viewer nests them: by start, the longer first, and
// in the profile's order where both agree.
//
//   const SpansByUnit by_unit(profile);
//   for (const std::uint32_t row : by_unit.of(UnitId{3})) … profile.spans.op[row] …
//   for (const SpanOfUnit& span : by_unit.spans_of(UnitId{3})) … span.end …
//
// The profile has the spans of one unit far apart; spans_of() has what every question about a unit
// asks side by side, several times as fast to walk through. Spans without a unit, or of one that
// does not exist, are those of UnitId::none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope {

// A span that ends before it starts counts as an empty one; ends saturate.
inline Interval interval_of(const Spans& spans, std::size_t row) {
  const std::int64_t start = spans.start[row];
  return {start, saturating_add(start, std::max<std::int64_t>(0, spans.duration[row]))};
}

struct SpanOfUnit {  // without values at first, for the sake of Column
  std::int64_t begin, end;
  std::uint32_t row;  // in the profile
  OpId op;
  std::uint32_t instance;  // every_instance where the profile does not tell them apart
  SpanKind kind;

  Interval interval() const { return {begin, end}; }
};

// The profile has what a column holds of these spans far apart too; asked for some spans ahead, it
// is there when its turn comes.
template <class Column>
void ask_ahead(const Column& column, std::span<const SpanOfUnit> spans, std::size_t place) {
  constexpr std::size_t ahead = 24;
  if (place + ahead < spans.size()) __builtin_prefetch(&column[spans[place + ahead].row]);
}

class SpansByUnit {
 public:
  explicit SpansByUnit(const Profile& profile);
  // Of these rows alone, each below the number of spans and none twice.
  SpansByUnit(const Profile& profile, std::span<const std::uint32_t> rows);

  // All, unit by unit; those without a unit last.
  std::span<const SpanOfUnit> all() const { return spans_; }
  // One for each unit of the profile, and the last for spans without one.
  std::size_t groups() const { return first_.size() - 1; }
  // The place in all() of the first span of a group.
  std::size_t place_of(std::size_t group) const { return first_[group]; }
  std::span<const std::uint32_t> of(UnitId unit) const {
    return std::span(rows_).subspan(first(unit), first(unit, 1) - first(unit));
  }
  std::span<const SpanOfUnit> spans_of(UnitId unit) const {
    return std::span(spans_).subspan(first(unit), first(unit, 1) - first(unit));
  }

 private:
  std::uint32_t first(UnitId unit, std::size_t after = 0) const {
    return first_[std::min<std::size_t>(index_of(unit), first_.size() - 2) + after];
  }
  template <class RowAt>
  void gather(const Profile& profile, std::size_t count, const RowAt& row_at);
  void sort(const Profile& profile);

  std::vector<std::uint32_t> first_;  // of each unit; one more for those without a unit
  Column<SpanOfUnit> spans_;
  Column<std::uint32_t> rows_;
};

}  // namespace npuscope
