#include "npuscope/analysis/timeline_cells.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "analysis/answers.hpp"
#include "analysis/ops/row_names.hpp"
#include "analysis/timeline/span_groups.hpp"
#include "analysis/units/unit_busy.hpp"
#include "base/parallel.hpp"
#include "base/per_thread.hpp"
#include "npuscope/analysis/units.hpp"

namespace npuscope::analysis {

namespace {

std::string_view text_of(const Profile& profile, const Op& op, RowsBy by) {
  const std::string_view node = profile.text(op.node);
  switch (by) {
    case RowsBy::op: return profile.text(op.name);
    case RowsBy::kind: return profile.text(op.kind);
    case RowsBy::node: return node.empty() ? profile.text(op.name) : node;
    case RowsBy::stage: return stage_of(node.empty() ? profile.text(op.name) : node);
    case RowsBy::unit:
    case RowsBy::engine: break;
  }
  return {};
}

const char* name_of_nothing(RowsBy by) {
  switch (by) {
    case RowsBy::kind: return "(no kind)";
    case RowsBy::stage: return "(no stage)";
    default: return "(no name)";
  }
}

}  // namespace

SpanGroups::SpanGroups(const Profile& profile, RowsBy by)
    : profile_(profile), by_(by), engines_(profile) {
  if (by == RowsBy::unit) {
    count_ = profile.units.size() + 1;
    drawn_with_ = drawn_with(profile);
  } else if (by == RowsBy::engine) {
    count_ = std::size_t(Engine::other) + 1;
  } else {
    group_ops();
  }
}

void SpanGroups::group_ops() {
  std::unordered_map<std::string_view, std::uint32_t> known;
  of_op_.reserve(profile_.ops.size() + 1);
  for (const Op& op : profile_.ops) {
    const std::string_view text = text_of(profile_, op, by_);
    const auto [place, is_new] = known.try_emplace(text, std::uint32_t(texts_.size()));
    if (is_new) texts_.push_back(text);
    of_op_.push_back(place->second);
  }
  of_op_.push_back(std::uint32_t(texts_.size()));
  count_ = texts_.size() + 1;
}

std::string SpanGroups::label(std::uint32_t group) const {
  if (by_ == RowsBy::unit) {
    return path_of(profile_, group + 1 < count_ ? UnitId(group) : UnitId::none);
  }
  if (by_ == RowsBy::engine) return name_of(Engine(group));
  if (group >= texts_.size()) return "(no op)";
  return texts_[group].empty() ? name_of_nothing(by_) : std::string(texts_[group]);
}

namespace {

__extension__ typedef unsigned __int128 Wide;  // products of two 64-bit numbers

}  // namespace

TimelineColumns::TimelineColumns(Interval window, std::size_t max) {
  if (window.begin >= window.end) return;
  begin_ = window.begin;
  length_ = std::uint64_t(window.end) - std::uint64_t(window.begin);
  count_ = std::size_t(std::min<std::uint64_t>(max, length_));
}

std::int64_t TimelineColumns::begin_of(std::size_t column) const {
  if (count_ == 0) return begin_;
  const auto offset = std::uint64_t(Wide(length_) * std::min(column, count_) / count_);
  return std::int64_t(std::uint64_t(begin_) + offset);
}

std::size_t TimelineColumns::column_of(std::int64_t time) const {
  if (count_ == 0 || time <= begin_) return 0;
  const std::uint64_t offset = std::uint64_t(time) - std::uint64_t(begin_);
  if (offset >= length_) return count_ - 1;
  return std::size_t(((Wide(offset) + 1) * count_ - 1) / length_);
}

namespace {

// Cuts intervals at the columns' edges; quick when they come in order.
class Cutter {
 public:
  explicit Cutter(const TimelineColumns& columns) : columns_(columns) { go_to(0); }

  // part(column, length) for each column that a piece of it lies in.
  template <class Part>
  void cut(Interval interval, Part part) {
    if (interval.begin >= interval.end || columns_.count() == 0) return;
    if (interval.begin < begin_ || interval.begin >= end_) {
      go_to(columns_.column_of(interval.begin));
    }
    for (;;) {
      const std::int64_t end = std::min(interval.end, end_);
      part(column_, saturating_subtract(end, interval.begin));
      if (interval.end <= end_ || column_ + 1 >= columns_.count()) return;
      interval.begin = end_;
      go_to(column_ + 1);
    }
  }

 private:
  void go_to(std::size_t column) {
    column_ = column;
    begin_ = columns_.begin_of(column);
    end_ = columns_.begin_of(column + 1);
  }

  const TimelineColumns& columns_;
  std::size_t column_ = 0;
  std::int64_t begin_ = 0, end_ = 0;
};

// Time in one cell in which one group was the innermost at work.
struct CellPiece {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
  std::uint32_t group = 0;
  std::int64_t length = 0;

  auto place() const { return std::tuple(row, column, group); }
};

bool is_drawn_before(const CellPiece& a, const CellPiece& b) { return a.place() < b.place(); }

// Adds up the pieces of the same group in the same cell, from `first` on.
void merge_pieces(std::vector<CellPiece>& pieces, std::size_t first) {
  const auto begin = pieces.begin() + std::ptrdiff_t(first);
  if (!std::is_sorted(begin, pieces.end(), is_drawn_before)) {
    std::sort(begin, pieces.end(), is_drawn_before);
  }
  std::size_t kept = first;
  for (std::size_t i = first; i < pieces.size(); ++i) {
    if (kept > first && pieces[kept - 1].place() == pieces[i].place()) {
      pieces[kept - 1].length = saturating_add(pieces[kept - 1].length, pieces[i].length);
    } else {
      pieces[kept++] = pieces[i];
    }
  }
  pieces.resize(kept);
}

// What runs on a unit at each moment: of the spans that are open, the last to begin.
template <class Emit>
void for_each_innermost(SpansOfUnit spans, Emit emit) {
  std::vector<SpanOfUnit> open;
  std::int64_t now = 0;
  const auto advance = [&](std::int64_t until, bool to_the_end) {
    while (!open.empty() && (to_the_end || now < until)) {
      const SpanOfUnit& top = open.back();
      if (top.end <= now) {
        open.pop_back();
        continue;
      }
      const std::int64_t end = to_the_end ? top.end : std::min(top.end, until);
      emit(top, Interval{now, end});
      now = end;
    }
  };
  for (const SpanOfUnit& span : spans) {
    if (role_of(span.kind) != Role::work || length_of(span.interval()) == 0) continue;
    advance(span.begin, false);
    now = span.begin;
    open.push_back(span);
  }
  advance(0, true);
}

class Filling {
 public:
  Filling(const Profile& profile, const SpansByUnit& by_unit, const TimelineRows& rows,
          const CellsRequest& request, TimelineCells& cells)
      : profile_(profile),
        by_unit_(by_unit),
        request_(request),
        cells_(cells),
        rows_(profile, rows.by),
        fills_(profile, *request.fill),
        place_(rows_.count(), left_out) {
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
      place_[rows.rows[i].group] = std::uint32_t(i);
    }
  }

  void fill() {
    const std::vector<CellPiece> pieces = collect();
    rank(pieces);
    for (std::size_t first = 0; first < pieces.size();) {
      std::size_t max = first, next = first;
      for (; next < pieces.size() && pieces[next].row == pieces[first].row &&
             pieces[next].column == pieces[first].column;
           ++next) {
        if (pieces[next].length > pieces[max].length) max = next;
      }
      cells_.rows[pieces[first].row][pieces[first].column].max = rank_[pieces[max].group];
      first = next;
    }
  }

 private:
  static constexpr std::uint32_t left_out = ~std::uint32_t{0};

  // By group, a place among the pieces; stale ones are told by what is there.
  using Noted = std::vector<std::size_t>;
  static CellPiece* piece_of(std::uint32_t group, Noted& noted, std::vector<CellPiece>& pieces,
                             std::size_t first);
  std::vector<CellPiece> pieces_of(UnitId unit) const;
  std::vector<CellPiece> collect() const;
  void rank(const std::vector<CellPiece>& pieces);

  const Profile& profile_;
  const SpansByUnit& by_unit_;
  const CellsRequest& request_;
  TimelineCells& cells_;
  SpanGroups rows_, fills_;
  std::vector<std::uint32_t> place_;  // of each group of rows among those kept
  std::vector<std::uint32_t> rank_;   // of each group of fills among cells_.fills
  mutable PerThread<Noted> noted_;
};

// A piece of the group among those from `first` on. None: the next to be pushed is taken to be one.
CellPiece* Filling::piece_of(std::uint32_t group, Noted& noted, std::vector<CellPiece>& pieces,
                             std::size_t first) {
  std::size_t& place = noted[group];
  if (place >= first && place < pieces.size() && pieces[place].group == group) {
    return &pieces[place];
  }
  place = pieces.size();
  return nullptr;
}

std::vector<CellPiece> Filling::pieces_of(UnitId unit) const {
  std::vector<CellPiece> pieces;
  Noted& noted = noted_.mine();
  noted.resize(fills_.count(), 0);
  Cutter cutter(cells_.columns);
  std::size_t merged = 0;
  std::uint32_t last_column = 0;
  const auto add = [&](const SpanOfUnit& span, Interval interval) {
    const std::uint32_t row = place_[rows_.of(unit, span)];
    if (row == left_out) return;
    const std::uint32_t group = fills_.of(unit, span);
    cutter.cut(interval, [&](std::size_t column, std::int64_t length) {
      if (column != last_column) {  // and never comes back
        merge_pieces(pieces, merged);
        merged = pieces.size();
        last_column = std::uint32_t(column);
      }
      CellPiece* const known = piece_of(group, noted, pieces, merged);
      if (known != nullptr && known->row == row) {
        known->length = saturating_add(known->length, length);
      } else {
        pieces.push_back({row, std::uint32_t(column), group, length});
      }
    });
  };
  for_each_innermost(by_unit_.spans_of(unit), add);
  merge_pieces(pieces, merged);
  return pieces;
}

std::vector<CellPiece> Filling::collect() const {
  std::vector<std::vector<CellPiece>> of_unit(profile_.units.size() + 1);
  parallel_for(of_unit.size(), [&](std::size_t unit) {
    const bool is_one = unit < profile_.units.size();
    of_unit[unit] = pieces_of(is_one ? UnitId(std::uint32_t(unit)) : UnitId::none);
  });
  std::vector<CellPiece> pieces;
  for (std::vector<CellPiece>& some : of_unit) {
    pieces.insert(pieces.end(), some.begin(), some.end());
    some = {};
  }
  merge_pieces(pieces, 0);
  return pieces;
}

void Filling::rank(const std::vector<CellPiece>& pieces) {
  std::vector<std::int64_t> work(fills_.count(), 0);
  for (const CellPiece& piece : pieces) {
    work[piece.group] = saturating_add(work[piece.group], piece.length);
  }
  std::vector<std::uint32_t> ranked;
  for (std::uint32_t group = 0; group < work.size(); ++group) {
    if (work[group] > 0) ranked.push_back(group);
  }
  std::sort(ranked.begin(), ranked.end(), [&](std::uint32_t a, std::uint32_t b) {
    return work[a] != work[b] ? work[a] > work[b] : a < b;
  });
  rank_.assign(work.size(), 0);
  const bool has_others = ranked.size() > request_.fills + 1;
  const std::size_t named = has_others ? request_.fills : ranked.size();
  std::int64_t others = 0;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    rank_[ranked[i]] = std::uint32_t(std::min(i, named));
    if (i < named) {
      cells_.fills.push_back({fills_.label(ranked[i]), work[ranked[i]], ranked[i]});
    } else {
      others = saturating_add(others, work[ranked[i]]);
    }
  }
  if (!has_others) return;
  cells_.fills_together = ranked.size() - named;
  cells_.fills.push_back({"others", others, SpanGroups::none});
}

}  // namespace

TimelineCells find_cells(const Analysis& analysis, const TimelineRows& rows,
                         const CellsRequest& request) {
  TimelineCells cells;
  cells.columns = TimelineColumns(rows.window, request.columns);
  cells.rows.resize(rows.rows.size());
  parallel_for(rows.rows.size(), [&](std::size_t i) {
    std::vector<TimelineCell>& row = cells.rows[i];
    row.resize(cells.columns.count());
    Cutter work(cells.columns), waits(cells.columns);
    for (const Interval& interval : rows.rows[i].work_set) {
      work.cut(interval, [&](std::size_t column, std::int64_t length) {
        row[column].busy = saturating_add(row[column].busy, length);
      });
    }
    for (const Interval& interval : rows.rows[i].wait_set) {
      waits.cut(interval, [&](std::size_t column, std::int64_t length) {
        row[column].waiting = saturating_add(row[column].waiting, length);
      });
    }
  });
  if (request.fill)
    Filling(analysis.profile(), analysis.spans_by_unit(), rows, request, cells).fill();
  return cells;
}

}  // namespace npuscope::analysis
