// The columns of an op table that come from spans, summed for one row of it.
//
//   const OpSums sums(profile, own, beside, keys, inferences);
//   sums.columns()[1].name       // "work"
//   const RowSums row = sums.of(group);
//   row.value(column)            // sum, or the median of the inferences after the first
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/inference_times.hpp"
#include "analysis/ops/op_keys.hpp"
#include "analysis/ops/op_runs.hpp"
#include "npuscope/profile/column.hpp"

namespace npuscope::analysis {

// What each column sums to in each inference in which the row ran.
struct RowSums {
  std::vector<std::uint32_t> inferences;  // of each slot
  std::vector<double> sums;               // slots x columns
  std::vector<bool> known;                // by column
};

class OpSums {
 public:
  OpSums(const Profile& profile, const std::vector<std::int64_t>& own, const IssuesBeside& issues,
         const OpKeys& keys, const Inferences& inferences, bool per_inference);

  const std::vector<OpColumn>& columns() const { return columns_; }
  std::uint64_t columns_left() const { return columns_left_; }

  // The spans of a row, in the profile's order.
  std::span<const std::uint32_t> rows(std::uint32_t group) const {
    return std::span(rows_).subspan(first_[group], first_[group + 1] - first_[group]);
  }

  RowSums of(std::uint32_t group) const;
  double value(const RowSums& row, std::size_t column) const;
  OverInferences over_inferences(const RowSums& row, std::size_t column) const;

 private:
  enum class What : std::uint8_t { measure, work, issue, waiting, async, active, span };
  struct Source {
    What what;
    const MeasureColumn* measure = nullptr;
  };

  void sort_rows();
  void find_columns();
  void add(OpColumn column, Source source);
  void add_row(std::uint32_t row, double* sums, std::vector<bool>& known) const;
  void add_extents(std::span<const std::uint32_t> group, std::span<const std::uint32_t> slots,
                   RowSums& sums) const;
  std::optional<std::size_t> place_of(What what) const;

  const Profile& profile_;
  const std::vector<std::int64_t>& own_;
  const IssuesBeside& issues_;
  const OpKeys& keys_;
  const Inferences& inferences_;
  bool per_inference_;
  std::vector<OpColumn> columns_;
  std::vector<Source> sources_;
  std::uint64_t columns_left_ = 0;
  std::vector<std::uint32_t> first_;  // of each group in rows_; one more
  Column<std::uint32_t> rows_;
};

}  // namespace npuscope::analysis
