// The fine view: what each operation costs, as a table whose every column is one kind of number.
//
//   OpTable table = analyse_ops(profile, by_unit, own, {.grouping = Grouping::label, .top = 10});
//   table.columns[table.ranked_by].kind      // dominant_path
//   table.rows[0].label                      // "MatMul_0"
//   table.rows[0].values[table.ranked_by]    // 32707
//
// Columns from spans: what each span carries (dominant path, bytes), then
//   work     time of its spans, what is nested inside them left out; sums over units, so that four
//            threads at once count four times
//   issue    where a transfer runs by itself: time in which its issue ran meanwhile on the thread.
//            It is no part of `work`, so that a transfer costs what the vendor's summary says: the
//            longer of issue and transfer. `work` and `issue` together are the work of all units.
//   active   union of its spans: time in which at least one of them ran
//   span     first start to last end, summed over inferences
//   waiting  syncs, barriers and DMA waits of it
//   async    asynchronous slices
// and one for each number that a profile has about ops without a timeline. Numbers that cannot be
// added up over ops (wall, spans, shares of a unit) make no column. Where an op's number is there
// for several inferences, the median of all but the first counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {

enum class Grouping : std::uint8_t {
  label,  // the model's operator, else the op's name
  kind,   // kernel, or category
};

struct OpOptions {
  Grouping grouping = Grouping::label;
  std::size_t top = 10;  // rows kept, by what the table is ranked by
};

struct OpColumn {
  std::string name;
  MeasureKind kind = MeasureKind::count;
  Origin origin = Origin::measured;
  ClockId clock{};             // meaningful unless kind is count
  bool of_base_clock = false;  // times of spans
  bool per_inference = false;  // medians over inferences
  double total = 0;            // over all rows, also those that were not kept
  // What the run as a whole has of it, where the profile says so: its rows may be but some of the
  // ops. Shares are of this.
  std::optional<double> whole{};
};

struct OpRow {
  StringId label{};
  StringId kind{};                            // of the first op that ran and has one
  std::uint32_t kinds = 0;                    // distinct ones that ran, an unknown one not counted
  std::uint32_t ops = 0;                      // that are grouped here
  std::uint64_t instances = 0;                // spans of work
  std::uint64_t runs = 0;                     // executions, on however many units each
  std::uint32_t units = 0;                    // that ran it
  std::vector<Engine> engines;                // that it used, the one with most work first
  std::vector<std::optional<double>> values;  // by column
};

struct OpTable {
  std::vector<OpColumn> columns;
  std::size_t ranked_by = 0;  // a column, when there is one
  std::vector<OpRow> rows;
  std::uint64_t row_count = 0;     // before the top were kept
  std::uint64_t columns_left = 0;  // beyond the most that a table takes (32)

  const OpColumn* column(std::string_view name) const;
  std::optional<std::size_t> place_of(std::string_view name) const;
};

// Whether numbers of this kind and name may be added over ops and spans: not wall times, spans and
// shares of a unit, and no rates, shares and deviations, which only their names tell.
bool adds_up(MeasureKind kind, std::string_view name);

OpTable analyse_ops(const Profile& profile, const SpansByUnit& by_unit,
                    const std::vector<std::int64_t>& own, const OpOptions& options);

}  // namespace npuscope::analysis
