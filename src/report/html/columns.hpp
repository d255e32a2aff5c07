// Columns of a page: as the bytes that it holds, and the critical path in them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/document/json_text.hpp"
#include "report/html/placed_spans.hpp"

namespace npuscope::report {

// Columns of whole numbers, or of numbers, as the bytes that a page holds and the head that finds
// them (web/src/data/report.ts, ColumnHead).
//
//   ColumnBytes columns;
//   columns.add("span.start", starts, ColumnBytes::Delta::yes);
//   columns.bytes()              LEB128 of the zigzag of each difference
//   columns.write_heads(json)    [{"name": "span.start", "encoding": "varint", "delta": true, …}]
class ColumnBytes {
 public:
  enum class Delta : std::uint8_t { no, yes };
  struct Head {
    std::string name;
    const char* encoding;
    bool delta;
    std::size_t count, offset, bytes;
  };

  // `first_offset`: of its first byte among those of all profiles of a page.
  explicit ColumnBytes(std::size_t first_offset) : first_offset_(first_offset) {}

  void add(std::string_view name, std::span<const std::int64_t> values, Delta delta = Delta::no);
  void add_numbers(std::string_view name, std::span<const double> values);

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

// The critical path in columns: its steps, and the graph that what-if runs on, with the latencies
// of its constraints written out.
struct PathHead {
  std::string left_out = {};  // why the graph, or all, is not there
  std::int64_t wall = 0, begin = 0;
};

// Of a graph of more nodes only the steps.
PathHead add_path_columns(const analysis::Analysis& analysis, const PlacedSpans& placed,
                          std::int64_t begin, std::size_t max_nodes, ColumnBytes& columns);

}  // namespace npuscope::report
