// The fine view: what each operation costs, as a table whose every column is one kind of number.
//
//   OpTable table = analysis.ops({.grouping = Grouping::label, .top = 10});
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
#include <utility>
#include <vector>

#include "npuscope/analysis/rules.hpp"
#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {

enum class Grouping : std::uint8_t {
  op,      // the model's operator, else the op's name; the same of repeated layers together
  part,    // each part that the compiler made of an operator, of each layer
  kind,    // kernel, or category
  name,    // the op's own name
  node,    // the model's operator, of each layer
  layer,   // the stage of the model that the node's path names (row_names.hpp)
  memory,  // where its output lies
  rule,    // the first of OpOptions::rules that it obeys
  core,    // from here on by the unit of the span, not by its op
  device,
  unit,
};
const char* name_of(Grouping grouping);
inline constexpr bool is_of_units(Grouping grouping) { return grouping >= Grouping::core; }

struct OpOptions {
  Grouping grouping = Grouping::op;
  std::size_t top = 10;  // rows kept, by what the table is ranked by
  const Rules* rules = nullptr;
  bool rest = true;  // of rules: a row for what obeys none, too
  // Ops that obey a rule of these and took no time are one row, where ops are grouped by what they
  // are.
  const Rules* folded = nullptr;
  // Ops of the HMX that the files give to a reshape ("X_post_reshape") stay there, instead of
  // counting for the operator before it.
  bool owners_as_written = false;
  bool details = false;         // fill OpRow::details and OpRow::spreads
  bool count_runs = true;       // fill OpRow::runs, which takes as long as much of the rest
  bool active_and_span = true;  // have columns of these, which take as long again
  bool counts = true;           // beside work, have columns of what spans count, such as bytes
  bool per_inference = false;   // of several inferences medians of all but the first, not sums
  std::string sort = {};        // a column's or detail's name; empty: what decides most
  double min_share = 0;         // rows with less of the whole of that column are not kept

  // Work alone, of several inferences that of one after the first: without active, span and counts,
  // which would decide only where there is no work at all.
  static OpOptions of_work(Grouping grouping, std::size_t top = ~std::size_t{0}) {
    return {.grouping = grouping,
            .top = top,
            .count_runs = false,
            .active_and_span = false,
            .counts = false,
            .per_inference = true};
  }
};

struct OpColumn {
  std::string name;
  MeasureKind kind = MeasureKind::count;
  Origin origin = Origin::measured;
  Meaning meaning{};
  ClockId clock{};             // meaningful unless kind is count
  bool of_base_clock = false;  // times of spans
  bool per_inference = false;  // medians over inferences
  double total = 0;            // over all rows, also those that were not kept
  // What the run as a whole has of it, where the profile says so: its rows may be but some of the
  // ops. Shares are of this.
  std::optional<double> whole{};
  // Of numbers that the files say of ops inference by inference: the first and the last inference
  // that the values are of (their median).
  std::optional<std::pair<std::uint32_t, std::uint32_t>> of_inferences{};
  // Of cycles of one core's ops: what its longest thread took, of which the vendor's summary gives
  // per cent. Engines work side by side: these do not add up to 100.
  std::optional<double> core_cycles{};
};

// Work of a row by the cores that did it; of several inferences (per_inference) the median of those
// after the first, of each core.
struct CoreSpread {
  std::uint32_t cores = 0;  // that ran any of it
  double min = 0;
  double median = 0;
  double max = 0;
  UnitId most_loaded = UnitId::none;  // a unit of that core
};

// Of several inferences (per_inference) without the first.
// Work of a row in each of several layers.
struct LayerSpread {
  double min = 0, median = 0, max = 0;
};

struct OpDetails {
  // Of a run, from its first start to its last end on the units of the row.
  std::optional<double> p50, p95;
  std::optional<double> cycles_per_packet;  // all cycles of its kernels by all their packets
  std::optional<double> output_bytes;       // of all these runs
  CoreSpread spread;
  std::optional<LayerSpread> layers{};
  // First start, in ticks from the first start of any op, in one inference (Analysis::op_times).
  std::optional<std::int64_t> start{};
};

// A column's values over the inferences of a run.
struct OverInferences {
  std::optional<double> first;
  double low = 0, high = 0;  // quartiles of all but the first
};

struct OpRow {
  StringId label{};       // what is grouped by, where that is a text of the profile
  std::string name;       // the same as text, always
  bool has_name = false;  // false: "(no op)" and the like
  bool folded = false;
  StringId kind{};             // of the first op that ran and has one
  std::uint32_t kinds = 0;     // distinct ones that ran, an unknown one not counted
  StringId main_kind{};        // the one with most of the dominant path, where no span has one of
                               // the work; where there are several and spans tell
  double main_share = 0;       // of the row's, of the same
  std::uint32_t ops = 0;       // that are grouped here; 0 where units are
  OpId first_op = OpId::none;  // of those that ran
  std::uint32_t layers = 1;    // of Grouping::op, repeated layers whose like operators these are
  // Of several inferences (per_inference) these two are of all after the first together.
  std::uint64_t instances = 0;                // spans of work
  std::uint64_t runs = 0;                     // executions, on however many units each
  std::uint32_t units = 0;                    // that ran it
  std::vector<Engine> engines;                // that it used, the one with most work first
  double engine_share = 0;                    // of its work, on the first of them
  std::vector<std::optional<double>> values;  // by column
  std::vector<OverInferences> spreads;        // by column; empty unless per_inference and details
  OpDetails details;
};

struct OpTable {
  std::vector<OpColumn> columns;
  std::size_t ranked_by = 0;   // a column, when there is one
  std::string ranked_by_name;  // its name, or that of the detail that it is sorted by
  bool sort_is_known = true;   // whether OpOptions::sort names anything
  std::vector<OpRow> rows;
  std::uint64_t row_count = 0;        // before the top were kept
  std::uint64_t moved_owners = 0;     // ops that count for another operator than is written
  std::uint64_t columns_left = 0;     // beyond the most that a table takes (32)
  std::uint32_t inferences = 1;       // that values are medians of, the first included
  std::uint32_t first_inference = 0;  // its number
  std::uint32_t cores = 0;            // that ran any work
  double wall = 0;  // of the timeline, or the median of the inferences after the first

  const OpColumn* column(std::string_view name) const;
  std::optional<std::size_t> place_of(std::string_view name) const;
};

}  // namespace npuscope::analysis
