#include "analysis/span_extents.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/parallel.hpp"

namespace npuscope::analysis {
namespace {

constexpr Interval no_extent{std::numeric_limits<std::int64_t>::max(),
                             std::numeric_limits<std::int64_t>::min()};

void extend_by(Interval& interval, const Interval& by) {
  interval.begin = std::min(interval.begin, by.begin);
  interval.end = std::max(interval.end, by.end);
}

// What a span of a kind is part of, as bits: the compiler keeps them in a register.
constexpr unsigned of_wall = 1, of_work = 2, is_overlay = 4;
constexpr auto parts_of_kinds = [] {
  std::array<std::uint8_t, span_kind_count> parts{};
  for (std::size_t kind = 0; kind < span_kind_count; ++kind) {
    const Role role = role_of(SpanKind(kind));
    parts[kind] =
        std::uint8_t((is_of_inference(SpanKind(kind)) ? of_wall : 0) |
                     (role == Role::work ? of_work : 0) | (role == Role::overlay ? is_overlay : 0));
  }
  return parts;
}();

// No branch: which kinds follow one another cannot be foretold.
void extend_if(bool is_part, Interval& interval, const Interval& by) {
  interval.begin = std::min(interval.begin, is_part ? by.begin : no_extent.begin);
  interval.end = std::max(interval.end, is_part ? by.end : no_extent.end);
}

// Of the same inference.
void unite_with(InferenceExtent& into, const InferenceExtent& other) {
  into.first_row = std::min(into.first_row, other.first_row);
  into.rows_end = std::max(into.rows_end, other.rows_end);
  into.runs = into.runs || other.runs;
  into.works = into.works || other.works;
  extend_by(into.wall, other.wall);
  extend_by(into.work, other.work);
}

// Sorts them and makes one of those of the same inference.
void unite_extents(std::vector<InferenceExtent>& extents) {
  if (!std::ranges::is_sorted(extents, {}, &InferenceExtent::number)) {
    std::ranges::sort(extents, {}, &InferenceExtent::number);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (kept == 0 || extents[kept - 1].number != extents[i].number) {
      extents[kept++] = extents[i];
      continue;
    }
    unite_with(extents[kept - 1], extents[i]);
  }
  extents.resize(kept);
}

// Of some rows, by one thread.
class ExtentsOfRows {
 public:
  std::vector<InferenceExtent> inferences;
  Interval overlay = no_extent;

  void look(const Spans& spans, RowRange rows) {
    for (std::size_t row = rows.first; row < rows.last;) {
      const InferenceExtent extent = look_at_one(spans, {row, rows.last});
      add(extent);
      row = extent.rows_end;
    }
    inferences.insert(inferences.end(), others_.begin(), others_.end());
    unite_extents(inferences);
    others_ = {};
  }

 private:
  // Rows of several inferences may take turns. Their numbers are mostly small.
  void add(const InferenceExtent& extent) {
    if (extent.number < few) {
      if (place_of_.empty()) place_of_.assign(few, none);
      std::uint32_t& place = place_of_[extent.number];
      if (place != none) return unite_with(inferences[place], extent);
      place = std::uint32_t(inferences.size());
      inferences.push_back(extent);
      return;
    }
    if (others_.size() == limit_) {
      unite_extents(others_);
      limit_ = std::max(limit_, 2 * others_.size());
    }
    others_.push_back(extent);
  }

  // As many of the rows as are of the inference of the first.
  InferenceExtent look_at_one(const Spans& spans, RowRange rows) {
    const bool tells = spans.instance.size() == spans.size();
    const std::uint32_t number = tells ? spans.instance[rows.first] : 0;
    Interval wall = no_extent, work = no_extent;
    std::size_t row = rows.first;
    for (; row < rows.last; ++row) {
      if (tells && spans.instance[row] != number) break;
      const unsigned parts = parts_of_kinds[std::size_t(spans.kind[row])];
      const Interval interval = interval_of(spans, row);
      extend_if((parts & of_wall) != 0, wall, interval);
      extend_if((parts & of_work) != 0, work, interval);
      if ((parts & is_overlay) != 0) extend_by(overlay, interval);
    }
    const auto is_any = [](Interval interval) { return interval.begin <= interval.end; };
    return {number, std::uint32_t(rows.first), std::uint32_t(row), is_any(wall), is_any(work), wall,
            work};
  }

  static constexpr std::uint32_t few = 4'096, none = ~std::uint32_t{0};
  std::vector<std::uint32_t> place_of_;  // by number, of the first few
  std::vector<InferenceExtent> others_;
  std::size_t limit_ = 4'096;
};

}  // namespace

SpanExtents extents_of(const Profile& profile) {
  SpanExtents extents;
  const Spans& spans = profile.spans;
  if (spans.size() == 0) return extents;
  const std::vector<RowRange> ranges = ranges_of(spans.size());
  std::vector<ExtentsOfRows> parts(ranges.size());
  parallel_for(parts.size(), [&](std::size_t part) { parts[part].look(spans, ranges[part]); });
  Interval ran = no_extent, overlay = no_extent;
  for (ExtentsOfRows& part : parts) {
    extend_by(overlay, part.overlay);
    extents.inferences.insert(extents.inferences.end(), part.inferences.begin(),
                              part.inferences.end());
    part = {};
  }
  unite_extents(extents.inferences);
  for (const InferenceExtent& inference : extents.inferences) {
    extend_by(ran, inference.wall);
    extents.works = extents.works || inference.works;
  }
  const auto is_none = [](Interval interval) { return interval.begin > interval.end; };
  extents.timeline = !is_none(ran) ? ran : !is_none(overlay) ? overlay : Interval{};
  if (spans.instance.size() != spans.size()) extents.inferences.clear();
  return extents;
}

Interval timeline_of(const Profile& profile) { return extents_of(profile).timeline; }

}  // namespace npuscope::analysis
