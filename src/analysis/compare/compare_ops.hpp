// Ops of one side against those of the other, by what each cost.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analysis/compare/compare_rows.hpp"
#include "analysis/compare/compare_sides.hpp"

namespace npuscope::analysis {

// How much of an estimate is worked out: its verdict takes thousands of times the time.
enum class Depth : std::uint8_t { medians, verdict };
Estimate estimate_of(std::vector<double> a, std::vector<double> b, Depth depth);

class OpComparer {
 public:
  OpComparer(const RunSide& a, const RunSide& b);

  const OpMatching& matching() const { return matching_; }
  // Whether a run of side 0 or 1 has ops that the side's first has not.
  bool has_strangers(int side) const { return sides_[side].strangers; }
  bool has_column() const { return column_.has_value(); }
  bool is_thinned() const { return thinned_; }

  OpComparison compare(const CompareOptions& options) const;
  Result<MetricChange> sum_of(const Pattern& pattern, std::string_view column,
                              std::string_view text) const;

 private:
  struct OneSide {
    const RunSide* runs = nullptr;
    // By run, for each group of the side's first run its own; empty: the same.
    std::vector<std::vector<std::uint32_t>> counterparts;
    bool strangers = false;
  };

  // A column of both sides.
  struct Column {
    std::string name;
    MeasureKind kind = MeasureKind::work;
    MeasuredIn unit = MeasuredIn::count;
    struct Side {
      std::vector<OpSamples> runs;
      std::vector<double> factors;  // by run
      // By run, where among a group's samples the value of each of its inferences goes.
      std::vector<std::vector<std::uint32_t>> places;
      std::size_t samples = 0;
      bool cold = false;
    } sides[2];
    bool repeats = false;
    bool is_cold() const { return sides[0].cold || sides[1].cold; }
  };
  using Groups = std::vector<std::uint32_t>;

  bool is_alone() const { return sides_[0].runs->runs().empty(); }
  const RunSamples& reference() const;  // whose columns are tried

  static OneSide one_side(const RunSide& side);
  // None where a run does not have it, or has another kind of it.
  std::optional<Column> make_column(std::string_view name) const;
  bool all_estimated() const;
  // Times of warm inferences before those of cold ones.
  static bool is_warmer(const Column& column, const Column& than);
  void place_samples(Column& column, int side) const;
  void thin(Column& column, int side);
  std::vector<double> values(const Column& column, int side, const Groups& groups) const;
  void add_values(const Column::Side& column, std::size_t run, std::uint32_t group,
                  std::vector<double>& sums) const;
  struct OpSums {
    std::vector<double> values;  // by sample
    bool has_values = false;     // else no op has any, and all are zero
  };
  std::optional<OpSums> sums_of(const Column& column, int side, const Pattern& pattern) const;
  tl::unexpected<Error> no_column(std::string_view name) const;
  std::string nearest_ops(std::string_view text, int side) const;
  double total(const Column& column, int side) const;
  const OpGroup& group(int side, std::uint32_t at) const;
  OpComparison compare(const ComparedRows& of, const CompareOptions& options) const;
  Estimate estimate(const ComparedRow& row, Depth depth) const;
  bool is_beyond_noise(const ComparedRow& row) const;
  std::optional<LayerDeltas> layer_deltas(const ComparedRows& rows, const ComparedRow& row) const;
  void fill_shares(OpComparison& result) const;

  OneSide sides_[2];
  OpMatching matching_;
  std::optional<Column> column_;
  bool thinned_ = false;
};

}  // namespace npuscope::analysis
