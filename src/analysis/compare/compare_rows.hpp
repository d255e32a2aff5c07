// Rows of a comparison of ops: what is matched (a part each), folded to what a reader can act on.
//
//   parts   layers.0/n165/__0 aiccopytovtcm, layers.0/n165/__0 aicconv, layers.1/n165/__0 ...
//   rows    layers.*/n165                                                    Grouping::op
//
// A part of B stands in the row of what it matches in A. By kind and by rule each side is added up
// by itself: work that moved to another kernel is less of one and more of the other.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "npuscope/analysis/compare.hpp"

namespace npuscope::analysis {

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

}  // namespace npuscope::analysis
