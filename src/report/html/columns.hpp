// What a page holds in columns: how they are bytes of it, the critical path, the spans that it
// draws.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/analysis/analysis.hpp"
#include "report/document/document_json.hpp"

namespace npuscope::report {

// The spans of a profile as a page draws them: unit by unit, by start, the longer first. Of more
// than a page can hold, short ones that lie close together are merged, work with work and waits
// with waits, until they fit.
//
//   const PlacedSpans placed(analysis, 2'000'000);
//   placed.spans[placed.place_of_row[row]]    the span of this row, or the merged one that it is in
//   placed.merge_ticks                        256: what is shorter was merged; 0: nothing was
struct PlacedSpan {
  std::int64_t begin = 0, end = 0;
  std::int64_t active = 0;  // ticks in which one of them ran
  std::uint32_t row = 0;    // of the longest
  std::uint32_t count = 1;
};

struct PlacedSpans {
  PlacedSpans(const analysis::Analysis& analysis, std::size_t max_spans);

  std::vector<PlacedSpan> spans;
  std::vector<std::size_t> first_of_unit;  // one for each unit, those without one, and the end
  std::vector<std::uint32_t> place_of_row;
  std::int64_t merge_ticks = 0;
  std::uint64_t merged = 0;  // spans of the profile that are part of a merged one
};

// Columns of whole numbers, or of numbers, as the bytes that a page holds and the head that finds
// them (web/src/data/report.ts, ColumnHead).
//
//   ColumnBytes columns;
//   columns.add("op.row", rows, ColumnBytes::Delta::yes);
//   columns.bytes()              LEB128 of the zigzag of each difference
//   columns.write_heads(json)    [{"name": "op.row", "encoding": "varint", "delta": true, …}]
//
// Times of spans that follow one another are mostly 0 from the end of the one before: add_times().
class ColumnBytes {
 public:
  enum class Delta : std::uint8_t { no, yes };
  using Values = std::vector<std::int64_t>;
  struct Head {
    std::string name;
    const char* encoding;
    bool delta;
    std::size_t count, offset, bytes;
    std::string after = {};  // the column of durations behind which starts count
  };

  // `first_offset`: of its first byte among those of all profiles of a page.
  explicit ColumnBytes(std::size_t first_offset) : first_offset_(first_offset) {}

  void add(std::string_view name, std::span<const std::int64_t> values, Delta delta = Delta::no);
  void add_numbers(std::string_view name, std::span<const double> values);
  // All lowest bytes of the zigzags, then all second ones, …: small in memory, too.
  void add_planes(std::string_view name, std::span<const std::int64_t> values);
  // "<table>.start" and "<table>.duration".
  void add_times(const std::string& table, std::span<const std::int64_t> starts,
                 std::span<const std::int64_t> durations);

  const std::string& bytes() const { return bytes_; }
  const std::vector<Head>& heads() const { return heads_; }
  void write_heads(Json& json) const;

 private:
  void add_head(std::string_view name, const char* encoding, Delta delta, std::size_t count,
                std::size_t begin);

  std::size_t first_offset_;
  std::string bytes_;
  std::vector<Head> heads_;
};

inline std::int64_t or_none(std::uint32_t index, std::size_t count) {
  return index < count ? std::int64_t(index) : -1;
}

// The critical path in columns: its steps, and the graph that what-if runs on, with the latencies
// of its constraints written out.
struct PathHead {
  std::string left_out = {};  // why the graph, or all, is not there
  std::int64_t wall = 0, begin = 0;
};

// Of a graph of more nodes only the steps.
PathHead add_path_columns(const analysis::Analysis& analysis, const PlacedSpans& placed,
                          std::int64_t begin, std::size_t max_nodes, ColumnBytes& columns);

// What a page holds of one profile in columns (web/src/data/report.ts, ProfileDataHead): its spans,
// ops, edges, arrows, counters, the critical path and the graph that what-if runs on.
//
//   ProfileColumns made = profile_columns(analysis, groups, {.max_spans = 2'000'000}, 0);
//   made.head     {"begin": "7997466066676", "length": 64829, …, "columns": […]}
//   made.bytes    of the columns

struct ColumnLimits {
  std::size_t max_spans = 2'000'000;     // more are merged
  std::size_t max_path_nodes = 300'000;  // of a graph beyond there is no what-if
  std::size_t max_flows = 500'000;       // of more there are none
  std::size_t max_buckets = 400;         // of bandwidth over time
  // Of a page with more there is a coarse timeline, too, which is drawn while the rest is read.
  std::size_t coarse_spans = 16'000;
};

// Where the evidence of a finding lies.
struct FindingPlace {
  std::int64_t finding = 0;  // its place on the page "diagnose"
  std::int64_t unit = -1;    // -1: any
  Interval time;
};

// The row of a page's table of ops that counts each op; -1: none.
struct OpRows {
  std::string grouping;  // "node": of page "ops_node"
  std::vector<std::int64_t> row_of_op;
};

struct ProfileColumns {
  std::string head;  // JSON
  std::string bytes;
};

// A timeline of at most so many spans, without edges, flows and path.
ProfileColumns coarse_columns(const analysis::Analysis& analysis,
                              const std::vector<OpRows>& op_rows,
                              const std::vector<FindingPlace>& places, const ColumnLimits& limits,
                              std::size_t first_offset);

// `first_offset`: bytes of the profiles before it in the page.
ProfileColumns profile_columns(const analysis::Analysis& analysis,
                               const std::vector<OpRows>& op_rows,
                               const std::vector<FindingPlace>& places, const ColumnLimits& limits,
                               std::size_t first_offset);

}  // namespace npuscope::report
