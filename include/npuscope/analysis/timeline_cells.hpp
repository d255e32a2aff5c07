// A timeline cut into columns of equal length, as a screen or a page has them:
//
//   TimelineCells cells = analysis.cells(analysis.timeline(), {.columns = 80});
//   cells.columns.begin_of(3)     // 2431: ticks of the base clock
//   cells.rows[0][3].busy         // 810: exactly what of the row's work lies in the column
//
// Every interval is cut at the columns' edges, so the cells of a row add up to its busy and its
// waiting time. With `fill` each cell also says of which group the most work in it was, a nested
// slice counting instead of the one around it:
//
//   cells.fills[cells.rows[0][3].max].label     // "q::ConvLayer_s1.opt"
#pragma once

#include "npuscope/analysis/timeline_rows.hpp"

namespace npuscope::analysis {

// Columns whose lengths differ by one tick at most; never more of them than ticks.
class TimelineColumns {
 public:
  TimelineColumns() = default;
  TimelineColumns(Interval window, std::size_t max);

  std::size_t count() const { return count_; }
  std::int64_t begin_of(std::size_t column) const;  // up to count(): the end of the last
  std::size_t column_of(std::int64_t time) const;   // a time within the window
  std::int64_t length_of(std::size_t column) const {
    return saturating_subtract(begin_of(column + 1), begin_of(column));
  }

 private:
  std::int64_t begin_ = 0;
  std::uint64_t length_ = 0;
  std::size_t count_ = 0;
};

struct TimelineCell {
  std::int64_t busy = 0;
  std::int64_t waiting = 0;
  std::uint32_t max = no_fill;  // of the fills
  static constexpr std::uint32_t no_fill = ~std::uint32_t{0};
};

struct TimelineFill {
  std::string label;
  std::int64_t work = 0;    // in the rows shown, what is nested inside left out
  std::uint32_t group = 0;  // its number among all groups: of RowsBy::engine the engine's
};

struct CellsRequest {
  std::size_t columns = 100;  // at most
  std::optional<RowsBy> fill{};
  std::size_t fills = 26;  // those with most work; the others are one, the last
};

struct TimelineCells {
  TimelineColumns columns;
  std::vector<std::vector<TimelineCell>> rows;  // as many as there are rows
  std::vector<TimelineFill> fills;              // the one with most work first, the others last
  std::uint64_t fills_together = 0;             // how many the last one stands for; 0: one
};

}  // namespace npuscope::analysis
