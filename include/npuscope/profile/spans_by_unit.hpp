// The spans of each unit in the order in which a viewer nests them: by start, the longer first, and
// in the profile's order where both agree.
//
//   const SpansByUnit by_unit(profile);
//   for (const SpanOfUnit& span : by_unit.spans_of(UnitId{3})) … span.end … span.row …
//
// The profile has the spans of one unit far apart; spans_of() has what every question about a unit
// asks side by side, several times as fast to walk through. Spans without a unit, or of one that
// does not exist, are those of UnitId::none. The profile must outlive it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/profile.hpp"
#include "npuscope/profile/span_roles.hpp"

namespace npuscope {

// A span that ends before it starts counts as an empty one; ends saturate.
inline Interval interval_of(const Spans& spans, std::size_t row) {
  const std::int64_t start = spans.start[row];
  return {start, saturating_add(start, std::max<std::int64_t>(0, spans.duration[row]))};
}

struct SpanOfUnit {
  std::int64_t begin, end;
  std::uint32_t row;  // in the profile
  OpId op;
  std::uint32_t instance;  // every_instance where the profile does not tell them apart
  SpanKind kind;

  Interval interval() const { return {begin, end}; }
};

// The same as it is kept, as small as may be. What does not fit, as a span of 2^32 ticks, is looked
// up in the profile.
struct KeptSpanOfUnit {  // without values at first, for the sake of Column
  static constexpr std::uint32_t too_long = ~std::uint32_t{0};
  static constexpr std::uint32_t no_instance = (std::uint32_t{1} << 24) - 1;

  std::int64_t begin;
  std::uint32_t length;
  std::uint32_t row;
  OpId op;
  std::uint32_t instance_and_kind;  // the latter in the low 8 bits
};

class SpansOfUnit {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = SpanOfUnit;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = SpanOfUnit;

    Iterator(const Spans& profile, const KeptSpanOfUnit* at) : profile_(&profile), at_(at) {}
    SpanOfUnit operator*() const { return unpacked(*profile_, *at_); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const Spans* profile_;
    const KeptSpanOfUnit* at_;
  };

  SpansOfUnit(const Spans& profile, std::span<const KeptSpanOfUnit> spans)
      : profile_(&profile), spans_(spans) {}

  std::size_t size() const { return spans_.size(); }
  bool empty() const { return spans_.empty(); }
  SpanOfUnit operator[](std::size_t place) const { return unpacked(*profile_, spans_[place]); }
  std::uint32_t row(std::size_t place) const { return spans_[place].row; }
  Iterator begin() const { return {*profile_, spans_.data()}; }
  Iterator end() const { return {*profile_, spans_.data() + spans_.size()}; }

 private:
  static SpanOfUnit unpacked(const Spans& profile, const KeptSpanOfUnit& kept) {
    SpanOfUnit span;
    span.begin = kept.begin;
    span.end = kept.length != KeptSpanOfUnit::too_long ? kept.begin + kept.length
                                                       : interval_of(profile, kept.row).end;
    span.row = kept.row;
    span.op = kept.op;
    span.kind = SpanKind(kept.instance_and_kind & 0xff);
    span.instance = kept.instance_and_kind >> 8;
    if (span.instance == KeptSpanOfUnit::no_instance) {
      const bool is_told = profile.instance.size() == profile.size();
      span.instance = is_told ? profile.instance[kept.row] : every_instance;
    }
    return span;
  }

  const Spans* profile_;
  std::span<const KeptSpanOfUnit> spans_;
};

// The profile has what a column holds of these spans far apart too; asked for some spans ahead, it
// is there when its turn comes.
template <class Column>
void ask_ahead(const Column& column, SpansOfUnit spans, std::size_t place) {
  constexpr std::size_t ahead = 24;
  if (place + ahead < spans.size()) __builtin_prefetch(&column[spans.row(place + ahead)]);
}

class SpansByUnit {
 public:
  explicit SpansByUnit(const Profile& profile);
  // Of these rows alone, each below the number of spans and none twice.
  SpansByUnit(const Profile& profile, std::span<const std::uint32_t> rows);

  // Those of the role alone.
  SpansByUnit of(Role role) const;

  // All, unit by unit; those without a unit last.
  SpansOfUnit all() const { return {*profile_, spans_}; }
  // One for each unit of the profile, and the last for spans without one.
  std::size_t groups() const { return first_.size() - 1; }
  // The place in all() of the first span of a group.
  std::size_t place_of(std::size_t group) const { return first_[group]; }
  SpansOfUnit spans_of(UnitId unit) const {
    const std::size_t group = std::min<std::size_t>(index_of(unit), groups() - 1);
    return {*profile_, std::span(spans_).subspan(first_[group], first_[group + 1] - first_[group])};
  }

 private:
  explicit SpansByUnit(const Spans* profile) : profile_(profile) {}
  template <class RowAt>
  void gather(const Profile& profile, std::size_t count, const RowAt& row_at);
  void sort(const Profile& profile);

  const Spans* profile_;
  std::vector<std::uint32_t> first_;  // of each unit; one more for those without a unit
  Column<KeptSpanOfUnit> spans_;
};

}  // namespace npuscope
