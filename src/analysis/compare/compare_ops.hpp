// Ops of one side against those of the other, by what each cost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/compare/compare_sides.hpp"
#include "npuscope/analysis/compare.hpp"

namespace npuscope::analysis {

// Rows of a comparison of ops: what is matched (a part each), folded to what a reader can act on.
//
//   parts   layers.0/n165/__0 aiccopytovtcm, layers.0/n165/__0 aicconv, layers.1/n165/__0 ...
//   rows    layers.*/n165                                                    Grouping::op
//
// A part of B stands in the row of what it matches in A. By kind and by rule each side is added up
// by itself: work that moved to another kernel is less of one and more of the other.

struct ComparedRow {
  std::vector<std::uint32_t> groups[2];  // by side
  std::vector<std::uint32_t> parts;      // numbers among pairs, then only_a, then only_b
};

class ComparedRows {
 public:
  // All must live as long. `rules` only matter by rule.
  ComparedRows(const OpMatching& matching, const OpGroups& a, const OpGroups& b, Grouping grouping,
               const Rules* rules);

  const std::vector<ComparedRow>& rows() const { return rows_; }
  // What it is, without its numbers.
  OpDifference difference(const ComparedRow& row) const;
  // Its groups, by repeated layer; empty for one of a single layer.
  std::vector<ComparedRow> by_layer(const ComparedRow& row) const;

 private:
  struct Key {
    std::string name;
    std::uint32_t layers = 1;
  };
  static constexpr std::uint32_t none = UnmatchedOp::none;

  void name_groups(const Rules* rules);
  void name_by_texts(const Rules* rules);
  void follow_matches();
  void add_rows();
  std::uint32_t key_for(std::string_view name, std::uint32_t layers = 1);
  const OpGroup& group(int side, std::uint32_t at) const { return sides_[side]->groups()[at]; }
  std::string kinds_of(const ComparedRow& row, int side) const;
  std::string name_of_side(const ComparedRow& row, int side) const;

  const OpMatching& matching_;
  const OpGroups* sides_[2];
  Grouping grouping_;
  std::vector<Key> keys_;
  std::unordered_map<std::string, std::uint32_t> key_of_name_;
  std::vector<std::uint32_t> own_[2];     // by side and group: the key that its own name gives
  std::vector<std::uint32_t> key_of_[2];  // and that of its row
  std::vector<std::uint32_t> layer_of_[2];
  std::vector<ComparedRow> rows_;
};

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
